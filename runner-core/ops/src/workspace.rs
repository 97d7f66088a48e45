//! What the tools work with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{LiveRuns, OpError};
use engine::config::{ConfigError, Settings};
use engine::environment::Environment;
use engine::policy::Policy;
use engine::project::{self, Overrides, ProjectError};
use engine::run::{Engine, Onlooker};
use runner_core::affected::AffectedFinder;
use runner_core::change::ChangeReader;
use runner_core::nodeid::NodeId;
use runner_core::paths;
use runner_core::registry::Registry;

/// One repository, ready to be asked: made by `main`, shared by all calls. Cheap to clone.
#[derive(Clone)]
pub struct Workspace {
    /// The repository's root, real path.
    pub root: PathBuf,
    /// Where a person stands, if that is a folder of the repository (a real path): what they type is relative to it.
    pub here: Option<PathBuf>,
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
    /// Who looks on while a person's tests run.
    pub onlooker: Option<Arc<dyn Onlooker>>,
    /// The runs of this process that have not ended.
    pub live: LiveRuns,
    /// What is to be said of every run of a backend, by its name.
    pub notes: Arc<BTreeMap<String, Vec<String>>>,
    /// A person typed `--trust`: consent for this one command.
    pub session_trust: bool,
}

impl Workspace {
    /// Where a path that a person typed lies as seen from where they stand, if something does; absolute.
    pub(super) fn seen(&self, typed: &str) -> Option<PathBuf> {
        let here = self.here.as_deref().filter(|_| !typed.trim().is_empty())?;
        project::seen_from(&self.root, here, typed.trim())
    }

    /// A path or a test id that a person typed, as it is written from the root, so that it is the same word wherever they
    /// stand. What does not lie where they stand is left as it was typed.
    pub(super) fn as_seen(&self, typed: &str) -> String {
        let id = NodeId::of(typed);
        let way = self
            .seen(id.file())
            .and_then(|place| paths::relative(&self.root, &place));
        match way.as_deref() {
            None => typed.to_owned(),
            Some("") => ".".to_owned(),
            Some(way) => format!("{way}{}", id.rest()),
        }
    }

    /// The same for a file that need not exist any more: where its folder is.
    pub(super) fn typed_change(&self, typed: &str) -> String {
        let known = self.as_seen(typed);
        let Some(here) = self.here.as_deref().filter(|_| known == typed) else {
            return known;
        };
        let gone = !self.root.join(typed).exists();
        let place = paths::clean(&here.join(typed)).filter(|place| {
            gone && place.starts_with(&self.root) && place.parent().is_some_and(Path::is_dir)
        });
        let way = place.and_then(|place| paths::relative(&self.root, &place));
        way.filter(|way| !way.is_empty()).unwrap_or(known)
    }

    /// A folder of the repository that a caller names.
    pub(super) fn folder(&self, typed: &str) -> Result<PathBuf, ProjectError> {
        match self.seen(typed) {
            Some(place) => project::resolve_dir(&self.root, &place.to_string_lossy()),
            None => project::resolve_dir(&self.root, typed),
        }
    }

    /// What is to be said of every run of this backend.
    pub fn notes_of(&self, backend: &str) -> Vec<String> {
        self.notes.get(backend).cloned().unwrap_or_default()
    }

    /// The configuration, or the error answer that tells what is wrong with it.
    pub fn settings(&self) -> Result<&Arc<Settings>, OpError> {
        self.settings.as_ref().map_err(OpError::from)
    }
}
