//! The readers of one iteration, each guarded: a backend that panics loses its voice, not the run.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::RunSpec;
use runner_core::backend::{BackendError, OutputReader, RunRequest, TestBackend, UNANSWERED};
use runner_core::event::{Ending, EndingKind, ExitMeaning, TestEvent};
use runner_core::panic::panic_text;
use runner_core::plan::{Artifacts, Lines, StepExit, Stream};

/// Which steps of a plan are the test backend's own, told by their names: a coverage backend that wraps a plan keeps
/// them, and adds steps of its own.
#[derive(Clone, Debug)]
pub(super) struct StepOwners {
    /// For each step of the plan its index in the test backend's own plan; `None`: the coverage backend's.
    own: Vec<Option<usize>>,
}

impl StepOwners {
    pub(super) fn new(all: &[String], tests: &[String]) -> Self {
        let own = all
            .iter()
            .map(|name| tests.iter().position(|known| known == name));
        Self { own: own.collect() }
    }
}

pub(super) struct Reading {
    owners: StepOwners,
    tests: Guarded,
    coverage: Option<Guarded>,
}

impl Reading {
    pub(super) fn new(spec: &RunSpec, request: &RunRequest, owners: StepOwners) -> Self {
        Self {
            owners,
            tests: Guarded::new(spec.backend.as_ref(), request),
            coverage: spec
                .coverage
                .as_ref()
                .map(|backend| Guarded::new(backend.as_ref(), request)),
        }
    }

    /// What the lines of one read mean.
    pub(super) fn lines(&mut self, step: usize, stream: Stream, lines: Vec<String>) -> Vec<TestEvent> {
        let mut events = Vec::new();
        match self.owners.own.get(step).copied().flatten() {
            Some(step) => self.tests.read(&Lines { step, stream, lines }, &mut events),
            None => {
                if let Some(coverage) = &mut self.coverage {
                    coverage.read(&Lines { step, stream, lines }, &mut events);
                    events.retain(is_about_coverage);
                }
            }
        }
        events
    }

    /// Whether the rest of this iteration can only be output that nobody understands.
    pub(super) fn is_lost(&self) -> bool {
        self.tests.reader.as_ref().map_or(true, |reader| reader.is_lost())
    }

    /// What the exits and files mean, how the test framework ended, and the words of a backend that had not answered when
    /// nobody waited any more.
    pub(super) fn finish(
        mut self,
        exits: &[(usize, StepExit)],
        files: &Artifacts,
    ) -> (Vec<TestEvent>, Ending, Option<String>) {
        let mut events = Vec::new();
        let own = exits
            .iter()
            .filter(|(step, _)| self.owners.own.get(*step).copied().flatten().is_some());
        let own: Vec<StepExit> = own.map(|(_, exit)| exit.clone()).collect();
        let mut unanswered = None;
        let ending = match self.tests.finish(&own, files, &mut events) {
            Ok(ending) => ending,
            Err(error) => {
                unanswered = (error.code == UNANSWERED).then(|| error.message.clone());
                Ending {
                    hint: error.hint,
                    ..Ending::because(EndingKind::Cut, ExitMeaning::Other, error.message)
                }
            }
        };
        if let Some(coverage) = &mut self.coverage {
            let all: Vec<StepExit> = exits.iter().map(|(_, exit)| exit.clone()).collect();
            let mut measured = Vec::new();
            // Only its files count here: how the tests ended is the test backend's to say.
            if let Err(error) = coverage.finish(&all, files, &mut measured) {
                measured.push(TestEvent::Warning {
                    message: error.message,
                });
            }
            events.extend(measured.into_iter().filter(is_about_coverage));
        }
        (events, ending, unanswered)
    }
}

/// Rows come from the test backend alone.
fn is_about_coverage(event: &TestEvent) -> bool {
    matches!(event, TestEvent::Coverage(_) | TestEvent::Warning { .. })
}

/// A reader that is not asked again once it has panicked.
struct Guarded {
    backend: String,
    reader: Result<Box<dyn OutputReader>, BackendError>,
}

impl Guarded {
    fn new(backend: &dyn TestBackend, request: &RunRequest) -> Self {
        let made = catch_unwind(AssertUnwindSafe(|| {
            (backend.info().name, backend.reader(request))
        }));
        match made {
            Ok((name, reader)) => Self {
                backend: name,
                reader: Ok(reader),
            },
            Err(panic) => Self {
                backend: String::new(),
                reader: Err(crashed("", panic.as_ref())),
            },
        }
    }

    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        if let Ok(reader) = &mut self.reader
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| reader.read(lines, events)))
        {
            let error = crashed(&self.backend, panic.as_ref());
            events.push(TestEvent::Warning {
                message: error.message.clone(),
            });
            self.reader = Err(error);
        }
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        let reader = self.reader.as_mut().map_err(|error| error.clone())?;
        catch_unwind(AssertUnwindSafe(|| reader.finish(exits, files, events))).unwrap_or_else(|panic| {
            let error = crashed(&self.backend, panic.as_ref());
            events.push(TestEvent::Warning {
                message: error.message.clone(),
            });
            Err(error)
        })
    }
}

fn crashed(backend: &str, panic: &(dyn std::any::Any + Send)) -> BackendError {
    let message = format!("backend `{backend}` crashed while reading: {}", panic_text(panic));
    BackendError::new("crashed", message)
        .with_hint("this is a fault of the backend, not of the tests; try another backend")
}
