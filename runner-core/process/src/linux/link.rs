//! The server's side of one supervising process: starting it, talking to it, reaping it.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::control::{FromSupervisor, HANDSHAKE, Inbox, ToSupervisor, line};
use super::orphans::{self, Lost};
use super::proc;
use crate::output::{ChildEnds, watched};
use crate::{ProcessError, Supervisor};

/// A program that does not say the handshake within this time is none of ours. Generous: the machine may be busy.
const HANDSHAKE_TIME: Duration = Duration::from_secs(20);
/// What another program may write before it is given up.
const HANDSHAKE_BYTES: usize = 4096;

/// One supervising process. Dropped before its end, it ends its job by itself: the socket closes.
#[derive(Debug)]
pub(super) struct Link {
    socket: UnixStream,
    inbox: Inbox,
    process: Option<Child>,
}

impl Link {
    /// Starts the supervising process with its job, and waits for its handshake.
    pub(super) async fn start(
        supervisor: &Supervisor,
        job: &ToSupervisor,
        ends: ChildEnds,
    ) -> Result<Self, ProcessError> {
        let broken = |source: io::Error| ProcessError::Supervisor {
            what: format!("{} could not be started: {source}", command_line(supervisor)),
        };
        let (ours, theirs) = StdUnixStream::pair().map_err(broken)?;
        ours.set_nonblocking(true).map_err(broken)?;
        // Mostly all of it waits in the socket before there is anyone to read it, which saves a turn.
        let message = line(job);
        let sent = send_with(ours.as_fd(), &message, &ends).map_err(broken)?;
        drop(ends);
        let process = Child::spawn(supervisor, theirs.into()).map_err(broken)?;
        let mut link = Self {
            socket: UnixStream::from_std(ours).map_err(broken)?,
            inbox: Inbox::default(),
            process: Some(process),
        };
        let greeting = tokio::time::timeout(HANDSHAKE_TIME, link.greeting()).await;
        match greeting.unwrap_or_else(|_| "it says nothing".to_owned()) {
            greeting if greeting == HANDSHAKE => {
                // Should it fail, the next message will be that there is none.
                let _ = link.socket.write_all(&message[sent..]).await;
                Ok(link)
            }
            greeting => {
                link.kill();
                Err(ProcessError::Supervisor {
                    what: format!("{} is not fit to supervise: {greeting}", command_line(supervisor)),
                })
            }
        }
    }

    /// The first line, or why there is none.
    async fn greeting(&mut self) -> String {
        loop {
            if let Some(line) = self.inbox.line() {
                return String::from_utf8_lossy(&line).into_owned();
            }
            if self.inbox.waiting() > HANDSHAKE_BYTES {
                return "it says something else".to_owned();
            }
            match self.read().await {
                Ok(0) => return "it ended without a word".to_owned(),
                Err(error) => return error.to_string(),
                Ok(_) => {}
            }
        }
    }

    /// A short message. Best effort: whoever does not hear it is ended anyway when time is up.
    pub(super) fn tell(&self, message: &ToSupervisor) {
        let _ = self.socket.try_write(&line(message));
    }

    /// The next message; `None` when the supervising process is gone or speaks nonsense. Can be dropped at any time
    /// without losing any.
    pub(super) async fn next(&mut self) -> Option<FromSupervisor> {
        loop {
            if let Some(line) = self.inbox.line() {
                return serde_json::from_slice(&line).ok();
            }
            match self.read().await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        self.socket.read_buf(self.inbox.bytes()).await
    }

    /// Who is lost if the supervising process is.
    pub(super) fn supervisor(&self) -> Lost {
        let process = self.process.as_ref().expect("taken only when the link is reaped");
        Lost {
            pid: process.pid.as_raw_nonzero().get(),
            start: process.start,
        }
    }

    /// Wakes the supervising process if a test has stopped it. Harmless otherwise.
    pub(super) fn wake(&self) {
        self.signal(Signal::CONT);
    }

    /// Kills the supervising process itself. What it was looking after is an orphan of this process then.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(process) = &self.process {
            let _ = pidfd_send_signal(process.fd(), signal);
        }
    }

    /// Waits for the end of the supervising process and reaps it. If that takes longer, it is reaped later.
    pub(super) async fn reap(mut self, patience: Duration) {
        if let Some(process) = self.process.take() {
            process.reap(patience).await;
        }
    }
}

fn command_line(supervisor: &Supervisor) -> String {
    let mut line = supervisor.program.to_string_lossy().into_owned();
    for arg in &supervisor.args {
        line.push(' ');
        line.push_str(&arg.to_string_lossy());
    }
    line
}

/// Sends descriptors with as much of `bytes` as there is room for.
fn send_with(socket: BorrowedFd<'_>, bytes: &[u8], ends: &ChildEnds) -> io::Result<usize> {
    let fds = [Some(&ends.stdout), Some(&ends.stderr), ends.stdin.as_ref()];
    let fds: Vec<_> = fds.into_iter().flatten().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fits = ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    debug_assert!(fits, "at most three descriptors");
    Ok(rustix::net::sendmsg(
        socket,
        &[IoSlice::new(bytes)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?)
}

/// The supervising process as this process's child, known to [`orphans`] so that no sweep takes it for one.
#[derive(Debug)]
struct Child {
    pid: Pid,
    start: u64,
    fd: Option<AsyncFd<OwnedFd>>,
}

impl Child {
    #[expect(clippy::disallowed_methods, reason = "the room that starts processes")]
    fn spawn(supervisor: &Supervisor, socket: OwnedFd) -> io::Result<Self> {
        let mut command = Command::new(&supervisor.program);
        command
            .args(&supervisor.args)
            .env_clear()
            .stdin(socket)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let pid = orphans::spawn_known(|| Ok(Pid::from_child(&command.spawn()?)))?;
        // Nobody else reaps this child, so the number is its own until then.
        let fd = pidfd_open(pid, PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(watched);
        match fd {
            Ok(fd) => Ok(Self {
                pid,
                start: proc::read(pid.as_raw_nonzero().get()).map_or(0, |process| process.start),
                fd: Some(fd),
            }),
            Err(error) => {
                // The socket is closed already, so the process ends by itself.
                let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
                orphans::forget(pid);
                Err(error)
            }
        }
    }

    fn fd(&self) -> &OwnedFd {
        self.fd
            .as_ref()
            .expect("taken only when the child is dropped")
            .get_ref()
    }

    async fn reap(self, patience: Duration) {
        let ready = self
            .fd
            .as_ref()
            .expect("taken only when the child is dropped")
            .readable();
        // What is not over in time is left to the drop.
        let _ = tokio::time::timeout(patience, ready).await;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(fd) = self.fd.take().map(AsyncFd::into_inner) else {
            return;
        };
        let pid = self.pid;
        let reap = move |options| {
            let gone = !matches!(
                waitid(WaitId::PidFd(fd.as_fd()), WaitIdOptions::EXITED | options),
                Ok(None)
            );
            if gone {
                orphans::forget(pid);
            }
            gone
        };
        if !reap(WaitIdOptions::NOHANG) {
            std::thread::spawn(move || reap(WaitIdOptions::empty()));
        }
    }
}
