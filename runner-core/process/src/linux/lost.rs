//! The account of a run whose supervising process cannot give one.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::control::{JobEnd, MainExit, SupervisorState};
use super::orphans::{self, Lost};
use crate::Job;

/// For a sweep.
const SWEEP: Duration = Duration::from_millis(900);

/// Ends what the supervising process looked after and says what became of the run, with a note in words. The
/// supervising process must be dead already.
pub(super) async fn account(
    job: &Job,
    heard: &mut SupervisorState,
    lost: Lost,
    started: Instant,
) -> (JobEnd, String) {
    let overdue = job.deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let pid = heard.pid;
    let sweep = tokio::task::spawn_blocking(move || orphans::sweep(pid, lost, SWEEP));
    let swept = sweep.await.unwrap_or_default();
    let mut ended = JobEnd {
        timed_out: false,
        cancelled: false,
        leaked: Vec::new(),
        survivors: swept.survivors,
        dumps: BTreeMap::new(),
        note: None,
    };
    if heard.main.is_some() {
        ended.leaked = swept.ended;
    } else {
        ended.timed_out = overdue;
        ended.cancelled = heard.asked_to_stop;
        heard.main = swept.main.map(|main| MainExit {
            duration_s: started.elapsed().as_secs_f64(),
            ..main
        });
    }
    let what = if heard.gave_up {
        "did not answer in time and was ended"
    } else {
        "was ended from outside (a test that kills its parent does this)"
    };
    let mut note = format!("the process that supervised this run {what}; what it had started was ended too");
    if !ended.survivors.is_empty() {
        note = format!("{note}, but for {}", ended.survivors.join(", "));
    }
    (ended, note)
}
