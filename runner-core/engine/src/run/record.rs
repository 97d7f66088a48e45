//! The record of one run: every event passes here, is cleaned, folded, stored and handed to the caller.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use tokio::time::Instant;

use super::EventSink;
use super::clean::Cleaner;
use super::output::Output;
use crate::store::{RunFolder, Store};
use runner_core::event::{RunEvent, StopReason, TestEvent};
use runner_core::facts::RunFacts;
use runner_core::report::{Report, SharedReport};

pub(super) struct Record<'a> {
    sink: Option<EventSink<'a>>,
    cleaner: Cleaner,
    report: SharedReport,
    folder: Option<RunFolder>,
    started: Instant,
    begun: bool,
    ended: bool,
}

impl<'a> Record<'a> {
    pub(super) fn new(report: SharedReport, sink: EventSink<'a>, cleaner: Cleaner) -> Self {
        Self {
            sink: Some(sink),
            cleaner,
            report,
            folder: None,
            started: Instant::now(),
            begun: false,
            ended: false,
        }
    }

    /// Opens the record. Without a usable store the run goes on unrecorded, with a warning.
    pub(super) fn begin(&mut self, facts: RunFacts, store: Option<&Store>) {
        let folder = store.map(|store| store.begin(&facts));
        let problem = match folder {
            Some(Ok(folder)) => {
                self.folder = Some(folder);
                None
            }
            Some(Err(error)) => Some(error),
            None => None,
        };
        self.begun = true;
        self.emit(RunEvent::Started(Box::new(facts)));
        if let Some(error) = problem {
            self.warn(format!("this run is not stored: {error}"));
        }
    }

    /// Takes in one event.
    pub(super) fn emit(&mut self, mut event: RunEvent) {
        self.cleaner.event(&mut event);
        self.report.add(&event);
        if let Some(folder) = &mut self.folder {
            folder.append(&event);
        }
        // A caller that panics loses its events, not the run its end.
        if let Some(sink) = &mut self.sink
            && self
                .report
                .look(|report| catch_unwind(AssertUnwindSafe(|| sink(&event, report))))
                .is_err()
        {
            self.sink = None;
        }
        let problem = self.folder.as_mut().and_then(RunFolder::take_problem);
        if let Some(why) = problem {
            self.warn(format!("the stored record of this run ends early: {why}"));
        }
    }

    pub(super) fn warn(&mut self, message: String) {
        self.emit(RunEvent::Warning { message });
    }

    pub(super) fn tests(&mut self, iteration: u32, tests: impl IntoIterator<Item = TestEvent>) {
        for test in tests {
            self.emit(RunEvent::Test { iteration, test });
        }
    }

    pub(super) fn output(&mut self, output: &mut Output, lines: &[String]) {
        output.lines(lines, &mut self.cleaner, self.folder.as_mut());
    }

    pub(super) fn output_tail(&mut self, output: Output) -> String {
        output.finish(&mut self.cleaner, self.folder.as_mut())
    }

    pub(super) fn report(&self) -> &SharedReport {
        &self.report
    }

    /// Moves what failed tests left in their private temporary folder to the run's folder.
    pub(super) fn keep_temporary_files(&mut self, tmp: &Path) {
        if let Some(folder) = &mut self.folder {
            folder.keep_temporary_files(tmp);
        }
    }

    /// Closes the books. The report is the fold of all that the sink saw.
    pub(super) fn finish(mut self, cause: StopReason) -> Arc<Report> {
        self.end(cause);
        self.report.so_far()
    }

    fn end(&mut self, cause: StopReason) {
        if self.ended {
            return;
        }
        self.ended = true;
        if !self.begun {
            self.begin(RunFacts::default(), None);
        }
        match self.cleaner.redacted() {
            0 => {}
            1 => self.warn("1 secret in what the tests printed was replaced by [redacted]".to_owned()),
            count => self.warn(format!(
                "{count} secrets in what the tests printed were replaced by [redacted]"
            )),
        }
        let duration_s = self.started.elapsed().as_secs_f64();
        self.emit(RunEvent::Finished { cause, duration_s });
        if let Some(folder) = self.folder.take() {
            folder.close(self.report.look(Report::status));
        }
    }
}

impl Drop for Record<'_> {
    /// A run whose caller stopped waiting for it ends too.
    fn drop(&mut self) {
        self.end(StopReason::Cancelled {
            by: "the caller, who did not wait for the end".to_owned(),
        });
    }
}
