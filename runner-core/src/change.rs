//! The seam behind `compare_with_base`: what lies between a base and the work tree. Reads files, runs nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Says what a change is and what it did to the tests.
pub trait ChangeReader: Send + Sync {
    /// The change from `base` (a revision; none: where the work left the default branch) to the work tree that holds
    /// `root`.
    fn read(&self, root: &Path, base: Option<&str>) -> Result<Change, NoBase>;
}

/// Why there is nothing to compare with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NoBase {
    /// In words.
    pub message: String,
    /// What mends it.
    pub hint: Option<String>,
}

/// A file as a checkout of the base has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaseFile {
    /// An ordinary file.
    File {
        /// What it holds, with the line ends of a checkout.
        bytes: Vec<u8>,
        /// Whether its owner may run it.
        executable: bool,
    },
    /// A symbolic link to this path.
    Link(PathBuf),
}

/// What lies between a base and the work tree: committed, staged, unstaged and untracked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The base's commit, in full.
    pub commit: String,
    /// Why it is the base.
    pub why: String,
    /// The folder of the work tree, real path. All paths here are relative to it.
    pub work_tree: PathBuf,
    /// Files that the base has otherwise, or that are gone.
    pub was: BTreeMap<PathBuf, BaseFile>,
    /// Files that the base has not.
    pub added: Vec<PathBuf>,
    /// What the base had cannot be told, and is not judged, in words.
    pub notes: Vec<String>,
    /// What it did to the tests.
    pub tests: TestChanges,
}

impl Change {
    /// Whether the work tree is the base.
    pub fn is_nothing(&self) -> bool {
        self.was.is_empty() && self.added.is_empty()
    }
}

/// What the sources tell about the tests. Ids are `path::Class::name` without parameters, the path from the work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestChanges {
    /// Tests that live on under another id.
    pub renamed: Vec<Renamed>,
    /// Tests whose body is still there, but which nothing collects, or which are skipped whatever happens.
    pub muted: BTreeMap<String, Vec<String>>,
    /// What can fail in fewer ways, each with which.
    pub weakened: BTreeMap<String, Vec<String>>,
    /// What expects something else, each with what it expects now.
    pub rewritten: BTreeMap<String, Vec<String>>,
    /// Tests that are gone for good.
    pub removed: Vec<String>,
}

/// A test under another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// Its id at the base.
    pub was: String,
    /// Its id now.
    pub id: String,
}
