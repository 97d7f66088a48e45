//! What a run of each suite would be, for `qaas check`: backend, interpreter, command line. Executes nothing.

use std::path::Path;

use super::{OpError, Workspace, resolve};
use engine::config::Suite;
use engine::project;
use runner_core::backend::{BackendError, Mode, NOT_STARTED, RunRequest};
use runner_core::facts::Interpreter;
use runner_core::plan::Step;

/// One suite, planned or not.
#[derive(Debug)]
pub struct SuiteCheck {
    pub suite: String,
    pub plan: Result<SuitePlan, OpError>,
}

/// What a run of everything in a suite would start.
#[derive(Debug)]
pub struct SuitePlan {
    pub backend: String,
    /// `None` for a backend that has nothing to do with Python.
    pub interpreter: Option<Interpreter>,
    /// Command line of the first step. Empty where only the run itself can tell.
    pub argv: Vec<String>,
    /// Preferred backends that cannot be used, and what is to be said of every run of this one.
    pub notes: Vec<String>,
}

/// Plans every suite, configured or detected.
///
/// # Errors
/// For a `qaas.toml` that cannot be used.
pub fn check(workspace: &Workspace) -> Result<Vec<SuiteCheck>, OpError> {
    let suites = project::suites(&workspace.root, workspace.settings()?, &workspace.registry);
    let checked = suites.into_iter().map(|suite| SuiteCheck {
        suite: suite.name.clone(),
        plan: plan(workspace, suite),
    });
    Ok(checked.collect())
}

fn plan(workspace: &Workspace, mut suite: Suite) -> Result<SuitePlan, OpError> {
    resolve::check_paths(workspace, &suite)?;
    let (_, cwd) = resolve::place(workspace, &mut suite, None)?;
    let project = resolve::discover(workspace, &suite, &cwd)?;
    let choice = resolve::backend(workspace, &suite, &project)?;
    let info = choice.backend.info();
    let mut notes = choice.passed_over;
    notes.extend(workspace.notes_of(&info.name));
    let request = RunRequest {
        options: suite.options.clone(),
        paths: suite.paths.clone(),
        ..RunRequest::new(Mode::Run, &cwd, Path::new("SCRATCH"))
    };
    let argv = match choice.backend.plan(&request, &project) {
        Ok(plan) => plan.steps.first().map(Step::argv).unwrap_or_default(),
        // A plug-in plans when it runs.
        Err(error) if error.code == NOT_STARTED => {
            notes.push("a plug-in: its command line is known when it runs".to_owned());
            Vec::new()
        }
        Err(error) => return Err(refused(error)),
    };
    Ok(SuitePlan {
        interpreter: project.interpreter.filter(|_| info.uses_python()),
        backend: info.name,
        argv,
        notes,
    })
}

fn refused(error: BackendError) -> OpError {
    OpError::bad_argument(error.message).with_hint(error.hint.unwrap_or_default())
}
