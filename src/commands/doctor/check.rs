//! One thing that was looked at.

use ops::{ExitCode, OpError};
use runner_core::model::Outcome;
use serde_json::{Map, Value};

use crate::display::Paint;

/// In the order of how much it matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Could not be looked at, and need not be.
    #[default]
    Skipped,
    Ok,
    /// Works, but less well or less safely than it could.
    Warn,
    Fail,
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    pub(super) fn painted(self, paint: Paint) -> String {
        let word = format!("{:<7}", self.word());
        match self {
            Self::Ok => paint.outcome(Outcome::Passed, &word),
            Self::Fail => paint.outcome(Outcome::Failed, &word),
            Self::Warn => paint.outcome(Outcome::Skipped, &word),
            Self::Skipped => paint.dim(&word),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) state: State,
    /// One line.
    pub(super) message: String,
    /// What else was seen, a line each.
    pub(super) notes: Vec<String>,
    /// What to do about it.
    pub(super) fix: Option<String>,
    /// What qaas exits with if this fails.
    pub(super) code: ExitCode,
}

impl Check {
    fn new(state: State, name: impl Into<String>, message: impl Into<String>) -> Self {
        let message = message.into();
        let mut lines = message.lines().map(str::to_owned);
        Self {
            name: name.into(),
            state,
            message: lines.next().unwrap_or_default(),
            notes: lines.collect(),
            fix: None,
            code: ExitCode::NotJudged,
        }
    }

    pub(super) fn ok(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(State::Ok, name, message)
    }

    pub(super) fn skipped(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(State::Skipped, name, message)
    }

    pub(super) fn warn(name: impl Into<String>, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(State::Warn, name, message).with_fix(fix)
    }

    pub(super) fn fail(name: impl Into<String>, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::new(State::Fail, name, message).with_fix(fix)
    }

    /// A question that could not be answered, with the exit code that it has everywhere.
    pub(super) fn of_error(name: impl Into<String>, error: &OpError) -> Self {
        let mut check = Self::new(State::Fail, name, error.error.message.as_str());
        check.fix.clone_from(&error.error.hint);
        check.code = error.exit();
        check
    }

    fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    pub(super) fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    pub(super) fn value(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("name".to_owned(), self.name.as_str().into());
        fields.insert("state".to_owned(), self.state.word().into());
        fields.insert("message".to_owned(), self.message.as_str().into());
        if !self.notes.is_empty() {
            fields.insert("notes".to_owned(), self.notes.as_slice().into());
        }
        if let Some(fix) = &self.fix {
            fields.insert("fix".to_owned(), fix.as_str().into());
        }
        Value::Object(fields)
    }
}
