//! Cases on the sample's tests that do harm.

use std::time::Duration;

use super::super::case_log::Finding;
use super::super::planning::lacks;
use super::super::recording::words;
use super::super::sample::HostileCase;
use super::super::subject::Subject;
use super::harness::{Harness, Ran, SampleRun};
use runner_core::backend::Capability;
use runner_core::model::{Outcome, Status};

/// How much more time a hang is given where its row did not come in time.
const SLOWER: u32 = 6;

/// Runs a trap. `Err`: why it could not be.
async fn run(
    subject: &Subject,
    harness: &Harness,
    name: &str,
    hostile: Option<&HostileCase>,
    wanted: SampleRun,
) -> Result<Ran, Finding> {
    if hostile.is_none() {
        return Err(Finding::Skipped(harness.sample().why_absent(name)));
    }
    harness.run(subject, &wanted).await.map_err(Finding::Failed)
}

fn wanted(hostile: Option<&HostileCase>) -> SampleRun {
    hostile.map(SampleRun::hostile).unwrap_or_default()
}

pub(super) async fn empty(subject: &Subject, harness: &Harness) -> Finding {
    let hostile = harness.sample().file.empty.as_ref();
    match run(subject, harness, "empty", hostile, wanted(hostile)).await {
        Err(finding) => finding,
        Ok(ran) if ran.report.status() == Status::NoTests => Finding::Passed(words(&ran.report)),
        Ok(ran) => Finding::Failed(words(&ran.report)),
    }
}

pub(super) async fn broken(subject: &Subject, harness: &Harness) -> Finding {
    let hostile = harness.sample().file.broken.as_ref();
    let ran = match run(subject, harness, "broken", hostile, wanted(hostile)).await {
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

pub(super) async fn beside(subject: &Subject, harness: &Harness) -> Finding {
    if !subject.can(Capability::Single) {
        return lacks(Capability::Single);
    }
    let hostile = harness.sample().file.broken.as_ref();
    let passing = harness.sample().with(Outcome::Passed);
    let mut both = wanted(hostile);
    if both.dir.is_some() || passing.is_empty() || (hostile.is_some() && both.select.is_empty()) {
        return Finding::Skipped("the sample's broken file cannot be run beside a passing test".to_owned());
    }
    both.select.extend(passing.into_iter().next());
    match run(subject, harness, "broken", hostile, both).await {
        Err(finding) => finding,
        Ok(ran) if ran.report.status() == Status::Passed => Finding::Failed(words(&ran.report)),
        Ok(ran) => Finding::Passed(words(&ran.report)),
    }
}

/// The rows that must have been kept, if rows arrive live.
fn kept(subject: &Subject, hostile: Option<&HostileCase>, ran: &Ran) -> Result<String, String> {
    let finished = hostile
        .map(|hostile| hostile.finished.as_slice())
        .unwrap_or_default();
    let lost = finished.iter().find(|id| ran.report.first().row(id).is_none());
    match lost {
        Some(id) if subject.can(Capability::Stream) => {
            Err(format!("the row of `{id}` is lost ({})", words(&ran.report)))
        }
        _ => Ok(words(&ran.report)),
    }
}

pub(super) async fn hang(subject: &Subject, harness: &Harness) -> Finding {
    let hostile = harness.sample().file.hang.as_ref();
    let limit = hostile.map(HostileCase::limit);
    let first = hang_until(subject, harness, hostile, limit).await;
    match (limit, &first) {
        // A busy machine may not have come to the harm within the limit: then nothing is known yet.
        (Some(limit), Finding::Failed(_)) => {
            hang_until(subject, harness, hostile, Some(limit * SLOWER)).await
        }
        _ => first,
    }
}

async fn hang_until(
    subject: &Subject,
    harness: &Harness,
    hostile: Option<&HostileCase>,
    timeout: Option<Duration>,
) -> Finding {
    let limited = SampleRun {
        timeout,
        ..wanted(hostile)
    };
    match run(subject, harness, "hang", hostile, limited).await {
        Err(finding) => finding,
        Ok(ran) if ran.report.status() != Status::TimedOut => Finding::Failed(words(&ran.report)),
        Ok(ran) => kept(subject, hostile, &ran).into(),
    }
}

pub(super) async fn crash(subject: &Subject, harness: &Harness) -> Finding {
    let hostile = harness.sample().file.crash.as_ref();
    match run(subject, harness, "crash", hostile, wanted(hostile)).await {
        Err(finding) => finding,
        Ok(ran) if matches!(ran.report.status(), Status::Passed | Status::NoTests) => {
            Finding::Failed(words(&ran.report))
        }
        Ok(ran) => kept(subject, hostile, &ran).into(),
    }
}

pub(super) async fn cancel(subject: &Subject, harness: &Harness) -> Finding {
    let hostile = harness.sample().file.hang.as_ref();
    // Where rows come live, it is known when a test runs; else it is guessed.
    let after = if subject.can(Capability::Stream) { 30 } else { 2 };
    let cancelled = SampleRun {
        cancel_after: Some(Duration::from_secs(after)),
        ..wanted(hostile)
    };
    match run(subject, harness, "hang", hostile, cancelled).await {
        Err(finding) => finding,
        Ok(ran) if ran.report.status() == Status::Cancelled => Finding::Passed(words(&ran.report)),
        Ok(ran) => Finding::Failed(words(&ran.report)),
    }
}
