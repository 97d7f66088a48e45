//! Folders that hold no tests of the project's own.

use std::path::Path;

/// Names of folders that are never looked into.
const NAMES: [&str; 13] = [
    ".git",
    ".hg",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".eggs",
    ".qaas",
    "site-packages",
];

/// Whether `folder` (below the root) is somebody else's: a tool's folder, or an environment of any name.
pub(super) fn is_foreign(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    NAMES.iter().any(|known| name == *known) || folder.join("pyvenv.cfg").exists()
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
