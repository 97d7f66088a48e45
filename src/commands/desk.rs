//! What the tools work with, made from the flags and the environment.

use std::sync::Arc;

use runner_core::config;
use runner_core::engine::Engine;
use runner_core::ops::{Desk, LiveRuns, OpError};
use runner_core::policy::Policy;
use runner_core::project::{Overrides, find_root};
use runner_core::store::Store;

use super::Context;
use crate::{backends, world};

impl Context {
    /// The desk of one repository for one kind of caller. A broken `qaas.toml` is kept in it, for the tools to answer
    /// with; only a root that is not there is an error here.
    pub(super) fn desk(&self, policy: Policy) -> Result<Desk, OpError> {
        let root = find_root(self.global.root.as_deref(), &self.environment)?;
        let mut registry = backends::registry();
        let settings = config::load(&root, self.global.config.as_deref()).and_then(|settings| {
            registry = backends::with_own(registry.clone(), &settings)?;
            settings.check_backends(&registry.infos())?;
            settings.check_options(&registry.infos())?;
            settings.check_tools(&mcp::TOOL_NAMES)?;
            Ok(Arc::new(settings))
        });
        let store = self
            .environment
            .state_dir()
            .and_then(|state| Store::open(&state).ok());
        let slots = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Desk {
            root,
            settings,
            registry: Arc::new(registry),
            engine: Engine::new(world::supervisor(), store, self.environment.clone(), slots),
            affected: Arc::new(affected::Finder),
            policy,
            overrides: Overrides {
                python: self.global.python.clone(),
                backend: self.global.backend.clone(),
            },
            environment: Arc::new(self.environment.clone()),
            live: LiveRuns::default(),
            session_trust: self.global.trust,
        })
    }
}
