//! The one list of backends: the built-in ones, and those that a repository or a person adds. Nothing registers itself.

use std::sync::Arc;

use runner_core::backend::{BackendInfo, Capability};
use runner_core::config::{CommandBackend, ConfigError, CoverageChoice, Settings};
use runner_core::registry::{Detection, Marker, Registry, nearest};

use crate::plugins::{Kind, Loader, Plugin, Table, Wrong};

/// All built-in backends, in the order in which they are preferred.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new()
        .with(Arc::new(pytest_events::PytestEvents))
        .with(Arc::new(pytest_json::PytestJson))
        .with(Arc::new(pytest_terminal::PytestTerminal))
        .with(Arc::new(coverage_py::CoveragePy));
    for preset in command::presets() {
        registry.add(Arc::new(preset));
    }
    for detection in command::detections() {
        registry = registry.with_detection(detection);
    }
    registry
}

/// All backends of one repository.
pub(crate) struct Own {
    pub(crate) registry: Registry,
    /// Those of the registry that are plug-ins.
    pub(crate) plugins: Vec<Plugin>,
}

impl Own {
    pub(crate) fn built_in() -> Self {
        Self {
            registry: registry(),
            plugins: Vec::new(),
        }
    }

    /// Adds the backends that `qaas.toml` describes, and the plug-ins that its suites or `also` name. One of a built-in's
    /// name takes its place only if a table says so. Starts nothing.
    pub(crate) fn add(
        &mut self,
        settings: &mut Settings,
        loader: &Loader,
        also: Option<&str>,
    ) -> Result<(), ConfigError> {
        let mut tables = std::mem::take(&mut settings.backends);
        let added = tables.iter_mut().try_for_each(|(name, table)| {
            self.add_table(name, table, loader)
                .map_err(|(key, message, hint)| settings.error_at(&key, message, hint))
        });
        settings.backends = tables;
        added?;
        self.add_named(settings, loader, also)
    }

    fn add_table(&mut self, name: &str, table: &mut CommandBackend, loader: &Loader) -> Result<(), Wrong> {
        let key = format!("backend.{name}");
        let at = |below: &str| match below {
            "" => key.clone(),
            below => format!("{key}.{below}"),
        };
        let markers: Vec<Marker> = match table.kind.as_str() {
            command::KIND => {
                let own = command::Command::from_table(name, &table.table)
                    .map_err(|fault| (at(&fault.key), fault.message, fault.hint))?;
                let markers = own.markers().to_vec();
                self.registry.add(Arc::new(own));
                markers
            }
            other => {
                let Some(kind) = Kind::parse(other) else {
                    return Err(unknown_kind(other, at("kind")));
                };
                let read =
                    Table::read(table).map_err(|(below, message, hint)| (at(&below), message, hint))?;
                let place = if read.path.is_some() {
                    at("path")
                } else {
                    at("kind")
                };
                let found = loader.table(name, kind, &read);
                let (plugin, file) = found.map_err(|refused| (place, refused.message, refused.hint))?;
                table.file = file;
                self.add_plugin(plugin);
                read.detect
            }
        };
        let registry = std::mem::take(&mut self.registry);
        self.registry = markers.into_iter().fold(registry, |registry, marker| {
            registry.with_detection(Detection {
                suite: name.to_owned(),
                marker,
                backends: vec![name.to_owned()],
            })
        });
        Ok(())
    }

    /// Plug-ins without a table.
    fn add_named(
        &mut self,
        settings: &Settings,
        loader: &Loader,
        also: Option<&str>,
    ) -> Result<(), ConfigError> {
        let mut named: Vec<(String, &str)> = Vec::new();
        for suite in &settings.suites {
            let key = format!("suite.{}", suite.name);
            named.extend(
                suite
                    .backend
                    .iter()
                    .map(|name| (format!("{key}.backend"), name.as_str())),
            );
            if let CoverageChoice::Named(name) = &suite.coverage {
                named.push((format!("{key}.coverage"), name));
            }
        }
        named.extend(also.map(|name| (String::new(), name)));
        for (key, name) in named {
            if self.registry.get(name).is_some() {
                continue;
            }
            let found = loader.find(name, &Table::default());
            let found = found.map_err(|refused| settings.error_at(&key, refused.message, refused.hint))?;
            if let Some(plugin) = found {
                self.add_plugin(plugin);
            }
        }
        Ok(())
    }

    fn add_plugin(&mut self, plugin: Plugin) {
        self.registry.add(plugin.backend.clone());
        self.plugins.push(plugin);
    }

    /// Whether what the configuration says of backends is right, as far as it is known what they can do.
    pub(crate) fn check(&self, settings: &Settings) -> Result<(), ConfigError> {
        let unknown: Vec<&str> = self
            .plugins
            .iter()
            .filter(|plugin| !plugin.backend.is_known())
            .map(|plugin| plugin.name.as_str())
            .collect();
        let mut infos = self.registry.infos();
        settings.check_options(&infos_known(&infos, &unknown), &unknown)?;
        for info in infos
            .iter_mut()
            .filter(|info| unknown.contains(&info.name.as_str()))
        {
            info.capabilities.insert(Capability::Coverage);
        }
        settings.check_backends(&infos)
    }
}

fn infos_known(infos: &[BackendInfo], unknown: &[&str]) -> Vec<BackendInfo> {
    let known = infos.iter().filter(|info| !unknown.contains(&info.name.as_str()));
    known.cloned().collect()
}

fn unknown_kind(word: &str, at: String) -> Wrong {
    let message = format!("there is no kind of backend `{word}`");
    let kinds = [command::KIND, Kind::Exec.as_str(), Kind::Library.as_str()];
    let hint = match nearest(word, kinds) {
        Some(near) => format!("did you mean `kind = \"{near}\"`?"),
        None => format!("kinds: {}", kinds.join(", ")),
    };
    (at, message, hint)
}
