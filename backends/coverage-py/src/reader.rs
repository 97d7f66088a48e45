//! Reads what the measuring left.

use runner_core::backend::{BackendError, OutputReader, RunRequest};
use runner_core::event::{Ending, ExitMeaning, TestEvent};
use runner_core::plan::{Artifacts, Lines, StepExit, Stream};

use crate::paths::Filter;
use crate::report;
use crate::wrap::REPORT;

/// As many of the last lines as say why there is no report.
const KEPT_LINES: usize = 5;

pub(crate) struct Reader {
    filter: Filter,
    workers: Option<String>,
    /// The last lines that `coverage combine` and `coverage json` printed.
    said: Vec<String>,
}

impl Reader {
    pub(crate) fn new(request: &RunRequest) -> Self {
        Self {
            filter: Filter::new(request),
            workers: request.filters.workers.clone(),
            said: Vec::new(),
        }
    }

    fn no_report(&self, why: &str) -> BackendError {
        let said = self.said.join("; ");
        if said.contains("No module named") && said.contains("coverage") {
            return BackendError::new(
                "missing_package",
                format!("coverage is not installed ({said}); do not estimate coverage from reading the code"),
            )
            .with_hint("install `coverage` into the environment that runs the tests, and ask again");
        }
        let because = if said.is_empty() {
            String::new()
        } else {
            format!(": {said}")
        };
        BackendError::new("no_report", format!("coverage.py left no report: {REPORT} {why}{because}")).with_hint(
            "a process that ends without Python's leave (`os._exit`, a crash) takes its data along, and code that \
             runs in no measured process leaves none",
        )
    }
}

impl OutputReader for Reader {
    /// Lines of this backend's own steps; those of the tests are their backend's.
    fn read(&mut self, lines: &Lines, _events: &mut Vec<TestEvent>) {
        if lines.stream == Stream::Channel {
            return;
        }
        let told = lines.lines.iter().map(|line| line.trim());
        // What goes well is told on every run: "Combined data file …", "Wrote JSON report to …".
        let told = told
            .filter(|line| !line.is_empty() && !line.starts_with("Combined ") && !line.starts_with("Wrote "));
        self.said.extend(told.map(str::to_owned));
        let extra = self.said.len().saturating_sub(KEPT_LINES);
        self.said.drain(..extra);
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        // Cut short by a time limit or a cancel, there is no report, and everybody knows why.
        if exits.iter().any(|exit| exit.timed_out || exit.cancelled) {
            return Ok(Ending::completed(ExitMeaning::Other));
        }
        let bytes = files.bytes(REPORT).map_err(|why| self.no_report(&why))?;
        let coverage = report::read(bytes, &self.filter).map_err(|error| {
            BackendError::new(
                "bad_report",
                format!("coverage.py's report cannot be read: {error}"),
            )
            .with_hint("a test or a plug-in may have written over it; coverage 5 or later is needed")
        })?;
        if let Some(workers) = &self.workers {
            events.push(TestEvent::Warning {
                message: format!(
                    "`-n {workers}` was not used: the tests ran in one process, which can be measured"
                ),
            });
        }
        events.push(TestEvent::Coverage(coverage));
        Ok(Ending::completed(ExitMeaning::Ok))
    }
}
