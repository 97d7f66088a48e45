//! How far a run has come: a line at the bottom of a terminal, or a line now and then in a log.
//!
//! Events only say what the line is about; a thread of its own paints it. So a burst of events costs no painting, and the
//! last event before a silence is painted too: while a test hangs, the line names that test and how long it has run.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::seconds;

/// Not more often than this: a terminal is slower than a test run.
const INTERVAL: Duration = Duration::from_millis(80);
/// While nothing happens, so that the time goes on.
const TICK: Duration = Duration::from_secs(1);
/// Between two lines of a log: long enough to keep it short, far below what continuous integration takes for a hang.
const BEAT: Duration = Duration::from_secs(15);
/// A test that runs longer than this has its time beside its name.
const SLOW: Duration = Duration::from_secs(1);

/// Where the line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Face {
    /// Rewritten in place on standard error.
    Terminal,
    /// One more line on standard error for each beat: continuous integration ends what is silent for too long.
    Log,
}

/// One line on standard error. Silent unless that is a terminal, or a log of continuous integration.
pub(crate) struct Progress(Option<Painter>);

struct Painter {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Counts, and the test that the line is about. `None`: there is nothing to paint.
    line: Option<(String, String)>,
    run_since: Option<Instant>,
    test_since: Option<Instant>,
    /// Something stands on the terminal.
    painted: bool,
    ended: bool,
}

impl Progress {
    /// `in_ci`: whether the variable `CI` is set.
    pub(crate) fn new(in_ci: bool) -> Self {
        // With standard output in a pipe (`| less`) the line would be painted over what somebody reads there.
        let terminal = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
        let face = match (terminal, in_ci) {
            (true, _) => Face::Terminal,
            (false, true) => Face::Log,
            (false, false) => return Self(None),
        };
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::spawn(move || of_thread.paint(face));
        Self(Some(Painter {
            shared,
            thread: Some(thread),
        }))
    }

    /// Nothing is painted: what is shown is over, or is for programs.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// A run begins: its time counts from here.
    pub(crate) fn begin(&mut self) {
        if let Some(painter) = &self.0 {
            painter.shared.lock().run_since = Some(Instant::now());
        }
    }

    /// What the line says from now on: counts, and a test.
    pub(crate) fn set(&mut self, counts: impl FnOnce() -> String, test: &str) {
        let Some(painter) = &self.0 else { return };
        let counts = counts();
        let mut state = painter.shared.lock();
        if state.line.as_ref().is_none_or(|(_, before)| before != test) {
            state.test_since = Some(Instant::now());
        }
        state.line = Some((counts, test.to_owned()));
        drop(state);
        painter.shared.changed.notify_one();
    }

    /// Takes the line away, so that something else can be printed. It comes back with the next event.
    pub(crate) fn clear(&mut self) {
        if let Some(painter) = &self.0 {
            painter.shared.lock().clear();
        }
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.clear();
        state.ended = true;
        drop(state);
        self.shared.changed.notify_one();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn paint(&self, face: Face) {
        let mut beat = Instant::now();
        let mut state = self.lock();
        while !state.ended {
            let waited = self.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            match face {
                Face::Terminal => state.paint(),
                Face::Log if beat.elapsed() >= BEAT => {
                    beat = Instant::now();
                    state.log();
                }
                Face::Log => {}
            }
            drop(state);
            std::thread::sleep(INTERVAL);
            state = self.lock();
        }
    }
}

impl State {
    fn text(&self) -> Option<String> {
        let (counts, test) = self.line.as_ref()?;
        let elapsed = |since: Option<Instant>| since.map(|since| since.elapsed()).unwrap_or_default();
        let run = elapsed(self.run_since);
        let own = Some(elapsed(self.test_since)).filter(|time| *time >= SLOW);
        let own = own
            .map(|time| format!("  {} s", time.as_secs()))
            .unwrap_or_default();
        Some(format!(
            "{counts}  {}  {test}{own}",
            seconds(run.as_secs() as f64)
        ))
    }

    fn paint(&mut self) {
        let Some(text) = self.text() else { return };
        let line: String = text.chars().take(width().saturating_sub(1)).collect();
        self.painted = true;
        let _ = write!(std::io::stderr(), "\r\x1b[2K{line}");
        let _ = std::io::stderr().flush();
    }

    fn log(&self) {
        if let Some(text) = self.text() {
            let _ = writeln!(std::io::stderr(), "… {text}");
        }
    }

    fn clear(&mut self) {
        self.line = None;
        if std::mem::take(&mut self.painted) {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
            let _ = std::io::stderr().flush();
        }
    }
}

fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| width.0.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_the_test_that_runs_and_how_long_it_has() {
        let long_ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
        let mut state = State {
            line: Some(("30/32  1 failed".to_owned(), "t.py::test_culprit".to_owned())),
            run_since: long_ago(9),
            test_since: long_ago(5),
            ..State::default()
        };
        let text = state.text().unwrap();
        assert!(text.starts_with("30/32  1 failed  9"), "{text}");
        assert!(text.ends_with("t.py::test_culprit  5 s"), "{text}");
        state.clear();
        assert_eq!(state.text(), None);
    }
}
