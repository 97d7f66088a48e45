//! Supervision: the only room that starts processes. One call runs one step to its certain end.
//!
//! What holds after [`Supervisor::run`] on Linux, as root and as an ordinary user: no process that the step started is
//! alive, whatever it did to hide (`setsid`, double fork, ignored signals, held pipes); the exit code is the main
//! process's own; output was read as it came, and its memory is bounded. When the server dies by any signal, its runs
//! end by themselves within the grace of a cancel.
//!
//! What does not hold: a program that kills the supervising process *and* the server gets away; a process that belongs
//! to another user (setuid) cannot be signalled by an ordinary one; an unbounded, exponential fork bomb without a limit
//! of processes may outrun any killing. On other systems than Linux see `portable.rs`: process groups only.

mod cancel;
mod capture;
mod guard;
mod lines;
#[cfg(target_os = "linux")]
mod linux;
mod output;
#[cfg(target_os = "linux")]
mod parking;
mod peer;
#[cfg(any(not(target_os = "linux"), test))]
mod portable;
mod resume;
mod session;
mod stdio;
#[cfg(not(target_os = "linux"))]
mod unparked;
mod view;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

pub use cancel::Cancel;
pub use capture::Captured;
pub use guard::guard_memory;
#[cfg(target_os = "linux")]
pub use linux::{Parked, Resumed};
pub use peer::{Peer, PeerExit, PeerOutput};
pub use resume::Resume;
pub use session::{Session, SessionExit};
pub use stdio::private_stdio;
#[cfg(not(target_os = "linux"))]
pub use unparked::{Parked, Resumed};
pub use view::{View, ViewContents, ViewFile};

use runner_core::plan::{Dump, StepExit, Stream};

/// How to start the small supervising process: the running program again, with a hidden first argument. The
/// path is a value given by `main`: `/proc/self/exe` on Linux, so that an upgrade under a living server does no harm.
#[derive(Clone, Debug)]
pub struct Supervisor {
    pub program: PathBuf,
    /// Mostly `["__supervise"]`. [`supervise_main`] must be what the program does then.
    pub args: Vec<OsString>,
}

/// One process to run, with everything it may depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// For [`StepExit::step`].
    pub name: String,
    /// Program first.
    pub argv: Vec<OsString>,
    /// The whole environment, nothing is inherited.
    pub env: BTreeMap<OsString, OsString>,
    pub cwd: PathBuf,
    /// Whether standard input is the private event channel (one end of a socket pair, shut for reading back); else null.
    pub channel: bool,
    /// Where standard output goes instead of to the reader.
    pub stdout_file: Option<PathBuf>,
    /// Monotonic. `None`: no limit.
    pub deadline: Option<Instant>,
    /// Whether the job is interrupted (SIGINT to its process group, as Ctrl-C in a terminal sends it) before it is
    /// terminated: a test framework then tears its fixtures down.
    pub interrupt: bool,
    /// From the first signal to SIGKILL when the deadline passed.
    pub grace: Duration,
    /// The same after a cancel, a client that went away, or a signal.
    pub cancel_grace: Duration,
    /// What to ask for before the first signal of a deadline or a cancel.
    pub on_deadline: Option<Dump>,
    pub limits: Limits,
    /// A folder that the job sees otherwise than it is.
    pub view: Option<View>,
}

/// Resource limits of one step. None by default. [`Supervisor::confinement`] says how each is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Kept by the run's cgroup where it has one with that controller. Else by RLIMIT_NPROC, for which the kernel counts
    /// every process and thread of the user: the limit set is what the user has when the run begins, and so many
    /// more. RLIMIT_NPROC does not hold for root: the run is counted instead, and ended when it has more.
    pub processes: Option<u64>,
    /// Of the whole run where its cgroup can keep it; else the address space of each process, which programs that
    /// only reserve memory (sanitizers, some JITs) may run into.
    pub memory_bytes: Option<u64>,
    /// Of each file that is written.
    pub file_bytes: Option<u64>,
    /// Processor time of each process.
    pub cpu_seconds: Option<u64>,
}

/// What [`Supervisor::run`] gives back: nothing of the job is alive any more.
#[derive(Clone, Debug, Default)]
pub struct JobExit {
    pub exit: StepExit,
    /// Contents of the stack files, by process id.
    pub dumps: BTreeMap<u32, String>,
    /// Bytes of output that were not handed on because a line was longer than the limit.
    pub dropped_bytes: u64,
}

impl JobExit {
    /// Cancelled before it began.
    fn never_started(job: Job) -> Self {
        let exit = StepExit {
            step: job.name,
            cancelled: true,
            ..StepExit::default()
        };
        Self {
            exit,
            ..Self::default()
        }
    }
}

/// A job that could not be started, or whose supervision broke.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("could not start {program}: {source}")]
    Start { program: String, source: std::io::Error },
    #[error("the working folder {cwd} cannot be used: {source}")]
    WorkingFolder { cwd: PathBuf, source: std::io::Error },
    /// Namespaces are not allowed here, or the folder's file system cannot be covered.
    #[error("{root} cannot be shown as it was: {source}")]
    View { root: PathBuf, source: std::io::Error },
    #[error("the supervising process did not answer as expected: {what}")]
    Supervisor { what: String },
    /// A job that was to wait in its own start-up does not: why.
    #[error("{why}")]
    NotParked { why: String },
}

/// Called with all complete lines that one read brought. While it works nothing is read, so it must be quick.
pub type LineSink<'a> = &'a mut (dyn FnMut(Stream, Vec<String>) + Send);

impl Supervisor {
    /// Runs a job to its end. Returns when its main process is gone, its output is drained (bounded), and every
    /// descendant is dead. Dropping the future ends the job too, as a cancel does, but nobody waits for it.
    pub async fn run(&self, job: Job, cancel: &Cancel, sink: LineSink<'_>) -> Result<JobExit, ProcessError> {
        #[cfg(target_os = "linux")]
        return linux::run(self, job, cancel, sink).await;
        #[cfg(not(target_os = "linux"))]
        return portable::run(job, cancel, sink).await;
    }

    /// Starts a job that stops by itself inside its own start-up and waits there for [`Parked::resume`]: under the same
    /// supervision, in the same environment and with the same streams as if it had been run. It has a channel, over which
    /// it says that it waits (the words are in `parking.rs`). Its deadline begins when it goes on.
    ///
    /// # Errors
    /// If it does not wait within that time: it says that it will not, it ended, or the system cannot do this.
    pub async fn park(&self, job: Job, within: Duration) -> Result<Parked, ProcessError> {
        #[cfg(target_os = "linux")]
        return linux::park(self, job, within).await;
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (job, within);
            return Err(ProcessError::NotParked {
                why: "no process is parked on this system".to_owned(),
            });
        }
    }

    /// The same for a job whose streams are open already: [`Job::channel`] says only that it has a standard input.
    async fn run_opened(
        &self,
        job: Job,
        opened: (output::Output, output::ChildEnds),
        cancel: &Cancel,
        sink: LineSink<'_>,
    ) -> Result<JobExit, ProcessError> {
        #[cfg(target_os = "linux")]
        return linux::run_opened(self, job, opened, cancel, sink).await;
        #[cfg(not(target_os = "linux"))]
        return portable::run_opened(job, opened, cancel, sink).await;
    }

    /// What confines the processes of a run on this machine: tier and limits, for `environment` and `doctor`.
    pub fn confinement(&self, limits: &Limits) -> BTreeMap<String, String> {
        #[cfg(target_os = "linux")]
        return linux::describe(limits);
        #[cfg(not(target_os = "linux"))]
        return portable::describe(limits);
    }
}

/// What the hidden supervising process does. Must be the first thing that the program does: no runtime, no thread
/// before it. Returns the exit code.
pub fn supervise_main() -> i32 {
    #[cfg(target_os = "linux")]
    return linux::supervise_main();
    // Elsewhere jobs are started by the server itself.
    #[cfg(not(target_os = "linux"))]
    return 70;
}
