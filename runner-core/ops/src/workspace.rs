//! What the tools work with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::{LiveRuns, OpError};
use engine::config::{ConfigError, Settings};
use engine::environment::Environment;
use engine::policy::Policy;
use engine::project::Overrides;
use engine::run::Engine;
use runner_core::affected::AffectedFinder;
use runner_core::change::ChangeReader;
use runner_core::registry::Registry;

/// One repository, ready to be asked: made by `main`, shared by all calls. Cheap to clone.
#[derive(Clone)]
pub struct Workspace {
    /// The repository's root, real path.
    pub root: PathBuf,
    /// A `qaas.toml` that cannot be used stops no server: every tool answers with it.
    pub settings: Result<Arc<Settings>, ConfigError>,
    /// The built-in backends and those that `qaas.toml` declares.
    pub registry: Arc<Registry>,
    pub engine: Engine,
    pub affected: Arc<dyn AffectedFinder>,
    pub changes: Arc<dyn ChangeReader>,
    pub policy: Policy,
    /// What a person typed on the command line.
    pub overrides: Overrides,
    pub environment: Arc<Environment>,
    /// The runs of this process that have not ended.
    pub live: LiveRuns,
    /// What is to be said of every run of a backend, by its name.
    pub notes: Arc<BTreeMap<String, Vec<String>>>,
    /// A person typed `--trust`: consent for this one command.
    pub session_trust: bool,
}

impl Workspace {
    /// What is to be said of every run of this backend.
    pub fn notes_of(&self, backend: &str) -> Vec<String> {
        self.notes.get(backend).cloned().unwrap_or_default()
    }

    /// The configuration, or the error answer that tells what is wrong with it.
    pub fn settings(&self) -> Result<&Arc<Settings>, OpError> {
        self.settings.as_ref().map_err(OpError::from)
    }
}
