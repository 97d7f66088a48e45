//! What the tools work with, made from the flags and the environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::config;
use engine::policy::{Caller, Policy};
use engine::project::{Overrides, find_root};
use engine::run::Engine;
use engine::store::Store;
use ops::{LiveRuns, OpError, Tool, Workspace};
use runner_core::backend::StillWanted;

use super::Context;
use crate::backends::RepositoryBackends;
use crate::plugins::{Loader, Plugin, Refused, Starting, Table, name_of, read_typed};
use crate::world;

/// How long all plug-ins together may take to say what they can do, before a server answers its client. Those that need
/// longer say it when they are used.
const PATIENCE: Duration = Duration::from_secs(3);

impl Context {
    /// The workspace of one repository for one kind of caller. A broken `qaas.toml` is kept in it, for the tools to answer
    /// with; only a root that is not there is an error here. Asks plug-ins that may be started what they can do, if that
    /// is not known.
    pub(super) fn workspace(&self, policy: Policy) -> Result<Workspace, OpError> {
        Ok(self.loaded_workspace(policy, Starting::Allowed)?.0)
    }

    /// The workspace of a command that starts nothing at all.
    pub(super) fn no_exec_workspace(&self, policy: Policy) -> Result<Workspace, OpError> {
        Ok(self.loaded_workspace(policy, Starting::Never)?.0)
    }

    /// A workspace with the plug-ins of its registry.
    pub(super) fn loaded_workspace(
        &self,
        policy: Policy,
        starting: Starting,
    ) -> Result<(Workspace, Vec<Plugin>), OpError> {
        let root = find_root(self.global.root.as_deref(), &self.environment)?;
        Ok(self.workspace_of(root, self.global.config.as_deref(), policy, starting))
    }

    /// The workspace of a folder that a person named, by its own file alone. What that would start needs trust as anywhere:
    /// to type a folder's path names none of it.
    pub(super) fn folder_workspace(&self, root: PathBuf) -> Workspace {
        self.workspace_of(root, None, Policy::person(), Starting::Allowed)
            .0
    }

    fn workspace_of(
        &self,
        root: PathBuf,
        config: Option<&Path>,
        policy: Policy,
        starting: Starting,
    ) -> (Workspace, Vec<Plugin>) {
        let store = self.store();
        // An agent's word is no person's consent, whatever it was started with.
        let consent = self.global.trust && policy.caller == Caller::Person;
        let loader = self.loader(&root, store.as_ref(), starting, consent);
        let mut own = RepositoryBackends::built_in();
        let settings = config::load(&root, config).and_then(|mut settings| {
            own.add(&mut settings, &loader, self.global.backend.as_deref())?;
            let settings = Arc::new(settings);
            loader.settle(&settings);
            if starting == Starting::Allowed {
                let begun = Instant::now();
                let waits = StillWanted::while_true(move || begun.elapsed() < PATIENCE);
                for plugin in &own.plugins {
                    // Why it could not be asked is told to whoever uses it.
                    let _ = loader.probe(plugin, &waits);
                }
            }
            own.note_unknown_words();
            own.check(&settings, &loader)?;
            let tools: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
            settings.check_tools(&tools)?;
            Ok(settings)
        });
        if settings.is_err() {
            own = RepositoryBackends::built_in();
        }
        if let Some(name) = &self.global.backend
            && own.registry.get(name).is_none()
        {
            own.registry.name_others(loader.names());
        }
        let slots = std::thread::available_parallelism().map_or(1, usize::from);
        let here = self.environment.cwd.canonicalize().ok();
        let here = here.filter(|here| policy.caller == Caller::Person && here.starts_with(&root));
        let workspace = Workspace {
            root,
            here,
            settings,
            registry: Arc::new(own.registry),
            engine: Engine::new(world::supervisor(), store, self.environment.clone(), slots),
            affected: Arc::new(affected::Finder),
            changes: Arc::new(testdiff::Reader),
            policy,
            overrides: Overrides {
                python: self.global.python.clone(),
                backend: self.global.backend.clone(),
            },
            environment: Arc::new(self.environment.clone()),
            onlooker: None,
            live: LiveRuns::default(),
            notes: Arc::new(own.notes),
            session_trust: self.global.trust,
        };
        (workspace, own.plugins)
    }

    /// A program or library whose path a person typed, as a backend: consent for this command.
    pub(super) fn typed_plugin(&self, path: &Path) -> Result<Plugin, OpError> {
        let refused = |refused: Refused| OpError::bad_argument(refused.message).with_hint(refused.hint);
        let typed = read_typed(&self.environment.cwd, path).map_err(refused)?;
        let name = name_of(typed.kind, &typed.from).unwrap_or_else(|| "plug-in".to_owned());
        let loader = self.loader(Path::new(""), self.store().as_ref(), Starting::Allowed, false);
        let plugin = loader.typed(&name, typed, &Table::default());
        let _ = loader.probe(&plugin, &StillWanted::default());
        Ok(plugin)
    }

    /// A plug-in that is installed or on PATH.
    pub(super) fn plugin_named(&self, root: &Path, name: &str) -> Result<Option<Plugin>, OpError> {
        let loader = self.loader(root, self.store().as_ref(), Starting::Allowed, false);
        let found = loader.find(name, &Table::default());
        let refused = |refused: Refused| OpError::bad_argument(refused.message).with_hint(refused.hint);
        let found = found.map_err(refused)?;
        if let Some(plugin) = &found {
            let _ = loader.probe(plugin, &StillWanted::default());
        }
        Ok(found)
    }

    /// The user's state folder, if there is a usable one.
    pub(super) fn store(&self) -> Option<Store> {
        let state = self.environment.state_dir()?;
        Store::open(&state).ok()
    }

    /// What loads plug-ins for this root.
    pub(super) fn loader(
        &self,
        root: &Path,
        store: Option<&Store>,
        starting: Starting,
        consent: bool,
    ) -> Loader {
        let plugins = store.and_then(|store| store.plugins().ok());
        Loader::new(root, &self.environment, plugins, starting, consent)
    }
}
