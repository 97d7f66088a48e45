//! The answer to a question that could not be answered.

use serde::Serialize;

use super::rows::{is_zero, round, warnings};
use super::{EnvironmentFacts, ExitCode, NextCall, words};
use engine::config::ConfigError;
use engine::project::{ProjectError, ProjectErrorKind};
use engine::store::StoreError;
use runner_core::change::NoBase;
use runner_core::model::Status;
use runner_core::registry::Registry;
use runner_core::report::Report;

/// What went wrong, what to do next, and what was known by then.
#[derive(Clone, Debug, thiserror::Error, Serialize)]
#[error("{}", error.message)]
pub struct OpError {
    #[serde(skip)]
    pub kind: ErrorKind,
    pub error: ErrorText,
    #[serde(flatten)]
    pub known: Box<Known>,
}

/// The `error` object of an error answer.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorText {
    /// A stable word for programs: `bad_argument`, `no_tests`, `no_such_test`, `no_interpreter`, …
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The caller's: an argument, a path, a run id.
    BadRequest,
    /// The repository's `qaas.toml`.
    Config,
    /// A person's: something that needs trust.
    Untrusted,
    /// The selection's: there is nothing to run.
    NoTests,
    /// The project's: its framework did not come to the first test.
    Broken,
    /// Somebody ended it before the first test.
    Cancelled,
}

/// The fields of an ordinary answer, as far as they are known.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Known {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// `None` before anything ran; written as what the kind of the error comes to.
    pub status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the framework set aside (`-m`, `-k`) although it was collected.
    #[serde(skip_serializing_if = "is_zero")]
    pub deselected: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tail: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentFacts>,
}

impl OpError {
    pub fn new(kind: ErrorKind, code: impl Into<String>, message: impl Into<String>) -> Self {
        let status = match kind {
            ErrorKind::NoTests => Status::NoTests,
            ErrorKind::Cancelled => Status::Cancelled,
            _ => Status::Broken,
        };
        let known = Known {
            status: Some(status),
            ..Known::default()
        };
        Self {
            kind,
            error: ErrorText {
                code: code.into(),
                message: message.into(),
                hint: None,
            },
            known: Box::new(known),
        }
    }

    /// An argument that cannot be taken.
    pub fn bad_argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadRequest, "bad_argument", message)
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hint = Some(hint.into());
        self
    }

    /// Keeps a hint that is there already.
    #[must_use]
    pub fn or_hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hint.get_or_insert_with(|| hint.into());
        self
    }

    #[must_use]
    pub fn with_next(mut self, next: NextCall) -> Self {
        self.known.next.push(next);
        self
    }

    /// Adds what is known from the run that led to it.
    #[must_use]
    pub(super) fn with_report(mut self, registry: &Registry, report: &Report) -> Self {
        let facts = &report.facts;
        let iteration = report.first();
        let verdict = report.verdict();
        let exit = iteration.exits.first();
        self.error.hint = self.error.hint.or(verdict.hint);
        let known = &mut self.known;
        known.run_id = Some(facts.run_id.clone());
        known.reason = verdict.reason;
        known.exit_code = exit.and_then(|exit| exit.code);
        known.signal = exit.and_then(|exit| exit.signal);
        known.duration_s = Some(round(report.duration_s, 3));
        known.selector = words::selection(&facts.asked);
        known.cwd = Some(facts.cwd.to_string_lossy().into_owned());
        known.deselected = iteration.deselected;
        known.output_tail = Some(iteration.output_tail.clone()).filter(|text| !text.trim().is_empty());
        known.warnings = warnings(report, iteration);
        known.environment = Some(EnvironmentFacts::of(report, registry));
        self
    }

    pub fn status(&self) -> Status {
        self.known.status.unwrap_or(Status::Broken)
    }

    /// What the command line exits with.
    pub fn exit(&self) -> ExitCode {
        match self.kind {
            ErrorKind::BadRequest | ErrorKind::Config | ErrorKind::Untrusted => ExitCode::Usage,
            ErrorKind::NoTests => ExitCode::NoTests,
            ErrorKind::Broken => ExitCode::NotJudged,
            ErrorKind::Cancelled => ExitCode::Cancelled,
        }
    }

    /// What to do next, unless the message says it already: one of several lines may hold its remedy.
    pub fn next_step(&self) -> Option<&str> {
        let hint = self.error.hint.as_deref();
        hint.filter(|hint| !self.error.message.contains(hint))
    }

    /// First line of the text block.
    pub fn headline(&self) -> String {
        match self.next_step() {
            Some(hint) => format!("{} {hint}", sentence(&self.error.message)),
            None => sentence(&self.error.message),
        }
    }
}

/// The text, ended like a sentence.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', ':']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

impl From<&ConfigError> for OpError {
    fn from(error: &ConfigError) -> Self {
        let answer = Self::new(ErrorKind::Config, "config", error.to_string());
        match &error.hint {
            Some(hint) => answer.with_hint(hint),
            None => answer.with_hint("`qaas check` says whether it is right again."),
        }
    }
}

impl From<NoBase> for OpError {
    fn from(error: NoBase) -> Self {
        let mut answer = Self::new(ErrorKind::BadRequest, "no_base", error.message);
        answer.error.hint = error.hint;
        answer
    }
}

impl From<ProjectError> for OpError {
    fn from(error: ProjectError) -> Self {
        let kind = match error.kind {
            ProjectErrorKind::NoInterpreter
            | ProjectErrorKind::BrokenEnvironment
            | ProjectErrorKind::InterpreterSilent
            | ProjectErrorKind::MissingPackage
            | ProjectErrorKind::NoBackend => ErrorKind::Broken,
            ProjectErrorKind::UnknownBackend
            | ProjectErrorKind::OutsideRoot
            | ProjectErrorKind::NoSuchPath
            | ProjectErrorKind::BadSelector => ErrorKind::BadRequest,
        };
        let mut answer = Self::new(kind, error.kind.as_str(), error.message);
        answer.error.hint = error.hint;
        answer
    }
}

impl From<StoreError> for OpError {
    fn from(error: StoreError) -> Self {
        let (kind, code) = match &error {
            StoreError::NoSuchRun { .. } => (ErrorKind::BadRequest, "no_such_run"),
            StoreError::Damaged { .. } => (ErrorKind::Broken, "damaged_run"),
            StoreError::Unusable { .. } => (ErrorKind::Broken, "no_store"),
        };
        Self::new(kind, code, error.to_string()).with_hint(error.hint())
    }
}
