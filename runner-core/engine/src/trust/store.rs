//! What was agreed to, on disk: one small file for each repository in the user's state folder.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::TrustError;
use super::owner;
use super::surface::{Item, Surface};
use crate::clock;
use crate::digest::sha256;

/// Larger records were not written here.
const MAX_RECORD_BYTES: u64 = 1024 * 1024;
const VERSION: u32 = 1;

/// What a person agreed to for one repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    version: u32,
    /// Real path of the repository's root, for people; the file's name is made of its bytes.
    pub root: String,
    /// Seconds since 1970, a label.
    pub granted_at: u64,
    pub items: Vec<Item>,
}

/// All records, and what was in the way of reading some.
#[derive(Debug, Default)]
pub struct Listed {
    pub records: Vec<Record>,
    pub warnings: Vec<String>,
}

/// The records of one user.
#[derive(Clone, Debug)]
pub struct TrustStore {
    folder: PathBuf,
}

impl TrustStore {
    /// Records below the state folder (see [`Environment::state_dir`](crate::environment::Environment::state_dir)).
    /// Nothing is touched yet.
    pub fn new(state: &Path) -> Self {
        Self {
            folder: state.join("trust"),
        }
    }

    /// Records that a person agreed to exactly this surface. What was agreed to before is replaced.
    pub fn grant(&self, root: &Path, surface: &Surface) -> Result<Record, TrustError> {
        self.make_folder()?;
        let record = Record {
            version: VERSION,
            root: root.to_string_lossy().into_owned(),
            granted_at: clock::unix_seconds(),
            items: surface.items(),
        };
        let text = serde_json::to_string_pretty(&record).map_err(|error| self.unusable(&error))?;
        self.replace(&self.file(root), text.as_bytes())
            .map_err(|error| self.unusable(&error))?;
        Ok(record)
    }

    /// Forgets a repository. Whether there was anything to forget.
    pub fn revoke(&self, root: &Path) -> Result<bool, TrustError> {
        if !self.check_folder()? {
            return Ok(false);
        }
        match std::fs::remove_file(self.file(root)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    /// Every repository that something was agreed to for, by root.
    pub fn list(&self) -> Result<Listed, TrustError> {
        let mut listed = Listed::default();
        if !self.check_folder()? {
            return Ok(listed);
        }
        for entry in std::fs::read_dir(&self.folder).map_err(|error| self.unusable(&error))? {
            let path = entry.map_err(|error| self.unusable(&error))?.path();
            if path.extension().is_some_and(|end| end == "json") {
                match read_record(&path) {
                    Ok(record) => listed.records.extend(record),
                    Err(error) => listed.warnings.push(error.to_string()),
                }
            }
        }
        listed.records.sort_by(|one, other| one.root.cmp(&other.root));
        listed.warnings.sort();
        Ok(listed)
    }

    /// What was agreed to for a repository; `None` if nothing was.
    pub fn record(&self, root: &Path) -> Result<Option<Record>, TrustError> {
        if !self.check_folder()? {
            return Ok(None);
        }
        let file = self.file(root);
        let record = read_record(&file)?;
        match record {
            Some(record) if record.root != root.to_string_lossy() => Err(TrustError::Damaged {
                path: file,
                why: format!("it speaks of {}", record.root),
            }),
            record => Ok(record),
        }
    }

    fn file(&self, root: &Path) -> PathBuf {
        self.folder
            .join(format!("{}.json", sha256(root.as_os_str().as_bytes())))
    }

    fn make_folder(&self) -> Result<(), TrustError> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder
            .create(&self.folder)
            .map_err(|error| self.unusable(&error))?;
        self.check_folder().map(|_| ())
    }

    /// Whether there is a folder; an error if it is not the user's alone.
    fn check_folder(&self) -> Result<bool, TrustError> {
        let state = self.folder.parent().unwrap_or(&self.folder);
        for folder in [state, &self.folder] {
            let found = match std::fs::symlink_metadata(folder) {
                Ok(found) => found,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(self.unusable(&error)),
            };
            if !found.is_dir() {
                return Err(self.unusable(&format!(
                    "{} is not a folder (or a link to one)",
                    folder.display()
                )));
            }
            if found.mode() & 0o022 != 0 {
                return Err(self.unusable(&format!("{} can be changed by other users", folder.display())));
            }
            owner::check(folder, rustix::process::geteuid().as_raw())?;
        }
        Ok(true)
    }

    /// A reader sees the old record or the new one, nothing between.
    fn replace(&self, file: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let mut fresh = tempfile::Builder::new()
            .prefix(".new-")
            .tempfile_in(&self.folder)?;
        fresh.write_all(bytes)?;
        fresh.as_file().sync_all()?;
        // Created with mode 0600.
        fresh.persist(file).map_err(|error| error.error)?;
        Ok(())
    }

    fn unusable(&self, why: &dyn std::fmt::Display) -> TrustError {
        TrustError::Folder {
            path: self.folder.clone(),
            why: why.to_string(),
        }
    }
}

fn read_record(path: &Path) -> Result<Option<Record>, TrustError> {
    let damaged = |why: String| TrustError::Damaged {
        path: path.to_owned(),
        why,
    };
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(damaged(error.to_string())),
    };
    check_private(&file).map_err(damaged)?;
    let mut text = String::new();
    file.take(MAX_RECORD_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| damaged(error.to_string()))?;
    let record: Record = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if record.version != VERSION {
        return Err(damaged(format!(
            "its version is {}, not {VERSION}",
            record.version
        )));
    }
    Ok(Some(record))
}

/// Looks at the opened file, so that what was checked is what is read.
fn check_private(file: &File) -> Result<(), String> {
    let found = file.metadata().map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(format!("it belongs to another user (uid {})", found.uid()));
    }
    if found.mode() & 0o077 != 0 {
        return Err("other users can read or change it (its mode must be 0600)".to_owned());
    }
    Ok(())
}
