//! `libtest-text`: what `cargo test` prints. Only lines of libtest's own shape count, and each binary's own count of
//! its tests must agree with them.
//!
//! Standard output has the tests; in front of each binary's, the line by which it says which it is
//! ([`crate::cargo::unit_marker`]). Standard error has what cargo says: what did not build, how a binary exited.

mod block;
mod units;

use runner_core::event::TestEvent;
use runner_core::model::{CollectionError, Outcome};

use self::block::{Block, Row};
use self::units::{Unit, Units};
use super::row::{add_failure, result};
use super::rustc::Diagnostics;
use super::{LineReader, ReportItem, libtest_json::panic_line};
use crate::cargo::{UNIT, is_doctest};
use crate::id::Fields;

#[derive(Default)]
pub(super) struct LibtestText {
    units: Units,
    /// The binary that is printing, where it said so.
    unit: Option<Unit>,
    block: Option<Block>,
    /// Blocks of tests that went to their end.
    blocks: u64,
    diagnostics: Diagnostics,
    code: Option<i32>,
    /// Why the text cannot be believed.
    doubt: Option<String>,
}

impl LineReader for LibtestText {
    fn line(&mut self, line: &str, said: &mut Vec<ReportItem>) {
        if let Some(unit) = line.strip_prefix(UNIT).and_then(|rest| self.units.named(rest)) {
            self.close_unit(said);
            self.unit = Some(unit);
            return;
        }
        if self.units.artifact(line) {
            return;
        }
        match (&mut self.block, running(line)) {
            // Where binaries do not say which they are, the next one's beginning is the end of one that died.
            (Some(block), Some(_)) if self.unit.is_none() && !block.is_complete() => {
                self.cut(said);
                self.block = running(line).map(Block::new);
            }
            // What looks like the end may stand in the output of a failed test: the last such line is the end.
            (Some(block), Some(count)) if block.ended() => {
                self.close_block(said);
                self.block = Some(Block::new(count));
            }
            (Some(block), _) => block.line(line, said, self.unit.as_ref()),
            (None, Some(count)) => self.block = Some(Block::new(count)),
            (None, None) => {}
        }
    }

    fn aside(&mut self, line: &str, _said: &mut Vec<ReportItem>) {
        self.units.aside(line);
        self.diagnostics.line(line);
    }

    fn exited(&mut self, code: Option<i32>) {
        self.code = code;
    }

    fn end(&mut self, said: &mut Vec<ReportItem>) -> Result<(), String> {
        self.close_unit(said);
        self.tell_of_silent_units(said);
        if self.blocks == 0 && !self.units.any_ran() && self.doubt.is_none() {
            return Err(format!("tells of no test binary{}", self.diagnostics.why()));
        }
        self.diagnostics.tell(said);
        self.doubt.clone().map_or(Ok(()), Err)
    }
}

impl LibtestText {
    fn close_unit(&mut self, said: &mut Vec<ReportItem>) {
        self.cut(said);
        if let Some(unit) = self.unit.take() {
            self.units.ended(unit);
        }
    }

    /// A binary whose end is missing: its tests have ended all the same.
    fn cut(&mut self, said: &mut Vec<ReportItem>) {
        if self.block.as_ref().is_some_and(Block::ended) {
            self.close_block(said);
            return;
        }
        let Some(block) = self.block.take() else {
            return;
        };
        let binary = self
            .unit
            .as_ref()
            .map_or("a test binary", |unit| unit.id.as_str());
        let (told, announced) = (block.rows.len(), block.announced);
        self.doubt = Some(format!(
            "stops before the end of {binary}: {told} of its {announced} tests have a result"
        ));
        for name in &block.begun {
            said.push(ReportItem::Started(fields(self.unit.as_ref(), name)));
        }
        self.tell(block.finish(), said);
        if let Some(unit) = &mut self.unit {
            unit.was_cut = true;
        }
    }

    fn close_block(&mut self, said: &mut Vec<ReportItem>) {
        let Some(block) = self.block.take() else {
            return;
        };
        self.blocks += 1;
        if let Some(unit) = &mut self.unit {
            // Those of doctests follow the last binary's.
            unit.has_tests |= block.rows.iter().any(|row| !is_doctest(&row.name));
            unit.has_none |= block.rows.is_empty();
        }
        if let Some(doubt) = block.doubt() {
            self.doubt = Some(doubt);
        }
        self.tell(block.finish(), said);
    }

    /// Tells of the tests of one binary, with the texts of those that failed.
    fn tell(&mut self, rows: Vec<Row>, said: &mut Vec<ReportItem>) {
        for Row { name, outcome, text } in rows {
            let mut row = result(outcome);
            match text {
                Some(text) if outcome == Outcome::Failed => add_failure(&mut row, &text, reason(&text)),
                note => row.message = note,
            }
            said.push(ReportItem::Finished(
                fields(self.unit.as_ref(), &name),
                Box::new(row),
            ));
        }
    }

    /// A binary with a `main` of its own that tells of no tests is one itself: it passes or fails as a whole. One that
    /// died is an error beside what its tests had told.
    fn tell_of_silent_units(&mut self, said: &mut Vec<ReportItem>) {
        let last_is_known = self.code.is_some();
        for (unit, how, is_last) in self.units.silent_or_dead() {
            if unit.has_tests || unit.was_cut {
                if let Some(how) = how {
                    said.push(ReportItem::Exact(TestEvent::CollectFailed(CollectionError {
                        nodeid: unit.id.clone(),
                        message: format!("the test binary {} ended before its tests: {how}", unit.id),
                        summary: None,
                        location: None,
                    })));
                }
                continue;
            }
            let whole = Fields {
                suite: unit.id.clone(),
                ..Fields::default()
            };
            if is_last && !last_is_known {
                said.push(ReportItem::Started(whole));
                continue;
            }
            let mut row = result(if how.is_some() {
                Outcome::Failed
            } else {
                Outcome::Passed
            });
            if let Some(how) = how {
                add_failure(&mut row, how, Some(how));
            }
            said.push(ReportItem::Finished(whole, Box::new(row)));
        }
    }
}

/// The line that says what went wrong: the panic's, else the first of the text.
fn reason(text: &str) -> Option<&str> {
    let is_error = |line: &&str| line.starts_with("Error: ") || line.starts_with("error");
    panic_line(text).or_else(|| text.lines().find(is_error))
}

/// A doctest's name has its file already; every other test is in its binary.
fn fields(unit: Option<&Unit>, name: &str) -> Fields {
    Fields {
        suite: unit
            .filter(|_| !is_doctest(name))
            .map(|unit| unit.id.clone())
            .unwrap_or_default(),
        name: name.to_owned(),
        ..Fields::default()
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
