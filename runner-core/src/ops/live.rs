//! The runs of this process that have not ended: what a background run, a second agent or `cancel_run` asks about.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::event::{EndCause, RunEvent};
use crate::process::Cancel;
use crate::report::Report;

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
    /// Oldest first.
    ended: Vec<Arc<LiveRun>>,
    /// The ended run that was last read from disk: whoever pages through it asks for it again and again.
    read: Option<Arc<Report>>,
}

/// One run: its record so far, and the way to end it.
pub struct LiveRun {
    pub run_id: String,
    /// As in [`crate::facts::RunFacts::tool`]; known before the record begins.
    pub tool: &'static str,
    pub cancel: Cancel,
    report: Mutex<Report>,
    ended: watch::Sender<bool>,
}

impl LiveRun {
    /// Looks at the record so far.
    pub fn look<T>(&self, look: impl FnOnce(&Report) -> T) -> T {
        look(&lock(&self.report))
    }

    pub fn has_ended(&self) -> bool {
        *self.ended.borrow()
    }

    /// Waits until nothing of the run goes on any more.
    pub async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        // The sender lives in `self`, so waiting cannot fail before the value comes.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

impl LiveRuns {
    pub fn get(&self, run_id: &str) -> Option<Arc<LiveRun>> {
        let table = lock(&self.runs);
        let ended = || table.ended.iter().find(|run| run.run_id == run_id);
        table.live.get(run_id).or_else(ended).cloned()
    }

    /// The runs that go on.
    pub fn all(&self) -> Vec<Arc<LiveRun>> {
        lock(&self.runs).live.values().cloned().collect()
    }

    /// The record of an ended run, if it was the last to be read from disk. It does not change any more.
    pub(super) fn read_before(&self, run_id: &str) -> Option<Arc<Report>> {
        let table = lock(&self.runs);
        table
            .read
            .as_ref()
            .filter(|report| report.facts.run_id == run_id)
            .cloned()
    }

    /// Keeps the record of a run that has ended.
    pub(super) fn keep_read(&self, report: &Arc<Report>) {
        if report.cause.is_some() {
            lock(&self.runs).read = Some(Arc::clone(report));
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
            report: Mutex::default(),
            ended: watch::Sender::new(false),
        });
        lock(&self.runs).live.insert(run_id.to_owned(), Arc::clone(&run));
        Recording {
            run,
            runs: self.clone(),
            forget: false,
        }
    }
}

/// Keeps a live run's record; ends it however its task ends.
pub(super) struct Recording {
    run: Arc<LiveRun>,
    runs: LiveRuns,
    forget: bool,
}

impl Recording {
    pub(super) fn take(&self, event: &RunEvent) {
        lock(&self.run.report).add(event);
    }

    /// Whether the record need not be kept here once it has ended, since it can be read from disk.
    pub(super) fn forget_if(&mut self, stored: bool) {
        self.forget = stored;
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // Without effect if the record has its end: this is for a task that was dropped.
        self.take(&RunEvent::Finished {
            cause: EndCause::Cancelled {
                by: self.run.cancel.by().to_owned(),
            },
            duration_s: 0.0,
        });
        let mut table = lock(&self.runs.runs);
        table.live.remove(&self.run.run_id);
        if !self.forget {
            table.ended.push(Arc::clone(&self.run));
            if table.ended.len() > KEPT_WITHOUT_STORE {
                table.ended.remove(0);
            }
        }
        drop(table);
        self.run.ended.send_replace(true);
    }
}

/// A panic elsewhere leaves the record as it was: it is still the truth so far.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Status;

    #[tokio::test]
    async fn a_run_is_live_until_its_recording_is_dropped() {
        let runs = LiveRuns::default();
        let mut recording = runs.begin("r1", "run_suite", Cancel::new());
        let run = runs.get("r1").unwrap();
        assert_eq!(run.look(Report::status), Status::Queued);
        recording.forget_if(true);
        drop(recording);
        run.ended().await;
        assert!(runs.get("r1").is_none());
    }

    #[tokio::test]
    async fn without_a_store_the_last_records_stay_here() {
        let runs = LiveRuns::default();
        for number in 0..KEPT_WITHOUT_STORE + 3 {
            drop(runs.begin(&format!("r{number}"), "run_suite", Cancel::new()));
        }
        assert!(runs.get("r2").is_none());
        let kept = runs.get("r3").unwrap();
        assert!(kept.has_ended());
        assert_eq!(kept.look(Report::status), Status::Cancelled);
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
    fn only_an_ended_run_is_kept_after_reading_it() {
        let runs = LiveRuns::default();
        let mut report = Report::default();
        report.facts.run_id = "r1".into();
        runs.keep_read(&Arc::new(report.clone()));
        assert!(runs.read_before("r1").is_none());
        report.cause = Some(EndCause::Done);
        runs.keep_read(&Arc::new(report));
        assert!(runs.read_before("r1").is_some());
        assert!(runs.read_before("r2").is_none());
    }
}
