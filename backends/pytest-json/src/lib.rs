//! pytest with the plug-in pytest-json-report.
//!
//! The plug-in writes its report once, at the very end. So pytest's text is read as well ([`pytest_base::text`]): its
//! rows go out while the tests run and are the report where the file is missing, cut, reshaped by the project, or
//! disagrees with what pytest printed.

mod report;

use pytest_base::text::{self, TextReader};
use runner_core::backend::{
    BackendError, BackendInfo, Mode, Need, OutputReader, RunRequest, Shows, TestBackend,
};
use runner_core::event::{Ending, EndingKind, TestEvent};
use runner_core::facts::Project;
use runner_core::plan::{Artifact, Artifacts, Lines, Plan, StepExit};

/// Switches the plug-in on.
const SWITCH: &str = "--json-report";

/// The plug-in is loaded by name, which works with and without pytest's own loading of plug-ins. Left out of the report:
/// what is read from the text anyway, and the log records, because they are caught with a handler on the root logger,
/// which changes what tests of logging see.
const OPTIONS: [&str; 9] = [
    "-p",
    "pytest_jsonreport",
    "--json-report-omit",
    "log",
    "keywords",
    "warnings",
    "traceback",
    "streams",
    SWITCH,
];

/// The backend `pytest-json`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PytestJson;

impl TestBackend for PytestJson {
    fn info(&self) -> BackendInfo {
        let mut info = pytest_base::info("pytest-json");
        info.needs
            .push(Need::PythonPackage("pytest-json-report".to_owned()));
        info
    }

    fn plan(&self, request: &RunRequest, project: &Project) -> Result<Plan, BackendError> {
        let mut plan = text::plan(request, project, &OPTIONS)?;
        if request.mode == Mode::List {
            return Ok(plan);
        }
        for (number, step) in plan.steps.iter_mut().enumerate() {
            let name = artifact(number);
            let path = request.scratch.join(file_name(&request.nonce, number));
            // The last option given counts: behind the suite's and the caller's own, in front of the selectors.
            let place = step
                .args
                .iter()
                .rposition(|word| word == SWITCH)
                .map_or(0, |at| at + 1);
            step.args
                .insert(place, format!("--json-report-file={}", path.display()));
            plan.artifacts.push(Artifact { name, path });
        }
        Ok(plan)
    }

    fn shows(&self, words: &[String]) -> Shows {
        pytest_base::shows(words)
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        Box::new(Reader(TextReader::new(request)))
    }
}

fn artifact(number: usize) -> String {
    format!("report {}", number + 1)
}

/// The nonce keeps a test that writes reports of its own, or an older run's file, from being taken for this run's.
fn file_name(nonce: &str, number: usize) -> String {
    format!("report-{nonce}-{}.json", number + 1)
}

struct Reader(TextReader);

impl OutputReader for Reader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        self.0.read(lines, events);
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        let mut warnings = Vec::new();
        let exact = |step: usize| {
            let bytes = files.bytes(&artifact(step));
            bytes
                .and_then(report::read)
                .map_err(|why| warnings.push(why))
                .ok()
        };
        let ending = self.0.settle(exits, exact, events);
        // Why a run that did not reach its end has no report needs no telling.
        if matches!(ending.kind, EndingKind::Completed | EndingKind::Stopped) {
            events.extend(warnings.into_iter().map(|why| TestEvent::Warning {
                message: format!(
                    "the report of pytest-json-report {why}; rows are read from pytest's output"
                ),
            }));
        }
        Ok(ending)
    }
}
