//! One pytest session as its reporter tells it: from lines to events.

use std::collections::{HashMap, HashSet};

use pytest_base::trouble;
use runner_core::event::TestEvent;
use runner_core::model::{Attempt, CollectionError, Location, Outcome, Phase, TestResult};
use runner_core::nodeid::NodeId;

use crate::fact::{Fact, Finish, Hello, Next, Report};
use crate::trial::{Took, Trial, bare, location, shown};

/// Broken lines that are named one by one; the rest is only counted.
const NAMED_DAMAGES: u64 = 3;

/// A test on its way: one test may run in several workers at once (`--dist each`).
type Key = (String, Option<String>);

#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) hello: Option<Hello>,
    pub(crate) finish: Option<Finish>,
    pub(crate) selected: Option<u64>,
    pub(crate) deselected: u64,
    /// As the reporter counts them, for the comparison with its own counts.
    pub(crate) started: u64,
    pub(crate) ended: u64,
    /// Tests that began, each once however often it was run again.
    begun: u64,
    rerun: u64,
    /// Lines that are no facts.
    pub(crate) damaged: u64,
    pub(crate) internal: Option<String>,
    /// Type and text of the exception that interrupted the session.
    pub(crate) interrupt: Option<(String, String)>,
    pub(crate) collection_failed: bool,
    /// A person's terminal was in the tests' hands.
    pub(crate) had_terminal: bool,
    listed: bool,
    trials: HashMap<Key, Trial>,
    /// Tries that were reported to be run again, so far.
    reruns: HashMap<Key, u32>,
    /// Started and not finished, in order, with their places.
    running: Vec<(String, Option<Location>)>,
    skipped_files: HashSet<String>,
    /// Tests that were never called, in order. Some plug-ins (flaky) run a failed test again and keep the failed try's
    /// call to themselves, so such a test has its verdict only when no other try comes.
    uncalled: Vec<(Key, TestResult)>,
}

impl Session {
    /// Takes in one line of the channel.
    pub(crate) fn read(&mut self, line: &str, nonce: &str, events: &mut Vec<TestEvent>) {
        if line.is_empty() {
            return;
        }
        if line.starts_with('[') && self.hello.is_some() {
            return match serde_json::from_str::<Next<'_>>(line) {
                Ok(next) => self.next(next, events),
                Err(error) => self.damage(&error.to_string(), events),
            };
        }
        match serde_json::from_str::<Fact>(line) {
            Ok(Fact::Hello(hello)) if hello.nonce == nonce && self.hello.is_none() => {
                self.hello = Some(hello);
            }
            Ok(fact) if self.hello.is_some() => self.take(fact, events),
            Ok(_) => self.damage("a line that is not this run's", events),
            Err(error) => self.damage(&error.to_string(), events),
        }
    }

    /// How many of the selected tests never began.
    pub(crate) fn left_out(&self) -> u64 {
        // With `--dist each` the same test runs in several workers at once, and only its ends tell how often.
        let begun = self.begun.max(self.ended.saturating_sub(self.rerun));
        self.selected.unwrap_or_default().saturating_sub(begun)
    }

    /// Only told what exists (`--collect-only`).
    pub(crate) fn is_listing(&self) -> bool {
        self.listed
    }

    /// Tests that began and have no verdict, oldest first.
    pub(crate) fn running(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.running.iter().map(|(nodeid, _)| nodeid.as_str())
    }

    /// Nothing more comes: tests that were never called will not be called.
    pub(crate) fn end(&mut self, events: &mut Vec<TestEvent>) {
        let left = |(_, message): &(String, String)| message == trouble::LEFT_THE_DEBUGGER;
        if self.had_terminal && self.interrupt.as_ref().is_some_and(left) {
            // A person has seen it fail, and left the debugger there: nothing more would come of it.
            let failed = self.trials.iter().filter(|(_, trial)| trial.has_failed());
            let failed: Vec<Key> = failed.map(|(key, _)| key.clone()).collect();
            for key in failed {
                self.close(key, events);
            }
        }
        let results = self.uncalled.drain(..).map(|(_, result)| result);
        events.extend(results.map(|result| TestEvent::Finished(Box::new(result))));
    }

    /// The last started test passed, and the process died before it could say so.
    pub(crate) fn passed_unsaid(&mut self, events: &mut Vec<TestEvent>) {
        // A session that came to its end has said all: who is still running then never told a result.
        if self.finish.is_some() {
            return;
        }
        if let [(nodeid, place)] = self.running.as_slice() {
            let mut result = TestResult::new(nodeid.clone(), Outcome::Passed);
            result.location.clone_from(place);
            result.attempt = 1 + self
                .reruns
                .get(&(nodeid.clone(), None))
                .copied()
                .unwrap_or_default();
            events.push(TestEvent::Finished(Box::new(result)));
            self.running.clear();
            self.trials.clear();
        }
    }

    fn damage(&mut self, why: &str, events: &mut Vec<TestEvent>) {
        self.damaged += 1;
        if self.damaged <= NAMED_DAMAGES {
            warn(
                events,
                format!("a line of pytest's private channel could not be read: {why}"),
            );
        }
    }

    fn next(&mut self, Next(micros, line, nodeid): Next<'_>, events: &mut Vec<TestEvent>) {
        if micros >= 0 {
            self.pass(micros as f64 / 1e6, events);
        }
        self.start(nodeid.into_owned(), Some(line), None, events);
    }

    fn take(&mut self, fact: Fact, events: &mut Vec<TestEvent>) {
        match fact {
            Fact::Hello(_) => self.damage("a second greeting", events),
            Fact::Found { id, file, line } => {
                self.listed = true;
                events.push(TestEvent::Found {
                    nodeid: id,
                    location: counted_from_one(file, line),
                });
            }
            Fact::Collected { selected, deselected } => {
                (self.selected, self.deselected) = (Some(selected), deselected);
                events.push(TestEvent::Counted { selected, deselected });
            }
            Fact::Collect(report) => self.collected_badly(report, events),
            Fact::Start { id, line, file } => self.start(id, line, file, events),
            Fact::Passed { s } => self.pass(s, events),
            Fact::Report(report) => self.report(report, events),
            Fact::End { id, worker, before } => {
                self.ended += 1;
                let key = (id, worker);
                self.trial(&key).passed(&before);
                self.close(key, events);
            }
            Fact::Worker { id, text } => warn(events, format!("pytest-xdist's worker {id} died: {text}")),
            Fact::Internal { message } => self.internal = Some(message),
            Fact::Interrupt { kind, message } => self.interrupt = Some((kind, message)),
            Fact::Printed { id, sections } => {
                let mut result = TestResult::new(id, Outcome::Passed);
                result.output = shown(&sections);
                events.push(TestEvent::Detailed(Box::new(result)));
            }
            Fact::Terminal { taken, debugger } => {
                self.had_terminal |= taken;
                events.push(TestEvent::Terminal { taken, debugger });
            }
            Fact::Finish(finish) => self.finish = Some(finish),
            Fact::Unknown => {}
        }
    }

    fn collected_badly(&mut self, report: Report, events: &mut Vec<TestEvent>) {
        let nodeid = if report.id.is_empty() {
            ".".to_owned()
        } else {
            report.id
        };
        if report.outcome == "skipped" {
            // Every xdist worker tells of the same file.
            if self.skipped_files.insert(nodeid.clone()) {
                events.push(TestEvent::Finished(Box::new(TestResult {
                    message: report.reason.as_deref().map(bare),
                    location: location(report.at),
                    phase: Some(Phase::Collect),
                    ..TestResult::new(nodeid, Outcome::Skipped)
                })));
            }
            return;
        }
        self.collection_failed = true;
        let message = report.text.or(report.message).unwrap_or_default();
        events.push(TestEvent::CollectFailed(CollectionError {
            nodeid,
            summary: pytest_base::text::summary(&message),
            message,
            location: location(report.at),
        }));
    }

    fn start(
        &mut self,
        nodeid: String,
        line: Option<i64>,
        file: Option<String>,
        events: &mut Vec<TestEvent>,
    ) {
        self.started += 1;
        let file = file.or_else(|| Some(NodeId::of(&nodeid).file().to_owned()));
        let place = counted_from_one(file, line);
        // A try that was to be run again is over when the next one starts, however its plug-in ends it.
        if self
            .trials
            .get(&(nodeid.clone(), None))
            .is_some_and(|trial| trial.reran)
        {
            self.trials.remove(&(nodeid.clone(), None));
        }
        let again = self.uncalled_before(&nodeid, events);
        if !self.running().any(|running| running == nodeid) {
            self.running.push((nodeid.clone(), place));
            self.begun += u64::from(!again);
        }
        events.push(TestEvent::Started { nodeid, worker: None });
    }

    /// Whether the test that begins has a try behind it that was never called: that one failed, or there would be no
    /// other.
    fn uncalled_before(&mut self, nodeid: &str, events: &mut Vec<TestEvent>) -> bool {
        let Some(place) = self.uncalled.iter().position(|(key, _)| key.0 == nodeid) else {
            return false;
        };
        let (key, result) = self.uncalled.remove(place);
        *self.reruns.entry(key).or_default() += 1;
        self.rerun += 1;
        events.push(TestEvent::Reran {
            nodeid: nodeid.to_owned(),
            attempt: Attempt {
                attempt: result.attempt,
                outcome: Outcome::Failed,
                duration_s: result.duration_s,
                message: None,
            },
        });
        true
    }

    fn pass(&mut self, seconds: f64, events: &mut Vec<TestEvent>) {
        self.ended += 1;
        let Some((nodeid, _)) = self.running.last() else {
            return self.damage("a pass without a test", events);
        };
        let key = (nodeid.clone(), None);
        self.trial(&key).passed_wholly(seconds);
        self.close(key, events);
    }

    fn report(&mut self, report: Report, events: &mut Vec<TestEvent>) {
        let key = (report.id.clone(), report.worker.clone());
        let last = report.sub.is_none() && !matches!(report.when.as_str(), "setup" | "call");
        let attempt = self.attempt(&key);
        match self.trial(&key).take(report, attempt) {
            Took::In => {}
            Took::Rerun(attempt) => {
                *self.reruns.entry(key.clone()).or_default() += 1;
                self.rerun += 1;
                events.push(TestEvent::Reran {
                    nodeid: key.0.clone(),
                    attempt,
                });
            }
            Took::Twice(phase) => warn(
                events,
                format!(
                    "{} was reported twice in its {}; the first report counts",
                    key.0,
                    phase.as_str()
                ),
            ),
        }
        if last {
            self.ended += 1;
            self.close(key, events);
        }
    }

    /// Ends a test's try: a verdict, unless the test is to be run again.
    fn close(&mut self, key: Key, events: &mut Vec<TestEvent>) {
        let Some(trial) = self.trials.remove(&key) else {
            return;
        };
        if trial.reran {
            return;
        }
        let attempt = self.attempt(&key);
        self.running.retain(|(nodeid, _)| *nodeid != key.0);
        if trial.never_called() {
            let result = trial.result(key.0.clone(), key.1.clone(), attempt);
            return self.uncalled.push((key, result));
        }
        self.reruns.remove(&key);
        let unlisted = trial.unlisted_subtests();
        if unlisted > 0 {
            warn(
                events,
                format!("{} has {unlisted} more subtests than are listed", key.0),
            );
        }
        events.push(TestEvent::Finished(Box::new(trial.result(key.0, key.1, attempt))));
    }

    fn attempt(&self, key: &Key) -> u32 {
        1 + self.reruns.get(key).copied().unwrap_or_default()
    }

    fn trial(&mut self, key: &Key) -> &mut Trial {
        let running = &self.running;
        self.trials.entry(key.clone()).or_insert_with(|| {
            let place = running.iter().find(|(nodeid, _)| *nodeid == key.0);
            Trial::at(place.and_then(|(_, place)| place.clone()))
        })
    }
}

fn counted_from_one(file: Option<String>, line: Option<i64>) -> Option<Location> {
    let line = line.and_then(|line| line.checked_add(1)).filter(|line| *line > 0);
    location(Some((file?, line)))
}

fn warn(events: &mut Vec<TestEvent>, message: String) {
    events.push(TestEvent::Warning { message });
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
