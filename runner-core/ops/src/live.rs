//! The runs of this process: those that go on, for a background run, a second agent or `cancel_run`; and the records
//! that somebody is likely to ask for next.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use process::Cancel;
use runner_core::event::{RunEvent, StopReason};
use runner_core::panic::lock;
use runner_core::report::{Report, SharedReport};

/// How many ended runs are kept that are not stored on disk.
const KEPT_WITHOUT_STORE: usize = 16;

/// All of them. Cheap to clone; clones share.
#[derive(Clone, Default)]
pub struct LiveRuns {
    runs: Arc<Mutex<Table>>,
}

#[derive(Default)]
struct Table {
    live: BTreeMap<String, Arc<LiveRun>>,
    /// Records of ended runs that are not on disk, oldest first.
    unstored: Vec<Arc<Report>>,
    /// The record of the run that ended, or was read from disk, last: whoever pages through it asks for it again and
    /// again.
    last: Option<Arc<Report>>,
}

/// One run: its record so far, and the way to end it.
pub struct LiveRun {
    pub run_id: String,
    /// As in [`runner_core::facts::RunFacts::tool`]; known before the record begins.
    pub tool: &'static str,
    pub cancel: Cancel,
    report: SharedReport,
    ended: watch::Sender<bool>,
}

impl LiveRun {
    /// Looks at the record so far.
    pub fn look<T>(&self, look: impl FnOnce(&Report) -> T) -> T {
        self.report.look(look)
    }

    /// The record as it stands.
    pub(super) fn so_far(&self) -> Arc<Report> {
        self.report.so_far()
    }

    /// Waits until nothing of the run goes on any more.
    pub async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        // The sender lives in `self`, so waiting cannot fail before the value comes.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

impl LiveRuns {
    /// A run that goes on.
    pub fn get(&self, run_id: &str) -> Option<Arc<LiveRun>> {
        lock(&self.runs).live.get(run_id).cloned()
    }

    /// The runs that go on.
    pub fn all(&self) -> Vec<Arc<LiveRun>> {
        lock(&self.runs).live.values().cloned().collect()
    }

    /// The record of an ended run, if it is at hand. It does not change any more.
    pub(super) fn at_hand(&self, run_id: &str) -> Option<Arc<Report>> {
        let table = lock(&self.runs);
        let mut kept = table.last.iter().chain(&table.unstored);
        kept.find(|report| report.facts.run_id == run_id).cloned()
    }

    /// Keeps the record of a run that has ended at hand, until the next one.
    pub(super) fn keep(&self, report: &Arc<Report>) {
        if report.cause.is_some() {
            lock(&self.runs).last = Some(Arc::clone(report));
        }
    }

    /// Asks every run to end, and waits until all have. For a server that stops.
    pub async fn shut_down(&self, by: &str, at_once: bool) {
        for run in self.all() {
            if at_once {
                run.cancel.at_once(by);
            } else {
                run.cancel.ask(by);
            }
        }
        for run in self.all() {
            run.ended().await;
        }
    }

    /// Enters a run. It leaves when the recording is dropped.
    pub(super) fn begin(&self, run_id: &str, tool: &'static str, cancel: Cancel) -> Recording {
        let run = Arc::new(LiveRun {
            run_id: run_id.to_owned(),
            tool,
            cancel,
            report: SharedReport::default(),
            ended: watch::Sender::new(false),
        });
        lock(&self.runs).live.insert(run_id.to_owned(), Arc::clone(&run));
        Recording {
            run,
            runs: self.clone(),
            stored: false,
        }
    }
}

/// Holds a run among the live ones; ends its record however its task ends.
pub(super) struct Recording {
    run: Arc<LiveRun>,
    runs: LiveRuns,
    stored: bool,
}

impl Recording {
    /// Where the run's record grows.
    pub(super) fn report(&self) -> &SharedReport {
        &self.run.report
    }

    /// Says that the record can be read from disk, too.
    pub(super) fn is_stored(&mut self) {
        self.stored = true;
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // Without effect if the record has its end: this is for a task that was dropped.
        self.run.report.add(&RunEvent::Finished {
            cause: StopReason::Cancelled {
                by: self.run.cancel.by().to_owned(),
            },
            duration_s: 0.0,
        });
        let mut table = lock(&self.runs.runs);
        table.live.remove(&self.run.run_id);
        let report = self.run.report.so_far();
        if !self.stored {
            table.unstored.push(Arc::clone(&report));
            if table.unstored.len() > KEPT_WITHOUT_STORE {
                table.unstored.remove(0);
            }
        }
        table.last = Some(report);
        drop(table);
        self.run.ended.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runner_core::facts::RunFacts;
    use runner_core::model::Status;

    fn started(run_id: &str) -> RunEvent {
        RunEvent::Started(Box::new(RunFacts {
            run_id: run_id.to_owned(),
            ..RunFacts::default()
        }))
    }

    #[tokio::test]
    async fn a_run_is_live_until_its_recording_is_dropped() {
        let runs = LiveRuns::default();
        let mut recording = runs.begin("r1", "run_suite", Cancel::new());
        let run = runs.get("r1").unwrap();
        assert_eq!(run.look(Report::status), Status::Queued);
        recording.is_stored();
        drop(recording);
        run.ended().await;
        assert!(runs.get("r1").is_none());
    }

    #[tokio::test]
    async fn without_a_store_the_last_records_stay_here() {
        let runs = LiveRuns::default();
        for number in 0..KEPT_WITHOUT_STORE + 3 {
            let run_id = format!("r{number}");
            let recording = runs.begin(&run_id, "run_suite", Cancel::new());
            recording.report().add(&started(&run_id));
        }
        assert!(runs.at_hand("r2").is_none());
        assert_eq!(runs.at_hand("r3").unwrap().status(), Status::Cancelled);
        assert!(runs.all().is_empty());
    }

    #[tokio::test]
    async fn shutting_down_asks_every_run_and_waits_for_it() {
        let runs = LiveRuns::default();
        let recording = runs.begin("r1", "run_suite", Cancel::new());
        let cancel = runs.get("r1").unwrap().cancel.clone();
        let task = tokio::spawn(async move {
            recording.run.cancel.asked().await;
            drop(recording);
        });
        runs.shut_down("SIGTERM", false).await;
        task.await.unwrap();
        assert_eq!(cancel.by(), "SIGTERM");
    }

    #[test]
    fn the_run_that_ended_last_is_at_hand() {
        let runs = LiveRuns::default();
        let mut report = Report::default();
        report.facts.run_id = "r1".into();
        runs.keep(&Arc::new(report.clone()));
        assert!(runs.at_hand("r1").is_none(), "it goes on");
        report.cause = Some(StopReason::Done);
        runs.keep(&Arc::new(report));
        assert!(runs.at_hand("r1").is_some());
        let mut recording = runs.begin("r2", "run_suite", Cancel::new());
        recording.report().add(&started("r2"));
        recording.is_stored();
        drop(recording);
        assert!(runs.at_hand("r2").is_some());
        assert!(runs.at_hand("r1").is_none());
    }
}
