//! Coverage of Python code by coverage.py: puts `coverage run` around another backend's plan, and reads the report
//! that `coverage json` writes afterwards.
//!
//! The project's own coverage configuration (`.coveragerc`, `setup.cfg`, `tox.ini`, `pyproject.toml` in the working
//! folder) holds: branches, sources, omissions, path mappings. What it cannot spoil: where the data lies, that data
//! of several processes is brought together, and thresholds (`fail_under`), which are not what was asked.
//!
//! Rows are the wrapped backend's affair; this one's reader only ever reports coverage.

mod paths;
mod reader;
mod report;
mod wrap;

#[cfg(test)]
mod tests;

use runner_core::backend::{
    BackendError, BackendInfo, Capability, Need, OutputReader, RunRequest, TestBackend,
};
use runner_core::facts::Project;
use runner_core::plan::Plan;

/// The backend's name in `coverage = "…"`.
pub const NAME: &str = "coverage-py";

/// See the crate's documentation.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoveragePy;

impl TestBackend for CoveragePy {
    fn info(&self) -> BackendInfo {
        BackendInfo {
            name: NAME.to_owned(),
            framework: "coverage.py".to_owned(),
            language: "python".to_owned(),
            capabilities: [Capability::Coverage].into(),
            needs: vec![Need::Python, Need::PythonPackage(wrap::PACKAGE.to_owned())],
            options: Vec::new(),
        }
    }

    fn plan(&self, _request: &RunRequest, _project: &Project) -> Result<Plan, BackendError> {
        Err(BackendError::unsupported(NAME, Capability::Run)
            .with_hint("it measures the runs of another backend: `coverage = \"coverage-py\"` in the suite"))
    }

    fn wrap(&self, request: &RunRequest, project: &Project, inner: Plan) -> Result<Plan, BackendError> {
        wrap::wrap(request, project, inner)
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        Box::new(reader::Reader::new(request))
    }
}
