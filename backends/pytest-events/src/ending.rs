//! How a pytest session ended: its own word, its exit code and its counts must agree, or the reason says why not.

use pytest_base::exit::{in_words, meaning};
use pytest_base::{CapturedOutput, trouble};
use runner_core::event::{Ending, EndingKind, ExitMeaning};
use runner_core::plan::StepExit;

use crate::session::Session;

/// The reading of one session.
pub(crate) fn ending(session: &Session, exit: &StepExit, said: &CapturedOutput) -> Ending {
    if let Some(ending) = said.did_something_else(exit).filter(|_| session.started == 0) {
        return ending;
    }
    let Some(finish) = &session.finish else {
        return unfinished(session, exit, said);
    };
    if let Some(message) = &session.internal {
        return of(
            EndingKind::Broken,
            exit,
            format!("pytest had an internal error: {message}"),
        );
    }
    if exit.code != Some(finish.exit) {
        let reason = format!(
            "pytest finished its session with exit status {}, but its process {}",
            finish.exit,
            in_words(exit)
        );
        return of(EndingKind::Cut, exit, reason);
    }
    if let Some(reason) = disagreement(session) {
        return of(EndingKind::Cut, exit, reason);
    }
    if let Some((kind, message)) = &session.interrupt {
        return interrupted(session, exit, kind, message);
    }
    finished(session, exit, said)
}

/// No finish line: the process died, or never had a session.
fn unfinished(session: &Session, exit: &StepExit, said: &CapturedOutput) -> Ending {
    if let Some(message) = &session.internal {
        return of(
            EndingKind::Broken,
            exit,
            format!("pytest had an internal error: {message}"),
        );
    }
    if exit.timed_out || exit.cancelled || session.started > 0 {
        return trouble::cut(exit);
    }
    if let Some(ending) = trouble::explain(exit, said) {
        return ending;
    }
    if session.hello.is_none() && matches!(exit.code, Some(0 | 1)) {
        let reason = format!(
            "pytest {} but its reporter never spoke: it was not loaded",
            in_words(exit)
        );
        return of(EndingKind::Broken, exit, reason).with_hint(
            "see the output: is `python -m pytest` really pytest there, and is `-p no:…` or an isolated interpreter in \
             its way? `--backend pytest-terminal` needs no reporter",
        );
    }
    trouble::cut(exit)
}

/// Lines lost on the way, seen by the reporter's own counts.
fn disagreement(session: &Session) -> Option<String> {
    let finish = session.finish.as_ref()?;
    if session.damaged > 0 {
        return Some(format!(
            "{} lines of pytest's private channel could not be read",
            session.damaged
        ));
    }
    let (started, ended) = (session.started, session.ended);
    if (finish.started, finish.ended) != (started, ended) {
        return Some(format!(
            "pytest's reporter counted {} started and {} ended tests, but {started} and {ended} arrived",
            finish.started, finish.ended
        ));
    }
    None
}

fn interrupted(session: &Session, exit: &StepExit, kind: &str, message: &str) -> Ending {
    if kind == "Interrupted" && session.collection_failed && message.contains("during collection") {
        return Ending {
            reason: Some(message.to_owned()),
            ..Ending::completed(meaning(exit))
        };
    }
    // xdist's way to say `-x` and `--maxfail`.
    if message.starts_with("stopping after ") {
        return of(EndingKind::Stopped, exit, message);
    }
    if message == trouble::LEFT_THE_DEBUGGER && !session.had_terminal {
        return trouble::debugger(session.running().next_back());
    }
    let reason = match (kind, message) {
        ("KeyboardInterrupt", "") => "pytest was interrupted by a KeyboardInterrupt".to_owned(),
        ("Exit", message) => format!("pytest was stopped by pytest.exit: {message}"),
        ("Interrupted", message) => format!("pytest was interrupted: {message}"),
        (kind, message) => format!("pytest was interrupted by {kind}: {message}"),
    };
    of(EndingKind::Interrupted, exit, reason)
}

/// The session went to its end by itself, with the exit code that it announced.
fn finished(session: &Session, exit: &StepExit, said: &CapturedOutput) -> Ending {
    let finish = session
        .finish
        .as_ref()
        .expect("a finished session has its finish line");
    let selected = session.selected.unwrap_or_default();
    if exit.code == Some(5) && session.selected == Some(0) && session.deselected > 0 {
        return trouble::deselected(session.deselected);
    }
    if !matches!(exit.code, Some(0 | 1)) {
        return trouble::explain(exit, said)
            .unwrap_or_else(|| of(EndingKind::Completed, exit, format!("pytest {}", in_words(exit))));
    }
    let left_out = session.left_out();
    match (&finish.stop, left_out) {
        (_, 0) => match &finish.threshold {
            Some(missed) if exit.code == Some(1) => below_threshold(missed, said),
            _ => Ending::completed(meaning(exit)),
        },
        (Some(stop), _) => of(EndingKind::Stopped, exit, stop.as_str()),
        (None, _) if session.is_listing() => Ending::completed(meaning(exit)),
        (None, left_out) => {
            let reason = format!(
                "pytest ended as if all was done, but {left_out} of {selected} collected tests never began"
            );
            of(EndingKind::Cut, exit, reason)
        }
    }
}

/// A threshold is over the whole suite: where a part of it ran, it says nothing about the tests.
fn below_threshold(missed: &str, said: &CapturedOutput) -> Ending {
    let exit = if said.is_partial() {
        ExitMeaning::NotOfTests
    } else {
        ExitMeaning::TestsFailed
    };
    let ending = Ending {
        reason: Some(format!("the coverage threshold was missed: {missed}")),
        ..Ending::completed(exit)
    };
    ending.with_hint("see what is not covered with `get_coverage` (`qaas coverage`), or mend the threshold")
}

fn of(kind: EndingKind, exit: &StepExit, reason: impl Into<String>) -> Ending {
    Ending::because(kind, meaning(exit), reason)
}
