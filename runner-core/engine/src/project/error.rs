//! What discovery has to say when something is not there or not right.

use runner_core::facts::Problem;

/// What was not there or not right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectErrorKind {
    /// No Python was found that the project could use.
    NoInterpreter,
    /// An environment is there and cannot be used.
    BrokenEnvironment,
    /// An interpreter did not say what it has.
    InterpreterSilent,
    /// A package that the backend needs is not installed.
    MissingPackage,
    /// No backend can run the suite.
    NoBackend,
    /// The suite names a backend that there is not.
    UnknownBackend,
    /// What was asked for lies outside the repository.
    OutsideRoot,
    /// What was asked for is not there.
    NoSuchPath,
    /// What was asked for cannot be a selector.
    BadSelector,
}

impl ProjectErrorKind {
    const ALL: [Self; 9] = [
        Self::NoInterpreter,
        Self::BrokenEnvironment,
        Self::InterpreterSilent,
        Self::MissingPackage,
        Self::NoBackend,
        Self::UnknownBackend,
        Self::OutsideRoot,
        Self::NoSuchPath,
        Self::BadSelector,
    ];

    /// The stable word of it, in answers and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoInterpreter => "no_interpreter",
            Self::BrokenEnvironment => "broken_environment",
            Self::InterpreterSilent => "interpreter_silent",
            Self::MissingPackage => "missing_package",
            Self::NoBackend => "no_backend",
            Self::UnknownBackend => "unknown_backend",
            Self::OutsideRoot => "outside_root",
            Self::NoSuchPath => "no_such_path",
            Self::BadSelector => "bad_selector",
        }
    }
}

/// Something that discovery looked for and did not find, or found broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProjectError {
    pub kind: ProjectErrorKind,
    pub message: String,
    pub hint: Option<String>,
}

impl ProjectError {
    pub fn new(kind: ProjectErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A project's facts say in words what was wrong with its interpreter; whoever needs the interpreter hears it again.
impl From<Problem> for ProjectError {
    fn from(problem: Problem) -> Self {
        let kind = ProjectErrorKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == problem.code);
        Self {
            kind: kind.unwrap_or(ProjectErrorKind::NoInterpreter),
            message: problem.message,
            hint: problem.hint,
        }
    }
}

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        Self {
            code: error.kind.as_str().to_owned(),
            message: error.message,
            hint: error.hint,
        }
    }
}

/// Somebody's own words inside a message: control characters escaped, cut to what one can read.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 160;
    let shown: String = text.chars().take(MOST).flat_map(visible).collect();
    if text.chars().nth(MOST).is_none() {
        return shown;
    }
    format!("{shown}… ({} bytes)", text.len())
}

fn visible(c: char) -> Vec<char> {
    if c.is_control() {
        c.escape_default().collect()
    } else {
        vec![c]
    }
}
