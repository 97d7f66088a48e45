//! A supervised program that one talks to by lines, such as a plug-in: started like a job (own session, everything it
//! starts ends with it, gone when this process is killed), but with its standard input and output in the caller's hand.
//!
//! Synchronous on purpose: whoever asks a peer has nothing else to do until the answer is there.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::output::{self, PeerEnds};
use super::{Cancel, Job, JobExit, ProcessError, Supervisor};

/// How much of the end of standard error is kept, in bytes.
const STDERR_KEPT: usize = 64 << 10;
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// After that: the supervising process's own work.
const BACKSTOP: Duration = Duration::from_secs(3);
/// How often the sender of a line that is not taken is asked whether it goes on.
const LOOK: Duration = Duration::from_millis(50);
/// How many of the longest lines may have come before they are asked for.
const MOST_WAITING: usize = 4;
/// One read takes at most this much.
const READ: usize = 256 << 10;

/// A running program and both ends of the talk. Dropped: it is killed.
#[derive(Debug)]
pub struct Peer {
    /// `None` once it was shut.
    input: Option<OwnedFd>,
    output: Lines,
    stderr: Arc<Mutex<Tail>>,
    cancel: Cancel,
    /// How it ended, once it has.
    over: Receiver<Result<JobExit, ProcessError>>,
}

/// What one wait for a line brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerOutput {
    /// Without its line feed.
    Line(Vec<u8>),
    /// Nothing yet.
    Silence,
    /// A line grew beyond the limit. Its beginning; nothing more can be read from this peer.
    TooLong(Vec<u8>),
    /// The program's output ended.
    End,
}

/// How a [`Peer`] ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerExit {
    /// It never ran, or its supervision broke: why.
    pub failed: Option<String>,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// It had to be told, by signals, to end.
    pub forced: bool,
    /// The last lines of its standard error.
    pub stderr: Vec<String>,
}

impl Peer {
    /// Starts a program with its whole environment: nothing is inherited. That it cannot be started is said by
    /// [`Peer::end`]: until then it is only silent. `max_line`: the longest line that is read, in bytes.
    pub fn start(supervisor: &Supervisor, job: Job, max_line: usize) -> Result<Self, ProcessError> {
        let broken = |source: io::Error| ProcessError::Supervisor {
            what: format!("no pipes could be made: {source}"),
        };
        let PeerEnds {
            input,
            output,
            stderr,
            theirs,
        } = output::peer_ends().map_err(broken)?;
        let job = Job {
            channel: true,
            stdout_file: None,
            interrupt: false,
            cancel_grace: GRACE,
            ..job
        };
        let tail = Arc::new(Mutex::new(Tail::default()));
        let cancel = Cancel::new();
        let (tell, over) = sync_channel(1);
        let supervise = {
            let (supervisor, cancel, tail) = (supervisor.clone(), cancel.clone(), tail.clone());
            move || {
                let mut sink = |_, lines: Vec<String>| keep(&tail, lines);
                let exited = output::peer_runtime().map_err(broken).and_then(|runtime| {
                    runtime.block_on(async {
                        let opened = (output::stderr_only(stderr).map_err(broken)?, theirs);
                        supervisor.run_opened(job, opened, &cancel, &mut sink).await
                    })
                });
                let _ = tell.send(exited);
            }
        };
        std::thread::Builder::new()
            .name("peer".to_owned())
            .spawn(supervise)
            .map_err(broken)?;
        Ok(Self {
            input: Some(input),
            output: Lines::new(output, max_line),
            stderr: tail,
            cancel,
            over,
        })
    }

    /// Writes a line, and reads meanwhile what comes, so that nobody waits for ever on a full pipe. While the program takes
    /// nothing, `goes_on` is told how long that was, again and again, until it says no. `false`: the line was not taken
    /// within that time, or the program is gone.
    pub fn send(&mut self, line: &str, within: Duration, goes_on: &mut dyn FnMut(Duration) -> bool) -> bool {
        let Some(input) = &self.input else {
            return false;
        };
        let until = Instant::now() + within;
        for mut rest in [line.as_bytes(), b"\n"] {
            while !rest.is_empty() {
                match rustix::io::write(input, rest) {
                    Ok(count) => rest = &rest[count..],
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => {
                        let asked = Instant::now();
                        let left = until.saturating_duration_since(asked);
                        let heard = self.output.wait(Some(input), left.min(LOOK));
                        if left.is_zero() || (!heard && !goes_on(asked.elapsed())) {
                            return false;
                        }
                    }
                    Err(_) => return false,
                }
            }
        }
        true
    }

    /// The next line of the program's output.
    pub fn hear(&mut self, within: Duration) -> PeerOutput {
        let until = Instant::now() + within;
        loop {
            if let Some(heard) = self.output.next() {
                return heard;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.output.wait(None, left) {
                return self.output.next().unwrap_or(PeerOutput::Silence);
            }
        }
    }

    /// Shuts the program's input and waits for its end: politely that long, then by SIGTERM, then by SIGKILL.
    pub fn end(mut self, patience: Duration) -> PeerExit {
        self.input = None;
        self.output.read_away();
        let (ended, forced) = match self.over.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) => {
                self.cancel.ask("qaas");
                (self.over.recv_timeout(GRACE + BACKSTOP), true)
            }
            ended => (ended, false),
        };
        self.account(ended.ok(), forced)
    }

    /// Ends the program and everything it started at once. If it is over already, it is said how.
    pub fn kill(mut self, patience: Duration) -> PeerExit {
        self.input = None;
        self.output.read_away();
        let (ended, forced) = match self.over.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) => {
                self.cancel.at_once("qaas");
                (self.over.recv_timeout(BACKSTOP), true)
            }
            ended => (ended, false),
        };
        self.account(ended.ok(), forced)
    }

    fn account(&self, ended: Option<Result<JobExit, ProcessError>>, forced: bool) -> PeerExit {
        let stderr = self
            .stderr
            .lock()
            .map(|tail| tail.lines.iter().cloned().collect())
            .unwrap_or_default();
        let (failed, exit) = match ended {
            Some(Ok(exited)) => (None, exited.exit),
            Some(Err(error)) => (Some(error.to_string()), runner_core::plan::StepExit::default()),
            None => (
                Some("it could not be ended".to_owned()),
                runner_core::plan::StepExit::default(),
            ),
        };
        PeerExit {
            failed,
            code: exit.code,
            signal: exit.signal,
            forced,
            stderr,
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.input = None;
        self.cancel.at_once("qaas");
    }
}

/// The last lines of a stream.
#[derive(Debug, Default)]
struct Tail {
    lines: VecDeque<String>,
    bytes: usize,
}

fn keep(tail: &Mutex<Tail>, lines: Vec<String>) {
    let Ok(mut tail) = tail.lock() else {
        return;
    };
    for mut line in lines {
        if line.len() > STDERR_KEPT {
            let end = (0..=STDERR_KEPT).rev().find(|at| line.is_char_boundary(*at));
            line.truncate(end.unwrap_or_default());
        }
        tail.bytes += line.len() + 1;
        tail.lines.push_back(line);
        while tail.bytes > STDERR_KEPT && tail.lines.len() > 1 {
            let gone = tail.lines.pop_front().map_or(0, |line| line.len() + 1);
            tail.bytes -= gone;
        }
    }
}

/// The program's output, cut at line feeds.
#[derive(Debug)]
struct Lines {
    fd: OwnedFd,
    bytes: Vec<u8>,
    /// Where the next line begins.
    from: usize,
    /// Up to where there is no line feed.
    searched: usize,
    max_line: usize,
    ended: bool,
}

impl Lines {
    fn new(fd: OwnedFd, max_line: usize) -> Self {
        Self {
            fd,
            bytes: Vec::new(),
            from: 0,
            searched: 0,
            max_line,
            ended: false,
        }
    }

    /// A line that is there already, or the end.
    fn next(&mut self) -> Option<PeerOutput> {
        let line_feed = memchr::memchr(b'\n', &self.bytes[self.searched..]).map(|at| at + self.searched);
        self.searched = self.bytes.len();
        let length = line_feed.unwrap_or(self.bytes.len()) - self.from;
        if length > self.max_line {
            self.ended = true;
            let head = self.bytes[self.from..self.from + 256.min(length)].to_vec();
            self.bytes = Vec::new();
            (self.from, self.searched) = (0, 0);
            return Some(PeerOutput::TooLong(head));
        }
        let Some(end) = line_feed else {
            if self.from > 0 {
                self.bytes.drain(..self.from);
                self.searched -= self.from;
                self.from = 0;
            }
            return self.ended.then_some(PeerOutput::End);
        };
        let line = self.bytes[self.from..end].to_vec();
        self.from = end + 1;
        self.searched = self.from;
        Some(PeerOutput::Line(line))
    }

    /// Waits until there is something to read, or to write to `input`, and reads. `false`: the time is over.
    fn wait(&mut self, input: Option<&OwnedFd>, within: Duration) -> bool {
        let timeout = Timespec::try_from(within).ok();
        let reads = !self.ended && self.bytes.len() - self.from <= MOST_WAITING * self.max_line;
        let mut watched = Vec::with_capacity(2);
        if reads {
            watched.push(PollFd::new(&self.fd, PollFlags::IN));
        }
        if let Some(input) = input {
            watched.push(PollFd::new(input, PollFlags::OUT));
        }
        if watched.is_empty() {
            return false;
        }
        let count = poll(&mut watched, timeout.as_ref());
        let readable = reads && !watched[0].revents().is_empty();
        if readable {
            self.read();
        }
        !matches!(count, Ok(0))
    }

    fn read(&mut self) {
        self.bytes.reserve(READ);
        match rustix::io::read(&self.fd, spare_capacity(&mut self.bytes)) {
            Ok(0) => self.ended = true,
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.ended = true,
        }
    }

    /// Nobody reads any more: a program that still writes gets an error instead of waiting for ever.
    fn read_away(&mut self) {
        if let Ok(null) = std::fs::File::open("/dev/null") {
            self.fd = null.into();
        }
        self.ended = true;
    }
}
