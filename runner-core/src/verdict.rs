//! Closing the books: from rows, exit codes and the framework's own end to a status that cannot lie.
//!
//! *passed* needs all three: at least one test finished, no bad row or collection failure, and an exit code that
//! agrees. Where several hold: cancelled > timed_out > broken (nothing finished) > incomplete > failed >
//! no_tests > all_skipped > passed.

use serde::Serialize;

use crate::event::{Ending, EndingKind, ExitMeaning, StopReason};
use crate::model::{Outcome, Status};
use crate::report::{Iteration, Report};
use crate::visible::visible;

/// A status with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What is said of the run.
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
            Status::Cancelled => 9,
            Status::TimedOut => 8,
            Status::Broken => 7,
            Status::Incomplete => 6,
            Status::Failed => 5,
            Status::NoTests => 4,
            Status::AllSkipped => 3,
            Status::Passed => 2,
            Status::Running => 1,
            Status::Queued => 0,
        }
    }
}

impl Report {
    /// The run's status and, unless it is plainly green, the reason in words.
    pub fn verdict(&self) -> Verdict {
        judge(self)
    }

    /// The status of [`Report::verdict`] alone.
    pub fn status(&self) -> Status {
        self.verdict().status
    }
}

/// The verdict on a whole run: that of its worst iteration, unless the run itself was ended.
pub fn judge(report: &Report) -> Verdict {
    match &report.cause {
        None if report.iterations.is_empty() => Verdict::plain(Status::Queued),
        None => Verdict::plain(Status::Running),
        Some(StopReason::Cancelled { by }) => {
            Verdict::because(Status::Cancelled, format!("cancelled by {by}"))
        }
        Some(StopReason::TimedOut { limit_ms, unanswered }) => {
            timed_out(report, *limit_ms, unanswered.as_deref())
        }
        Some(StopReason::Failed { message, hint, .. }) => {
            let finished = report.iterations.iter().map(Iteration::finished_tests).sum();
            Verdict {
                hint: hint.clone(),
                ..Verdict::because(incomplete_or_broken(finished), message.clone())
            }
        }
        Some(StopReason::Done) => worst(report),
    }
}

fn worst(report: &Report) -> Verdict {
    let judge = if report.facts.listing {
        judge_listing
    } else {
        judge_iteration
    };
    let verdicts = report.iterations.iter().map(judge);
    // The first of equally bad ones: its reason is the one to look at.
    verdicts
        .reduce(|worst, next| if next.rank() > worst.rank() { next } else { worst })
        .unwrap_or_else(|| Verdict::because(Status::Broken, "the run ended before it began"))
}

fn timed_out(report: &Report, limit_ms: u64, unanswered: Option<&str>) -> Verdict {
    let limited = report
        .iterations
        .iter()
        .rev()
        .find(|iteration| was_timed_out(iteration));
    let mut begun = format!("the time limit of {} passed", seconds(limit_ms));
    if let Some(unanswered) = unanswered {
        begun = format!("{begun}: {unanswered}");
    }
    let reason = limited.or(report.iterations.last()).map_or_else(
        || begun.clone(),
        |iteration| with_unfinished(&begun, "still running", iteration),
    );
    Verdict::because(Status::TimedOut, reason)
}

fn was_timed_out(iteration: &Iteration) -> bool {
    iteration.exits.iter().any(|exit| exit.timed_out)
}

fn seconds(limit_ms: u64) -> String {
    let text = format!("{:.3}", limit_ms as f64 / 1000.0);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The verdict on one iteration. That of a run with several is its worst one.
pub fn judge_iteration(iteration: &Iteration) -> Verdict {
    if iteration.exits.iter().any(|exit| exit.cancelled) {
        return Verdict::because(Status::Cancelled, "cancelled");
    }
    if was_timed_out(iteration) {
        let reason = with_unfinished("the time limit passed", "still running", iteration);
        return Verdict::because(Status::TimedOut, reason);
    }
    let Some(ending) = &iteration.ending else {
        return cut(iteration, "the backend could not read how the run ended");
    };
    let verdict = match ending.kind {
        EndingKind::Completed => completed(iteration, ending),
        EndingKind::Stopped if iteration.has_failures() => Verdict {
            stopped: true,
            ..failed_or_broken(iteration, ending)
        },
        EndingKind::NoTests if iteration.has_failures() => failed_or_broken(iteration, ending),
        // pytest stops before the first test if a file cannot be collected: the file is what there is to say.
        EndingKind::Interrupted
            if iteration.finished_tests() == 0
                && iteration.unfinished().is_empty()
                && !iteration.collection_errors.is_empty() =>
        {
            failed_or_broken(iteration, ending)
        }
        EndingKind::NoTests if iteration.finished_tests() == 0 => {
            Verdict::because(Status::NoTests, reason_of(ending))
        }
        EndingKind::Stopped
        | EndingKind::NoTests
        | EndingKind::Interrupted
        | EndingKind::Broken
        | EndingKind::Cut => cut(iteration, &reason_of(ending)),
    };
    Verdict {
        hint: verdict.hint.or_else(|| ending.hint.clone()),
        ..verdict
    }
}

/// The verdict on a listing, where no test is to finish: what was found counts in place of rows.
fn judge_listing(iteration: &Iteration) -> Verdict {
    let Some(ending) = &iteration.ending else {
        return judge_iteration(iteration);
    };
    if iteration.found.is_empty() || was_timed_out(iteration) {
        return judge_iteration(iteration);
    }
    if iteration.has_failures() {
        let reason = "some files could not be collected, so not all tests may be listed";
        return Verdict::because(Status::Failed, reason);
    }
    match (ending.kind, ending.exit) {
        (EndingKind::Completed, ExitMeaning::Ok) => Verdict::plain(Status::Passed),
        _ => Verdict {
            hint: ending.hint.clone(),
            ..Verdict::because(Status::Incomplete, reason_of(ending))
        },
    }
}

fn reason_of(ending: &Ending) -> String {
    let plain = match ending.kind {
        EndingKind::Completed => "the framework went to its end",
        EndingKind::Stopped => "the framework stopped early",
        EndingKind::NoTests => "no test ran",
        EndingKind::Interrupted => "the framework was interrupted from within",
        EndingKind::Broken => "the framework could not do its work",
        EndingKind::Cut => "the record stops in the middle",
    };
    ending.reason.clone().unwrap_or_else(|| plain.to_owned())
}

fn completed(iteration: &Iteration, ending: &Ending) -> Verdict {
    if !iteration.unfinished().is_empty() {
        return cut(
            iteration,
            "the framework ended, but not all tests that began have a result",
        );
    }
    if matches!(iteration.never_started(), Some(1..)) && ending.exit != ExitMeaning::Other {
        return cut(
            iteration,
            "the framework ended, but not all tests that it selected have a result",
        );
    }
    if iteration.has_failures() {
        return failed_or_broken(iteration, ending);
    }
    match ending.exit {
        ExitMeaning::Ok | ExitMeaning::NotOfTests if iteration.finished_tests() > 0 => {
            Verdict::plain(if all_skipped(iteration) {
                Status::AllSkipped
            } else {
                Status::Passed
            })
        }
        ExitMeaning::Ok | ExitMeaning::NotOfTests | ExitMeaning::NoTests
            if iteration.finished_tests() == 0 =>
        {
            let reason = ending.reason.clone();
            Verdict::because(
                Status::NoTests,
                reason.unwrap_or_else(|| "no test ran".to_owned()),
            )
        }
        _ => {
            let fallback = format!("{}, yet no test failed", exit_words(iteration));
            Verdict {
                hint: ending.hint.clone(),
                ..Verdict::because(Status::Broken, ending.reason.clone().unwrap_or(fallback))
            }
        }
    }
}

/// Whether no test did anything but skip itself.
fn all_skipped(iteration: &Iteration) -> bool {
    let mut tests = iteration.rows.iter().filter(|row| row.phase.is_none());
    tests.all(|row| row.outcome == Outcome::Skipped)
}

/// Something failed: the run failed if any test finished, else nothing can be said of the tests.
fn failed_or_broken(iteration: &Iteration, ending: &Ending) -> Verdict {
    if iteration.finished_tests() == 0 {
        let names: Vec<_> = iteration
            .collection_errors
            .iter()
            .map(|e| visible(&e.nodeid))
            .collect();
        let reason = if names.is_empty() {
            reason_of(ending)
        } else {
            format!("no test ran: collection failed in {}", names.join(", "))
        };
        return Verdict::because(Status::Broken, reason);
    }
    let reason = match ending.exit {
        ExitMeaning::Ok => Some(format!("{}, although tests failed", exit_words(iteration))),
        _ if ending.kind == EndingKind::Stopped => Some(reason_of(ending)),
        _ => ending.reason.clone(),
    };
    Verdict {
        reason,
        ..Verdict::plain(Status::Failed)
    }
}

/// A record that stops in the middle: incomplete if anything finished, else broken. Names what was running.
fn cut(iteration: &Iteration, reason: &str) -> Verdict {
    let status = incomplete_or_broken(iteration.finished_tests());
    Verdict::because(status, with_unfinished(reason, "it was running", iteration))
}

fn incomplete_or_broken(finished: usize) -> Status {
    if finished > 0 {
        Status::Incomplete
    } else {
        Status::Broken
    }
}

/// How many running tests a reason names.
const MOST_NAMED: usize = 5;

/// The reason with what was running and how many tests never started.
fn with_unfinished(reason: &str, running: &str, iteration: &Iteration) -> String {
    let unnamed: Vec<String> = iteration
        .unfinished()
        .iter()
        .map(|unfinished| (visible(&unfinished.nodeid), unfinished.phase))
        .filter(|(nodeid, _)| !reason.contains(nodeid.as_ref()))
        .map(|(nodeid, phase)| match phase {
            Some(phase) => format!("{nodeid} ({})", phase.as_str()),
            None => nodeid.into_owned(),
        })
        .collect();
    let mut parts = vec![reason.to_owned()];
    if !unnamed.is_empty() {
        let more = match unnamed.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = &unnamed[..unnamed.len().min(MOST_NAMED)];
        parts.push(format!("{running}: {}{more}", named.join(", ")));
    }
    if let Some(count @ 1..) = iteration.never_started() {
        parts.push(format!("{count} never started"));
    }
    parts.join("; ")
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

#[cfg(test)]
mod tests;
