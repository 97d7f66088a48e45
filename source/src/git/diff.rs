//! What lies between a commit and the work tree: staged, unstaged and untracked, as one difference.
//!
//! No filter runs, so a file that one (LFS, say) would have written differently is left alone where git itself believes
//! it unchanged, and compared by its bytes and line ends where not.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::index::entry::Stage;
use gix::objs::tree::EntryKind;

use super::line_ends::LineEnds;
use super::{GitError, Repository};

/// A file as a checkout of a commit would lay it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    File { bytes: Vec<u8>, executable: bool },
    Link(PathBuf),
}

/// How the work tree differs from a commit. Paths are relative to the work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Files of the commit that the work tree has otherwise or not at all.
    pub was: BTreeMap<PathBuf, Content>,
    /// Files that the work tree has otherwise, or more than the commit.
    pub now: Vec<PathBuf>,
    /// Files that the work tree has and the commit has not; ignored ones left out.
    pub added: Vec<PathBuf>,
    /// Files that only their filters could have laid as a checkout does.
    pub unfiltered: Vec<PathBuf>,
}

/// Folders that hold installed things and are the same on both sides, whatever git ignores.
const INSTALLED: [&str; 4] = ["node_modules", "__pycache__", ".tox", ".nox"];

/// A file of a commit.
struct Entry {
    id: ObjectId,
    kind: EntryKind,
}

impl Repository {
    /// Compares a commit with the work tree.
    pub fn difference(&self, commit: ObjectId) -> Result<Difference, GitError> {
        let tree = self.git.find_commit(commit).map_err(GitError::unreadable)?;
        let tree = tree.tree().map_err(GitError::unreadable)?;
        let files = tree
            .traverse()
            .breadthfirst
            .files()
            .map_err(GitError::unreadable)?;
        let base: HashMap<BString, Entry> = files
            .into_iter()
            .filter(|entry| entry.mode.is_blob_or_symlink())
            .map(|entry| {
                (
                    entry.filepath,
                    Entry {
                        id: entry.oid,
                        kind: entry.mode.kind(),
                    },
                )
            })
            .collect();
        let index = self.git.index_or_empty().map_err(GitError::unreadable)?;
        let comparison = Comparison {
            repository: self,
            line_ends: LineEnds::read(
                self,
                &base
                    .iter()
                    .map(|(path, entry)| (path.as_bstr(), entry.id))
                    .collect(),
            ),
            index: &index,
        };
        let mut difference = Difference::default();
        let tracked = comparison.tracked();
        for (path, entry) in &base {
            comparison.file(path, entry, tracked.get(path), &mut difference)?;
        }
        for path in tracked.keys().chain(&comparison.untracked(&tracked)?) {
            let here = PathBuf::from(std::ffi::OsStr::from_bytes(path));
            if !base.contains_key(path)
                && self
                    .work_dir
                    .join(&here)
                    .symlink_metadata()
                    .is_ok_and(|meta| !meta.is_dir())
            {
                difference.now.push(here.clone());
                difference.added.push(here);
            }
        }
        difference.now.sort();
        difference.added.sort();
        Ok(difference)
    }

    /// A file of a commit by its path from the work tree, as its bytes are stored.
    pub fn file_at(&self, commit: ObjectId, path: &Path) -> Option<Vec<u8>> {
        let tree = self.git.find_commit(commit).ok()?.tree().ok()?;
        let entry = tree.lookup_entry_by_path(path).ok()??;
        Some(entry.object().ok()?.data.clone())
    }

    /// The paths of all files of a commit.
    pub fn files_at(&self, commit: ObjectId) -> Result<Vec<(PathBuf, ObjectId)>, GitError> {
        let tree = self.git.find_commit(commit).map_err(GitError::unreadable)?;
        let tree = tree.tree().map_err(GitError::unreadable)?;
        let files = tree
            .traverse()
            .breadthfirst
            .files()
            .map_err(GitError::unreadable)?;
        let blobs = files.into_iter().filter(|entry| entry.mode.is_blob());
        Ok(blobs
            .map(|entry| {
                (
                    PathBuf::from(std::ffi::OsStr::from_bytes(&entry.filepath)),
                    entry.oid,
                )
            })
            .collect())
    }

    /// The bytes of a blob.
    pub fn blob(&self, id: ObjectId) -> Result<Vec<u8>, GitError> {
        Ok(self
            .git
            .find_object(id)
            .map_err(GitError::unreadable)?
            .detach()
            .data)
    }
}

type Tracked<'i> = HashMap<BString, &'i gix::index::Entry>;

struct Comparison<'c> {
    repository: &'c Repository,
    line_ends: LineEnds,
    index: &'c gix::index::State,
}

impl<'c> Comparison<'c> {
    fn tracked(&self) -> Tracked<'c> {
        let entries = self
            .index
            .entries()
            .iter()
            .filter(|entry| entry.stage() == Stage::Unconflicted);
        entries
            .map(|entry| (entry.path(self.index).to_owned(), entry))
            .collect()
    }

    fn file(
        &self,
        path: &BString,
        entry: &Entry,
        indexed: Option<&&gix::index::Entry>,
        difference: &mut Difference,
    ) -> Result<(), GitError> {
        let relative = PathBuf::from(std::ffi::OsStr::from_bytes(path));
        let here = self.repository.work_dir.join(&relative);
        let meta = here.symlink_metadata().ok().filter(|meta| !meta.is_dir());
        if let (Some(meta), Some(indexed)) = (&meta, indexed)
            && indexed.id == entry.id
            && self.is_untouched(indexed, meta)
            && is_executable(meta) == (entry.kind == EntryKind::BlobExecutable)
        {
            return Ok(());
        }
        let content = self.content(path, entry)?;
        if let Some(meta) = &meta {
            if current(&here, meta).as_ref() == Some(&content) {
                return Ok(());
            }
            difference.now.push(relative.clone());
        }
        if matches!(&content, Content::File { bytes, .. } if bytes.starts_with(b"version https://git-lfs")) {
            difference.unfiltered.push(relative);
        } else {
            difference.was.insert(relative, content);
        }
        Ok(())
    }

    /// Whether git knows the file to be what the index says, without reading it.
    fn is_untouched(&self, indexed: &gix::index::Entry, meta: &std::fs::Metadata) -> bool {
        use std::os::unix::fs::MetadataExt;
        let stat = &indexed.stat;
        let modified = (i64::from(stat.mtime.secs), i64::from(stat.mtime.nsecs));
        // What was written in the second of the index may have changed after it: its time proves nothing.
        let index_seconds = self.index.timestamp().unix_seconds();
        u64::from(stat.size) == meta.size()
            && modified == (meta.mtime(), meta.mtime_nsec())
            && meta.mtime() < index_seconds
    }

    fn content(&self, path: &BString, entry: &Entry) -> Result<Content, GitError> {
        let bytes = self.repository.blob(entry.id)?;
        Ok(if entry.kind == EntryKind::Link {
            Content::Link(PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)))
        } else {
            Content::File {
                bytes: self.line_ends.as_laid(path.as_bstr(), bytes),
                executable: entry.kind == EntryKind::BlobExecutable,
            }
        })
    }

    /// Files that git neither tracks nor ignores.
    fn untracked(&self, tracked: &Tracked<'_>) -> Result<Vec<BString>, GitError> {
        let source = gix::worktree::stack::state::ignore::Source::WorktreeThenIdMappingIfNotSkipped;
        let mut stack = self
            .repository
            .git
            .excludes(self.index, None, source)
            .map_err(GitError::unreadable)?;
        let mut found = Vec::new();
        let mut folders = vec![BString::default()];
        while let Some(folder) = folders.pop() {
            let here = self
                .repository
                .work_dir
                .join(std::ffi::OsStr::from_bytes(&folder));
            for entry in std::fs::read_dir(&here).into_iter().flatten().flatten() {
                let mut path = folder.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(entry.file_name().as_bytes());
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && is_apart(&entry.path()) {
                    continue;
                }
                let mode = if kind.is_dir() {
                    gix::index::entry::Mode::DIR
                } else {
                    gix::index::entry::Mode::FILE
                };
                let is_tracked = tracked.contains_key(&path);
                let ignored = !is_tracked
                    && stack
                        .at_entry(path.as_bstr(), Some(mode))
                        .is_ok_and(|platform| platform.is_excluded());
                if kind.is_dir() && !ignored {
                    folders.push(path);
                } else if !kind.is_dir() && !ignored && !is_tracked && (kind.is_file() || kind.is_symlink()) {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Whether a folder is no part of the sources: another repository, an environment, what is installed.
fn is_apart(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    name == ".git"
        || INSTALLED.iter().any(|installed| name == *installed)
        || folder.join(".git").exists()
        || folder.join("pyvenv.cfg").exists()
}

fn is_executable(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.is_file() && meta.permissions().mode() & 0o100 != 0
}

fn current(path: &Path, meta: &std::fs::Metadata) -> Option<Content> {
    if meta.is_symlink() {
        return std::fs::read_link(path).ok().map(Content::Link);
    }
    if !meta.is_file() {
        return None;
    }
    Some(Content::File {
        bytes: std::fs::read(path).ok()?,
        executable: is_executable(meta),
    })
}
