//! Where the processes of a run work.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::run_id;
use crate::store::Scratch;

/// A private folder, the folder in it that a plan's files are laid in, and the word that tells this run's reports from an
/// older one's. Clones share the private folder, which is gone with the last of them.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    scratch: Arc<Scratch>,
    pub(super) folder: PathBuf,
    pub(super) nonce: String,
}

impl Seat {
    /// The first in a scratch.
    pub(super) fn new(scratch: Scratch) -> Self {
        Self {
            folder: scratch.path().join("w"),
            nonce: run_id::random_word(16),
            scratch: Arc::new(scratch),
        }
    }

    /// One beside it, for the iteration of that number.
    pub(super) fn beside(&self, number: u32) -> Self {
        Self {
            scratch: Arc::clone(&self.scratch),
            folder: self.scratch.path().join(format!("w{number}")),
            nonce: run_id::random_word(16),
        }
    }

    pub(super) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The folder of an agent's temporary files.
    pub(super) fn tmp(&self) -> PathBuf {
        self.scratch().join("t")
    }
}
