//! Finished and running runs on disk, in the user's state folder. Nothing is ever written into a repository.

use std::path::{Path, PathBuf};

use crate::event::RunEvent;
use crate::facts::RunFacts;
use crate::report::Report;

/// The state folder of one user.
#[derive(Clone, Debug)]
pub struct Store {
    state: PathBuf,
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

/// One line of the list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub facts: RunFacts,
    pub status: crate::model::Status,
}

impl Store {
    /// Opens (makes if needed) the state folder: 0700, ours, no link. Removes scratches of processes that are gone.
    pub fn open(state: &Path) -> Result<Self, StoreError> {
        let _ = state;
        todo!("store room")
    }

    pub fn state(&self) -> &Path {
        &self.state
    }

    /// A new scratch (short path, 0700), gone when dropped. Belongs to this process.
    pub fn scratch(&self) -> Result<Scratch, StoreError> {
        todo!("store room")
    }

    /// The framework's cache folder for a repository, for agents.
    pub fn cache_dir(&self, root: &Path) -> Result<PathBuf, StoreError> {
        let _ = root;
        todo!("store room")
    }

    /// Starts the record of a run.
    pub fn begin(&self, facts: &RunFacts) -> Result<RunFolder, StoreError> {
        let _ = facts;
        todo!("store room")
    }

    /// The report of a stored run of `root`, refolded from its record.
    pub fn load(&self, root: &Path, run_id: &str) -> Result<Report, StoreError> {
        let _ = (root, run_id);
        todo!("store room")
    }

    /// The raw output of a stored run, bounded, as it was kept.
    pub fn output(&self, root: &Path, run_id: &str) -> Result<String, StoreError> {
        let _ = (root, run_id);
        todo!("store room")
    }

    /// Runs of `root`, newest first.
    pub fn list(&self, root: &Path) -> Vec<Summary> {
        let _ = root;
        todo!("store room")
    }
}

/// A private folder that is removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The record of one run while it is being written. Failing writes end the record, never the run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn append(&mut self, event: &RunEvent) {
        let _ = event;
        todo!("store room")
    }

    /// Raw output of a step, for `get_run(part = output)`: head and tail are kept, the middle is counted.
    pub fn output(&mut self, lines: &[String]) {
        let _ = lines;
        todo!("store room")
    }
}
