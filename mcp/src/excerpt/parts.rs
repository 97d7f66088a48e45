//! An answer taken apart: what is shortened row by row, what field by field, and what is whole or not there.

use ops::get_run::Page;
use ops::{Answer, NextCall, OpError, Row};
use runner_core::model::Status;
use serde::Serialize;
use serde_json::{Map, Value};

use super::measure;

/// The parts of an answer.
pub(super) struct Parts {
    /// The whole answer in a sentence.
    pub(super) headline: String,
    /// All fields in their order; `tests` and `next` are empty places for what follows.
    pub(super) fields: Map<String, Value>,
    pub(super) rows: Vec<Row>,
    pub(super) next: Vec<NextCall>,
    /// A run of tests that went well: its answer is short.
    pub(super) green: bool,
    /// A page of a run: its rows stay in order and are not folded, and it says where the next one begins. Without
    /// its rows.
    pub(super) page: Option<Box<Page>>,
    /// What each row of a page may take for its text.
    pub(super) row_cap: usize,
}

impl Parts {
    pub(super) fn of(answer: Answer) -> Self {
        let headline = answer.headline();
        let mut parts = match answer {
            Answer::RunSuite(mut answer) => {
                let rows = std::mem::take(&mut answer.tests);
                let next = std::mem::take(&mut answer.next);
                let green = answer.status == Status::Passed;
                Self {
                    green,
                    ..Self::new(&*answer, rows, next)
                }
            }
            Answer::RunSingle(mut answer) => {
                let rows = std::mem::take(&mut answer.tests);
                let next = std::mem::take(&mut answer.next);
                let green = answer.status == Status::Passed;
                Self {
                    green,
                    ..Self::new(&*answer, rows, next)
                }
            }
            Answer::RunNTimes(mut answer) => {
                let next = std::mem::take(&mut answer.next);
                Self::new(&*answer, Vec::new(), next)
            }
            Answer::AffectedTests(mut answer) => {
                let next = std::mem::take(&mut answer.next);
                Self::new(&*answer, Vec::new(), next)
            }
            Answer::GetCoverage(mut answer) => {
                let rows = std::mem::take(&mut answer.tests);
                let next = std::mem::take(&mut answer.next);
                Self::new(&*answer, rows, next)
            }
            Answer::ListTests(answer) => Self::new(&*answer, Vec::new(), Vec::new()),
            Answer::GetRun(mut page) => {
                let rows = std::mem::take(&mut page.tests);
                let next = std::mem::take(&mut page.next);
                let parts = Self::new(&*page, rows, next);
                Self {
                    page: Some(page).filter(|page| page.progress.is_none()),
                    ..parts
                }
            }
            Answer::CancelRun(mut answer) => {
                let next = std::mem::take(&mut answer.next);
                Self::new(&*answer, Vec::new(), next)
            }
            Answer::Started(mut started) => {
                let next = std::mem::take(&mut started.next);
                Self::new(&*started, Vec::new(), next)
            }
        };
        parts.headline = headline;
        parts
    }

    pub(super) fn is_page(&self) -> bool {
        self.page.is_some()
    }

    /// A collector that failed is a row with its whole text; the list that names it again need not repeat that.
    pub(super) fn name_collectors_briefly(&mut self) {
        /// Enough for the line that says what went wrong.
        const BRIEF: usize = 200;
        let Some(Value::Array(errors)) = self.fields.get_mut("collection_errors") else {
            return;
        };
        for error in errors.iter_mut().filter_map(Value::as_object_mut) {
            let nodeid = error.get("nodeid").and_then(Value::as_str);
            let known = nodeid.is_some_and(|nodeid| self.rows.iter().any(|row| row.nodeid == nodeid));
            let text = error.get("message").and_then(Value::as_str).filter(|_| known);
            if let Some(last) = text.and_then(|text| text.trim_end().lines().last()) {
                let last = measure::cut(last.trim_start_matches(['E', ' ']), BRIEF);
                error.insert("message".to_owned(), Value::String(last));
            }
        }
    }

    pub(super) fn of_error(error: &OpError) -> Self {
        let mut error = error.clone();
        // Every answer has a status.
        error.known.status = Some(error.status());
        let next = std::mem::take(&mut error.known.next);
        Self {
            headline: error.headline(),
            ..Self::new(&error, Vec::new(), next)
        }
    }

    fn new(answer: &impl Serialize, rows: Vec<Row>, next: Vec<NextCall>) -> Self {
        let fields = match serde_json::to_value(answer) {
            Ok(Value::Object(fields)) => fields,
            // Answers are structs of plain values with string keys.
            _ => Map::new(),
        };
        Self {
            headline: String::new(),
            fields,
            rows,
            next,
            green: false,
            page: None,
            row_cap: usize::MAX,
        }
    }
}

/// Puts the rows where the answer has them.
pub(super) fn put_rows(fields: &mut Map<String, Value>, rows: Vec<Value>) {
    if !rows.is_empty() || fields.contains_key("tests") {
        fields.insert("tests".to_owned(), Value::Array(rows));
    }
}

/// Puts the calls where the answer has them.
pub(super) fn put_next(fields: &mut Map<String, Value>, next: &[NextCall]) {
    if !next.is_empty() {
        fields.insert("next".to_owned(), serde_json::to_value(next).unwrap_or_default());
    }
}
