//! What every tool's answer can be asked, whichever tool it is of.

use std::any::Any;
use std::fmt::Debug;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{ExitCode, NextCall, OpError, Row, Totals};
use runner_core::model::Status;

/// The answer of any tool.
pub type Answer = Box<dyn ToolAnswer>;

/// An answer, whole. The faces take its rows and calls out and show as many as they have room for.
pub trait ToolAnswer: Fields + Any + Debug + Send {
    /// First line of the text block: the whole answer in a sentence.
    fn headline(&self) -> String;

    /// The status of the run that the answer is about. `None` for tools that run no test.
    fn status(&self) -> Option<Status> {
        None
    }

    /// What the command line exits with when it asked this question itself (`qaas call` exits 0 once answered).
    fn exit(&self) -> ExitCode {
        self.status().map_or(ExitCode::Passed, ExitCode::from)
    }

    /// The word of its field `status`.
    fn standing(&self) -> String {
        self.status()
            .map_or_else(|| "done".to_owned(), |status| status.to_string())
    }

    /// What it adds to an answer about several suites.
    fn sums(&self) -> Sums {
        Sums::default()
    }

    /// A run of tests that went well: its rows are of little interest.
    fn is_green(&self) -> bool {
        false
    }

    /// Moves its rows out. The field `tests`, if there is one, stays as an empty place.
    fn take_rows(&mut self) -> Vec<Row> {
        Vec::new()
    }

    /// Moves out what to call next.
    fn take_next(&mut self) -> Vec<NextCall> {
        Vec::new()
    }

    /// Moves out the parts of an answer about several suites. The field `suites` stays as an empty place.
    fn take_parts(&mut self) -> Vec<SuiteAnswer> {
        Vec::new()
    }
}

/// A suite's part of an answer.
#[derive(Debug)]
pub struct SuiteAnswer {
    pub suite: String,
    pub answer: Result<Answer, OpError>,
}

impl SuiteAnswer {
    /// Its status, as words say it.
    pub fn status(&self) -> String {
        match &self.answer {
            Ok(answer) => answer.standing(),
            Err(error) => error.status().to_string(),
        }
    }

    pub(super) fn exit(&self) -> ExitCode {
        match &self.answer {
            Ok(answer) => answer.exit(),
            Err(error) => error.exit(),
        }
    }

    /// The run status that the part comes to. A list has none, unless it could not be made.
    pub(super) fn run_status(&self) -> Option<Status> {
        match &self.answer {
            Ok(answer) => answer.status(),
            Err(error) => Some(error.status()),
        }
    }
}

/// Numbers that can be added up over suites.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    pub totals: Option<Totals>,
    /// Of a list.
    pub total: Option<usize>,
    pub duration_s: f64,
}

impl Sums {
    pub(super) fn add(&mut self, other: Self) {
        self.duration_s += other.duration_s;
        if let Some(more) = other.total {
            *self.total.get_or_insert(0) += more;
        }
        if let Some(more) = other.totals {
            let totals = self.totals.get_or_insert_with(Totals::default);
            more.0
                .into_iter()
                .for_each(|(outcome, count)| *totals.0.entry(outcome).or_default() += count);
        }
    }
}

/// The fields of a value that serializes as an object.
pub trait Fields {
    fn fields(&self) -> Map<String, Value>;
}

impl<T: Serialize> Fields for T {
    fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            // Answers are structs of plain values with string keys.
            _ => Map::new(),
        }
    }
}
