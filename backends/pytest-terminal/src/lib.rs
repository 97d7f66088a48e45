//! Plain pytest, read from its text. Needs nothing beside pytest itself.
//!
//! The grammar and its cross-checks are in [`pytest_base::text`]; what text cannot tell is in `docs/outcomes.md`.

use pytest_base::text::{self, TextReader};
use runner_core::backend::{BackendError, BackendInfo, OutputReader, RunRequest, Shows, TestBackend};
use runner_core::facts::Project;
use runner_core::plan::Plan;

/// The backend `pytest-terminal`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PytestTerminal;

impl TestBackend for PytestTerminal {
    fn info(&self) -> BackendInfo {
        pytest_base::info("pytest-terminal")
    }

    fn plan(&self, request: &RunRequest, project: &Project) -> Result<Plan, BackendError> {
        text::plan(request, project, &[])
    }

    fn shows(&self, words: &[String]) -> Shows {
        pytest_base::shows(words)
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        Box::new(TextReader::new(request))
    }
}
