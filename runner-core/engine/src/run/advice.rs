//! What a run's end says of what surrounds the tests: a limit of the suite that was hit, a package that lies where they do not
//! look. Said beside the framework's own words, which do not know of either.

use std::path::Path;

use crate::project::synchronise;
use process::Limits;
use runner_core::event::{Ending, EndingKind};
use runner_core::facts::Project;
use runner_core::model::CollectionError;
use runner_core::plan::StepExit;
use runner_core::report::Iteration;

/// What is to be said of an iteration that is about to end, a sentence each. Where the framework did not come to its end, a
/// limit that was hit is the reason itself.
pub(super) fn of(
    iteration: &Iteration,
    output_tail: &str,
    ending: &mut Ending,
    limits: &Limits,
    project: &Project,
) -> Vec<String> {
    if !has_trouble(iteration) {
        return Vec::new();
    }
    let mut advice = Vec::new();
    if let Some(hit) = limit_hit(iteration, output_tail, limits) {
        if matches!(ending.kind, EndingKind::Broken | EndingKind::Cut) {
            let reason = ending
                .reason
                .take()
                .map_or_else(String::new, |reason| format!(" ({reason})"));
            ending.reason = Some(format!("{}{reason}", hit.what));
            ending.hint = Some(format!(
                "raise `{}` under `limits` of the suite in `qaas.toml`, or take it out",
                hit.key
            ));
        } else {
            advice.push(format!("{}: raise it in `qaas.toml`, or take it out", hit.what));
        }
    }
    let missing = missing_modules(iteration).into_iter();
    advice.extend(missing.filter_map(|name| lies_elsewhere(&name, project)));
    advice
}

/// A limit that was hit.
struct Hit {
    key: &'static str,
    what: String,
}

fn has_trouble(iteration: &Iteration) -> bool {
    let well = |exit: &StepExit| exit.code == Some(0) || exit.was_ended();
    iteration.has_failures() || !iteration.exits.iter().all(well)
}

/// Everything that may hold a word of the system: what failed, and the last of the output.
fn texts<'a>(iteration: &'a Iteration, output_tail: &'a str) -> impl Iterator<Item = &'a str> {
    let rows = iteration.rows.iter().filter(|row| row.outcome.is_bad());
    let rows = rows.filter_map(|row| row.message.as_deref());
    let collectors = iteration
        .collection_errors
        .iter()
        .map(|error| error.message.as_str());
    rows.chain(collectors).chain([output_tail])
}

/// The suite's limit that the run ran into, as far as the system's own words tell.
fn limit_hit(iteration: &Iteration, output_tail: &str, limits: &Limits) -> Option<Hit> {
    const SIGKILL: i32 = 9;
    const SIGXCPU: i32 = 24;
    const SIGXFSZ: i32 = 25;
    const MEMORY: [&str; 6] = [
        "MemoryError",
        "Cannot allocate memory",
        "failed to map segment from shared object",
        "cannot allocate memory",
        "memory allocation of",
        "out of memory",
    ];
    const PROCESSES: [&str; 3] = [
        "Resource temporarily unavailable",
        "can't start new thread",
        "fork: retry",
    ];
    let said = |words: &[&str]| {
        texts(iteration, output_tail).any(|text| words.iter().any(|word| text.contains(word)))
    };
    let signal = |wanted: i32| {
        let killed = |exit: &StepExit| exit.signal == Some(wanted) || exit.code == Some(128 + wanted);
        iteration
            .exits
            .iter()
            .any(|exit| killed(exit) && !exit.was_ended())
    };
    // Without a word of its own: a program that got no memory may die in any way, mostly before it can say anything.
    let speechless = iteration.rows.is_empty() && iteration.collection_errors.is_empty();
    let hit =
        |limit: Option<u64>, key: &'static str, shown: &dyn Fn(u64) -> String, sure: bool, likely: bool| {
            let limit = limit.filter(|_| sure || likely)?;
            let verb = if sure { "was" } else { "may have been" };
            Some(Hit {
                key,
                what: format!("the suite's limit `{key} = {}` {verb} hit", shown(limit)),
            })
        };
    let plain = |number: u64| number.to_string();
    let seconds = |number: u64| format!("\"{number}s\"");
    let bytes = |number: u64| format!("\"{}\"", size(number));
    let memory = said(&MEMORY) || signal(SIGKILL);
    hit(limits.memory_bytes, "memory", &bytes, memory, speechless)
        .or_else(|| hit(limits.cpu_seconds, "cpu", &seconds, signal(SIGXCPU), false))
        .or_else(|| {
            hit(
                limits.file_bytes,
                "file_size",
                &bytes,
                signal(SIGXFSZ) || said(&["File too large"]),
                false,
            )
        })
        .or_else(|| hit(limits.processes, "processes", &plain, said(&PROCESSES), false))
}

/// Bytes as they are written in `qaas.toml`.
fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let unit = UNITS
        .iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(
        || bytes.to_string(),
        |(unit, name)| format!("{}{name}", bytes / unit),
    )
}

/// Modules that Python did not find, by their outermost names.
fn missing_modules(iteration: &Iteration) -> Vec<String> {
    let collectors = iteration.collection_errors.iter().map(CollectionError::what);
    let failures = iteration.rows.iter().flat_map(|row| &row.failures);
    let failures = failures.filter_map(|failure| failure.summary.as_deref());
    let mut names: Vec<String> = collectors
        .chain(failures)
        .filter_map(|what| {
            let (_, name) = what.split_once("No module named '")?;
            let name = name.split(['\'', '.']).next()?;
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            (!name.is_empty() && name.chars().all(plain)).then(|| name.to_owned())
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A module of the project's own, where Python does not look.
fn lies_elsewhere(name: &str, project: &Project) -> Option<String> {
    let is_there = |folder: &Path| folder.join(name).is_dir() || folder.join(format!("{name}.py")).is_file();
    let folders = [
        ("src", project.dir.join("src")),
        ("lib", project.dir.join("lib")),
        (".", project.dir.clone()),
    ];
    let (place, _) = folders.iter().find(|(_, folder)| is_there(folder))?;
    let python = project.interpreter.as_ref()?.path.display().to_string();
    let installs = project.dir.join("pyproject.toml").is_file() || project.dir.join("setup.py").is_file();
    // These install the project itself with what it needs.
    let by_manager = project
        .manager
        .as_deref()
        .filter(|manager| matches!(*manager, "uv" | "poetry" | "pdm" | "hatch"))
        .and_then(synchronise);
    let install = by_manager.map_or_else(|| format!("{python} -m pip install -e ."), str::to_owned);
    let configure = format!("put `pythonpath = [\"{place}\"]` into pytest's configuration");
    let mend = if installs {
        format!("install the project for their interpreter (`{install}`), or {configure}")
    } else {
        configure
    };
    let whose = if *place == "." {
        "in the suite's folder".to_owned()
    } else {
        format!("in `{place}`")
    };
    Some(format!(
        "`{name}` lies {whose}, where the tests do not look for it: {mend}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use runner_core::event::ExitMeaning;
    use runner_core::facts::Interpreter;

    fn iteration(error: Option<&str>, exit: StepExit) -> Iteration {
        let error = error.map(|what| CollectionError {
            nodeid: "test_a.py".to_owned(),
            message: what.to_owned(),
            summary: Some(what.to_owned()),
            location: None,
        });
        let mut iteration = Iteration::default();
        iteration.collection_errors.extend(error);
        iteration.exits.push(exit);
        iteration
    }

    fn broken() -> Ending {
        Ending::because(EndingKind::Broken, ExitMeaning::Other, "the reporter never spoke")
    }

    #[test]
    fn a_limit_that_was_hit_is_the_reason_and_not_what_the_framework_could_not_say() {
        let limits = Limits {
            memory_bytes: Some(20_000_000),
            ..Limits::default()
        };
        let exit = StepExit {
            code: Some(1),
            ..StepExit::default()
        };
        for (tail, verb) in [
            (
                "ImportError: x.so: failed to map segment from shared object",
                "was",
            ),
            ("", "may have been"),
        ] {
            let mut ending = broken();
            of(
                &iteration(None, exit.clone()),
                tail,
                &mut ending,
                &limits,
                &Project::default(),
            );
            let reason =
                format!("the suite's limit `memory = \"20MB\"` {verb} hit (the reporter never spoke)");
            assert_eq!(ending.reason, Some(reason));
            assert!(ending.hint.unwrap().starts_with("raise `memory`"));
        }
        let mut ending = broken();
        of(
            &iteration(None, exit),
            "MemoryError",
            &mut ending,
            &Limits::default(),
            &Project::default(),
        );
        assert_eq!(ending, broken(), "no limit was set");
    }

    #[test]
    fn a_package_of_the_project_that_the_tests_do_not_find_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src/shop")).unwrap();
        std::fs::write(folder.path().join("pyproject.toml"), "").unwrap();
        let project = Project {
            dir: folder.path().to_owned(),
            interpreter: Some(Interpreter {
                path: ".venv/bin/python".into(),
                ..Interpreter::default()
            }),
            ..Project::default()
        };
        let exit = StepExit {
            code: Some(2),
            ..StepExit::default()
        };
        let say = |what: &str| {
            of(
                &iteration(Some(what), exit.clone()),
                "",
                &mut broken(),
                &Limits::default(),
                &project,
            )
        };
        let said = say("ModuleNotFoundError: No module named 'shop.cart'");
        assert_eq!(said.len(), 1);
        assert!(
            said[0].contains("`shop` lies in `src`") && said[0].contains("-m pip install -e ."),
            "{}",
            said[0]
        );
        assert!(say("ModuleNotFoundError: No module named 'requests'").is_empty());
    }
}
