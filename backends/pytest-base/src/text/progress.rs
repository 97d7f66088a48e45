//! The progress region: one line a verdict while the tests run.
//!
//! A row is *exact* if everything it was read from fits pytest's grammar and its counter. Only exact rows go out
//! while the tests run. Without counters (capture is off: `-s`) tests print between pytest's words, so no row is exact
//! ([`crate::text::plain`] reads those).

use std::collections::HashMap;

use runner_core::model::Outcome;

use super::line::{self, Counter};
use super::row::Row;
use super::strip_ansi::Plain;
use super::word::{self, Verdict, Word};

/// A test that began and has no verdict yet.
#[derive(Clone, Debug, Default)]
struct Open {
    id: String,
    /// Its own words so far, when a long reason was wrapped.
    pending: Option<(Word, String)>,
}

/// Reads progress lines.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) rows: Vec<Row>,
    index: HashMap<String, usize>,
    open: Option<Open>,
    /// Tests that xdist's workers began, in order.
    begun: Vec<String>,
    last: Last,
    /// Lines since the last verdict that no rule understood, from one on that may begin with an id.
    stray: Option<String>,
    /// Parts of tests that have no verdict yet, by worker.
    parts: HashMap<Option<String>, Vec<(String, Outcome)>>,
    pub(crate) plain: Plain,
    pub(crate) distributed: bool,
    /// The width of pytest's terminal, by its first separator.
    pub(crate) width: Option<usize>,
    /// Workers that died.
    pub(crate) crashes: Vec<String>,
}

/// The counter of the last verdict.
#[derive(Debug, Default)]
struct Last {
    at: u64,
    of: Option<u64>,
}

impl Progress {
    /// Whether no line of a test was seen yet.
    pub(crate) fn is_untouched(&self) -> bool {
        self.rows.is_empty() && self.open.is_none() && self.begun.is_empty() && self.plain.is_untouched()
    }

    /// How many tests there are, by the counters.
    pub(crate) fn total(&self) -> Option<u64> {
        self.last.of
    }

    pub(crate) fn counted(&self) -> bool {
        self.last.of.is_some()
    }

    /// Whether pytest's counter reached its end.
    pub(crate) fn all_done(&self) -> bool {
        self.last.of == Some(self.last.at)
    }

    /// Whether a line can only be pytest's next verdict: used to see that a section heading was a test's print.
    pub(crate) fn continues(&self, line: &str) -> bool {
        let line = line::counted_once(line);
        let Some((text, counter, "")) = line::counter(line) else {
            return false;
        };
        let text = line::worker(line).map_or(text, |_| "worker");
        self.last.of == Some(counter.of)
            && counter.at == self.last.at + 1
            && (text == "worker" || word::verdict(text).is_some())
    }

    pub(crate) fn line(&mut self, line: &str) {
        let line = line::counted_once(line);
        if self.distributed
            && let Some((worker, rest)) = line::worker(line)
            && self.worker_line(worker, rest)
        {
            return;
        }
        if let Some((text, counter, _after)) = line::counter(line) {
            let same_total = self.last.of.is_none_or(|of| of == counter.of);
            if same_total && self.is_placed(line, text) && self.verdict_line(text, counter) {
                return;
            }
        }
        if !self.counted() {
            self.plain.line(line);
        }
        if self.distributed {
            if let Some(id) = word::opening(line) {
                self.begun.push(id.to_owned());
            }
            return;
        }
        if self.open.is_none() {
            match word::opening(line) {
                Some(id) => {
                    self.open = Some(Open {
                        id: id.to_owned(),
                        pending: None,
                    });
                }
                None => self.go_astray(line),
            }
        } else if let Some(open) = self.open.as_mut()
            && open.pending.is_none()
            && let Some(Verdict { before: "", word, .. }) = wrapped(line)
        {
            open.pending = Some((word, line.to_owned()));
        }
    }

    /// Keeps a line that may be the beginning of an id with line ends in it, or go on with one.
    fn go_astray(&mut self, line: &str) {
        const BYTES: usize = 16 * 1024;
        match &mut self.stray {
            Some(stray) if stray.len() + line.len() < BYTES => {
                stray.push('\n');
                stray.push_str(line);
            }
            None if line.contains("::") => self.stray = Some(line.to_owned()),
            Some(_) | None => {}
        }
    }

    /// The id of the test that is running, if a line told it.
    pub(crate) fn running(&self) -> Vec<&str> {
        let open = self.open.iter().map(|open| open.id.as_str());
        let begun = self
            .begun
            .iter()
            .map(String::as_str)
            .filter(|id| !self.index.contains_key(*id));
        open.chain(begun).chain(self.glued()).collect()
    }

    /// The test on whose line something was written that is none of its own (pytest-timeout's stacks, say).
    fn glued(&self) -> Option<&str> {
        let id = word::begun(self.stray.as_deref()?.lines().next()?)?;
        (!self.index.contains_key(id)).then_some(id)
    }

    /// pytest puts the counter at the right margin, or behind one blank where there is no room. Of a line in one piece
    /// that is known (unless characters may be wide or of no width); a test that prints something similar mostly misses it.
    fn is_placed(&self, line: &str, text: &str) -> bool {
        let in_one_piece =
            word::verdict(text).is_some_and(|verdict| word::one_piece(verdict.before).is_some());
        let plain = |byte: u8| (b' '..=b'~').contains(&byte);
        let Some(width) = self.width.filter(|_| in_one_piece && line.bytes().all(plain)) else {
            return true;
        };
        let end = line.rfind(']').map_or(line.len(), |at| at + 1);
        let filling = end - text.len() - line[text.len()..end].trim_start_matches(' ').len();
        end + 1 == width || end + 1 > width && filling == 1
    }

    fn verdict_line(&mut self, text: &str, counter: Counter) -> bool {
        let step = counter.at.wrapping_sub(self.last.at);
        let verdict = word::verdict(text);
        if verdict.is_none() && (step != 1 || self.open.is_none() && text.is_empty()) {
            return false;
        }
        let fits = step <= 1 && counter.at <= counter.of;
        let mut row = self.take(text, verdict.as_ref());
        row.exact &= fits;
        if let Some(Word::Sub(outcome)) = verdict.as_ref().map(|v| v.word) {
            self.count(counter);
            self.parts.entry(None).or_default().push((row.id, outcome));
            return true;
        }
        let known = self.index.contains_key(&row.id);
        // A second line of a test shows the counter of its first; a new test shows the next one. Unless its parts
        // have been counted already.
        let had_parts = self.parts.get(&None).is_some_and(|parts| !parts.is_empty());
        if !row.id.is_empty() && known != (step == 0) && !(had_parts && step == 0) {
            row.exact = false;
        }
        self.count(counter);
        // A test that began and has no verdict yet: this was its print (another pytest's line, say).
        if self.glued().is_none_or(|id| id == row.id) {
            self.stray = None;
        }
        self.add(row);
        true
    }

    fn count(&mut self, counter: Counter) {
        self.last.at = self.last.at.max(counter.at);
        self.last.of = Some(counter.of);
    }

    /// What one verdict line tells, given the test that is open.
    fn take(&mut self, text: &str, verdict: Option<&Verdict<'_>>) -> Row {
        let mut row = Row::default();
        let Some(verdict) = verdict else {
            return self.take_unknown(text);
        };
        if let Word::Sub(_) = verdict.word {
            verdict.before.clone_into(&mut row.id);
            row.exact = true;
            return row;
        }
        row.words.push(verdict.word);
        row.reason = verdict.reason.map(str::to_owned);
        let piece = word::one_piece(verdict.before);
        match self.open.take() {
            // The word alone on its line, or behind what the test printed: the open test's.
            Some(open) if piece != Some(open.id.as_str()) => {
                let others = piece.is_some_and(|id| id.contains("::") && word::plausible(id));
                row.exact = !others && (verdict.before.is_empty() || open.pending.is_none());
                if !others {
                    row.id = open.id;
                }
                // Else: printed by the open test, or that one never gets a word (a plug-in took it away) and this is
                // another's line. Only pytest's lists tell.
            }
            // The whole line again: something else was written in between (parts, caught in the test's output).
            Some(open) => row.id = open.id,
            None => match piece.filter(|id| word::plausible(id)) {
                Some(id) => {
                    id.clone_into(&mut row.id);
                    // What was printed since the last verdict may be the beginning of another test's line.
                    row.exact = self.stray.is_none();
                }
                None if piece.is_some() && self.stray.is_none() => {
                    piece.unwrap_or_default().clone_into(&mut row.id);
                    row.hidden_id = Some(text.to_owned());
                }
                // A print hides the id, or the id itself has a line end.
                None => {
                    row.hidden_id = Some(match self.stray.take() {
                        Some(start) => format!("{start}\n{text}"),
                        None => text.to_owned(),
                    });
                }
            },
        }
        row
    }

    fn take_unknown(&mut self, text: &str) -> Row {
        let mut row = Row::default();
        match self.open.take() {
            Some(Open {
                id,
                pending: Some((word, start)),
            }) => {
                row.id = id;
                row.words.push(word);
                let whole = format!("{start} {text}");
                row.reason = word::verdict(&whole).and_then(|v| v.reason).map(str::to_owned);
                row.exact = row.reason.is_some();
            }
            Some(open) => {
                row.id = open.id;
                row.unknown_word = true;
            }
            None => {
                row.hidden_id = Some(text.to_owned());
                row.unknown_word = true;
            }
        }
        row
    }

    /// `[gw0] [ 1/5] PASSED a.py::t `: written by xdist's controller, where no test prints.
    fn worker_line(&mut self, worker: &str, rest: &str) -> bool {
        if rest.starts_with(" node down: ") {
            self.crashes.push(worker.to_owned());
            return true;
        }
        let (text, counter) = match split_counter(rest) {
            Some((counter, text)) => (text, Some(counter)),
            None => (&rest[1..], None),
        };
        let Some(text) = word::one_piece(text) else {
            return false;
        };
        let Some((word, id)) = word::leading(text) else {
            return counter.is_some() && self.worker_unknown(worker, text);
        };
        if let Some(counter) = counter {
            self.count(counter);
        }
        if let Word::Sub(outcome) = word {
            let key = Some(worker.to_owned());
            self.parts.entry(key).or_default().push((id.to_owned(), outcome));
            return true;
        }
        self.add(Row {
            id: id.to_owned(),
            words: vec![word],
            worker: Some(worker.to_owned()),
            exact: true,
            ..Row::default()
        });
        true
    }

    fn worker_unknown(&mut self, worker: &str, text: &str) -> bool {
        let begun = self.begun.iter().rev().find(|id| text.ends_with(id.as_str()));
        let id = begun.cloned().unwrap_or_default();
        let outcome = word::sub_anywhere(text.strip_suffix(&id).unwrap_or(text));
        let worker = Some(worker.to_owned());
        if let Some(outcome) = outcome {
            self.parts
                .entry(worker)
                .or_default()
                .push((text.to_owned(), outcome));
            return true;
        }
        self.add(Row {
            id,
            hidden_id: Some(text.to_owned()),
            worker,
            unknown_word: true,
            ..Row::default()
        });
        true
    }

    fn add(&mut self, mut row: Row) {
        if let Some(parts) = self.parts.remove(&row.worker) {
            let named = parts
                .into_iter()
                .map(|(text, outcome)| (part_name(&text, &row.id), outcome));
            row.parts.extend(named);
        }
        if let Some(&place) = self.index.get(&row.id) {
            let first = &mut self.rows[place];
            first.words.extend(row.words);
            first.parts.extend(row.parts);
            first.reason = row.reason.or(first.reason.take());
            first.exact &= row.exact;
            first.unknown_word |= row.unknown_word;
            return;
        }
        if !row.id.is_empty() {
            self.index.insert(row.id.clone(), self.rows.len());
        }
        self.rows.push(row);
    }

    /// Whether another test spoke after this row's: then its teardown is over.
    pub(crate) fn is_over(&self, place: usize) -> bool {
        let row = &self.rows[place];
        let later = &self.rows[place + 1..];
        match &row.worker {
            Some(worker) => later.iter().any(|other| other.worker.as_ref() == Some(worker)),
            None => !later.is_empty() || self.open.is_some(),
        }
    }
}

/// Whether a line is a test's verdict with its counter.
pub(crate) fn is_verdict(line: &str) -> bool {
    line::counter(line).is_some_and(|(text, _, after)| after.is_empty() && word::verdict(text).is_some())
}

/// The first line of a reason that was wrapped: `SKIPPED (a long reason that`.
fn wrapped(line: &str) -> Option<Verdict<'_>> {
    let begins = ["SKIPPED (", "XFAIL (", "XPASS ("]
        .iter()
        .find(|name| line.starts_with(**name))?;
    let (word, _) = word::leading(begins)?;
    Some(Verdict {
        before: "",
        word,
        reason: None,
    })
}

/// ` [ 1/5] PASSED …` of an xdist line.
fn split_counter(rest: &str) -> Option<(Counter, &str)> {
    let end = rest.find("] ")?;
    let (before, counter, after) = line::counter(&rest[..=end])?;
    (before.is_empty() && after.is_empty()).then_some((counter, &rest[end + 2..]))
}

/// What tells a part from its siblings: the line without the test's id and without the word.
fn part_name(text: &str, id: &str) -> String {
    let rest = text
        .strip_prefix(id)
        .or_else(|| text.strip_suffix(id))
        .unwrap_or(text);
    let mut name = rest.trim();
    for word in ["SUBPASSED", "SUBFAILED", "SUBSKIPPED", "SUBXFAILED"] {
        name = name.strip_prefix(word).unwrap_or(name);
    }
    for word in [
        "SUBPASS", "SUBFAIL", "SUBSKIP", "SUBXFAIL", "SUBXPASS", "SUBERROR",
    ] {
        name = name.strip_suffix(word).unwrap_or(name);
    }
    name.trim().to_owned()
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
