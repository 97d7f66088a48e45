//! The server as the last resort. When a test kills its supervising process, everything that one looked after
//! becomes a child of the server, which is a subreaper for this reason.
//!
//! Who is such an orphan? No mark can tell: a test may scrub its environment and close its descriptors. But nobody
//! can join a session, only inherit it or make a new one. The supervising process makes one before it starts
//! anything, so an orphan is never in the server's session, and other children of this program are, as long as they
//! do not detach themselves. An orphan is hence a direct child of this process that is no known supervising
//! process, in another session, and not older than the supervising process that was lost.

use std::io;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, waitpid};

use super::cgroup::{self, Cgroup};
use super::control::MainExit;
use super::ending::{Family, kill_all};
use super::proc::{self, Process};

/// Supervising processes that are not reaped yet.
static KNOWN: Mutex<Vec<Pid>> = Mutex::new(Vec::new());
static SUBREAPER: Once = Once::new();

fn known() -> MutexGuard<'static, Vec<Pid>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a supervising process. No sweep looks while one is started but not yet known.
pub(super) fn spawn_known(spawn: impl FnOnce() -> io::Result<Pid>) -> io::Result<Pid> {
    SUBREAPER.call_once(|| {
        // Refused only by ancient kernels; then there is no last resort.
        let _ = set_child_subreaper(Some(getpid()));
        cgroup::remove_stale();
    });
    let mut known = known();
    let pid = spawn()?;
    known.push(pid);
    Ok(pid)
}

/// The supervising process is reaped.
pub(super) fn forget(pid: Pid) {
    known().retain(|one| *one != pid);
}

/// The supervising process whose orphans are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    pub(super) pid: i32,
    pub(super) start: u64,
}

/// What a sweep found.
#[derive(Debug, Default)]
pub(super) struct Swept {
    /// How the job's main process ended, if it was among the orphans.
    pub(super) main: Option<MainExit>,
    pub(super) ended: Vec<String>,
    pub(super) survivors: Vec<String>,
}

/// Ends all orphans and what descends from them. Blocks for about `bound` at most.
pub(super) fn sweep(main: Option<i32>, lost: Lost, bound: Duration) -> Swept {
    let mut orphans = Orphans {
        main,
        since: lost.start,
        cgroup: Cgroup::of(lost.pid, lost.start),
        // Read here and not asked by `getsid`: for a session that began outside this pid namespace (a container's
        // shell) the kernel answers 0, which is a session like any other here and no id to rustix.
        session: proc::read(getpid().as_raw_nonzero().get()).map_or(0, |me| me.session),
        swept: Swept::default(),
    };
    orphans.swept.ended = proc::labels(&orphans.members());
    let survivors = kill_all(&mut orphans, bound);
    orphans.swept.survivors = proc::labels(&survivors);
    if let Some(cgroup) = orphans.cgroup.take() {
        cgroup.remove();
    }
    orphans.swept
}

struct Orphans {
    main: Option<i32>,
    since: u64,
    cgroup: Option<Cgroup>,
    session: i32,
    swept: Swept,
}

impl Orphans {
    fn roots(&self, all: &[Process]) -> Vec<Process> {
        let me = getpid().as_raw_nonzero().get();
        let known = known();
        all.iter()
            .filter(|one| one.parent == me && one.session != self.session && one.start >= self.since)
            .filter(|one| !known.iter().any(|pid| pid.as_raw_nonzero().get() == one.pid))
            .cloned()
            .collect()
    }
}

impl Family for Orphans {
    fn strike(&self) {
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
    }

    fn members(&self) -> Vec<Process> {
        // Known supervising processes are looked up after this look at `/proc`, so one that started meanwhile is
        // either not in it or known.
        let all = proc::all();
        let mut members = self.roots(&all);
        let roots: Vec<i32> = members.iter().map(|one| one.pid).collect();
        members.extend(proc::descendants(&all, &roots));
        members
    }

    fn reap(&mut self) -> bool {
        let roots = self.roots(&proc::all());
        let mut left = false;
        for root in roots {
            let options = WaitOptions::NOHANG | WaitOptions::from_bits_retain(libc::__WALL.cast_unsigned());
            match waitpid(Pid::from_raw(root.pid), options) {
                Ok(Some((pid, status))) if Some(pid.as_raw_nonzero().get()) == self.main => {
                    self.swept.main = Some(MainExit {
                        code: status.exit_status(),
                        signal: status.terminating_signal(),
                        duration_s: 0.0,
                    });
                    left = true;
                }
                // Its own children may have come to this process only now: look again.
                Ok(_) => left = true,
                Err(_) => {}
            }
        }
        !left
    }
}
