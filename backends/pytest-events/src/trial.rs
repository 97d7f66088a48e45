//! One try of one test: its phases' reports, and the outcome they make.

use runner_core::model::{Attempt, Failure, Location, Outcome, Phase, Subtest, TestResult};

use crate::fact::Report;

/// Subtests listed for one test. What comes after them is only counted.
const KEPT_SUBTESTS: usize = 1000;

/// What one phase came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Passed,
    Failed,
    Skipped,
    Xfailed,
    Xpassed,
}

/// A test that began.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    setup: Option<Ended>,
    call: Option<Ended>,
    teardown: Option<Ended>,
    /// xdist's word on a test whose worker died: there is no phase.
    crashed: bool,
    duration_s: Option<f64>,
    failures: Vec<Failure>,
    reason: Option<String>,
    sections: Vec<(String, String)>,
    subtests: Vec<Subtest>,
    more_subtests: u64,
    /// The framework said that it will run the test again: no verdict comes of this try.
    pub(crate) reran: bool,
    location: Option<Location>,
}

/// What a report means for the test's life.
#[derive(Debug, PartialEq)]
pub(crate) enum Took {
    /// The test goes on.
    In,
    /// It will be run again; this is what the try came to.
    Rerun(Attempt),
    /// There is a report of that phase already; the first one counts.
    Twice(Phase),
}

impl Trial {
    /// A fresh try of a test that is defined there.
    pub(crate) fn at(location: Option<Location>) -> Self {
        Self {
            location,
            ..Self::default()
        }
    }

    /// Takes in phases that passed and were not reported on their own.
    pub(crate) fn passed(&mut self, phases: &[(String, Option<f64>)]) {
        if !phases.is_empty() {
            self.reran = false;
        }
        for (when, seconds) in phases {
            if let Some(slot) = self.slot(when) {
                slot.get_or_insert(Ended::Passed);
                self.lasted(*seconds);
            }
        }
    }

    /// All three phases passed, and were not reported on their own.
    pub(crate) fn passed_wholly(&mut self, seconds: f64) {
        for slot in [&mut self.setup, &mut self.call, &mut self.teardown] {
            slot.get_or_insert(Ended::Passed);
        }
        self.lasted(Some(seconds));
    }

    /// Takes in one report of a phase or of a subtest.
    pub(crate) fn take(&mut self, report: Report, attempt: u32) -> Took {
        self.passed(&report.before);
        if report.sub.is_some() {
            self.subtest(report);
            return Took::In;
        }
        let phase = phase(&report.when);
        self.lasted(report.s);
        let Some(ended) = ended(&report) else {
            return self.rerun(report, phase, attempt);
        };
        // A plug-in may try again without a new start (pytest-retry): what comes behind its word is the next try's.
        if phase != Phase::Teardown {
            self.reran = false;
        }
        match self.slot(&report.when) {
            Some(slot) if slot.is_some() => return Took::Twice(phase),
            Some(slot) => *slot = Some(ended),
            None if ended == Ended::Failed => self.crashed = true,
            // A plug-in's one report for the whole test (pytest-forked's of an expected crash).
            None => drop(self.call.get_or_insert(ended)),
        }
        self.keep_sections(&report);
        match ended {
            Ended::Failed => self.failures.push(failure(report, phase)),
            Ended::Skipped | Ended::Xfailed | Ended::Xpassed => {
                let reason = report.xfail.or(report.reason).or(report.message);
                self.reason = self.reason.take().or_else(|| Some(bare(&reason?)));
            }
            Ended::Passed => {}
        }
        Took::In
    }

    /// The result of the whole test.
    pub(crate) fn result(self, nodeid: String, worker: Option<String>, attempt: u32) -> TestResult {
        let outcome = self.outcome();
        let texts: Vec<&str> = self
            .failures
            .iter()
            .map(|failure| failure.text.as_str())
            .collect();
        let never_called = self.never_called();
        let message = if outcome.is_bad() {
            Some(texts.join("\n\n"))
        } else if never_called {
            Some("set up and torn down, but never called".to_owned())
        } else {
            self.reason
        };
        TestResult {
            duration_s: self.duration_s,
            message: message.filter(|text| !text.is_empty()),
            failures: if outcome.is_bad() {
                self.failures
            } else {
                Vec::new()
            },
            attempt,
            subtests: self.subtests,
            location: self.location,
            output: shown(&self.sections),
            worker,
            ..TestResult::new(nodeid, outcome)
        }
    }

    /// Whether one of its phases failed already.
    pub(crate) fn has_failed(&self) -> bool {
        !self.failures.is_empty() && !self.reran
    }

    /// Set up and torn down, and the call left out.
    pub(crate) fn never_called(&self) -> bool {
        self.call.is_none() && self.setup == Some(Ended::Passed) && !self.outcome().is_bad()
    }

    /// How many subtests are not listed.
    pub(crate) fn unlisted_subtests(&self) -> u64 {
        self.more_subtests
    }

    /// The rules of `docs/outcomes.md`.
    fn outcome(&self) -> Outcome {
        let failed = Some(Ended::Failed);
        if self.setup == failed {
            return Outcome::Error;
        }
        let subtest_failed = self.failures.iter().any(|failure| failure.phase == Phase::Call);
        if self.call == failed || self.crashed || subtest_failed {
            return Outcome::Failed;
        }
        if self.teardown == failed {
            return Outcome::Error;
        }
        match self.call.or(self.setup) {
            Some(Ended::Skipped) => Outcome::Skipped,
            Some(Ended::Xfailed) => Outcome::Xfailed,
            Some(Ended::Xpassed) => Outcome::Xpassed,
            // Set up and torn down without a call (`--setup-only`): nothing was tested.
            Some(_) if self.call.is_none() => Outcome::Skipped,
            Some(Ended::Passed) => Outcome::Passed,
            // A teardown alone, or a call that both failed and did not: contradictions are never green.
            Some(Ended::Failed) | None => Outcome::Error,
        }
    }

    fn slot(&mut self, when: &str) -> Option<&mut Option<Ended>> {
        match when {
            "setup" => Some(&mut self.setup),
            "call" => Some(&mut self.call),
            "teardown" => Some(&mut self.teardown),
            _ => None,
        }
    }

    fn lasted(&mut self, seconds: Option<f64>) {
        if let Some(seconds) = seconds {
            self.duration_s = Some(self.duration_s.unwrap_or_default() + seconds);
        }
    }

    fn rerun(&mut self, report: Report, phase: Phase, attempt: u32) -> Took {
        if std::mem::replace(&mut self.reran, true) {
            return Took::In; // the same try, torn down
        }
        Took::Rerun(Attempt {
            attempt,
            outcome: if phase == Phase::Call {
                Outcome::Failed
            } else {
                Outcome::Error
            },
            duration_s: self.duration_s,
            message: report.text.or(report.message),
        })
    }

    fn subtest(&mut self, report: Report) {
        let description = report.sub.clone().unwrap_or_default();
        let outcome = match ended(&report) {
            Some(Ended::Passed) => Outcome::Passed,
            Some(Ended::Skipped) => Outcome::Skipped,
            Some(Ended::Xfailed) => Outcome::Xfailed,
            Some(Ended::Xpassed) => Outcome::Xpassed,
            Some(Ended::Failed) | None => Outcome::Failed,
        };
        if outcome == Outcome::Failed {
            self.keep_sections(&report);
        }
        let text = report.text.clone();
        let listed = self.subtests.len() < KEPT_SUBTESTS;
        if listed {
            self.subtests.push(Subtest {
                description: description.clone(),
                outcome,
                duration_s: report.s,
                message: text.or(report.reason.as_deref().map(bare)),
            });
        } else {
            self.more_subtests += 1;
        }
        if outcome == Outcome::Failed && (listed || self.failures.is_empty()) {
            let mut failure = failure(report, Phase::Call);
            failure.text = format!("subtest {description}\n{}", failure.text);
            self.failures.push(failure);
        }
    }

    /// Each section once: pytest repeats those of earlier phases.
    fn keep_sections(&mut self, report: &Report) {
        for section in &report.sections {
            if !self.sections.contains(section) {
                self.sections.push(section.clone());
            }
        }
    }
}

/// `None`: none of pytest's three words, so a plug-in's word for a try that does not count (`rerun`, `retried`).
fn ended(report: &Report) -> Option<Ended> {
    Some(match (report.outcome.as_str(), report.xfail.is_some()) {
        ("passed", false) => Ended::Passed,
        ("passed", true) => Ended::Xpassed,
        ("skipped", false) => Ended::Skipped,
        ("skipped", true) => Ended::Xfailed,
        ("failed", _) => Ended::Failed,
        _ => return None,
    })
}

fn phase(when: &str) -> Phase {
    match when {
        "setup" => Phase::Setup,
        "teardown" => Phase::Teardown,
        "collect" => Phase::Collect,
        _ => Phase::Call,
    }
}

fn failure(report: Report, phase: Phase) -> Failure {
    let summary = report
        .message
        .as_deref()
        .and_then(|text| text.lines().next())
        .map(str::to_owned);
    Failure {
        phase,
        text: report.text.or(report.message).unwrap_or_default(),
        summary,
        location: location(report.at),
    }
}

/// A place as the reporter tells it.
pub(crate) fn location(at: Option<(String, Option<i64>)>) -> Option<Location> {
    let (file, line) = at?;
    Some(Location {
        file,
        line: line.and_then(|line| u32::try_from(line).ok()),
    })
}

/// A reason without the words that pytest puts in front of it.
pub(crate) fn bare(reason: &str) -> String {
    let reason = reason.strip_prefix("Skipped: ").unwrap_or(reason);
    reason.strip_prefix("reason: ").unwrap_or(reason).to_owned()
}

/// Captured sections as pytest shows them.
pub(crate) fn shown(sections: &[(String, String)]) -> Option<String> {
    let parts: Vec<String> = sections
        .iter()
        .map(|(name, text)| format!("--- {name} ---\n{}", text.trim_end_matches('\n')))
        .collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

#[cfg(test)]
#[path = "trial_tests.rs"]
mod tests;
