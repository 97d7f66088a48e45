//! `libtest-text`: what `cargo test` prints. Only lines of libtest's own shape count, and each binary's own count of
//! its tests must agree with them.

use std::collections::BTreeMap;

use runner_core::model::Outcome;

use super::row::{add_failure, result};
use super::{LineReader, ReportItem, libtest_json::panic_line};
use crate::id::Fields;

#[derive(Default)]
pub(super) struct LibtestText {
    /// Rows of the binary that is being told of, in order.
    rows: Vec<(String, Outcome, Option<String>)>,
    /// Failures' texts, by test.
    texts: BTreeMap<String, String>,
    /// The test whose captured output is being told.
    section: Option<String>,
    announced: Option<usize>,
    binaries: u64,
    /// Why the text cannot be believed.
    doubt: Option<String>,
}

impl LineReader for LibtestText {
    fn line(&mut self, line: &str, said: &mut Vec<ReportItem>) {
        if let Some(count) = running(line) {
            self.open_is_cut(said);
            self.announced = Some(count);
            self.section = None;
        } else if self.announced.is_none() {
        } else if let Some(name) = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            self.section = Some(name.to_owned());
            self.texts.entry(name.to_owned()).or_default();
        } else if line == "failures:" {
            self.section = None;
        } else if let Some(text) = self.section.as_ref().and_then(|name| self.texts.get_mut(name)) {
            text.push_str(line);
            text.push('\n');
        } else if let Some(counts) = line.strip_prefix("test result: ") {
            self.close(counts, said);
        } else if let Some(row) = test_line(line) {
            self.rows.push(row);
        }
    }

    fn end(&mut self, said: &mut Vec<ReportItem>) -> Result<(), String> {
        self.open_is_cut(said);
        match &self.doubt {
            Some(doubt) => Err(doubt.clone()),
            None if self.binaries == 0 => Err("tells of no test binary".to_owned()),
            None => Ok(()),
        }
    }
}

impl LibtestText {
    /// A binary whose end is missing: its tests have ended all the same.
    fn open_is_cut(&mut self, said: &mut Vec<ReportItem>) {
        if self.announced.take().is_some() {
            self.tell(said);
            self.doubt = Some("stops before the end of a test binary".to_owned());
        }
    }

    fn close(&mut self, counts: &str, said: &mut Vec<ReportItem>) {
        self.binaries += 1;
        let announced = self.announced.take().unwrap_or_default();
        let bad = self
            .rows
            .iter()
            .filter(|(_, outcome, _)| outcome.is_bad())
            .count();
        if announced != self.rows.len() || count_of(counts, "failed") != Some(bad) {
            let rows = self.rows.len();
            self.doubt = Some(format!(
                "does not add up: {announced} tests were announced, {rows} were told of, and the end says: {counts}"
            ));
        }
        self.tell(said);
    }

    /// Tells of the tests of one binary, with the texts of those that failed.
    fn tell(&mut self, said: &mut Vec<ReportItem>) {
        for (name, outcome, note) in std::mem::take(&mut self.rows) {
            let mut row = result(outcome);
            if outcome == Outcome::Failed {
                let text = self.texts.remove(&name).unwrap_or_default();
                add_failure(&mut row, &text, panic_line(&text));
            } else {
                row.message = note;
            }
            let fields = Fields {
                name,
                ..Fields::default()
            };
            said.push(ReportItem::Finished(fields, Box::new(row)));
        }
        self.texts.clear();
        self.section = None;
    }
}

/// `running 4 tests`
fn running(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("running ")?;
    let count = rest
        .strip_suffix(" tests")
        .or_else(|| rest.strip_suffix(" test"))?;
    count.parse().ok()
}

/// `FAILED. 2 passed; 1 failed; …`
fn count_of(counts: &str, word: &str) -> Option<usize> {
    let part = counts
        .split(['.', ';'])
        .find_map(|part| part.trim().strip_suffix(word))?;
    part.trim().parse().ok()
}

/// `test tests::adds ... ok`
fn test_line(line: &str) -> Option<(String, Outcome, Option<String>)> {
    let (name, word) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    let word = word.split(" <").next().unwrap_or(word);
    let (outcome, note) = match word.split_once(", ") {
        Some(("ignored", why)) => (Outcome::Skipped, Some(why.to_owned())),
        _ => match word {
            "ok" => (Outcome::Passed, None),
            "FAILED" => (Outcome::Failed, None),
            "ignored" => (Outcome::Skipped, None),
            _ => return None,
        },
    };
    Some((name.to_owned(), outcome, note))
}
