//! What discovery has to say when something is not there or not right.

use runner_core::facts::Problem;

/// Something that discovery looked for and did not find, or found broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProjectError {
    /// A stable word: `no_interpreter`, `broken_environment`, `missing_package`, `interpreter_silent`, `outside_root`,
    /// `no_such_path`, `bad_selector`, `no_backend`, `unknown_backend`.
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
}

impl ProjectError {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
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

impl From<Problem> for ProjectError {
    fn from(problem: Problem) -> Self {
        Self {
            code: problem.code,
            message: problem.message,
            hint: problem.hint,
        }
    }
}

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        Self {
            code: error.code,
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
