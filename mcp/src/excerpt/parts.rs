//! An answer taken apart: what is shortened row by row, what field by field, and what is whole or not there.

use std::any::Any;

use ops::get_run::Page;
use ops::{Answer, Fields, NextCall, OpError, Row, SuiteAnswer};
use runner_core::model::CollectionError;
use serde::Deserialize;
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
    /// The answers of several suites; then this is the head around them.
    pub(super) suites: Vec<SuiteAnswer>,
    /// A run of tests that went well: its answer is short.
    pub(super) green: bool,
    /// A page of a run: its rows stay in order and are not folded, and it says where the next one begins. Without
    /// its rows.
    pub(super) page: Option<Box<Page>>,
    /// What each row of a page may take for its text.
    pub(super) row_cap: usize,
}

impl Parts {
    pub(super) fn of(mut answer: Answer) -> Self {
        // Before its rows are taken out: it counts them.
        let headline = answer.headline();
        let (rows, next) = (answer.take_rows(), answer.take_next());
        let mut parts = Self {
            headline,
            suites: answer.take_parts(),
            green: answer.is_green(),
            ..Self::new(answer.fields(), rows, next)
        };
        let any: Box<dyn Any> = answer;
        let page: Option<Box<Page>> = any.downcast().ok();
        parts.page = page.filter(|page| page.progress.is_none());
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
            if let (true, Ok(whole)) = (known, CollectionError::deserialize(&Value::Object(error.clone()))) {
                let what = measure::cut(whole.what(), BRIEF);
                error.insert("message".to_owned(), Value::String(what));
                error.remove("summary");
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
            ..Self::new(error.fields(), Vec::new(), next)
        }
    }

    fn new(fields: Map<String, Value>, rows: Vec<Row>, next: Vec<NextCall>) -> Self {
        Self {
            headline: String::new(),
            fields,
            rows,
            next,
            suites: Vec::new(),
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
