//! Cases on the sample's tests that do harm.

use std::time::Duration;

use super::super::book::Finding;
use super::super::planning::lacks;
use super::super::sample::Trap;
use super::super::subject::Subject;
use super::super::tape::words;
use super::bench::{Bench, Ran, Wish};
use runner_core::backend::Capability;
use runner_core::model::{Outcome, Status};

/// How much more time a hang is given where its row did not come in time.
const SLOWER: u32 = 6;

/// Runs a trap. `Err`: why it could not be.
async fn run(
    subject: &Subject,
    bench: &Bench,
    name: &str,
    trap: Option<&Trap>,
    wish: Wish,
) -> Result<Ran, Finding> {
    if trap.is_none() {
        return Err(Finding::Skipped(bench.sample().why_absent(name)));
    }
    bench.run(subject, &wish).await.map_err(Finding::Failed)
}

fn wish(trap: Option<&Trap>) -> Wish {
    trap.map(Wish::trap).unwrap_or_default()
}

pub(super) async fn empty(subject: &Subject, bench: &Bench) -> Finding {
    let trap = bench.sample().file.empty.as_ref();
    match run(subject, bench, "empty", trap, wish(trap)).await {
        Err(finding) => finding,
        Ok(ran) if ran.report.status() == Status::NoTests => Finding::Passed(words(&ran.report)),
        Ok(ran) => Finding::Failed(words(&ran.report)),
    }
}

pub(super) async fn broken(subject: &Subject, bench: &Bench) -> Finding {
    let trap = bench.sample().file.broken.as_ref();
    let ran = match run(subject, bench, "broken", trap, wish(trap)).await {
        Ok(ran) => ran,
        Err(finding) => return finding,
    };
    let iteration = ran.report.first();
    let reason = ran.report.verdict().reason.unwrap_or_default();
    let told = iteration.has_failures() || !reason.trim().is_empty();
    let judged = !matches!(ran.report.status(), Status::Passed | Status::NoTests);
    if judged && told {
        Finding::Passed(words(&ran.report))
    } else {
        Finding::Failed(words(&ran.report))
    }
}

pub(super) async fn beside(subject: &Subject, bench: &Bench) -> Finding {
    if !subject.can(Capability::Single) {
        return lacks(Capability::Single);
    }
    let trap = bench.sample().file.broken.as_ref();
    let passing = bench.sample().with(Outcome::Passed);
    let mut both = wish(trap);
    if both.dir.is_some() || passing.is_empty() || (trap.is_some() && both.select.is_empty()) {
        return Finding::Skipped("the sample's broken file cannot be run beside a passing test".to_owned());
    }
    both.select.extend(passing.into_iter().next());
    match run(subject, bench, "broken", trap, both).await {
        Err(finding) => finding,
        Ok(ran) if ran.report.status() == Status::Passed => Finding::Failed(words(&ran.report)),
        Ok(ran) => Finding::Passed(words(&ran.report)),
    }
}

/// The rows that must have been kept, if rows arrive live.
fn kept(subject: &Subject, trap: Option<&Trap>, ran: &Ran) -> Result<String, String> {
    let finished = trap.map(|trap| trap.finished.as_slice()).unwrap_or_default();
    let lost = finished.iter().find(|id| ran.report.first().row(id).is_none());
    match lost {
        Some(id) if subject.can(Capability::Stream) => {
            Err(format!("the row of `{id}` is lost ({})", words(&ran.report)))
        }
        _ => Ok(words(&ran.report)),
    }
}

pub(super) async fn hang(subject: &Subject, bench: &Bench) -> Finding {
    let trap = bench.sample().file.hang.as_ref();
    let limit = trap.map(Trap::limit);
    let first = hang_until(subject, bench, trap, limit).await;
    match (limit, &first) {
        // A busy machine may not have come to the harm within the limit: then nothing is known yet.
        (Some(limit), Finding::Failed(_)) => hang_until(subject, bench, trap, Some(limit * SLOWER)).await,
        _ => first,
    }
}

async fn hang_until(
    subject: &Subject,
    bench: &Bench,
    trap: Option<&Trap>,
    timeout: Option<Duration>,
) -> Finding {
    let limited = Wish {
        timeout,
        ..wish(trap)
    };
    match run(subject, bench, "hang", trap, limited).await {
        Err(finding) => finding,
        Ok(ran) if ran.report.status() != Status::TimedOut => Finding::Failed(words(&ran.report)),
        Ok(ran) => kept(subject, trap, &ran).into(),
    }
}

pub(super) async fn crash(subject: &Subject, bench: &Bench) -> Finding {
    let trap = bench.sample().file.crash.as_ref();
    match run(subject, bench, "crash", trap, wish(trap)).await {
        Err(finding) => finding,
        Ok(ran) if matches!(ran.report.status(), Status::Passed | Status::NoTests) => {
            Finding::Failed(words(&ran.report))
        }
        Ok(ran) => kept(subject, trap, &ran).into(),
    }
}

pub(super) async fn cancel(subject: &Subject, bench: &Bench) -> Finding {
    let trap = bench.sample().file.hang.as_ref();
    // Where rows come live, it is known when a test runs; else it is guessed.
    let after = if subject.can(Capability::Stream) { 30 } else { 2 };
    let cancelled = Wish {
        cancel_after: Some(Duration::from_secs(after)),
        ..wish(trap)
    };
    match run(subject, bench, "hang", trap, cancelled).await {
        Err(finding) => finding,
        Ok(ran) if ran.report.status() == Status::Cancelled => Finding::Passed(words(&ran.report)),
        Ok(ran) => Finding::Failed(words(&ran.report)),
    }
}
