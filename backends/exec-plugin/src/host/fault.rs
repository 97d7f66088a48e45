//! What a backend did wrong, in one sentence, with how its process ended and its last words.

use std::fmt::Write as _;

use runner_core::backend::{BackendError, UNANSWERED};
use runner_core::plan::signal_name;
use runner_core::visible::visible;
use runner_core::wire::{MAX_LINE, Method, excerpt};

use super::Disconnect;

/// Lines of standard error that an error shows.
const LAST_LINES: usize = 20;
/// Characters of each of them.
const LAST_WIDTH: usize = 400;

/// Why a conversation is over.
#[derive(Debug)]
pub(super) enum Fault {
    /// Its output ended.
    Gone,
    /// No answer in time, given in seconds.
    Silent(f64),
    /// No answer, and nobody waits for it any more.
    Unwanted,
    TooLong,
    NotUtf8(Vec<u8>),
    /// Not what the protocol says: what, in words.
    Protocol(String),
    /// The first thing that it printed was no answer: how that begins.
    Stranger(String),
}

impl Fault {
    /// Whether the process is to be waited for a moment, since it seems to be ending by itself.
    pub(super) fn is_going(&self) -> bool {
        matches!(self, Self::Gone)
    }

    /// The error, once the process has ended.
    pub(super) fn error(&self, name: &str, method: Method, parting: &Disconnect) -> BackendError {
        let during = method.as_str();
        let (code, mut message, hint) = match self {
            _ if parting.failed.is_some() => {
                let why = parting.failed.as_deref().unwrap_or_default();
                let message = format!("backend \"{name}\" could not be used: {why}");
                (
                    "no_program",
                    message,
                    "is it executable, and is its first line right?",
                )
            }
            Self::Gone => {
                let message = format!("backend \"{name}\" {} during {during}", ended(parting));
                (
                    "crashed",
                    message,
                    "this is a fault of the backend, not of the tests",
                )
            }
            Self::Silent(limit) => {
                let message =
                    format!("backend \"{name}\" did not answer {during} within {limit} s and was ended");
                (
                    "hangs",
                    message,
                    "a backend that needs longer is given it with `timeout` in its table",
                )
            }
            Self::Unwanted => {
                let message = format!(
                    "backend \"{name}\" had not answered {during} when nobody waited any more, and was ended"
                );
                (UNANSWERED, message, "")
            }
            Self::TooLong => {
                let message =
                    format!("backend \"{name}\" answered {during} with a line of more than {MAX_LINE} bytes");
                (
                    "bad_answer",
                    message,
                    "a backend may answer in pages: see `more` in docs/backends.md",
                )
            }
            Self::NotUtf8(bytes) => {
                let message = format!(
                    "backend \"{name}\" answered {during} with what is not UTF-8: `{}`",
                    excerpt(bytes)
                );
                ("bad_answer", message, "answers are JSON in UTF-8")
            }
            Self::Protocol(what) => {
                let message =
                    format!("backend \"{name}\" did not keep to the protocol during {during}: {what}");
                (
                    "bad_answer",
                    message,
                    "`qaas backend check` shows what a backend does wrong",
                )
            }
            Self::Stranger(start) => {
                let message =
                    format!("\"{name}\" is not a qaas backend (it printed `{start}` instead of an answer)");
                (
                    "not_a_backend",
                    message,
                    "a backend prints nothing but answers; its own words belong on standard error",
                )
            }
        };
        last_words(&mut message, &parting.stderr);
        let error = BackendError::new(code, message);
        if hint.is_empty() {
            error
        } else {
            error.with_hint(hint)
        }
    }
}

/// How it ended, as what the backend did.
fn ended(parting: &Disconnect) -> String {
    match (parting.code, parting.signal) {
        _ if parting.forced => "closed its output and went on".to_owned(),
        (_, Some(signal)) => {
            let signal = signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned);
            format!("crashed ({signal})")
        }
        // Nothing went wrong in its own eyes: it stopped answering as if its input had ended.
        (Some(0), None) => "ended itself (exit code 0)".to_owned(),
        (Some(code), None) => format!("crashed (exit code {code})"),
        (None, None) => "is gone".to_owned(),
    }
}

fn last_words(message: &mut String, stderr: &[String]) {
    let from = stderr.len().saturating_sub(LAST_LINES);
    let last = &stderr[from..];
    if last.iter().all(|line| line.trim().is_empty()) {
        return;
    }
    message.push_str("; the last lines of its standard error:");
    for line in last {
        let cut: String = line.chars().take(LAST_WIDTH).collect();
        let _ = write!(message, "\n  {}", visible(&cut));
    }
}
