//! What the server and its supervising process say to each other, over one socket: JSON, one message a line. The
//! socket is the lifeline too: its end of file tells the supervising process that the server is dead.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Limits, View};
use runner_core::plan::Dump;

/// The first line that the supervising process writes. Another program, started by mistake, does not write it.
pub(super) const HANDSHAKE: &str = "qaas-supervisor 1";

/// The job as the supervising process needs it. Its descriptors come beside it: output, errors, perhaps the channel.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) argv: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: OsString,
    pub(super) channel: bool,
    /// The deadline on the clock of [`monotonic`]: the time that handing over takes does not move it.
    pub(super) deadline: Option<Duration>,
    pub(super) grace: Duration,
    pub(super) interrupt: bool,
    pub(super) cancel_grace: Duration,
    pub(super) on_deadline: Option<Dump>,
    pub(super) limits: Limits,
    pub(super) view: Option<View>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToSupervisor {
    Run(Box<Task>),
    /// The job waited in its own start-up and goes on now: its time begins, and ends then.
    GoOn {
        deadline: Option<Duration>,
    },
    /// No time limit holds any more.
    NoLimit,
    /// End the job with grace.
    Stop,
    /// End the job at once.
    Kill,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromSupervisor {
    Started {
        pid: i32,
    },
    NotStarted {
        what: Refused,
        errno: i32,
    },
    /// The job's main process is gone. Others may still be alive.
    MainGone(MainExit),
    /// Nothing of the job is alive, but for `survivors`.
    Done(JobEnd),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Refused {
    View,
    WorkingFolder,
    Program,
}

/// How the main process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct MainExit {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) duration_s: f64,
}

/// How the whole job ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct JobEnd {
    pub(super) timed_out: bool,
    pub(super) cancelled: bool,
    pub(super) leaked: Vec<String>,
    /// Processes that even SIGKILL did not end in time.
    pub(super) survivors: Vec<String>,
    pub(super) dumps: BTreeMap<u32, String>,
    /// What else there is to say: a limit was hit.
    pub(super) note: Option<String>,
}

/// What the supervising process has said so far.
#[derive(Debug, Default)]
pub(super) struct SupervisorState {
    pub(super) pid: Option<i32>,
    pub(super) refused: Option<(Refused, i32)>,
    pub(super) main: Option<MainExit>,
    pub(super) ended: Option<JobEnd>,
    pub(super) asked_to_stop: bool,
    /// It said nothing for too long.
    pub(super) gave_up: bool,
}

/// Cuts a byte stream into messages.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
}

impl Inbox {
    /// Where to add what was read.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The next whole line, without its end.
    pub(super) fn line(&mut self) -> Option<Vec<u8>> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
        let rest = self.bytes.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.bytes, rest);
        line.pop();
        Some(line)
    }

    /// How much is waiting without a line's end.
    pub(super) fn waiting(&self) -> usize {
        self.bytes.len()
    }
}

/// The clock that both processes share. Instants of the standard library cannot be handed over.
pub(super) fn monotonic() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::try_from(now).expect("the monotonic clock does not show times before the boot")
}

/// A message as its line.
pub(super) fn line<T: Serialize>(message: &T) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("messages have string keys only");
    line.push(b'\n');
    line
}
