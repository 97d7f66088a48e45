//! Progress lines without counters: capture is off, so whatever a test prints stands between pytest's own words.
//!
//! One rule helps: until the open test has its verdict no other test can begin or end. So a printed line that looks
//! like another test's is known as a print. What is read here is only used for runs that never reached their summary.

use runner_core::model::Outcome;

use super::row::Row;
use super::word::{self, Word};

/// A test may print any number of lines.
const ASIDE: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Plain {
    pub(crate) rows: Vec<Row>,
    open: Option<Row>,
    /// Ids of lines like another test's skip, while a test was open that never got a verdict (`--setup-only`).
    pub(crate) aside: Vec<String>,
}

impl Plain {
    pub(crate) fn line(&mut self, line: &str) {
        let Some(open) = self.open.as_mut() else {
            return self.begin(line);
        };
        if let Some((word, reason)) = own_word(line) {
            // The last word before the next test begins is pytest's; earlier ones were printed.
            open.words = vec![word];
            open.reason = reason;
        } else if !open.words.is_empty() {
            self.begin(line);
        } else if let Some(id) = skipped(line)
            && self.aside.len() < ASIDE
        {
            self.aside.push(id.to_owned());
        }
    }

    pub(crate) fn is_untouched(&self) -> bool {
        self.rows.is_empty() && self.open.is_none()
    }

    /// The test that is running, if any.
    pub(crate) fn running(&self) -> Option<&str> {
        self.open
            .as_ref()
            .filter(|open| open.words.is_empty())
            .map(|open| open.id.as_str())
    }

    /// Closes the last test that has a verdict. Returns whether there was one, so that no other began behind it.
    pub(crate) fn close(&mut self) -> bool {
        let open = self.open.take_if(|open| !open.words.is_empty());
        open.map(|open| self.add(open)).is_some()
    }

    fn begin(&mut self, line: &str) {
        let verdict = word::verdict(line).filter(|v| !matches!(v.word, Word::Sub(_)));
        let whole = verdict.and_then(|v| Some((word::one_piece(v.before)?, v)));
        if let Some((id, verdict)) = whole.filter(|(id, _)| id.contains("::") && word::plausible(id)) {
            self.close();
            // Kept open: its teardown may fail, or what looked like its verdict may have been its print.
            self.open = Some(Row {
                id: id.to_owned(),
                words: vec![verdict.word],
                reason: verdict.reason.map(str::to_owned),
                ..Row::default()
            });
        } else if let Some(id) = word::opening(line) {
            self.close();
            self.open = Some(Row {
                id: id.to_owned(),
                ..Row::default()
            });
        }
    }

    fn add(&mut self, row: Row) {
        match self.rows.last_mut().filter(|last| last.id == row.id) {
            Some(last) => last.words.extend(row.words),
            None => self.rows.push(row),
        }
    }
}

fn skipped(line: &str) -> Option<&str> {
    let verdict = word::verdict(line).filter(|verdict| verdict.word == Word::Is(Outcome::Skipped))?;
    word::one_piece(verdict.before)
}

/// The open test's word: alone on a line, behind what the test printed without a line end, or in front of what its
/// teardown printed.
fn own_word(line: &str) -> Option<(Word, Option<String>)> {
    let verdict = word::verdict(line).filter(|v| !matches!(v.word, Word::Sub(_)));
    let verdict = verdict.filter(|v| !v.before.ends_with(' '));
    if let Some(verdict) = verdict {
        return Some((verdict.word, verdict.reason.map(str::to_owned)));
    }
    word::glued(line).map(|word| (word, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_print_that_looks_like_a_verdict_is_not_another_tests() {
        let mut plain = Plain::default();
        let text = "\
a.py::chatty 
a.py::chatty FAILED
b.py::ghost PASSED
PASSED
a.py::broken 
PASSED
FAILEDclosing
a.py::after PASSED
a.py::hangs ";
        text.split('\n').for_each(|line| plain.line(line));
        assert!(!plain.close(), "a test began behind the last verdict");
        let rows: Vec<(&str, Option<Outcome>)> = plain
            .rows
            .iter()
            .map(|row| (row.id.as_str(), row.outcome()))
            .collect();
        assert_eq!(
            rows,
            [
                ("a.py::chatty", Some(Outcome::Passed)),
                ("a.py::broken", Some(Outcome::Failed)),
                ("a.py::after", Some(Outcome::Passed)),
            ]
        );
        assert_eq!(plain.running(), Some("a.py::hangs"));
    }
}
