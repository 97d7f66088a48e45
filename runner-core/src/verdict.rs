//! Closing the books: from rows, exit codes and the framework's own end to a status that cannot lie.
//!
//! *passed* needs all three: at least one test finished, no bad row or collection failure, and an exit code that
//! agrees. Where several hold: cancelled > timed_out > broken (nothing finished) > incomplete > failed >
//! no_tests > passed.

use serde::Serialize;

use crate::event::{EndCause, Ending, EndingKind, ExitMeaning};
use crate::model::Status;
use crate::report::{Iteration, Report};

/// A status with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    pub status: Status,
    /// In words. `None` when the status says it all.
    pub reason: Option<String>,
    /// What to do next, where something is known.
    pub hint: Option<String>,
    /// The run stopped early as it was told to (`-x`, `--maxfail`).
    pub stopped: bool,
}

impl Verdict {
    fn plain(status: Status) -> Self {
        Self {
            status,
            reason: None,
            hint: None,
            stopped: false,
        }
    }

    fn because(status: Status, reason: impl Into<String>) -> Self {
        Self {
            reason: Some(reason.into()),
            ..Self::plain(status)
        }
    }

    /// Which of two statuses a run of several iterations is known by.
    fn rank(&self) -> u8 {
        match self.status {
            Status::Cancelled => 8,
            Status::TimedOut => 7,
            Status::Broken => 6,
            Status::Incomplete => 5,
            Status::Failed => 4,
            Status::NoTests => 3,
            Status::Passed => 2,
            Status::Running => 1,
            Status::Queued => 0,
        }
    }
}

/// The verdict on a whole run: that of its worst iteration, unless the run itself was ended.
pub fn judge(report: &Report) -> Verdict {
    match &report.cause {
        None if report.iterations.is_empty() => return Verdict::plain(Status::Queued),
        None => return Verdict::plain(Status::Running),
        Some(EndCause::Cancelled { by }) => {
            return Verdict::because(Status::Cancelled, format!("cancelled by {by}"));
        }
        Some(EndCause::TimedOut { limit_ms }) => return timed_out(report, *limit_ms),
        Some(EndCause::Failed { message, hint, .. }) => {
            let finished = report
                .iterations
                .iter()
                .any(|iteration| iteration.finished_tests() > 0);
            let status = if finished {
                Status::Incomplete
            } else {
                Status::Broken
            };
            return Verdict {
                hint: hint.clone(),
                ..Verdict::because(status, message.clone())
            };
        }
        Some(EndCause::Done) => {}
    }
    let verdicts = report.iterations.iter().map(judge_iteration);
    verdicts
        .max_by_key(Verdict::rank)
        .unwrap_or_else(|| Verdict::because(Status::Broken, "the run ended before it began"))
}

fn timed_out(report: &Report, limit_ms: u64) -> Verdict {
    let mut reason = format!("the time limit of {} passed", seconds(limit_ms));
    let last = report.iterations.last();
    let running: Vec<&str> = last
        .iter()
        .flat_map(|i| i.unfinished())
        .map(|u| u.nodeid.as_str())
        .collect();
    if !running.is_empty() {
        reason.push_str(&format!("; still running: {}", running.join(", ")));
    }
    if let Some(count @ 1..) = last.and_then(|iteration| iteration.never_started()) {
        reason.push_str(&format!("; {count} never started"));
    }
    Verdict::because(Status::TimedOut, reason)
}

fn seconds(limit_ms: u64) -> String {
    let text = format!("{:.3}", limit_ms as f64 / 1000.0);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The verdict on one iteration that went its way without being ended by qaas.
pub fn judge_iteration(iteration: &Iteration) -> Verdict {
    let Some(ending) = &iteration.ending else {
        return cut(iteration, "the backend could not read how the run ended");
    };
    let reason = || {
        ending
            .reason
            .clone()
            .unwrap_or_else(|| format!("{:?}", ending.kind).to_lowercase())
    };
    let verdict = match ending.kind {
        EndingKind::Completed => completed(iteration, ending),
        EndingKind::Stopped if iteration.has_failures() => Verdict {
            stopped: true,
            ..Verdict::because(Status::Failed, reason())
        },
        EndingKind::NoTests if iteration.has_failures() => failed_or_broken(iteration, ending),
        EndingKind::NoTests if iteration.finished_tests() == 0 => Verdict::because(Status::NoTests, reason()),
        EndingKind::Stopped | EndingKind::NoTests | EndingKind::Interrupted | EndingKind::Cut => {
            cut(iteration, &reason())
        }
        EndingKind::Broken => cut(iteration, &reason()),
    };
    Verdict {
        hint: verdict.hint.or_else(|| ending.hint.clone()),
        ..verdict
    }
}

fn completed(iteration: &Iteration, ending: &Ending) -> Verdict {
    if !iteration.unfinished().is_empty() {
        return cut(
            iteration,
            "the framework ended, but not all tests that began have a result",
        );
    }
    if iteration.has_failures() {
        return failed_or_broken(iteration, ending);
    }
    match ending.exit {
        ExitMeaning::Ok if iteration.finished_tests() > 0 => Verdict::plain(Status::Passed),
        ExitMeaning::Ok | ExitMeaning::NoTests if iteration.finished_tests() == 0 => Verdict::because(
            Status::NoTests,
            ending.reason.clone().unwrap_or("no test ran".into()),
        ),
        _ => {
            let fallback = format!("{}, yet no test failed", exit_words(iteration));
            Verdict::because(Status::Broken, ending.reason.clone().unwrap_or(fallback))
        }
    }
}

fn failed_or_broken(iteration: &Iteration, ending: &Ending) -> Verdict {
    if iteration.finished_tests() == 0 && !iteration.collection_errors.is_empty() {
        let names: Vec<&str> = iteration
            .collection_errors
            .iter()
            .map(|e| e.nodeid.as_str())
            .collect();
        return Verdict::because(
            Status::Broken,
            format!("no test ran: collection failed in {}", names.join(", ")),
        );
    }
    let reason = match ending.exit {
        ExitMeaning::Ok => Some(format!("{}, although tests failed", exit_words(iteration))),
        _ => ending.reason.clone(),
    };
    Verdict {
        reason,
        ..Verdict::plain(Status::Failed)
    }
}

/// A record that stops in the middle: incomplete if anything finished, else broken. Names what was running.
fn cut(iteration: &Iteration, reason: &str) -> Verdict {
    let mut reason = reason.to_owned();
    let running: Vec<String> = iteration
        .unfinished()
        .iter()
        .filter(|unfinished| !reason.contains(&unfinished.nodeid))
        .map(|unfinished| match unfinished.phase {
            Some(phase) => format!("{} ({})", unfinished.nodeid, phase.as_str()),
            None => unfinished.nodeid.clone(),
        })
        .collect();
    if !running.is_empty() {
        reason.push_str(&format!("; it was running {}", running.join(", ")));
    }
    if let Some(count @ 1..) = iteration.never_started() {
        reason.push_str(&format!("; {count} never started"));
    }
    let status = if iteration.finished_tests() > 0 {
        Status::Incomplete
    } else {
        Status::Broken
    };
    Verdict::because(status, reason)
}

fn exit_words(iteration: &Iteration) -> String {
    match iteration.exits.first() {
        Some(exit) => match (exit.code, exit.signal) {
            (Some(code), _) => format!("{} exited with {code}", exit.step),
            (None, Some(signal)) => format!("{} was ended by signal {signal}", exit.step),
            (None, None) => format!("{} has no exit code", exit.step),
        },
        None => "nothing was started".to_owned(),
    }
}
