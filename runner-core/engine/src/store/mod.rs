//! Finished and running runs on disk, in the user's state folder. Nothing is ever written into a repository.
//!
//! ```text
//! STATE/
//!   repos/<hash of the repository's real path>/
//!     root                the path, for people
//!     cache/              the framework's own cache, for agents
//!     derived/            what was read out of the repository and its git history
//!     kept/               results that are asked for again
//!     failures-*.json     what failed and has not been green since, for people and for agents
//!     runs/<run id>/      lock, events.jsonl, output, summary.json, files/
//!   plugins/              see [`plugins`]
//!   s/<eight characters>/   scratches: lock, and what their run lays there
//! ```
//!
//! Who owns a scratch or a running record is told by a lock that its process holds, never by a stored process id: the
//! system lets go of it when the process ends, however it ends. No stored text names a path that is then removed.

mod failures;
mod folder;
mod kept;
mod list;
pub mod plugins;
mod private;
mod prune;
mod record;
mod scratch;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use self::failures::{Failures, Remembered};
pub use self::private::remove_tree;
pub use self::record::RunFolder;
pub use self::scratch::Scratch;

use self::private::{private_folder, unusable};
use crate::digest::sha256;
use crate::run_id::is_run_id;
use runner_core::facts::RunFacts;
use runner_core::report::Report;

/// The state folder of one user.
#[derive(Clone, Debug)]
pub struct Store {
    state: PathBuf,
    /// Where scratches are made: in the state folder, or in a shorter place.
    scratches: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the state folder {path} cannot be used: {why}")]
    Unusable { path: PathBuf, why: String },
    #[error("no run {run_id} of this repository is stored")]
    NoSuchRun { run_id: String },
    #[error("run {run_id} is stored, but damaged: {why}")]
    Damaged { run_id: String, why: String },
}

impl StoreError {
    pub(crate) fn unusable(path: &Path, source: &std::io::Error) -> Self {
        Self::Unusable {
            path: path.to_owned(),
            why: source.to_string(),
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unusable { .. } => "set QAAS_STATE_DIR to a folder of your own that can be written",
            Self::NoSuchRun { .. } => {
                "stored runs are removed when they are many or old; run the tests again"
            }
            Self::Damaged { .. } => "run the tests again",
        }
    }
}

/// One line of the list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub facts: RunFacts,
    pub status: runner_core::model::Status,
}

impl Store {
    /// Opens (makes if needed) the state folder: 0700, ours, no link. Removes scratches of processes that are gone.
    pub fn open(state: &Path) -> Result<Self, StoreError> {
        if !state.is_absolute() {
            let why = "the path is not absolute".to_owned();
            return Err(StoreError::Unusable {
                path: state.to_owned(),
                why,
            });
        }
        private_folder(state)?;
        // pytest 9.2 refuses a cache folder with `..` in its path.
        let state = &state.canonicalize().map_err(|source| StoreError::Unusable {
            path: state.to_owned(),
            why: source.to_string(),
        })?;
        private_folder(&state.join("repos"))?;
        let store = Self {
            state: state.clone(),
            scratches: scratch::place(state)?,
        };
        scratch::remove_stale(&store.scratches);
        prune::repositories(&store.state.join("repos"));
        Ok(store)
    }

    pub fn state(&self) -> &Path {
        &self.state
    }

    /// A new scratch (short path, 0700), gone when dropped. Belongs to this process.
    pub fn scratch(&self) -> Result<Scratch, StoreError> {
        Scratch::new_in(&self.scratches)
    }

    /// The framework's cache folder for a repository, for agents.
    pub fn cache_dir(&self, root: &Path) -> Result<PathBuf, StoreError> {
        let cache = self.repository(root)?.join("cache");
        private_folder(&cache)?;
        Ok(cache)
    }

    /// A folder for what was read out of a repository and would cost time to read again.
    pub fn derived_dir(&self, root: &Path) -> Result<PathBuf, StoreError> {
        let derived = self.repository(root)?.join("derived");
        private_folder(&derived)?;
        Ok(derived)
    }

    /// Starts the record of a run. Makes room for it first.
    pub fn begin(&self, facts: &RunFacts) -> Result<RunFolder, StoreError> {
        let runs = self.repository(&facts.root)?.join("runs");
        private_folder(&runs)?;
        prune::runs(&runs);
        RunFolder::create(&runs, &facts.run_id)
    }

    /// The report of a stored run of `root`, refolded from its record. A run whose process is gone without an end
    /// is given one that says so.
    pub fn load(&self, root: &Path, run_id: &str) -> Result<Report, StoreError> {
        folder::load(&self.run_folder(root, run_id)?, run_id)
    }

    /// The output of a stored run, bounded, as it was kept: cleaned, the middle of much output left out.
    pub fn output(&self, root: &Path, run_id: &str) -> Result<String, StoreError> {
        folder::output(&self.run_folder(root, run_id)?, run_id)
    }

    /// What failed tests of an agent's run left in their temporary folder, if it was kept.
    pub fn kept_files(&self, root: &Path, run_id: &str) -> Option<PathBuf> {
        let files = self.run_folder(root, run_id).ok()?.join(folder::FILES);
        private::is_own_folder(&files).then_some(files)
    }

    /// Runs of `root`, newest first. Planted and damaged records are left out.
    pub fn list(&self, root: &Path) -> Vec<Summary> {
        list::summaries(&self.runs_path(root), |_| true).collect()
    }

    /// The newest run of `root` that `wanted` accepts and that is over.
    pub fn latest(&self, root: &Path, wanted: impl Fn(&RunFacts) -> bool) -> Option<Summary> {
        list::summaries(&self.runs_path(root), wanted).find(|summary| summary.status.is_final())
    }

    fn runs_path(&self, root: &Path) -> PathBuf {
        self.repository_path(root).join("runs")
    }

    fn repository_path(&self, root: &Path) -> PathBuf {
        self.state.join("repos").join(key(root))
    }

    /// The folder of a run that is there. The id is checked before it becomes part of a path.
    fn run_folder(&self, root: &Path, run_id: &str) -> Result<PathBuf, StoreError> {
        let folder = self.runs_path(root).join(run_id);
        if is_run_id(run_id) && private::is_own_folder(&folder) {
            return Ok(folder);
        }
        let shown: String = run_id.chars().take(40).collect();
        Err(StoreError::NoSuchRun {
            run_id: runner_core::visible::visible(&shown).into_owned(),
        })
    }

    fn repository(&self, root: &Path) -> Result<PathBuf, StoreError> {
        let folder = self.repository_path(root);
        let new = !folder.exists();
        private_folder(&folder)?;
        if new {
            let name = folder.join("root");
            std::fs::write(&name, root.as_os_str().as_encoded_bytes())
                .map_err(|error| unusable(&name, &error))?;
        }
        Ok(folder)
    }
}

/// The folder name of a repository: by its real path, so that two checkouts never share anything.
fn key(root: &Path) -> String {
    let mut key = sha256(root.as_os_str().as_encoded_bytes());
    key.truncate(20);
    key
}
