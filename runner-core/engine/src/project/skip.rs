//! Folders that hold no tests of the project's own.

use std::path::Path;

use runner_core::paths::is_never_walked;

/// Whether `folder` (below the root) is somebody else's: a tool's by its name, an environment of any name, or what a tool
/// can make again (cargo's `target`, caches).
pub fn is_foreign(folder: &Path) -> bool {
    is_never_walked(folder.file_name().unwrap_or_default())
        || folder.join("pyvenv.cfg").exists()
        || folder.join("CACHEDIR.TAG").exists()
}

/// The folders directly in `folder` that are the project's own, in order of their names. Links are left out.
pub(super) fn own_folders(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .filter(|path| !is_foreign(path))
        .collect();
    folders.sort();
    folders
}
