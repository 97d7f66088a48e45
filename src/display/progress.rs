//! The line at the bottom of a terminal that says how far a run has come.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Not more often than this: a terminal is slower than a test run.
const INTERVAL: Duration = Duration::from_millis(80);

/// One line on standard error, rewritten in place. Silent unless that is a terminal.
pub(crate) struct Progress {
    enabled: bool,
    drawn: bool,
    last: Option<Instant>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            enabled: std::io::stderr().is_terminal(),
            drawn: false,
            last: None,
        }
    }

    /// Draws the line, unless it was drawn a moment ago.
    pub(crate) fn draw(&mut self, line: impl FnOnce() -> String) {
        if !self.enabled || self.last.is_some_and(|last| last.elapsed() < INTERVAL) {
            return;
        }
        self.last = Some(Instant::now());
        self.drawn = true;
        let line: String = line().chars().take(width().saturating_sub(1)).collect();
        let _ = write!(std::io::stderr(), "\r\x1b[2K{line}");
        let _ = std::io::stderr().flush();
    }

    /// Takes the line away, so that something else can be printed.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            self.last = None;
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
            let _ = std::io::stderr().flush();
        }
    }
}

fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| width.0.into())
}
