//! What git knows of a repository, read from its files: no process is started, no hook, filter or fsmonitor runs.

mod base;
mod diff;
mod line_ends;
mod past;

use std::path::{Path, PathBuf};

pub use base::{Base, BaseError};
pub use diff::{Content, Difference};
pub use gix::ObjectId;
pub use past::{Past, Together};

/// A git repository, opened for reading, and where in it the root of interest lies.
pub struct Repository {
    pub(crate) git: gix::Repository,
    /// The folder that holds `.git`.
    pub(crate) work_dir: PathBuf,
    /// The root of interest, relative to the work tree: empty, or `packages/web/`.
    pub(crate) prefix: String,
}

/// Why git's knowledge cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("no git repository holds {0}")]
    NoRepository(PathBuf),
    #[error("the git repository cannot be read: {0}")]
    Unreadable(String),
}

impl GitError {
    /// An error of the library's, as text.
    pub(crate) fn unreadable(error: impl std::fmt::Display) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl Repository {
    /// Opens the repository whose work tree holds `root`.
    ///
    /// Neither the user's nor the system's settings are read, nor the environment; of the repository's own settings only
    /// those of its format count. Its `core.worktree` does not: the work tree is where `.git` lies.
    pub fn open(root: &Path) -> Result<Self, GitError> {
        let root = root.canonicalize().map_err(GitError::unreadable)?;
        let work_dir = root.ancestors().find(|folder| folder.join(".git").exists());
        let work_dir = work_dir.ok_or_else(|| GitError::NoRepository(root.clone()))?;
        let options = gix::open::Options::isolated();
        let git = gix::open_opts(work_dir, options).map_err(GitError::unreadable)?;
        Ok(Self {
            git,
            work_dir: work_dir.to_owned(),
            prefix: prefix(work_dir, &root),
        })
    }

    /// The folder that holds `.git`.
    pub fn work_dir(&self) -> &Path {
        &self.work_dir
    }

    /// The commit that the work tree stands on; `None` before the first.
    pub fn head(&self) -> Option<gix::ObjectId> {
        Some(self.git.head_id().ok()?.detach())
    }

    /// A path of git's, relative to the root of interest; `None` if it lies outside.
    pub fn below_root<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(&self.prefix)
    }
}

fn prefix(work_dir: &Path, root: &Path) -> String {
    let below = root.strip_prefix(work_dir).unwrap_or(Path::new(""));
    below
        .iter()
        .map(|part| format!("{}/", part.to_string_lossy()))
        .collect()
}

#[cfg(test)]
mod tests;
