//! The backends there are: an explicit, ordered list, made once by the binary.

use std::sync::Arc;

use crate::backend::{BackendInfo, TestBackend};

/// An ordered list of backends. No magic: what is in it was put there by name.
#[derive(Clone, Default)]
pub struct Registry {
    backends: Vec<Arc<dyn TestBackend>>,
    detections: Vec<Detection>,
    /// Names of backends that are there and were not loaded.
    others: Vec<String>,
}

/// How a repository without a configuration shows that it has tests of some kind. (Python tests need none: they are
/// found by pytest's own files, and served by every registered backend of language `python`.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The name that the suite gets.
    pub suite: String,
    /// What tells that the suite is there.
    pub marker: Marker,
    /// The suite's backends, in order of preference.
    pub backends: Vec<String>,
}

/// What to look for in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A regular file of this name: `Cargo.toml`.
    File(String),
    /// A package that `package.json` depends on: `vitest`.
    NodePackage(String),
    /// Words in one of the scripts of `package.json`: `node --test`.
    NodeScript(String),
}

impl Registry {
    /// One without any backend.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a backend; a later one of the same name takes the earlier one's place.
    #[must_use]
    pub fn with(mut self, backend: Arc<dyn TestBackend>) -> Self {
        self.add(backend);
        self
    }

    /// See [`Registry::with`].
    pub fn add(&mut self, backend: Arc<dyn TestBackend>) {
        let name = backend.info().name;
        match self.backends.iter_mut().find(|known| known.info().name == name) {
            Some(place) => *place = backend,
            None => self.backends.push(backend),
        }
    }

    /// Adds a row to what is looked for in a repository without a configuration.
    #[must_use]
    pub fn with_detection(mut self, detection: Detection) -> Self {
        self.detections.push(detection);
        self
    }

    /// What a repository without a configuration is looked at for, in order.
    pub fn detections(&self) -> &[Detection] {
        &self.detections
    }

    /// The backend of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn TestBackend>> {
        self.backends.iter().find(|backend| backend.info().name == name)
    }

    /// What each backend says of itself, in order.
    pub fn infos(&self) -> Vec<BackendInfo> {
        self.backends.iter().map(|backend| backend.info()).collect()
    }

    /// Lets backends that were not loaded be named where one is asked for that is not there.
    pub fn name_others(&mut self, names: Vec<String>) {
        self.others = names;
    }

    /// All names that may be meant by whoever names a backend.
    pub fn names_to_choose(&self) -> Vec<String> {
        let mut names = self.names();
        for name in &self.others {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// The names of all backends, in order.
    pub fn names(&self) -> Vec<String> {
        self.infos().into_iter().map(|info| info.name).collect()
    }
}

/// The candidate nearest to a mistyped word, if one is near enough to be worth naming.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().max(word.len()).div_ceil(3))
        .min()
        .map(|(_, candidate)| candidate)
}
