//! Processes that wait in their start-up for a run to take them. A spare only ever saves time: whatever is in doubt, a new
//! process is started, and the answer says why.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::task::JoinHandle;

use super::mark::Mark;
use super::prepare::Prepared;
use super::seat::Seat;
use super::{Engine, RunSpec};
use crate::clock;
use process::{Job, Parked, Resume, Resumed, Supervisor};
use runner_core::plan::ScratchFile;

/// For a start-up with all its plug-ins, on a busy machine.
const STARTUP: Duration = Duration::from_secs(60);
/// The clock that files are marked by ticks this slowly at most.
const TICK: Duration = Duration::from_millis(20);

/// A process on its way to where it waits, or there. Dropped: it is ended.
#[derive(Debug)]
pub(super) struct Spare {
    pub(super) seat: Seat,
    job: Job,
    files: Vec<ScratchFile>,
    waiting: Task,
    /// What came of its start, once somebody looked.
    done: Option<Result<Waiting, Refusal>>,
}

/// A process that waits, and what it was made of.
#[derive(Debug)]
struct Waiting {
    parked: Parked,
    made_of: MadeOf,
}

/// Why a process does not wait.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) why: String,
    /// The next one would not either.
    pub(super) lasting: bool,
}

/// A spare that may go on.
#[derive(Debug)]
pub(super) struct Ready {
    parked: Parked,
}

impl Spare {
    /// Starts one for such orders. `prepared`: in a seat of its own.
    pub(super) fn start(engine: &Engine, spec: &RunSpec, prepared: &Prepared) -> Result<Self, String> {
        let job = waiting_job(spec, prepared)?;
        prepared
            .lay_files()
            .map_err(|_| "its files could not be written".to_owned())?;
        Ok(Self {
            seat: prepared.seat.clone(),
            waiting: Task::spawn(wait(engine.supervisor.clone(), job.clone())),
            done: None,
            job,
            files: prepared.plan.files.clone(),
        })
    }

    /// Whether it is what would be started for this order, if it could wait.
    pub(super) fn fits(self, spec: &RunSpec, prepared: &Prepared) -> Result<Self, String> {
        if self.job != waiting_job(spec, prepared)? || self.files != prepared.plan.files {
            return Err("the waiting process had other options or another environment".to_owned());
        }
        Ok(self)
    }

    /// Waits until it waits: it began earlier than a new process would. Then looks whether it is still what a new one would
    /// be.
    pub(super) async fn ready(mut self) -> Result<Ready, String> {
        let done = match self.done.take() {
            Some(done) => done,
            None => self.waiting.end().await,
        };
        let Waiting { parked, made_of } = done.map_err(|refusal| refusal.why)?;
        match made_of.changed() {
            Some(path) => Err(format!(
                "{} has changed since the process was started",
                path.display()
            )),
            None => Ok(Ready { parked }),
        }
    }

    /// Why it does not wait, if that is known by now.
    pub(super) async fn refusal(&mut self) -> Option<&Refusal> {
        if self.done.is_none() && self.waiting.0.is_finished() {
            self.done = Some(self.waiting.end().await);
        }
        self.done.as_ref().and_then(|done| done.as_ref().err())
    }
}

impl Ready {
    /// Tells it to go on. The error says why it did not; then it has done nothing.
    pub(super) async fn resume(self, resume: &Resume) -> Result<Resumed, String> {
        self.parked.resume(resume).await
    }
}

/// A process sees the files that were there when it started.
pub(super) const IN_A_VIEW: &str = "a run in a view of the repository is always started anew";

/// What is started to wait for such an order; why nothing is, otherwise.
fn waiting_job(spec: &RunSpec, prepared: &Prepared) -> Result<Job, String> {
    if spec.view.is_some() {
        return Err(IN_A_VIEW.to_owned());
    }
    if spec.coverage.is_some() {
        return Err("coverage is measured from a process's start".to_owned());
    }
    if spec.suite.limits.processes.is_some() {
        return Err("the suite's limit of processes counts from a process's start".to_owned());
    }
    let [step] = prepared.plan.steps.as_slice() else {
        return Err("the run has several steps".to_owned());
    };
    let park = step.park.as_ref().ok_or("such a run is always started anew")?;
    let mut step = step.clone();
    step.args.clone_from(&park.args);
    let marks = park.env.iter();
    step.env
        .extend(marks.map(|(name, value)| (name.clone(), Some(value.clone()))));
    Ok(prepared.job(spec, &step, None, None))
}

async fn wait(supervisor: Supervisor, job: Job) -> Result<Waiting, Refusal> {
    let started = clock::now();
    let cwd = job.cwd.clone();
    let parked = supervisor.park(job, STARTUP).await;
    let parked = parked.map_err(|error| Refusal {
        why: error.to_string(),
        lasting: true,
    })?;
    let made_of = MadeOf::look(parked.files(), &cwd, started);
    let made_of = made_of.map_err(|why| Refusal { why, lasting: false })?;
    Ok(Waiting { parked, made_of })
}

/// The files that a waiting process was made of, as they were.
#[derive(Debug)]
struct MadeOf {
    files: Vec<(PathBuf, Option<Mark>)>,
    cwd: (PathBuf, Option<(u64, u64)>),
}

impl MadeOf {
    /// `since`: when the process was started. What was written after that may have been read before.
    fn look(files: &[PathBuf], cwd: &Path, since: SystemTime) -> Result<Self, String> {
        let since = since.checked_sub(TICK).unwrap_or(since);
        let look = |path: &PathBuf| {
            let mark = mark(path);
            if mark.is_some_and(|mark| mark.is_newer_than(since)) {
                return Err(format!("{} changed while the process started", path.display()));
            }
            Ok((path.clone(), mark))
        };
        Ok(Self {
            files: files.iter().map(look).collect::<Result<_, _>>()?,
            cwd: (cwd.to_owned(), place(cwd)),
        })
    }

    /// The first that is not what it was.
    fn changed(&self) -> Option<&Path> {
        let (cwd, was) = &self.cwd;
        if place(cwd) != *was {
            return Some(cwd);
        }
        let changed = self.files.iter().find(|(path, was)| mark(path) != *was);
        changed.map(|(path, _)| path.as_path())
    }
}

fn mark(path: &Path) -> Option<Mark> {
    fs::metadata(path).ok().map(|metadata| Mark::of(&metadata))
}

/// Which folder it is: one that was removed and made again is another.
fn place(path: &Path) -> Option<(u64, u64)> {
    mark(path).map(|mark| mark.place())
}

/// A task that ends when nobody waits for it any more.
#[derive(Debug)]
struct Task(JoinHandle<Result<Waiting, Refusal>>);

impl Task {
    fn spawn(work: impl Future<Output = Result<Waiting, Refusal>> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }

    /// What came of it. Asked once.
    async fn end(&mut self) -> Result<Waiting, Refusal> {
        (&mut self.0).await.unwrap_or_else(|error| {
            Err(Refusal {
                why: format!("its start was given up: {error}"),
                lasting: false,
            })
        })
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Engine {
    /// A process for the next such order, in a seat of its own.
    pub(super) fn spare_for(&self, spec: &RunSpec, seat: Seat) -> Result<(Prepared, Spare), String> {
        let prepared = self
            .prepare_in(seat, spec)
            .map_err(|_| "no plan could be made for it".to_owned())?;
        let spare = Spare::start(self, spec, &prepared)?;
        Ok((prepared, spare))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Long after anything that a test writes, so that all of it is old.
    fn later() -> SystemTime {
        clock::now() + Duration::from_secs(3600)
    }

    #[test]
    fn a_file_that_was_changed_removed_or_made_since_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "one").unwrap();
        fs::write(path("b"), "one").unwrap();
        let files = [path("a"), path("b"), path("c")];
        let made_of = MadeOf::look(&files, folder.path(), later()).unwrap();
        assert_eq!(made_of.changed(), None);
        fs::write(path("c"), "new").unwrap();
        assert_eq!(made_of.changed(), Some(path("c").as_path()));
        fs::write(path("b"), "two!").unwrap();
        assert_eq!(made_of.changed(), Some(path("b").as_path()));
        fs::remove_file(path("a")).unwrap();
        assert_eq!(made_of.changed(), Some(path("a").as_path()));
    }

    #[test]
    fn a_file_that_was_written_while_the_process_started_is_in_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plugin.py");
        fs::write(&path, "one").unwrap();
        let why = MadeOf::look(&[path], folder.path(), SystemTime::UNIX_EPOCH).unwrap_err();
        assert!(why.ends_with("changed while the process started"), "{why}");
    }

    #[test]
    fn a_working_folder_that_was_made_anew_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("work");
        fs::create_dir(&cwd).unwrap();
        let made_of = MadeOf::look(&[], &cwd, later()).unwrap();
        fs::rename(&cwd, folder.path().join("old")).unwrap();
        fs::create_dir(&cwd).unwrap();
        assert_eq!(made_of.changed(), Some(cwd.as_path()));
    }
}
