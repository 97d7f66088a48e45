//! What a backend says of itself, and that it keeps to it.

use std::collections::BTreeSet;

use super::case_log::{CaseLog, Finding, Group};
use super::subject::Subject;
use runner_core::backend::{BackendError, Capability, Filters, Mode, Need, RunRequest, is_name};
use runner_core::plan::Plan;
use runner_core::selector::{Selection, Selector};

pub(super) fn check(subject: &Subject, log: &mut CaseLog<'_>) {
    let mut hold = |name, expected, case: fn(&Subject) -> Finding| {
        log.hold(Group::Claims, name, expected, || case(subject));
    };
    hold(
        "name",
        "a name of 1 to 64 letters, digits, `-`, `_` and `.`, the same each time",
        |subject| name(subject).into(),
    );
    hold(
        "capabilities",
        "`run` or `coverage`; nothing that goes with runs without `run`",
        |subject| capabilities(subject).into(),
    );
    hold("needs", "needs that name something", |subject| {
        needs(subject).into()
    });
    hold(
        "options",
        "options with different names, each explained",
        |subject| options(subject).into(),
    );
    hold(
        "declared",
        "a plan for everything that it says it can",
        |subject| declared(subject).into(),
    );
    hold(
        "absent",
        "what it does not say it can is refused in words, before anything starts",
        |subject| absent(subject).into(),
    );
}

fn name(subject: &Subject) -> Result<String, String> {
    let name = &subject.info.name;
    if !is_name(name) {
        return Err(format!("{name:?}"));
    }
    let again = subject.backend.info();
    if again != subject.info {
        return Err(format!("{:?}, then {again:?}", subject.info));
    }
    Ok(name.clone())
}

fn capabilities(subject: &Subject) -> Result<String, String> {
    let words: Vec<&str> = subject.info.capabilities.iter().map(|c| c.as_str()).collect();
    let came = words.join(", ");
    let run = subject.can(Capability::Run);
    let with_run = [
        Capability::Single,
        Capability::Keyword,
        Capability::Stream,
        Capability::MaxFailures,
    ];
    if !run && (!subject.can(Capability::Coverage) || with_run.iter().any(|c| subject.can(*c))) {
        return Err(if came.is_empty() {
            "none at all".to_owned()
        } else {
            came
        });
    }
    Ok(came)
}

fn needs(subject: &Subject) -> Result<String, String> {
    let empty = |need: &&Need| match need {
        Need::Python => false,
        Need::PythonPackage(name) | Need::Program(name) | Need::NodePackage(name) => name.trim().is_empty(),
    };
    match subject.info.needs.iter().find(empty) {
        Some(need) => Err(format!("{need:?}")),
        None => Ok(format!("{} needs", subject.info.needs.len())),
    }
}

fn options(subject: &Subject) -> Result<String, String> {
    let mut names = BTreeSet::new();
    for option in &subject.info.options {
        if option.name.trim().is_empty() || option.about.trim().is_empty() {
            return Err(format!(
                "option {:?} without a name or an explanation",
                option.name
            ));
        }
        if !names.insert(&option.name) {
            return Err(format!("`{}` twice", option.name));
        }
    }
    Ok(format!("{} options", names.len()))
}

/// A request for each capability.
fn requests(subject: &Subject) -> Vec<(Capability, RunRequest)> {
    let run = || subject.request(Mode::Run);
    vec![
        (Capability::Run, run()),
        (Capability::List, subject.request(Mode::List)),
        (Capability::Single, subject.of_names(&["test_one".to_owned()])),
        (
            Capability::Keyword,
            RunRequest {
                filters: Filters {
                    keyword: Some("one".to_owned()),
                    ..Filters::default()
                },
                ..run()
            },
        ),
        (
            Capability::Keyword,
            RunRequest {
                selection: Selection {
                    selectors: vec![Selector::Keyword {
                        expression: "one".to_owned(),
                    }],
                },
                ..run()
            },
        ),
        (
            Capability::MaxFailures,
            RunRequest {
                filters: Filters {
                    max_failures: Some(1),
                    ..Filters::default()
                },
                ..run()
            },
        ),
    ]
}

fn asked(subject: &Subject) -> Vec<(Capability, Result<Plan, BackendError>)> {
    let requests = requests(subject).into_iter();
    let mut asked: Vec<_> = requests
        .map(|(capability, request)| (capability, subject.plan(&request)))
        .collect();
    let request = subject.request(Mode::Run);
    if let Ok(inner) = subject.inner(&request) {
        let wrapped = subject.backend.wrap(&request, &subject.project, inner);
        asked.push((Capability::Coverage, wrapped));
    }
    asked
}

fn declared(subject: &Subject) -> Result<String, String> {
    let mut planned = BTreeSet::new();
    for (capability, plan) in asked(subject) {
        if !subject.can(capability) {
            continue;
        }
        let plan = plan.map_err(|error| format!("`{}`: {} ({})", capability.as_str(), error, error.code))?;
        if plan.steps.is_empty() {
            return Err(format!("`{}`: a plan without a step", capability.as_str()));
        }
        planned.insert(capability.as_str());
    }
    Ok(format!("plans for {}", Vec::from_iter(planned).join(", ")))
}

fn absent(subject: &Subject) -> Result<String, String> {
    let mut refused = BTreeSet::new();
    for (capability, plan) in asked(subject) {
        if subject.can(capability) {
            continue;
        }
        match plan {
            Ok(plan) => {
                let argv = plan
                    .steps
                    .first()
                    .map(runner_core::plan::Step::argv)
                    .unwrap_or_default();
                return Err(format!("`{}` was planned: {argv:?}", capability.as_str()));
            }
            Err(error) if error.message.trim().is_empty() || error.code.trim().is_empty() => {
                return Err(format!("`{}` was refused without a word", capability.as_str()));
            }
            Err(_) => refused.insert(capability.as_str()),
        };
    }
    Ok(match refused.len() {
        0 => "nothing is absent".to_owned(),
        _ => format!("refused: {}", Vec::from_iter(refused).join(", ")),
    })
}
