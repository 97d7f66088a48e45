//! What the supervising process is born with and what it makes of it: the socket to the server on descriptor 0,
//! a session, signals.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags};
use rustix::process::{getpid, set_child_subreaper, setsid};
use serde::Serialize;

use super::child::Streams;
use super::control::{HANDSHAKE, Inbox, Task, ToSupervisor, line};
use super::{proc, signal_mask};

/// Why this process may not supervise: signals are blocked for one thread only, and a fork copies one thread only.
const THREADS: &str =
    "it has started threads: `supervise_main` must be the first thing that the program does";

/// Makes this process fit to supervise: no descriptor that is not its own, every signal at its default and blocked
/// (so no SIGTERM of a test ends it), a session of its own, subreaper. Then says so to the server.
pub(super) fn take_over() -> io::Result<(Control, OwnedFd)> {
    close_from(3);
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let null = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    let signals = signal_mask::quiet()?;
    if proc::read(getpid().as_raw_nonzero().get()).is_some_and(|me| me.threads != 1) {
        let _ = rustix::net::send(&socket, format!("{THREADS}\n").as_bytes(), SendFlags::NOSIGNAL);
        return Err(io::Error::other(THREADS));
    }
    // Fails only where this process leads a group already, which the server does not make it do.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    let control = Control {
        socket,
        open: true,
        inbox: Inbox::default(),
        post: VecDeque::new(),
    };
    control.send_line(format!("{HANDSHAKE}\n").as_bytes())?;
    Ok((control, signals))
}

/// Closes every descriptor from `first` on: what the server's libraries forgot to mark is no business of the job.
fn close_from(first: u32) {
    #[expect(
        unsafe_code,
        reason = "descriptors of unknown origin can only be closed by number"
    )]
    // SAFETY: called before this process has opened any descriptor of its own, so no owner's is closed.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if closed == 0 {
        return;
    }
    // Kernels before 5.9.
    let numbers: Vec<i32> = std::fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| u32::try_from(*number).is_ok_and(|number| number >= first))
        .collect();
    for number in numbers {
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: as above; the folder's own descriptor is closed already and refused with EBADF.
        unsafe {
            libc::close(number);
        }
    }
}

/// The socket to the server.
pub(super) struct Control {
    socket: OwnedFd,
    open: bool,
    inbox: Inbox,
    post: VecDeque<ToSupervisor>,
}

/// What came from the server.
pub(super) enum Post {
    Nothing,
    Message(ToSupervisor),
    ServerGone,
}

impl Control {
    pub(super) fn watched(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Waits for the job and its descriptors. `None`: the server is gone.
    pub(super) fn receive_task(&mut self) -> io::Result<Option<(Box<Task>, Streams)>> {
        let mut fds = Vec::new();
        loop {
            if let Some(line) = self.inbox.line() {
                let Ok(ToSupervisor::Run(task)) = serde_json::from_slice(&line) else {
                    return Err(io::ErrorKind::InvalidData.into());
                };
                let streams = streams(&task, fds).ok_or(io::ErrorKind::InvalidData)?;
                return Ok(Some((task, streams)));
            }
            if self.read(&mut fds, RecvFlags::empty())? == 0 {
                return Ok(None);
            }
        }
    }

    /// What is there now, without waiting.
    pub(super) fn receive(&mut self) -> Post {
        match self.read(&mut Vec::new(), RecvFlags::DONTWAIT) {
            Ok(0) => {
                self.open = false;
                return Post::ServerGone;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => {
                self.open = false;
                return Post::ServerGone;
            }
        }
        while let Some(line) = self.inbox.line() {
            self.post
                .extend(serde_json::from_slice::<ToSupervisor>(&line).ok());
        }
        // The last word counts: nothing is asked for that a later message takes back.
        self.post
            .drain(..)
            .next_back()
            .map_or(Post::Nothing, Post::Message)
    }

    fn read(&mut self, fds: &mut Vec<OwnedFd>, flags: RecvFlags) -> io::Result<usize> {
        let mut buffer = [0u8; 8 << 10];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            let mut parts = [IoSliceMut::new(&mut buffer)];
            let flags = flags | RecvFlags::CMSG_CLOEXEC;
            match rustix::net::recvmsg(&self.socket, &mut parts, &mut ancillary, flags) {
                Err(Errno::INTR) => {}
                other => break other?,
            }
        };
        if received.flags.contains(ReturnFlags::CTRUNC) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                fds.extend(rights);
            }
        }
        self.inbox.bytes().extend_from_slice(&buffer[..received.bytes]);
        Ok(received.bytes)
    }

    pub(super) fn send<T: Serialize>(&self, message: &T) -> io::Result<()> {
        self.send_line(&line(message))
    }

    fn send_line(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::net::send(&self.socket, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// In the order in which the server sends them: output, errors, perhaps the channel.
fn streams(task: &Task, fds: Vec<OwnedFd>) -> Option<Streams> {
    let mut fds = fds.into_iter();
    Some(Streams {
        stdout: fds.next()?,
        stderr: fds.next()?,
        stdin: if task.channel { Some(fds.next()?) } else { None },
    })
}
