//! Whose a file is. What somebody else can change is nothing one can agree to.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::TrustError;

/// Whether only the user (or root) can change the configuration of a repository: its file, the folder that holds it,
/// and the root. Links are followed: what they lead to is what is read.
pub fn check_owners(root: &Path, file: Option<&Path>) -> Result<(), TrustError> {
    let real_file = file.map(|file| file.canonicalize().unwrap_or_else(|_| file.to_owned()));
    let mut paths: Vec<PathBuf> = vec![root.to_owned()];
    for file in file.into_iter().chain(real_file.as_deref()) {
        paths.extend(file.parent().map(Path::to_owned));
        paths.push(file.to_owned());
    }
    paths.retain(|path| !path.as_os_str().is_empty());
    paths
        .iter()
        .try_for_each(|path| check(path, rustix::process::geteuid().as_raw()))
}

pub(super) fn check(path: &Path, user: u32) -> Result<(), TrustError> {
    const STICKY: u32 = 0o1000;
    let refused = |why: String| TrustError::Owner {
        path: path.to_owned(),
        why,
    };
    let found = std::fs::metadata(path).map_err(|error| refused(format!("cannot be looked at: {error}")))?;
    if found.uid() != user && found.uid() != 0 {
        return Err(refused(format!(
            "belongs to another user (uid {}; yours is {user})",
            found.uid()
        )));
    }
    if found.mode() & 0o002 != 0 && found.mode() & STICKY != 0 && found.is_dir() {
        return Err(TrustError::Shared {
            path: path.to_owned(),
        });
    }
    if found.mode() & 0o002 != 0 {
        return Err(refused("can be changed by every user of this machine".to_owned()));
    }
    Ok(())
}
