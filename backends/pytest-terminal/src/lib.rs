//! Plain pytest, read from its text. Needs nothing beside pytest itself.
//!
//! The grammar and its cross-checks are in [`pytest_base::text`]; what text cannot tell is in `docs/outcomes.md`.

use std::collections::BTreeSet;

use pytest_base::text::{self, TextReader};
use runner_core::backend::{
    BackendError, BackendInfo, Capability, Mode, OutputReader, RunRequest, TestBackend,
};
use runner_core::event::{Ending, TestEvent};
use runner_core::facts::Project;
use runner_core::plan::{Artifacts, Lines, Plan, StepExit};

/// The backend `pytest-terminal`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PytestTerminal;

impl TestBackend for PytestTerminal {
    fn info(&self) -> BackendInfo {
        BackendInfo {
            name: "pytest-terminal".to_owned(),
            framework: "pytest".to_owned(),
            language: "python".to_owned(),
            capabilities: BTreeSet::from([
                Capability::Run,
                Capability::List,
                Capability::Single,
                Capability::Keyword,
                Capability::Stream,
                Capability::MaxFailures,
            ]),
            needs: pytest_base::needs(),
            options: pytest_base::option_specs(),
        }
    }

    fn plan(&self, request: &RunRequest, project: &Project) -> Result<Plan, BackendError> {
        let version = pytest_base::pytest_version(project);
        let last = match request.mode {
            Mode::Run => text::run_arguments(version),
            Mode::List => text::list_arguments(version),
        };
        let mut plan = pytest_base::base_plan(request, project, &last)?;
        for step in &mut plan.steps {
            text::unbuffered(step);
        }
        Ok(plan)
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        Box::new(Reader(TextReader::new(request)))
    }
}

struct Reader(TextReader);

impl OutputReader for Reader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        self.0.read(lines, events);
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        _files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        Ok(self.0.finish(exits, |_| None, events))
    }
}
