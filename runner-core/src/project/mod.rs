//! What a directory is: its root, suites, interpreter, versions. Found by reading; nothing is run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::TestBackend;
use crate::config::{Settings, Suite};
use crate::environment::Environment;
use crate::facts::Project;
use crate::registry::Registry;
use crate::selector::Selector;

/// Something that discovery looked for and did not find, or found broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProjectError {
    /// A stable word: `no_interpreter`, `broken_environment`, `missing_package`, `outside_root`, `no_such_path`,
    /// `bad_selector`, `no_backend`, `no_suite`, …
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

/// What a person typed to override a suite: consent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    pub python: Option<PathBuf>,
    pub backend: Option<String>,
}

/// The root: `explicit`, else the nearest folder upward with `qaas.toml`, else the git top, else the working folder.
pub fn find_root(explicit: Option<&Path>, environment: &Environment) -> Result<PathBuf, ProjectError> {
    let _ = (explicit, environment);
    todo!("project room")
}

/// The configured suites (with a backend filled in where nobody said), or those that the directory's files speak of.
/// What backends look for is in `registry` ([`Registry::detections`]). Empty: nothing here looks like tests.
pub fn suites(root: &Path, settings: &Settings, registry: &Registry) -> Vec<Suite> {
    let _ = (root, settings, registry);
    todo!("project room")
}

/// Reads what is known about a suite's directory. `start` is where the interpreter search starts (the suite's
/// folder, or the `cwd` of a call). `registry` says which programs are worth looking for.
pub fn discover(
    root: &Path,
    suite: &Suite,
    registry: &Registry,
    start: &Path,
    overrides: &Overrides,
    environment: &Environment,
) -> Result<Project, ProjectError> {
    let _ = (root, suite, registry, start, overrides, environment);
    todo!("project room")
}

/// A suite's backend for a project, and what was preferred to it but could not be used.
#[derive(Clone)]
pub struct Choice {
    pub backend: Arc<dyn TestBackend>,
    pub passed_over: Vec<String>,
}

/// The first of the suite's backends whose needs are met. A pure function over `needs`.
pub fn choose_backend(
    registry: &Registry,
    suite: &Suite,
    project: &Project,
    overrides: &Overrides,
) -> Result<Choice, ProjectError> {
    let _ = (registry, suite, project, overrides);
    todo!("project room")
}

/// Makes a selector of what somebody wrote: refuses options and argument files, resolves paths inside the root.
/// Paths in the result are relative to `cwd`.
pub fn resolve(root: &Path, cwd: &Path, text: &str) -> Result<Selector, ProjectError> {
    let _ = (root, cwd, text);
    todo!("project room")
}

/// A directory inside the root, real path; `text` is relative to the root or absolute.
pub fn resolve_dir(root: &Path, text: &str) -> Result<PathBuf, ProjectError> {
    let _ = (root, text);
    todo!("project room")
}
