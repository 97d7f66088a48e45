//! qaas's side: a backend in another process, as a [`TestBackend`](runner_core::backend::TestBackend) like any other.
//!
//! How the process is started and ended is not known here: that is a [`Launch`] and the [`Transport`] it makes.

mod backend;
mod connection;
mod fault;
mod pool;
mod reader;
mod spec;

#[cfg(test)]
mod tests;

use std::time::Duration;

use runner_core::backend::BackendError;

pub use backend::ExecBackend;
pub use spec::{Capabilities, Gate, Spec};

/// Starts the process of a backend.
pub trait Launch: Send + Sync {
    fn launch(&self) -> Result<Box<dyn Transport>, BackendError>;
}

/// The lines to and from one running process. Dropped: the process is ended.
pub trait Transport: Send {
    /// Writes a line. While the process takes nothing, `goes_on` is told how long that was, now and then, until it says
    /// no. `false`: the line was not taken within that time, or the process is gone.
    fn send(&mut self, line: &str, within: Duration, goes_on: &mut dyn FnMut(Duration) -> bool) -> bool;

    /// The next line of its standard output. Lines over [`runner_core::wire::MAX_LINE`] are not read.
    fn receive(&mut self, within: Duration) -> Received;

    /// Ends it, and says how it ended. See [`Shutdown`].
    fn part(self: Box<Self>, farewell: Shutdown) -> Disconnect;
}

/// What one wait for a line brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// Without its line feed.
    Line(Vec<u8>),
    /// Nothing within that time.
    Silence,
    /// A line grew beyond the limit: its beginning.
    TooLong(Vec<u8>),
    /// The output ended.
    End,
}

/// How a process is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Its input ends; it may take that long to go, before it is terminated and at last killed.
    Politely(Duration),
    /// It seems to be going already: waits that long for its own end, then kills it.
    Going(Duration),
    /// Killed at once.
    Now,
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disconnect {
    /// It never ran: why.
    pub failed: Option<String>,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Ended by us.
    pub forced: bool,
    /// The last lines of its standard error.
    pub stderr: Vec<String>,
}
