//! pytest's command lines with the reporter loaded.

use std::collections::BTreeMap;

use pytest_base::{base_plan, option_words, wants_terminal};
use runner_core::backend::{BackendError, Filters, Mode, RunRequest};
use runner_core::facts::Project;
use runner_core::plan::{Artifact, Dump, Park, Plan, ScratchFile};
use runner_core::selector::Selection;

/// The reporter's module name, which is also its file's.
const MODULE: &str = "qaas_reporter";

/// A folder of its own inside the scratch: it is on the import path while pytest starts, and nothing else may be.
const FOLDER: &str = "reporter";

/// Tells the reporter to speak: the run's nonce and the step's name. It removes the variable at once.
const MARKER: &str = "QAAS_REPORTER";

/// Tells the reporter of a terminal: whether to take it at once or in a debugger only, and its path.
const TERMINAL: &str = "QAAS_TERMINAL";

/// Behind the step's name in the marker: what passing tests print is told.
const PRINTS: &str = " +prints";

/// The artifact with the running test's phase, one byte of shared memory.
pub(crate) const PHASE: &str = "phase";

/// `stack-PID` in the scratch, one for each process that can be asked for its stack.
const STACK_PREFIX: &str = "stack-";

/// Must be what `reporter.py` registers.
const FROM_RTMAX: u8 = 3;

/// What makes a pytest wait, beside the reporter.
const PARK_MODULE: &str = "qaas_park";

/// Tells the reporter to have pytest wait. It removes the variable at once.
const PARK_MARKER: &str = "QAAS_PARK";

/// The suite's option that switches it off.
pub(crate) const WARM: &str = "warm";

const PARK: &str = include_str!("park.py");

const REPORTER: &str = include_str!("reporter.py");

pub(crate) fn plan(request: &RunRequest, project: &Project) -> Result<Plan, BackendError> {
    // No `-q`, `-v`, `--tb`: they belong to the terminal plug-in, and a project may have switched that off.
    let mut plan = base_plan(request, project, &["-p".to_owned(), MODULE.to_owned()])?;
    plan.files.push(ScratchFile {
        path: format!("{FOLDER}/{MODULE}.py").into(),
        contents: REPORTER.to_owned(),
    });
    plan.artifacts.push(Artifact {
        name: PHASE.to_owned(),
        path: request.scratch.join(PHASE),
    });
    let folder = request.scratch.join(FOLDER).to_string_lossy().into_owned();
    let park = park(request, project);
    if park.is_some() {
        plan.files.push(ScratchFile {
            path: format!("{FOLDER}/{PARK_MODULE}.py").into(),
            contents: PARK.to_owned(),
        });
    }
    let lone = plan.steps.len() == 1;
    for step in &mut plan.steps {
        step.park = park.clone().filter(|_| lone);
        step.channel = true;
        step.env.insert(
            MARKER.to_owned(),
            Some(format!("{} {}{}", request.nonce, step.name, prints(request))),
        );
        if let Some(terminal) = request.terminal.as_ref().and_then(|path| path.to_str()) {
            let now = wants_terminal(&request.filters.extra_args);
            let when = if now { "now" } else { "debugger" };
            step.env
                .insert(TERMINAL.to_owned(), Some(format!("{when} {terminal}")));
        }
        step.env_prepend.insert("PYTHONPATH".to_owned(), folder.clone());
        step.on_deadline = Some(Dump {
            from_rtmax: FROM_RTMAX,
            folder: request.scratch.clone(),
            prefix: STACK_PREFIX.to_owned(),
        });
    }
    Ok(plan)
}

/// Whoever wants failures whole wants to see what a test that passes prints, too.
fn prints(request: &RunRequest) -> &'static str {
    if request.filters.full_texts { PRINTS } else { "" }
}

/// What a pytest is started with that waits for a selection: what every run of the suite has. The expressions of `-k` and
/// `-m` and the number of failures to stop after mean nothing before the tests are collected, so they may come later;
/// everything else that pytest could be told makes another start of it.
fn park(request: &RunRequest, project: &Project) -> Option<Park> {
    let warm = request.options.get(WARM).and_then(serde_json::Value::as_bool);
    let filters = &request.filters;
    let usual = request.mode == Mode::Run && filters.workers.is_none() && filters.extra_args.is_empty();
    if warm == Some(false) || !usual {
        return None;
    }
    let any = RunRequest {
        selection: Selection::default(),
        paths: Vec::new(),
        filters: Filters {
            full_texts: filters.full_texts,
            ..Filters::default()
        },
        ..request.clone()
    };
    // No file: should pytest not wait, it has nothing to run.
    let nothing = request.scratch.join("nothing-was-ordered");
    let last = ["-p", MODULE].map(str::to_owned);
    let mut args = option_words(&any, project, &last);
    args.push(nothing.to_string_lossy().into_owned());
    Some(Park {
        args,
        env: BTreeMap::from([(PARK_MARKER.to_owned(), "1".to_owned())]),
    })
}

#[cfg(test)]
mod tests {
    use runner_core::backend::Mode;
    use runner_core::facts::Interpreter;

    use super::*;

    #[test]
    fn the_reporter_is_loaded_from_the_scratch_and_speaks_over_the_channel() {
        let project = Project {
            interpreter: Some(Interpreter {
                path: "/r/.venv/bin/python".into(),
                ..Interpreter::default()
            }),
            ..Project::default()
        };
        let mut request = RunRequest::new(Mode::Run, "/r", "/s");
        request.nonce = "n1".into();
        let plan = plan(&request, &project).unwrap();
        let step = &plan.steps[0];
        assert_eq!(
            step.argv(),
            ["/r/.venv/bin/python", "-m", "pytest", "-p", "qaas_reporter"]
        );
        assert!(step.channel);
        assert_eq!(step.env["QAAS_REPORTER"].as_deref(), Some("n1 pytest"));
        assert_eq!(step.env_prepend["PYTHONPATH"], "/s/reporter");
        assert_eq!(
            plan.files[0].path,
            std::path::Path::new("reporter/qaas_reporter.py")
        );
    }

    #[test]
    fn the_reporter_and_the_plan_agree_on_names() {
        assert!(REPORTER.contains(&format!("os.environ.pop(\"{MARKER}\"")));
        assert!(REPORTER.contains(&format!("os.environ.pop(\"{PARK_MARKER}\"")));
        assert!(REPORTER.contains(&format!("os.environ.pop(\"{TERMINAL}\"")));
        assert!(REPORTER.contains(&format!("endswith(\"{PRINTS}\")")));
        assert!(REPORTER.contains(&format!("import {PARK_MODULE}")));
        assert!(REPORTER.contains(&format!("signal.SIGRTMAX - {FROM_RTMAX}")));
        assert!(REPORTER.contains(&format!("\"{STACK_PREFIX}%d\"")));
        assert!(REPORTER.contains(&format!("os.path.join(SCRATCH, \"{PHASE}\")")));
    }

    #[test]
    fn pytest_must_not_rewrite_the_reporter() {
        for module in [REPORTER, PARK] {
            let docstring = module.split("\"\"\"").nth(1).unwrap();
            assert!(docstring.contains("PYTEST_DONT_REWRITE"));
        }
    }

    #[test]
    fn a_waiting_pytest_has_all_options_of_the_suite_and_nothing_to_run() {
        let mut request = RunRequest::new(Mode::Run, "/r", "/s");
        let options = serde_json::json!({"args": ["--strict-markers"]});
        request.options = options.as_object().unwrap().clone();
        request.paths = vec!["tests".to_owned()];
        request.filters.keyword = Some("fast".to_owned());
        request.filters.max_failures = Some(1);
        let park = park(&request, &Project::default()).unwrap();
        assert_eq!(
            park.args,
            ["--strict-markers", "-p", MODULE, "/s/nothing-was-ordered"]
        );
        assert_eq!(park.env[PARK_MARKER], "1");
    }

    #[test]
    fn what_makes_another_start_of_pytest_is_not_waited_for() {
        let usual = RunRequest::new(Mode::Run, "/r", "/s");
        let mut off = usual.clone();
        off.options.insert(WARM.to_owned(), false.into());
        let mut parallel = usual.clone();
        parallel.filters.workers = Some("2".to_owned());
        let mut typed = usual.clone();
        typed.filters.extra_args = vec!["--pdb".to_owned()];
        let listing = RunRequest::new(Mode::List, "/r", "/s");
        for request in [off, parallel, typed, listing] {
            assert_eq!(park(&request, &Project::default()), None, "{request:?}");
        }
        assert!(park(&usual, &Project::default()).is_some());
    }
}
