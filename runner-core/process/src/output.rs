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
use std::time::Duration;

use rustix::fs::OFlags;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::lines::{CHANNEL_LINE, LineSplitter, TEXT_LINE};
use super::{Job, LineSink, ProcessError};
use runner_core::plan::Stream;

/// One read takes at most this much.
const READ: usize = 64 << 10;
/// One turn of a flooding stream before the others are looked at again.
const READS_A_TURN: usize = 4;
/// For the kernel's buffers of pipes and of the channel: more room before a writer has to wait.
const ROOM: usize = 256 << 10;
/// How long a stream rests that had only a little to say, so that a process that says a little often (a line for each
/// of its tests) does not wake the server each time. What it says meanwhile waits in the kernel, and its end is not
/// delayed: then what is there is read at once. The runtime does not watch a resting stream: its poll would wake for
/// each write all the same, which costs the writer and the server more than the line itself.
const REST: Duration = Duration::from_millis(20);
/// A little, in bytes. A stream that says more never rests: its writer would have to wait.
const LITTLE: usize = 8 << 10;
/// How many turns the rest of a stream is read when nobody of the job should be writing any more: far more than the kernel
/// holds, so only a stranger's writing is cut. No time limit: on a busy machine it would cut what the job said.
const LAST_TURNS: usize = 16;

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

/// The same for a job that waits for an order, and the server's half of its channel to give it through.
#[cfg(target_os = "linux")]
pub(super) fn open_to_order(job: &Job) -> Result<(Output, ChildEnds, UnixStream), ProcessError> {
    let broken = |source: io::Error| ProcessError::Supervisor {
        what: format!("no channel could be made: {source}"),
    };
    let (output, ends) = open(&Job {
        channel: false,
        ..job.clone()
    })?;
    let (ours, theirs) = channel().map_err(broken)?;
    let order = ours.try_clone().map_err(broken)?;
    let channel = Source::new(ours.into(), Stream::Channel).map_err(broken)?;
    let ends = ChildEnds {
        stdin: Some(theirs),
        ..ends
    };
    Ok((Output { channel, ..output }, ends, order))
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
    let (ours, theirs) = channel()?;
    ours.shutdown(Shutdown::Write)?;
    Ok((Source::new(ours.into(), Stream::Channel)?, theirs))
}

/// Both ends of an event channel, ours and the job's.
fn channel() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = UnixStream::pair()?;
    // A socket pair holds little before its writer has to wait. Bounded by the system, so best effort.
    for end in [&ours, &theirs] {
        let _ = rustix::net::sockopt::set_socket_send_buffer_size(end, ROOM);
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(end, ROOM);
    }
    Ok((ours, theirs.into()))
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

    /// What the channel holds, without waiting.
    #[cfg(target_os = "linux")]
    pub(super) fn channel_now(&mut self) -> Vec<String> {
        self.channel.read_now().0
    }

    /// Whether nobody can write any more.
    #[cfg(any(not(target_os = "linux"), test))]
    pub(super) fn is_closed(&self) -> bool {
        [&self.stdout, &self.stderr, &self.channel]
            .iter()
            .all(|source| matches!(source.end, End::Closed))
    }

    /// Reads what is there already, without waiting for an end that a stranger may hold back, and hands on every last
    /// line. Exact once all writers are dead.
    pub(super) fn drain(&mut self, sink: LineSink<'_>) {
        for source in [&mut self.stdout, &mut self.stderr, &mut self.channel] {
            for _ in 0..LAST_TURNS {
                let (lines, more) = source.read_now();
                if !lines.is_empty() {
                    sink(source.stream, lines);
                }
                if !more {
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
    end: End,
    stream: Stream,
    splitter: LineSplitter,
    buffer: Vec<u8>,
}

/// The server's end of a stream.
#[derive(Debug)]
enum End {
    Watched(AsyncFd<OwnedFd>),
    Resting {
        fd: OwnedFd,
        until: tokio::time::Instant,
    },
    Closed,
}

impl End {
    fn watch(fd: OwnedFd) -> Self {
        watched(fd).map_or(Self::Closed, Self::Watched)
    }

    /// Lets a watched stream rest.
    fn rest(&mut self) {
        *self = match std::mem::replace(self, Self::Closed) {
            Self::Watched(fd) => Self::Resting {
                fd: fd.into_inner(),
                until: tokio::time::Instant::now() + REST,
            },
            other => other,
        };
    }

    /// Ends a rest, also before its time.
    fn wake(&mut self) {
        *self = match std::mem::replace(self, Self::Closed) {
            Self::Resting { fd, .. } => Self::watch(fd),
            other => other,
        };
    }
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
            end: End::Watched(watched(fd)?),
            stream,
            splitter: LineSplitter::new(limit),
            buffer: vec![0; READ],
        })
    }

    /// A stream that nobody writes to.
    fn closed() -> Self {
        Self {
            end: End::Closed,
            stream: Stream::Stdout,
            splitter: LineSplitter::new(0),
            buffer: Vec::new(),
        }
    }

    /// The next lines, or none when it ended just now; for ever once it has ended.
    async fn next(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.is_empty() {
            let fd = match &self.end {
                End::Watched(fd) => fd,
                End::Resting { until, .. } => {
                    tokio::time::sleep_until(*until).await;
                    self.end.wake();
                    continue;
                }
                End::Closed => return std::future::pending().await,
            };
            // Whether the descriptor is really empty is found out by reading; reading on after a full turn must not
            // wait for news.
            let (reached, bytes) = match fd.readable().await {
                Ok(mut ready) => {
                    let turn = read(fd.get_ref(), &mut self.buffer, &mut self.splitter, &mut lines);
                    if turn.0 == Reached::Empty {
                        ready.clear_ready();
                    }
                    turn
                }
                Err(_) => (Reached::End, 0),
            };
            match reached {
                Reached::Empty if bytes > 0 && bytes < LITTLE => self.end.rest(),
                Reached::Empty | Reached::More => {}
                Reached::End => {
                    self.end = End::Closed;
                    self.splitter.finish(&mut lines);
                    break;
                }
            }
        }
        lines
    }

    /// One turn without waiting, and whether there may be more.
    fn read_now(&mut self) -> (Vec<String>, bool) {
        let mut lines = Vec::new();
        let fd = match &self.end {
            End::Watched(fd) => fd.get_ref(),
            End::Resting { fd, .. } => fd,
            End::Closed => return (lines, false),
        };
        let (reached, _) = read(fd, &mut self.buffer, &mut self.splitter, &mut lines);
        if reached == Reached::End {
            self.end = End::Closed;
        }
        (lines, reached == Reached::More)
    }

    fn finish(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        self.end = End::Closed;
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
