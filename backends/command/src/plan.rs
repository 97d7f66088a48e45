//! From a request to command lines.

use std::path::{Path, PathBuf};

use runner_core::backend::{BackendError, Capability, Mode, RunRequest, UNSUPPORTED};
use runner_core::facts::Project;
use runner_core::plan::{Artifact, Dump, Plan, ScratchFile, StdoutUse, Step};
use runner_core::selector::Selector;

use crate::cargo::aim;
use crate::layout::{Asked, IDS_FILE, keyword, report_name, step_name};
use crate::selected::{Aim, Selected};
use crate::spec::{CoverageSpec, ReportPlace, Source, Spec, has, narrows};
use crate::template::Placeholder;
use crate::values::Values;

/// The most bytes of selected ids in one command line; a longer selection becomes several steps. Linux takes
/// 128 KiB in one word, and quoting for a pattern may double an id.
const STEP_BYTES: usize = 48 * 1024;

/// The signal that asks for stacks, from the end of the real-time ones: no test and no framework uses it by habit.
const FROM_RTMAX: u8 = 3;

/// The plan of a request.
pub(crate) fn plan(
    name: &str,
    spec: &Spec,
    request: &RunRequest,
    project: &Project,
    measured: Option<&CoverageSpec>,
) -> Result<Plan, BackendError> {
    let asked = asked(name, spec, request)?;
    check(name, &asked, request)?;
    let mut ids = words(request);
    if spec.cargo_targets {
        for id in &mut ids {
            id.aim = aim(id, &request.cwd, project)?;
        }
    }
    let by_file = has(asked.items, Placeholder::IdsFile);
    let groups = if by_file {
        vec![ids]
    } else {
        let groups = if has(asked.items, Placeholder::Target) {
            by_target(ids)
        } else {
            vec![ids]
        };
        groups.into_iter().flat_map(split).collect()
    };
    let many = groups.len() > 1;
    let fixed = matches!(&asked.report.source, Source::File(word) if word.placeholders().next().is_none());
    if many && (fixed || measured.is_some()) {
        return Err(BackendError::new(
            "too_many_ids",
            format!("the selection is too long for one command line of `{name}`"),
        )
        .with_hint("use {ids_file} in `run`, or {report} as the report's path"));
    }
    let mut plan = Plan {
        files: spec.files.clone(),
        ..Plan::default()
    };
    for (number, ids) in groups.into_iter().enumerate() {
        if by_file && !ids.is_empty() {
            plan.files.push(ScratchFile {
                path: IDS_FILE.into(),
                contents: ids.iter().map(|id| id.word.clone() + "\n").collect(),
            });
        }
        let mut values = Values::new(spec, &asked, request, project, ids, number);
        if let Some(coverage) = measured {
            values.measure(coverage, request, &mut plan)?;
        }
        add_step(&mut plan, name, spec, &asked, &values)?;
    }
    Ok(plan)
}

fn asked<'a>(name: &str, spec: &'a Spec, request: &RunRequest) -> Result<Asked<'a>, BackendError> {
    if request.mode == Mode::List {
        let list = spec
            .list
            .as_ref()
            .ok_or_else(|| BackendError::unsupported(name, Capability::List))?;
        return Ok(Asked {
            items: &list.items,
            report: &list.report,
        });
    }
    let one = matches!(request.selection.selectors.as_slice(), [Selector::Node { .. }]);
    let items = match &spec.single {
        Some(single) if one => single,
        _ => &spec.run,
    };
    Ok(Asked {
        items,
        report: &spec.report,
    })
}

/// Refuses what the command line has no place for: silently running something else would be a lie.
fn check(name: &str, asked: &Asked<'_>, request: &RunRequest) -> Result<(), BackendError> {
    let rows = [
        (
            keyword(request)?.is_some(),
            Placeholder::Keyword,
            "keyword expressions",
        ),
        (
            request.filters.markers.is_some(),
            Placeholder::Markers,
            "marker expressions",
        ),
        (
            request.filters.max_failures.is_some(),
            Placeholder::MaxFailures,
            "a number of failures to stop after",
        ),
        (
            request.filters.workers.is_some(),
            Placeholder::Workers,
            "a number of workers",
        ),
    ];
    for (wanted, placeholder, what) in rows {
        if wanted && request.mode == Mode::Run && !has(asked.items, placeholder) {
            return Err(
                BackendError::new(UNSUPPORTED, format!("backend `{name}` cannot take {what}"))
                    .with_hint("run without it, or name another backend with --backend NAME"),
            );
        }
    }
    let named = request
        .selection
        .selectors
        .iter()
        .any(|selector| !matches!(selector, Selector::Keyword { .. }));
    if named && !narrows(asked.items) && request.mode == Mode::Run {
        return Err(BackendError::new(
            UNSUPPORTED,
            format!("backend `{name}` runs all tests or none: its command has no place for ids"),
        )
        .with_hint("add {ids...}, {files...} or {regex_of_ids} to its `run`"));
    }
    // A pattern of ids and a keyword are both `-t` to jest and vitest: the later one would silently win.
    let pattern = has(asked.items, Placeholder::RegexOfIds)
        && request
            .selection
            .selectors
            .iter()
            .any(|s| matches!(s, Selector::Node { .. }));
    if pattern && keyword(request)?.is_some() {
        return Err(BackendError::new(
            UNSUPPORTED,
            format!("backend `{name}` takes ids or a keyword expression, not both"),
        )
        .with_hint("leave one of them out"));
    }
    Ok(())
}

fn words(request: &RunRequest) -> Vec<Selected> {
    let selected: Vec<Selected> = request
        .selection
        .selectors
        .iter()
        .filter_map(|selector| match selector {
            Selector::Path { path } => Some(Selected::whole(path)),
            Selector::Node { path, rest } => Some(Selected {
                word: selector.as_word(),
                file: path.clone(),
                name: Some(rest.strip_prefix("::").unwrap_or(rest).to_owned()),
                aim: Aim::default(),
            }),
            Selector::Keyword { .. } => None,
        })
        .collect();
    // The suite's paths narrow only a run that names nothing itself.
    if selected.is_empty() {
        return request.paths.iter().map(|path| Selected::whole(path)).collect();
    }
    selected
}

/// A step for each target of cargo's: its filters are those of all its targets. One group for every other command.
fn by_target(ids: Vec<Selected>) -> Vec<Vec<Selected>> {
    let mut groups: Vec<Vec<Selected>> = Vec::new();
    let is_like = |one: &Selected, other: &Selected| {
        let filters = [one, other].map(|id| std::mem::discriminant(&id.aim.filter));
        one.aim.target == other.aim.target && filters[0] == filters[1]
    };
    for id in ids {
        match groups.iter_mut().find(|group| is_like(&group[0], &id)) {
            Some(group) => group.push(id),
            None => groups.push(vec![id]),
        }
    }
    if groups.is_empty() {
        vec![Vec::new()]
    } else {
        groups
    }
}

fn split(ids: Vec<Selected>) -> Vec<Vec<Selected>> {
    let mut groups = vec![Vec::new()];
    let mut size = 0;
    for id in ids {
        size += id.word.len() + 1;
        if size > STEP_BYTES && groups.last().is_some_and(|group| !group.is_empty()) {
            groups.push(Vec::new());
            size = id.word.len() + 1;
        }
        groups.last_mut().expect("there is always one").push(id);
    }
    groups
}

fn add_step(
    plan: &mut Plan,
    name: &str,
    spec: &Spec,
    asked: &Asked<'_>,
    values: &Values,
) -> Result<(), BackendError> {
    let mut words = values.argv(asked.items)?.into_iter();
    let program = words.next().ok_or_else(|| {
        BackendError::new("no_interpreter", "no Python interpreter was found for this suite")
    })?;
    let program = program_path(program, values);
    let mut launcher: Vec<String> = words.collect();
    let args = launcher.split_off(launcher_words(&program, &launcher, values));
    let env = spec
        .env
        .iter()
        .map(|(name, word)| (name.clone(), values.text(word)));
    let mut step = Step {
        name: step_name(name, values.number),
        program,
        launcher,
        args,
        env: env.collect(),
        cwd: values.cwd.clone(),
        on_deadline: spec.stacks.as_ref().map(|prefix| Dump {
            from_rtmax: FROM_RTMAX,
            folder: values.scratch.clone(),
            prefix: prefix.clone(),
        }),
        always: values.number > 0,
        ..Step::default()
    };
    take_report(plan, &mut step, asked.report, values);
    plan.steps.push(step);
    Ok(())
}

/// Where the program is: as the project has it, or a path that the table gives, or a name for PATH.
fn program_path(program: String, values: &Values) -> PathBuf {
    match values.program.get(&program) {
        Some(path) => path.clone(),
        None if program.contains('/') => values.cwd.join(program),
        None => program.into(),
    }
}

/// How many words after the program only launch another: a coverage backend puts its own launcher in their place, and
/// expects what it measures (`-m pytest`, `script.py`) there and not among the arguments.
fn launcher_words(program: &Path, words: &[String], values: &Values) -> usize {
    if values.python.as_ref().is_none_or(|python| python != program) {
        return 0;
    }
    let launcher = match words.first().map(String::as_str) {
        Some("-m") => 2,
        Some(script) if Path::new(script).extension().is_some_and(|end| end == "py") => 1,
        _ => 0,
    };
    launcher.min(words.len())
}

/// Says in the plan where the step's report is to be had from.
fn take_report(plan: &mut Plan, step: &mut Step, report: &ReportPlace, values: &Values) {
    let name = report_name(values.number);
    let path = match &report.source {
        Source::Channel => {
            step.channel = true;
            return;
        }
        Source::Stdout if report.format.streams() => return,
        Source::Stdout => {
            step.stdout = StdoutUse::File(name.clone());
            let path = values.single.get(Placeholder::Report.name());
            PathBuf::from(path.cloned().unwrap_or_default())
        }
        Source::File(word) => values.cwd.join(values.text(word).unwrap_or_default()),
    };
    plan.artifacts.push(Artifact { name, path });
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
