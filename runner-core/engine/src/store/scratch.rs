//! Scratches: private folders with short paths that belong to one process and go with it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::StoreError;
use super::private::{Lock, is_own_folder, private_folder, remove_tree, unusable};
use crate::clock;
use crate::run_id::random_word;

const NAME_LENGTH: usize = 8;
/// Tests make sockets in their temporary folder, and a socket's path has at most 107 bytes (103 on macOS). A longer state
/// folder is too long to hold scratches.
const LONGEST_STATE: usize = 32;
/// A scratch without a lock is one whose maker died between two system calls; it may also be in the making.
const UNLOCKED_AGE: Duration = Duration::from_secs(3600);
const LOCK: &str = "lock";

/// A private folder that is removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Tells other processes that this one lives. Let go after the folder is gone.
    _lock: Option<Lock>,
}

impl Scratch {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A scratch in a folder that others may use as well (the system's temporary folder).
    pub fn temporary(base: &Path) -> Result<Self, StoreError> {
        // Real path: a link in it would make paths that tests print differ from those we know.
        let base = fs::canonicalize(base).map_err(|error| unusable(base, &error))?;
        Self::make(&base, "qaas-")
    }

    pub(super) fn new_in(scratches: &Path) -> Result<Self, StoreError> {
        private_folder(scratches)?;
        Self::make(scratches, "")
    }

    fn make(base: &Path, prefix: &str) -> Result<Self, StoreError> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..8 {
            let path = base.join(format!("{prefix}{}", random_word(NAME_LENGTH)));
            match try_make(&path) {
                // No locks on this file system: then nobody else removes it either.
                Ok(lock) => return Ok(Self { path, _lock: lock }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(unusable(&path, &error)),
            }
        }
        Err(unusable(base, &last))
    }
}

fn try_make(path: &Path) -> io::Result<Option<Lock>> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    match Lock::create(&path.join(LOCK)) {
        Ok(Some(lock)) => Ok(Some(lock)),
        // Somebody took it for a dead one's in the instant between: it is theirs to remove.
        Ok(None) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
        Err(error) => {
            let _ = fs::remove_dir_all(path);
            Err(error)
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is removed as stale later.
        let _ = remove_tree(&self.path);
    }
}

/// Where the scratches of a state folder are made.
pub(super) fn place(state: &Path) -> Result<PathBuf, StoreError> {
    let inside = state.join("s");
    if state.as_os_str().len() <= LONGEST_STATE || !cfg!(unix) {
        private_folder(&inside)?;
        return Ok(inside);
    }
    #[cfg(unix)]
    {
        let short = PathBuf::from(format!("/tmp/qaas-{}", rustix::process::geteuid().as_raw()));
        // Somebody else may have taken that name: a long path is better than a foreign folder.
        if private_folder(&short).is_ok() {
            return Ok(short);
        }
    }
    private_folder(&inside)?;
    Ok(inside)
}

/// Removes the scratches of processes that are gone.
pub(super) fn remove_stale(scratches: &Path) {
    for entry in fs::read_dir(scratches).into_iter().flatten().flatten() {
        let path = entry.path();
        if !is_scratch_name(&entry.file_name().to_string_lossy()) || !is_own_folder(&path) {
            continue;
        }
        // Held until the folder is gone: let go earlier, whoever is just making it would take it and lose it.
        let _held = match Lock::take_over(&path.join(LOCK)) {
            Ok(Some(lock)) => Some(lock),
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_older_than(&path, UNLOCKED_AGE) => {
                None
            }
            Ok(None) | Err(_) => continue,
        };
        let _ = remove_tree(&path);
    }
}

fn is_scratch_name(name: &str) -> bool {
    name.len() == NAME_LENGTH
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

pub(super) fn is_older_than(path: &Path, age: Duration) -> bool {
    let written = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    written.is_ok_and(|written| {
        clock::now()
            .duration_since(written)
            .is_ok_and(|found| found > age)
    })
}
