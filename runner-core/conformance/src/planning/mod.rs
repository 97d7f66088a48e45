//! Plans for many requests. Nothing is started: a plan is looked at as a value.

mod ids;
mod paths;

use super::case_log::{CaseLog, Finding, Group};
use super::subject::{Subject, scratch};
use runner_core::backend::{BackendError, Capability, Filters, Mode, RunRequest};
use runner_core::facts::Project;
use runner_core::plan::Plan;

type Case = fn(&Subject) -> Finding;

/// Name, what is expected, the capability without which the case makes no sense, and the case.
const CASES: [(&str, &str, Capability, Case); 18] = [
    (
        "pure",
        "the same plan for the same request",
        Capability::Run,
        |s| pure(s).into(),
    ),
    (
        "scratch",
        "with another scratch the same plan, but for the scratch's path",
        Capability::Run,
        |s| other_scratch(s).into(),
    ),
    (
        "steps",
        "steps with different names, a program and plain words",
        Capability::Run,
        |s| paths::steps(s).into(),
    ),
    (
        "cwd",
        "steps that run in a folder inside the root, given absolutely",
        Capability::Run,
        |s| paths::cwd(s).into(),
    ),
    ("files", "files for the scratch only", Capability::Run, |s| {
        paths::files(s).into()
    }),
    (
        "artifacts",
        "reports in the scratch or below the working folder, each with a name of its own",
        Capability::Run,
        |s| paths::artifacts(s).into(),
    ),
    (
        "bare-project",
        "a plan or an error where nothing is installed, never a panic",
        Capability::Run,
        |s| bare(s).into(),
    ),
    (
        "extra-args",
        "each word for the framework as one word, in order",
        Capability::Run,
        |s| ids::extra_args(s).into(),
    ),
    (
        "ids-plain",
        "an id with spaces, unicode or brackets as one word of the command line or one line of a file",
        Capability::Single,
        |s| ids::plain(s).into(),
    ),
    (
        "ids-shell",
        "an id with quotes, `$()` and the like as it is, never as text of a shell or of a program",
        Capability::Single,
        |s| ids::shell(s).into(),
    ),
    (
        "ids-colons",
        "`::` inside an id's parameters adds no word",
        Capability::Single,
        |s| ids::colons(s).into(),
    ),
    (
        "ids-options",
        "an id that looks like an option is refused, or not a word of its own",
        Capability::Single,
        |s| ids::options(s).into(),
    ),
    (
        "ids-lines",
        "an id with a line end is refused or one word, never two lines of a file",
        Capability::Single,
        |s| ids::lines(s).into(),
    ),
    (
        "ids-many",
        "20,000 ids in command lines that the system takes (below 1 MiB, words below 128 KiB), or in a file; all of them",
        Capability::Single,
        ids::many,
    ),
    (
        "keyword",
        "the expression as one word that is no option",
        Capability::Keyword,
        |s| ids::keyword(s).into(),
    ),
    (
        "workers",
        "a number of workers and a marker expression are refused or stand in the plan",
        Capability::Run,
        |s| ids::workers(s).into(),
    ),
    (
        "list",
        "a plan of its own that is as pure, inside the root and the scratch",
        Capability::List,
        |s| list(s).into(),
    ),
    (
        "max-failures",
        "the number somewhere in the plan",
        Capability::MaxFailures,
        |s| max_failures(s).into(),
    ),
];

pub(super) fn check(subject: &Subject, log: &mut CaseLog<'_>) {
    for (name, expected, needed, case) in CASES {
        if subject.can(needed) {
            log.hold(Group::Planning, name, expected, || case(subject));
        } else {
            log.add(Group::Planning, name, expected, lacks(needed));
        }
    }
    let expected = "the measured plan keeps the tests' steps and puts its own files into the scratch";
    if subject.can(Capability::Coverage) {
        log.hold(Group::Planning, "wrap", expected, || wrap(subject).into());
    } else {
        log.add(Group::Planning, "wrap", expected, lacks(Capability::Coverage));
    }
}

/// Why a case is not tried.
pub(super) fn lacks(capability: Capability) -> Finding {
    Finding::Skipped(format!(
        "it does not say that it can do `{}`",
        capability.as_str()
    ))
}

/// What came where a plan was expected.
fn refused(error: &BackendError) -> String {
    format!("refused: {error} ({})", error.code)
}

/// A short text of a plan that is not as it should be.
fn shown(words: &[String]) -> String {
    let text = format!("{words:?}");
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Requests whose plans must all be sound.
fn requests(subject: &Subject) -> Vec<RunRequest> {
    let mut requests = vec![subject.request(Mode::Run)];
    if subject.can(Capability::Single) {
        requests.push(subject.of_names(&["test_one".to_owned()]));
        requests.push(subject.of_names(&["test_one".to_owned(), "test_two".to_owned()]));
    }
    if subject.can(Capability::List) {
        requests.push(subject.request(Mode::List));
    }
    requests
}

fn plans(subject: &Subject) -> Result<Vec<Plan>, String> {
    let requests = requests(subject);
    let plans = requests.iter().map(|request| subject.plan(request));
    plans.map(|plan| plan.map_err(|error| refused(&error))).collect()
}

fn pure(subject: &Subject) -> Result<String, String> {
    let (first, second) = (plans(subject)?, plans(subject)?);
    for (first, second) in first.iter().zip(&second) {
        if first != second {
            return Err(format!("{first:?}, then {second:?}"));
        }
    }
    Ok(format!("{} requests planned twice alike", first.len()))
}

fn other_scratch(subject: &Subject) -> Result<String, String> {
    for mut request in requests(subject) {
        let first = subject.plan(&request).map_err(|error| refused(&error))?;
        request.scratch = scratch("other");
        let second = subject.plan(&request).map_err(|error| refused(&error))?;
        let text = |plan: &Plan| serde_json::to_string(plan).unwrap_or_default();
        let path = |word| scratch(word).to_string_lossy().into_owned();
        let moved = text(&first).replace(&path("1"), &path("other"));
        if moved != text(&second) {
            return Err(format!("{moved}, and {}", text(&second)));
        }
    }
    Ok("only the scratch's path differs".to_owned())
}

fn bare(subject: &Subject) -> Result<String, String> {
    let project = Project {
        root: subject.project.root.clone(),
        dir: subject.project.dir.clone(),
        ..Project::default()
    };
    match subject.backend.plan(&subject.request(Mode::Run), &project) {
        Ok(plan) if plan.steps.is_empty() => Err("a plan without a step".to_owned()),
        Ok(_) => Ok("a plan".to_owned()),
        Err(error) if error.message.trim().is_empty() => Err("an error without a word".to_owned()),
        Err(error) => Ok(refused(&error)),
    }
}

fn list(subject: &Subject) -> Result<String, String> {
    let plan = |mode| {
        let plan = subject.plan(&subject.request(mode));
        plan.map_err(|error| refused(&error))
    };
    let (listing, running) = (plan(Mode::List)?, plan(Mode::Run)?);
    if listing == running {
        return Err("the plan that runs the tests".to_owned());
    }
    if listing != plan(Mode::List)? {
        return Err("another plan the second time".to_owned());
    }
    let argv = listing
        .steps
        .first()
        .map(runner_core::plan::Step::argv)
        .unwrap_or_default();
    Ok(shown(&argv))
}

fn max_failures(subject: &Subject) -> Result<String, String> {
    let request = RunRequest {
        filters: Filters {
            max_failures: Some(7_777),
            ..Filters::default()
        },
        ..subject.request(Mode::Run)
    };
    let plan = subject.plan(&request).map_err(|error| refused(&error))?;
    let text = serde_json::to_string(&plan).unwrap_or_default();
    let argv = plan
        .steps
        .first()
        .map(runner_core::plan::Step::argv)
        .unwrap_or_default();
    if text.contains("7777") {
        Ok(shown(&argv))
    } else {
        Err(format!("no 7777 in {}", shown(&argv)))
    }
}

fn wrap(subject: &Subject) -> Result<String, String> {
    let request = subject.request(Mode::Run);
    let inner = subject.inner(&request).map_err(|error| refused(&error))?;
    let names: Vec<&String> = inner.steps.iter().map(|step| &step.name).collect();
    let measured = || {
        let plan = subject.backend.wrap(&request, &subject.project, inner.clone());
        plan.map_err(|error| refused(&error))
    };
    let plan = measured()?;
    let kept: Vec<&String> = plan
        .steps
        .iter()
        .map(|step| &step.name)
        .take(names.len())
        .collect();
    if kept != names {
        return Err(format!("steps {kept:?} instead of {names:?}"));
    }
    if plan != measured()? {
        return Err("another plan the second time".to_owned());
    }
    paths::sound(subject, &request, &plan)?;
    Ok(format!(
        "{} steps, {} reports",
        plan.steps.len(),
        plan.artifacts.len()
    ))
}
