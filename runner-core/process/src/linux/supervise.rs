//! The supervising process: one a run, single-threaded, the subreaper of everything the job starts. Its `wait`
//! answering "no children" is the proof that nothing of the job is left.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid};

use super::cgroup::Cgroup;
use super::child;
use super::confine::Confined;
use super::control::{FromSupervisor, JobEnd, MainExit, Refused, Task, ToSupervisor, monotonic};
use super::dump;
use super::ending::{Family, interrupt, kill_all, terminate};
use super::inherited::{Control, Post};
use super::proc::{self, Process};

/// How long others may take to go by themselves after the main process is gone.
pub(super) const LINGER: Duration = Duration::from_millis(150);
/// For a job whose server is gone: nobody waits for it any more.
const LOST_GRACE: Duration = Duration::from_millis(500);
/// Between SIGTERM and SIGKILL for those that outlived the main process.
pub(super) const LEAK_GRACE: Duration = Duration::from_millis(500);
/// Between SIGTERM and SIGKILL for those that an interrupt did not end: the last part of the grace.
const LAST_CHANCE: Duration = Duration::from_millis(300);
/// After the grace: freezing, killing, reaping.
const KILLING: Duration = Duration::from_millis(700);
/// Between two counts, where a limit of processes is kept by counting.
const COUNTING: Duration = Duration::from_millis(100);
/// Processes that SIGKILL did not end (they hang in the kernel) are waited for after the answer, this long.
const AFTERWARDS: Duration = Duration::from_secs(60);

/// What [`crate::supervise_main`] does on Linux.
pub(crate) fn main() -> i32 {
    match supervise() {
        Ok(()) => 0,
        // There is nobody to tell: the server sees the socket's end of file and says so.
        Err(_) => 70,
    }
}

fn supervise() -> io::Result<()> {
    let (mut control, signals) = super::inherited::take_over()?;
    let Some((task, streams)) = control.receive_task()? else {
        return Ok(());
    };
    let confined = Confined::new(&task.limits);
    let begun = Instant::now();
    let covered = task.view.as_ref().map_or(Ok(()), super::view::enter);
    let started = covered
        .map_err(|error| (Refused::View, error))
        .and_then(|()| child::start(&task, streams, &confined));
    let pid = match started {
        Ok(pid) => pid,
        Err((what, error)) => {
            if let Some(cgroup) = confined.cgroup {
                cgroup.remove();
            }
            return control.send(&not_started(what, &error));
        }
    };
    // The server may be dead already; the run then ends through the lifeline.
    let _ = control.send(&FromSupervisor::Started {
        pid: pid.as_raw_nonzero().get(),
    });
    let run = Run {
        deadline: task.deadline.map(until),
        children: Children {
            main: pid,
            begun,
            exit: None,
            cgroup: confined.cgroup,
        },
        most_processes: confined.most_processes,
        task,
        control,
        signals,
        phase: Phase::Running,
        ended: JobEnd::default(),
        told: false,
    };
    run.supervise();
    Ok(())
}

fn not_started(what: Refused, error: &io::Error) -> FromSupervisor {
    FromSupervisor::NotStarted {
        what,
        errno: error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// The main process is gone, others are not.
    Lingering(Instant),
    /// SIGINT went out.
    Interrupted(Ending),
    /// SIGTERM went out.
    Terminating(Instant),
}

/// When an interrupted job is terminated, and when it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ending {
    terminate: Instant,
    kill: Instant,
}

impl Ending {
    fn within(grace: Duration) -> Self {
        let kill = Instant::now() + grace;
        Self {
            terminate: kill.checked_sub(LAST_CHANCE.min(grace / 4)).unwrap_or(kill),
            kill,
        }
    }
}

/// Everything below this process.
struct Children {
    main: Pid,
    begun: Instant,
    exit: Option<MainExit>,
    cgroup: Option<Cgroup>,
}

impl Family for Children {
    fn strike(&self) {
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
    }

    fn members(&self) -> Vec<Process> {
        proc::descendants(&proc::all(), &[getpid().as_raw_nonzero().get()])
    }

    fn reap(&mut self) -> bool {
        // Also children that were cloned to end without SIGCHLD.
        let options = WaitOptions::NOHANG | WaitOptions::from_bits_retain(libc::__WALL.cast_unsigned());
        loop {
            match rustix::process::wait(options) {
                Ok(Some((pid, status))) if pid == self.main => self.exit = Some(self.main_exit(status)),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }
}

impl Children {
    fn main_exit(&self, status: WaitStatus) -> MainExit {
        MainExit {
            code: status.exit_status(),
            signal: status.terminating_signal(),
            duration_s: self.begun.elapsed().as_secs_f64(),
        }
    }
}

struct Run {
    task: Box<Task>,
    control: Control,
    signals: OwnedFd,
    children: Children,
    deadline: Option<Instant>,
    most_processes: Option<usize>,
    phase: Phase,
    ended: JobEnd,
    /// Whether the server knows how the main process ended.
    told: bool,
}

impl Run {
    fn supervise(mut self) {
        while !self.reap() {
            if self.has_too_many() {
                self.kill();
                break;
            }
            let due = self.due();
            if due.is_some_and(|due| due <= Instant::now()) {
                if self.next_phase() {
                    break;
                }
            } else if self.wait(due, self.most_processes.map(|_| COUNTING)) {
                self.kill();
                break;
            }
        }
        self.tell_main();
        if self.ended.survivors.is_empty()
            && let Some(cgroup) = self.children.cgroup.take()
        {
            cgroup.remove();
        }
        let survivors = !self.ended.survivors.is_empty();
        let _ = self.control.send(&FromSupervisor::Done(self.ended));
        if survivors {
            kill_all(&mut self.children, AFTERWARDS);
        }
    }

    /// Reaps; `true` if nobody is left. Tells the server about the main process as soon as it is gone.
    fn reap(&mut self) -> bool {
        let nobody = self.children.reap();
        self.tell_main();
        if self.told && self.phase == Phase::Running {
            self.phase = Phase::Lingering(Instant::now() + LINGER);
        }
        nobody
    }

    fn tell_main(&mut self) {
        if let Some(exit) = self.children.exit
            && !self.told
        {
            self.told = true;
            let _ = self.control.send(&FromSupervisor::MainGone(exit));
        }
    }

    /// Counts, where nothing else keeps the limit of processes.
    fn has_too_many(&mut self) -> bool {
        let Some(most) = self.most_processes else {
            return false;
        };
        let alive = self
            .children
            .members()
            .iter()
            .filter(|one| !one.is_zombie())
            .count();
        if alive <= most {
            return false;
        }
        self.ended.note = Some(format!(
            "the run was ended: it had {alive} processes, and its limit is {most}"
        ));
        true
    }

    fn due(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running => self.deadline,
            Phase::Interrupted(ending) => Some(ending.terminate),
            Phase::Lingering(until) | Phase::Terminating(until) => Some(until),
        }
    }

    /// Acts when a time is up. `true` after the killing.
    fn next_phase(&mut self) -> bool {
        match self.phase {
            Phase::Running => {
                self.ended.timed_out = true;
                self.dump();
                self.end_within(self.task.grace);
                false
            }
            Phase::Lingering(_) => {
                let left = self.children.members();
                self.ended.leaked = proc::labels(&left);
                self.terminate(LEAK_GRACE);
                false
            }
            Phase::Interrupted(ending) => {
                terminate(&self.children.members());
                self.phase = Phase::Terminating(ending.kill);
                false
            }
            Phase::Terminating(_) => {
                self.kill();
                true
            }
        }
    }

    /// Where everybody is, before they are told to end.
    fn dump(&mut self) {
        if let Some(wanted) = &self.task.on_deadline {
            self.ended.dumps = dump::collect(wanted, &self.children.members());
        }
    }

    /// Tells a running job to end, first in the way that lets it clean up.
    fn end_within(&mut self, grace: Duration) {
        if !self.task.interrupt || grace.is_zero() {
            return self.terminate(grace);
        }
        interrupt(
            &self.children.members(),
            self.children.main.as_raw_nonzero().get(),
        );
        self.phase = Phase::Interrupted(Ending::within(grace));
    }

    fn terminate(&mut self, grace: Duration) {
        terminate(&self.children.members());
        self.phase = Phase::Terminating(Instant::now() + grace);
    }

    fn kill(&mut self) {
        let left = kill_all(&mut self.children, KILLING);
        self.ended.survivors = proc::labels(&left);
    }

    /// Waits for a death, a word from the server, its end, or the time, and not longer than `most`. `true`: kill at once.
    fn wait(&mut self, due: Option<Instant>, most: Option<Duration>) -> bool {
        let due = due.map(|due| due.saturating_duration_since(Instant::now()));
        let timeout = due.into_iter().chain(most).min().map(timespec);
        let mut ready = [
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::from_borrowed_fd(self.control.watched(), PollFlags::IN),
        ];
        // Without the server there is no socket to watch any more.
        let count = if self.control.is_open() { 2 } else { 1 };
        let _ = poll(&mut ready[..count], timeout.as_ref());
        let [signals, control] = ready.map(|fd| !fd.revents().is_empty());
        if signals {
            super::signal_mask::forget(&self.signals);
        }
        control && self.listen()
    }

    /// What the server has to say. `true`: kill at once.
    fn listen(&mut self) -> bool {
        match self.control.receive() {
            Post::Nothing | Post::Message(ToSupervisor::Run(_)) => false,
            Post::Message(ToSupervisor::GoOn { deadline }) => {
                self.children.begun = Instant::now();
                self.deadline = deadline.map(until);
                false
            }
            Post::Message(ToSupervisor::NoLimit) => {
                self.deadline = None;
                false
            }
            Post::Message(ToSupervisor::Stop) | Post::ServerGone => {
                self.stop();
                false
            }
            Post::Message(ToSupervisor::Kill) => {
                self.ended.cancelled |= self.children.exit.is_none();
                true
            }
        }
    }

    /// Ends with the shorter of what is left of a grace that runs and the grace of a cancel.
    fn stop(&mut self) {
        self.ended.cancelled |= self.children.exit.is_none();
        let longest = if self.control.is_open() {
            Duration::MAX
        } else {
            LOST_GRACE
        };
        let grace = self.task.cancel_grace.min(longest);
        let until = Instant::now() + grace;
        match self.phase {
            Phase::Running => {
                if self.control.is_open() {
                    self.dump();
                }
                self.end_within(grace);
            }
            Phase::Interrupted(before) => {
                let ending = Ending::within(grace);
                self.phase = Phase::Interrupted(if ending.kill < before.kill { ending } else { before });
            }
            Phase::Lingering(_) => self.phase = Phase::Lingering(Instant::now()),
            Phase::Terminating(before) => self.phase = Phase::Terminating(before.min(until)),
        }
    }
}

/// A point on the clock of [`monotonic`] as this process measures time.
fn until(deadline: Duration) -> Instant {
    Instant::now() + deadline.saturating_sub(monotonic())
}

fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or(Timespec {
        tv_sec: i64::MAX,
        tv_nsec: 0,
    })
}
