//! Reads a run: rows from the channel alone, reasons also from what pytest printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pytest_base::command::STEP_NAME;
use pytest_base::{CapturedOutput, cause, trouble};
use runner_core::backend::{BackendError, OutputReader, RunRequest};
use runner_core::event::{Ending, ExitMeaning, TestEvent};
use runner_core::model::Phase;
use runner_core::plan::{Artifacts, Lines, StepExit, Stream};

use crate::ending::ending;
use crate::plan::PHASE;
use crate::session::Session;
use crate::stack;

/// The state of one iteration: a session for each step that is a pytest.
pub(crate) struct Reader {
    nonce: String,
    cwd: PathBuf,
    quiet: CapturedOutput,
    steps: BTreeMap<usize, (Session, CapturedOutput)>,
}

impl Reader {
    pub(crate) fn new(request: &RunRequest) -> Self {
        Self {
            nonce: request.nonce.clone(),
            cwd: request.cwd.clone(),
            quiet: CapturedOutput::new(request),
            steps: BTreeMap::new(),
        }
    }

    /// The phase of the test that was running when the process died, or its verdict if it had one.
    fn last_word(&mut self, files: &Artifacts, events: &mut Vec<TestEvent>) {
        let Some((session, _)) = self.steps.values_mut().next_back() else {
            return;
        };
        let phase = match files.bytes(PHASE) {
            Ok(b"s") => Phase::Setup,
            Ok(b"c") => Phase::Call,
            Ok(b"t") => Phase::Teardown,
            Ok(b"p") => return session.passed_unsaid(events),
            _ => return,
        };
        let running: Vec<&str> = session.running().collect();
        if let [nodeid] = running[..] {
            events.push(TestEvent::Entered {
                nodeid: nodeid.to_owned(),
                phase,
            });
        }
    }

    /// Where a process died in a test.
    fn crashes(&self, events: &mut Vec<TestEvent>) {
        let steps = self.steps.values();
        events.extend(steps.filter_map(|(session, said)| {
            let died = session.finish.is_none();
            died.then(|| crash_of(session, said, &self.cwd))?
        }));
    }

    /// Where everything hung, from the stacks that were asked for at the time limit.
    fn hangs(&self, files: &Artifacts, events: &mut Vec<TestEvent>) {
        for (pid, dump) in &files.dumps {
            let Some(hang) = stack::read(dump, &self.cwd) else {
                continue;
            };
            if let Some((worker, nodeid)) = hang.worker {
                // An idle worker's file still names the last test that it ran.
                let runs = |(session, _): &(Session, CapturedOutput)| {
                    session.running().any(|running| running == nodeid)
                };
                if hang.phase.is_none() && !self.steps.values().any(runs) {
                    continue;
                }
                events.push(TestEvent::Hung {
                    nodeid,
                    phase: hang.phase,
                    stack: hang.stack,
                    worker: Some(worker),
                });
                continue;
            }
            let speaks = |session: &&Session| session.hello.as_ref().is_some_and(|hello| hello.pid == *pid);
            if let Some(session) = self.steps.values().map(|(session, _)| session).find(speaks) {
                hung_alone(session, hang.phase, hang.stack, events);
            }
        }
    }
}

/// Where a process died that could still say so (Python's `faulthandler`): in its one running test.
fn crash_of(session: &Session, said: &CapturedOutput, cwd: &Path) -> Option<TestEvent> {
    let dump: Vec<&str> = said
        .stderr()
        .skip_while(|line| !line.contains(stack::FATAL))
        .collect();
    let stack = stack::crash(&dump, cwd)?;
    let mut running = session.running();
    let (Some(nodeid), None) = (running.next(), running.next()) else {
        return None;
    };
    Some(TestEvent::Hung {
        nodeid: nodeid.to_owned(),
        phase: None,
        stack: Some(stack),
        worker: None,
    })
}

/// The process that owns the session hung: in its one running test, or outside of any.
fn hung_alone(session: &Session, phase: Option<Phase>, stack: Option<String>, events: &mut Vec<TestEvent>) {
    let running: Vec<&str> = session.running().collect();
    match (&running[..], stack) {
        ([nodeid], stack) => events.push(TestEvent::Hung {
            nodeid: (*nodeid).to_owned(),
            phase,
            stack,
            worker: None,
        }),
        ([], Some(stack)) => events.push(TestEvent::Warning {
            message: format!("no test was running when the time limit came; pytest was here:\n{stack}"),
        }),
        _ => {} // xdist's controller waits for its workers
    }
}

impl OutputReader for Reader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        let quiet = &self.quiet;
        let (session, said) = self
            .steps
            .entry(lines.step)
            .or_insert_with(|| (Session::default(), quiet.clone()));
        if lines.stream == Stream::Channel {
            let told = events.len();
            for line in &lines.lines {
                session.read(line, &self.nonce, events);
            }
            cause::tidy(&mut events[told..], &self.cwd);
            if !session.had_terminal {
                trouble::explain_debuggers(events, told);
            }
        } else {
            said.hear(lines);
        }
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        for (session, said) in self.steps.values_mut() {
            session.end(events);
            said.tell_printed(events);
        }
        self.last_word(files, events);
        self.hangs(files, events);
        self.crashes(events);
        let silent = (Session::default(), self.quiet.clone());
        let mut endings = Vec::new();
        let pytests = exits
            .iter()
            .enumerate()
            .filter(|(_, exit)| exit.step.starts_with(STEP_NAME));
        for (place, exit) in pytests {
            let named = |(session, _): &&(Session, CapturedOutput)| {
                session.hello.as_ref().is_some_and(|h| h.step == exit.step)
            };
            let step = self
                .steps
                .values()
                .find(named)
                .or_else(|| self.steps.get(&place))
                .unwrap_or(&silent);
            let ending = ending(&step.0, exit, &step.1);
            if let (ExitMeaning::NotOfTests, Some(reason)) = (ending.exit, &ending.reason) {
                let message = format!("{reason}; this is not judged, since only a part of the tests ran");
                events.push(TestEvent::Warning { message });
            }
            endings.push(ending);
        }
        Ending::worst(endings).ok_or_else(|| {
            BackendError::new("crashed", "pytest was never started, so there is nothing to read")
        })
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
