//! The last of what a pytest process said on its two streams, kept to read its own error messages.

use std::collections::VecDeque;

use runner_core::backend::{RunRequest, Shows};
use runner_core::event::{Ending, EndingKind, ExitMeaning, TestEvent};
use runner_core::plan::{Lines, StepExit, Stream};

use crate::printed::PrintedParts;
use crate::shows::shows;

/// Lines kept of each stream. pytest's errors come last; the longest are tracebacks of a broken conftest.
const KEPT_LINES: usize = 400;

/// Longer lines are cut: no message of pytest's own is that long.
const KEPT_CHARS: usize = 4000;

/// What was asked (to tell whose argument was wrong) and what the process of one step said last.
#[derive(Clone, Debug, Default)]
pub struct CapturedOutput {
    stdout: VecDeque<String>,
    stderr: VecDeque<String>,
    /// The first step heard of. Later steps (a coverage report) have nothing to say about pytest.
    step: Option<usize>,
    suite_args: Vec<String>,
    caller_args: Vec<String>,
    partial: bool,
    shows: Shows,
    printed: PrintedParts,
}

impl CapturedOutput {
    pub fn new(request: &RunRequest) -> Self {
        let workers = request.filters.workers.iter().map(|_| "-n".to_owned());
        Self {
            partial: !request.is_whole(),
            shows: shows(&request.filters.extra_args),
            printed: PrintedParts::new(request, &[]),
            suite_args: request.option_list("args"),
            caller_args: request
                .filters
                .extra_args
                .iter()
                .cloned()
                .chain(workers)
                .collect(),
            ..Self::default()
        }
    }

    /// The same for a backend whose own arguments have pytest print more: beginnings of the titles of that.
    pub fn beside(request: &RunRequest, own: &'static [&'static str]) -> Self {
        Self {
            printed: PrintedParts::new(request, own),
            ..Self::new(request)
        }
    }

    /// Nothing more comes: tells what pytest printed beside its results.
    pub fn tell_printed(&mut self, events: &mut Vec<TestEvent>) {
        std::mem::take(&mut self.printed).finish(events);
    }

    /// Whether pytest was asked for something else than running tests, which it did.
    pub fn did_something_else(&self, exit: &StepExit) -> Option<Ending> {
        let did = self.shows == Shows::Instead && matches!(exit.code, Some(0 | 5));
        did.then(|| {
            let reason = "pytest was asked to show something (`--help`, `--markers`, …), and ran no test";
            Ending::because(EndingKind::NoTests, ExitMeaning::NoTests, reason)
        })
    }

    /// Takes in lines of the two text streams of one step, the first it hears of; others are left alone.
    pub fn hear(&mut self, lines: &Lines) {
        if *self.step.get_or_insert(lines.step) != lines.step {
            return;
        }
        if lines.stream == Stream::Stdout {
            for line in &lines.lines {
                if self.printed.listens(line) {
                    self.printed.hear(&plain(line));
                }
            }
        }
        let kept = match lines.stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
            Stream::Channel => return,
        };
        let skipped = lines.lines.len().saturating_sub(KEPT_LINES);
        for line in &lines.lines[skipped..] {
            if kept.len() == KEPT_LINES {
                kept.pop_front();
            }
            kept.push_back(plain(line));
        }
    }

    /// The last lines of standard error, colours removed.
    pub fn stderr(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.stderr.iter().map(String::as_str)
    }

    /// The last lines of standard output, colours removed.
    pub fn stdout(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.stdout.iter().map(String::as_str)
    }

    /// Only a part of the suite was to run.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// The suite's `args` hold this word (or this option with a value).
    pub fn suite_gave(&self, word: &str) -> bool {
        gave(&self.suite_args, word)
    }

    /// The caller gave this word (or this option with a value).
    pub fn caller_gave(&self, word: &str) -> bool {
        gave(&self.caller_args, word)
    }
}

fn gave(args: &[String], word: &str) -> bool {
    args.iter()
        .any(|arg| arg == word || option_name(arg) == option_name(word))
}

/// `--cov=src` without its value.
pub(crate) fn option_name(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// A line without terminal escapes, cut to what an error message may need.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.chars().take(KEPT_CHARS);
    while let Some(char) = chars.next() {
        if char != '\u{1b}' {
            text.push(char);
            continue;
        }
        // `ESC [ parameters final`: what pytest uses for colours. Other escapes lose their two characters.
        if chars.next() == Some('[') {
            let _ = chars.find(|char| ('@'..='~').contains(char));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_removed_and_the_newest_lines_stay() {
        let mut said = CapturedOutput::default();
        let lines = (0..1000)
            .map(|n| format!("\u{1b}[31mline {n}\u{1b}[0m"))
            .collect();
        said.hear(&Lines {
            step: 0,
            stream: Stream::Stderr,
            lines,
        });
        assert_eq!(said.stderr().next(), Some("line 600"));
        assert_eq!(said.stderr().next_back(), Some("line 999"));
    }

    #[test]
    fn a_later_steps_words_are_not_taken_for_pytests() {
        let mut said = CapturedOutput::default();
        let hear = |said: &mut CapturedOutput, step, line: &str| {
            said.hear(&Lines {
                step,
                stream: Stream::Stdout,
                lines: vec![line.to_owned()],
            });
        };
        hear(&mut said, 0, "first");
        hear(&mut said, 1, "second");
        assert_eq!(said.stdout().collect::<Vec<_>>(), ["first"]);
    }
}
