//! The one list of backends: the built-in ones, and those that a repository or a person adds. Nothing registers itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::config::{CommandBackend, ConfigError, CoverageChoice, Settings};
use runner_core::backend::{BackendInfo, Capability};
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
pub(crate) struct RepositoryBackends {
    pub(crate) registry: Registry,
    /// Those of the registry that are plug-ins.
    pub(crate) plugins: Vec<Plugin>,
    /// What is to be said of a backend's runs, by its name.
    pub(crate) notes: BTreeMap<String, Vec<String>>,
    built_in: Vec<String>,
}

impl RepositoryBackends {
    pub(crate) fn built_in() -> Self {
        let registry = registry();
        Self {
            built_in: registry.names(),
            registry,
            plugins: Vec::new(),
            notes: BTreeMap::new(),
        }
    }

    /// Adds the backends that `qaas.toml` describes, and the plug-ins that its suites or `also` name. Nothing takes the place
    /// of a built-in backend: who reads its name in a suite knows what that does. Starts nothing.
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
        self.check_name(name)
            .map_err(|(message, hint)| (key.clone(), message, hint))?;
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

    /// Whether a table may have this name. The error is a message and a hint.
    fn check_name(&self, name: &str) -> Result<(), (String, String)> {
        if self.is_built_in(name) {
            let hint = format!(
                "give the table a name of its own, such as `[backend.own-{name}]`, and name that in the suite: \
                 `backend = \"own-{name}\"`"
            );
            return Err((
                format!("`{name}` is a built-in backend, and a table does not take its place"),
                hint,
            ));
        }
        Ok(())
    }

    fn is_built_in(&self, name: &str) -> bool {
        self.built_in.iter().any(|known| known == name)
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
                if self.is_built_in(name)
                    && let Some(place) = loader.place(name)
                {
                    let note = ignored(name, &place);
                    let notes = self.notes.entry(name.to_owned()).or_default();
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
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

    /// Says of each plug-in what it says of itself that this qaas does not know.
    pub(crate) fn note_unknown_words(&mut self) {
        for plugin in &self.plugins {
            if let Some(note) = unknown_words(plugin) {
                self.notes.entry(plugin.name.clone()).or_default().push(note);
            }
        }
    }

    /// Whether what the configuration says of backends is right, as far as it is known what they can do.
    pub(crate) fn check(&self, settings: &Settings, loader: &Loader) -> Result<(), ConfigError> {
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
        // What else there is, is looked for only to be named in an error.
        settings
            .check_backends(&infos, &[])
            .or_else(|_| settings.check_backends(&infos, &loader.names()))
    }
}

/// What is said where a program of a built-in backend's name is passed over.
pub(crate) fn ignored(name: &str, place: &str) -> String {
    format!("{place} is not used: `{name}` is a built-in backend, and nothing takes its place")
}

/// The words of a plug-in about itself that this qaas does not know, if there are any.
pub(crate) fn unknown_words(plugin: &Plugin) -> Option<String> {
    let left_out = plugin.backend.left_out();
    (!left_out.is_empty()).then(|| {
        format!(
            "backend `{}` says of itself what this qaas does not know, and it is left out: {}",
            plugin.name,
            left_out.join(", ")
        )
    })
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
