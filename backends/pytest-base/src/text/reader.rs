//! The whole of a run's text, session by session, and how it ended.

use runner_core::backend::{BackendError, Mode, OutputReader, RunRequest};
use runner_core::event::{Ending, EndingKind, ExitMeaning, TestEvent};
use runner_core::plan::{Artifacts, Lines, StepExit, Stream};

use super::exact::Exact;
use super::listing::Listing;
use super::reconcile;
use super::session::Session;
use crate::captured::CapturedOutput;
use crate::cause;
use crate::command::STEP_NAME;
use crate::exit::{self, PytestExit};
use crate::trouble;

/// Reads the standard output of pytest runs planned with [`super::plan`].
#[derive(Debug)]
pub struct TextReader {
    request: RunRequest,
    parts: Vec<Part>,
}

/// One step's text.
#[derive(Debug)]
struct Part {
    session: Session,
    listing: Listing,
    said: CapturedOutput,
}

impl TextReader {
    pub fn new(request: &RunRequest) -> Self {
        Self {
            request: request.clone(),
            parts: Vec::new(),
        }
    }

    fn hear(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        while self.parts.len() <= lines.step {
            self.parts.push(Part {
                session: Session::new(&self.request.cwd),
                listing: Listing::default(),
                said: CapturedOutput::beside(&self.request, &["slowest durations"]),
            });
        }
        let told = events.len();
        let part = &mut self.parts[lines.step];
        part.said.hear(lines);
        if lines.stream != Stream::Stdout {
            return;
        }
        for line in &lines.lines {
            match self.request.mode {
                Mode::Run => part.session.line(line, events),
                Mode::List => part.listing.line(line),
            }
        }
        cause::tidy(&mut events[told..], &self.request.cwd);
    }

    /// Settles all sessions. `exact` gives a session's rows by its step, where another source has them.
    pub fn settle(
        &mut self,
        exits: &[StepExit],
        mut exact: impl FnMut(usize) -> Option<Exact>,
        events: &mut Vec<TestEvent>,
    ) -> Ending {
        let told = events.len();
        let sessions = exits.iter().take_while(|exit| exit.step.starts_with(STEP_NAME));
        let mut endings = Vec::new();
        for (step, exit) in sessions.enumerate() {
            if self.parts.len() <= step {
                let nothing = Lines {
                    step,
                    stream: Stream::Stdout,
                    lines: Vec::new(),
                };
                self.hear(&nothing, events);
            }
            let part = &mut self.parts[step];
            part.said.tell_printed(events);
            endings.push(match self.request.mode {
                Mode::Run => part.finish_run(exit, || exact(step), events),
                Mode::List => part.finish_list(exit, events),
            });
        }
        trouble::explain_debuggers(events, told);
        cause::tidy(&mut events[told..], &self.request.cwd);
        Ending::worst(endings).unwrap_or_else(|| {
            Ending::because(EndingKind::Broken, ExitMeaning::Other, "pytest was not started")
        })
    }
}

/// With the text as the only source.
impl OutputReader for TextReader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        self.hear(lines, events);
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        _files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        Ok(self.settle(exits, |_| None, events))
    }
}

impl Part {
    fn finish_run(
        &mut self,
        exit: &StepExit,
        exact: impl FnOnce() -> Option<Exact>,
        events: &mut Vec<TestEvent>,
    ) -> Ending {
        if let Some(ending) = self.said.did_something_else(exit) {
            return ending;
        }
        let session = &mut self.session;
        let tail = session.tail.get_or_insert_default();
        tail.text.flush();
        reconcile::find_lists(session);
        let tail = session.tail.get_or_insert_default();
        let stops = tail.stops.clone();
        let contradictions = if let Some(said) = tail.counts.clone() {
            reconcile::complete(session, &said, exact, events)
        } else {
            let Some(exact) = exact() else {
                return self.finish_cut(exit, events);
            };
            let ended = exit.code.is_some() && exit.code == exact.exit_code;
            let contradictions = reconcile::exact_only(session, exact, events);
            if !ended {
                return self.why_cut(exit);
            }
            contradictions
        };
        if !contradictions.is_empty() {
            let reason = contradictions.join("; ");
            return Ending::because(EndingKind::Cut, exit::meaning(exit), reason);
        }
        if let Some(ending) = stopped(exit, &stops) {
            return ending;
        }
        let ending = trouble::explain(exit, &self.said);
        ending.unwrap_or_else(|| Ending::completed(exit::meaning(exit)))
    }

    /// Without a line of counts: pytest never came to its end, or never began.
    fn finish_cut(&mut self, exit: &StepExit, events: &mut Vec<TestEvent>) -> Ending {
        self.session.tail.take_if(|tail| tail.text.lines.is_empty());
        reconcile::cut(&mut self.session, events);
        self.why_cut(exit)
    }

    fn why_cut(&self, exit: &StepExit) -> Ending {
        terminal_off(exit, &self.said)
            .or_else(|| trouble::explain(exit, &self.said))
            .or_else(|| silent(exit, &self.session))
            .unwrap_or_else(|| trouble::cut(exit))
    }

    fn finish_list(&mut self, exit: &StepExit, events: &mut Vec<TestEvent>) -> Ending {
        let settled = self.listing.settle(events);
        let explained = terminal_off(exit, &self.said).or_else(|| trouble::explain(exit, &self.said));
        if let Some(ending) = explained {
            return ending;
        }
        match settled {
            Ok(()) => Ending::completed(exit::meaning(exit)),
            Err(reason) => Ending::because(EndingKind::Cut, exit::meaning(exit), reason),
        }
    }
}

/// Why pytest stopped before its last test, by the lines of `!` in front of its counts.
fn stopped(exit: &StepExit, stops: &[String]) -> Option<Ending> {
    if let Some(title) = stops.iter().find(|title| title.contains("stopping after ")) {
        let at = title.find("stopping after ").unwrap_or(0);
        let reason = format!("pytest stopped early: {}", &title[at..]);
        return Some(Ending::because(EndingKind::Stopped, exit::meaning(exit), reason));
    }
    let title = stops.last()?;
    if PytestExit::of(exit) == PytestExit::InternalError {
        return None;
    }
    let reason = format!("pytest was interrupted: {title}");
    Some(Ending::because(
        EndingKind::Interrupted,
        exit::meaning(exit),
        reason,
    ))
}

const TERMINAL_HINT: &str = "take `-p no:terminal` out of the project's pytest configuration, or choose a backend that \
                             does not read pytest's terminal output";

/// pytest refuses these options only where its terminal plug-in is switched off.
fn terminal_off(exit: &StepExit, said: &CapturedOutput) -> Option<Ending> {
    if PytestExit::of(exit) != PytestExit::UsageError {
        return None;
    }
    let refused = |line: &str| line.contains("unrecognized arguments: ") && line.contains("--verbosity=");
    said.stderr().any(refused).then(|| {
        let reason = "pytest's terminal output is switched off (`-p no:terminal`), and rows are read from it";
        Ending::because(EndingKind::Broken, ExitMeaning::Other, reason).with_hint(TERMINAL_HINT)
    })
}

/// Switched off in a configuration file, the terminal plug-in still takes its options and prints nothing.
fn silent(exit: &StepExit, session: &Session) -> Option<Ending> {
    let ran = matches!(PytestExit::of(exit), PytestExit::Ok | PytestExit::TestsFailed);
    (ran && !session.began).then(|| {
        let reason = "pytest printed none of its own lines: its terminal output is switched off (`-p no:terminal`), or \
                      its process ended before the session began";
        Ending::because(EndingKind::Broken, exit::meaning(exit), reason).with_hint(TERMINAL_HINT)
    })
}
