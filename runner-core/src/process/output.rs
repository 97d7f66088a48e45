//! The server's ends of a job's streams: pipes, the event channel, and how they are read.

use std::fs::File;
use std::io;
use std::net::Shutdown;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::lines::{CHANNEL_LINE, LineSplitter, TEXT_LINE};
use super::{Job, LineSink, ProcessError};
use crate::plan::Stream;

/// One read takes at most this much.
const READ: usize = 64 << 10;
/// One turn of a flooding stream before the others are looked at again.
const READS_A_TURN: usize = 4;
/// For the kernel's buffers of pipes and of the channel: more room before a writer has to wait.
const ROOM: usize = 256 << 10;
/// How long a stream rests that had only a little to say, so that a process that says a little often (a line for each
/// of its tests) does not wake the server each time. What it says meanwhile waits in the kernel, and its end is not
/// delayed: then what is there is read at once.
const REST: Duration = Duration::from_millis(10);
/// A little, in bytes. A stream that says more never rests: its writer would have to wait.
const LITTLE: usize = 8 << 10;
/// How long the rest is read when nobody of the job should be writing any more.
const DRAIN: Duration = Duration::from_millis(300);

/// What the job's main process gets.
#[derive(Debug)]
pub(super) struct ChildEnds {
    /// `None`: null.
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// What the server keeps.
#[derive(Debug)]
pub(super) struct Output {
    stdout: Source,
    stderr: Source,
    channel: Source,
}

/// Makes both ends of everything a job writes to. Needs the tokio runtime.
pub(super) fn open(job: &Job) -> Result<(Output, ChildEnds), ProcessError> {
    let broken = |source: io::Error| ProcessError::Supervisor {
        what: format!("no pipes could be made: {source}"),
    };
    let (stdout, child_stdout) = match &job.stdout_file {
        Some(path) => {
            let file = create(path).map_err(|source| ProcessError::Supervisor {
                what: format!(
                    "the file for standard output, {}, could not be made: {source}",
                    path.display()
                ),
            })?;
            (Source::closed(), OwnedFd::from(file))
        }
        None => pipe(Stream::Stdout).map_err(broken)?,
    };
    let (stderr, child_stderr) = pipe(Stream::Stderr).map_err(broken)?;
    let (channel, child_stdin) = if job.channel {
        let (channel, child) = socket().map_err(broken)?;
        (channel, Some(child))
    } else {
        (Source::closed(), None)
    };
    let output = Output {
        stdout,
        stderr,
        channel,
    };
    let ends = ChildEnds {
        stdin: child_stdin,
        stdout: child_stdout,
        stderr: child_stderr,
    };
    Ok((output, ends))
}

/// Both ends of a peer's streams, and its standard error for whoever watches it.
pub(super) struct PeerEnds {
    /// Not blocking.
    pub(super) input: OwnedFd,
    /// Not blocking.
    pub(super) output: OwnedFd,
    pub(super) stderr: OwnedFd,
    pub(super) theirs: ChildEnds,
}

/// Makes the pipes of a peer.
pub(super) fn peer_ends() -> io::Result<PeerEnds> {
    let (child_stdin, input) = io::pipe()?;
    let (output, child_stdout) = io::pipe()?;
    let (stderr, child_stderr) = io::pipe()?;
    #[cfg(target_os = "linux")]
    for ours in [input.as_fd(), output.as_fd()] {
        // Fewer turns for large messages; refused when the user's pipes are large already.
        let _ = rustix::pipe::fcntl_setpipe_size(ours, ROOM);
    }
    rustix::io::ioctl_fionbio(&input, true)?;
    rustix::io::ioctl_fionbio(&output, true)?;
    Ok(PeerEnds {
        input: input.into(),
        output: output.into(),
        stderr: stderr.into(),
        theirs: ChildEnds {
            stdin: Some(child_stdin.into()),
            stdout: child_stdout.into(),
            stderr: child_stderr.into(),
        },
    })
}

/// Reads nothing but this standard error. Needs the tokio runtime.
pub(super) fn stderr_only(stderr: OwnedFd) -> io::Result<Output> {
    Ok(Output {
        stdout: Source::closed(),
        stderr: Source::new(stderr, Stream::Stderr)?,
        channel: Source::closed(),
    })
}

/// The runtime of a thread that watches a peer.
pub(super) fn peer_runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Makes or empties a regular file. A link or a FIFO that a test left under the name is refused, not followed.
fn create(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .custom_flags(flags)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    rustix::io::ioctl_fionbio(&file, false)?;
    Ok(file)
}

fn pipe(stream: Stream) -> io::Result<(Source, OwnedFd)> {
    let (ours, theirs) = io::pipe()?;
    #[cfg(target_os = "linux")]
    {
        // Only makes a flood cheaper; refused when the user's pipes are large already.
        let _ = rustix::pipe::fcntl_setpipe_size(&ours, ROOM);
    }
    Ok((Source::new(ours.into(), stream)?, theirs.into()))
}

fn socket() -> io::Result<(Source, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.shutdown(Shutdown::Write)?;
    // A socket pair holds little before its writer has to wait. Bounded by the system, so best effort.
    let _ = rustix::net::sockopt::set_socket_send_buffer_size(&theirs, ROOM);
    let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&ours, ROOM);
    Ok((Source::new(ours.into(), Stream::Channel)?, theirs.into()))
}

impl Output {
    /// The next lines of any stream; none when it ended just now. Waits for ever when all are closed. Nothing is lost
    /// when it is dropped early.
    pub(super) async fn next(&mut self) -> (Stream, Vec<String>) {
        tokio::select! {
            lines = self.stdout.next() => (Stream::Stdout, lines),
            lines = self.stderr.next() => (Stream::Stderr, lines),
            lines = self.channel.next() => (Stream::Channel, lines),
        }
    }

    /// Whether nobody can write any more.
    #[cfg(any(not(target_os = "linux"), test))]
    pub(super) fn is_closed(&self) -> bool {
        self.stdout.fd.is_none() && self.stderr.fd.is_none() && self.channel.fd.is_none()
    }

    /// Reads what is there already, without waiting for an end that a stranger may hold back, and hands on every last
    /// line. Exact once all writers are dead.
    pub(super) fn drain(&mut self, sink: LineSink<'_>) {
        let until = Instant::now() + DRAIN;
        for source in [&mut self.stdout, &mut self.stderr, &mut self.channel] {
            loop {
                let (lines, more) = source.read_now();
                if !lines.is_empty() {
                    sink(source.stream, lines);
                }
                if !more || Instant::now() > until {
                    break;
                }
            }
            let lines = source.finish();
            if !lines.is_empty() {
                sink(source.stream, lines);
            }
        }
    }

    /// Bytes of all streams that were not handed on.
    pub(super) fn dropped(&self) -> u64 {
        [&self.stdout, &self.stderr, &self.channel]
            .iter()
            .map(|source| source.splitter.dropped())
            .sum()
    }
}

/// One stream being read.
#[derive(Debug)]
struct Source {
    fd: Option<AsyncFd<OwnedFd>>,
    stream: Stream,
    splitter: LineSplitter,
    buffer: Vec<u8>,
    rests_until: Option<tokio::time::Instant>,
}

impl Source {
    fn new(fd: OwnedFd, stream: Stream) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        let limit = if stream == Stream::Channel {
            CHANNEL_LINE
        } else {
            TEXT_LINE
        };
        Ok(Self {
            fd: Some(watched(fd)?),
            stream,
            splitter: LineSplitter::new(limit),
            buffer: vec![0; READ],
            rests_until: None,
        })
    }

    /// A stream that nobody writes to.
    fn closed() -> Self {
        Self {
            fd: None,
            stream: Stream::Stdout,
            splitter: LineSplitter::new(0),
            buffer: Vec::new(),
            rests_until: None,
        }
    }

    /// The next lines, or none when it ended just now; for ever once it has ended.
    async fn next(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.is_empty() {
            let Some(fd) = &self.fd else {
                return std::future::pending().await;
            };
            if let Some(until) = self.rests_until {
                tokio::time::sleep_until(until).await;
                self.rests_until = None;
            }
            // Whether the descriptor is really empty is found out by reading; reading on after a full turn must not
            // wait for news.
            let reached = match fd.readable().await {
                Ok(mut ready) => {
                    let (reached, bytes) =
                        read(fd.get_ref(), &mut self.buffer, &mut self.splitter, &mut lines);
                    if reached == Reached::Empty {
                        ready.clear_ready();
                        self.rests_until =
                            (bytes > 0 && bytes < LITTLE).then(|| tokio::time::Instant::now() + REST);
                    }
                    reached
                }
                Err(_) => Reached::End,
            };
            if reached == Reached::End {
                self.fd = None;
                self.splitter.finish(&mut lines);
                break;
            }
        }
        lines
    }

    /// One turn without waiting, and whether there may be more.
    fn read_now(&mut self) -> (Vec<String>, bool) {
        let mut lines = Vec::new();
        let reached = match &self.fd {
            Some(fd) => read(fd.get_ref(), &mut self.buffer, &mut self.splitter, &mut lines).0,
            None => Reached::End,
        };
        if reached == Reached::End {
            self.fd = None;
        }
        (lines, reached == Reached::More)
    }

    fn finish(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        self.fd = None;
        self.splitter.finish(&mut lines);
        lines
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// Nothing more at the moment.
    Empty,
    /// The turn is over, there may be more.
    More,
    /// Nobody can write any more.
    End,
}

/// One turn of reading, and how many bytes it brought.
fn read(
    fd: &OwnedFd,
    buffer: &mut [u8],
    splitter: &mut LineSplitter,
    lines: &mut Vec<String>,
) -> (Reached, usize) {
    let mut bytes = 0;
    for _ in 0..READS_A_TURN {
        match rustix::io::read(fd, &mut *buffer) {
            Ok(0) => return (Reached::End, bytes),
            Ok(count) => {
                bytes += count;
                splitter.push(&buffer[..count], lines);
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return (Reached::Empty, bytes),
            Err(_) => return (Reached::End, bytes),
        }
    }
    (Reached::More, bytes)
}

/// A descriptor that the runtime watches for reading.
pub(super) fn watched(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    #[expect(
        unsafe_code,
        reason = "the constructor that tokio recommends is unsafe for any kind of descriptor"
    )]
    // SAFETY: an `OwnedFd` names the same open descriptor for as long as it lives, and lives inside the `AsyncFd`.
    let watched = unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) };
    Ok(watched?)
}
