//! The backend `pytest-events`: pytest with a tiny reporter of our own injected for the run.
//!
//! Nothing is installed in the project. The reporter (`reporter.py`, inside the binary) is laid into the scratch, loaded
//! with `-p`, and writes one line of JSON for each fact down a private channel: the child's standard input, one end of a
//! socket pair. So a test's prints can never become rows, rows arrive while tests run, and what was told before a death
//! stays told.

mod ending;
mod fact;
mod plan;
mod reader;
mod session;
mod stack;
mod trial;

use runner_core::backend::{
    BackendError, BackendInfo, OptionKind, OptionSpec, OutputReader, RunRequest, Shows, TestBackend,
};
use runner_core::facts::Project;
use runner_core::plan::Plan;

/// pytest with the injected reporter.
#[derive(Clone, Copy, Debug, Default)]
pub struct PytestEvents;

/// The backend's name in `backend = "…"`.
pub const NAME: &str = "pytest-events";

impl TestBackend for PytestEvents {
    fn info(&self) -> BackendInfo {
        let mut info = pytest_base::info(NAME);
        info.options.push(OptionSpec {
            name: plan::WARM.to_owned(),
            kind: OptionKind::Bool,
            about: "`false`: never run tests in a process that was started before they were asked for"
                .to_owned(),
        });
        info
    }

    fn plan(&self, request: &RunRequest, project: &Project) -> Result<Plan, BackendError> {
        plan::plan(request, project)
    }

    fn shows(&self, words: &[String]) -> Shows {
        pytest_base::shows(words)
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        Box::new(reader::Reader::new(request))
    }
}
