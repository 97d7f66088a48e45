//! The files of a repository, each read once, in parallel.

use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::test_files::TestFiles;
use source::names::python::{self, Facts};

/// Larger files are generated, or no source at all.
const MOST_BYTES: u64 = 1024 * 1024;

/// One Python file.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// Relative to the root, `/` between parts.
    pub(crate) path: String,
    pub(crate) is_test: bool,
    pub(crate) facts: Facts,
}

/// All Python files of a repository.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    /// In the order of their paths.
    pub(crate) sources: Vec<Source>,
    /// Folders with a project's settings (`pyproject.toml`, `setup.py`, `setup.cfg`): what is imported starts there.
    pub(crate) projects: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// Reads the tree below `root`. Links are not followed; nothing but regular files is opened.
pub(crate) fn read(root: &Path) -> Tree {
    let mut tree = Tree {
        root: root.to_owned(),
        ..Tree::default()
    };
    let mut rules = TestFiles::default();
    let mut paths = Vec::new();
    let mut large = 0;
    let mut unreadable = 0;
    let walk = WalkDir::new(root).follow_links(false).sort_by_file_name();
    for entry in walk.into_iter().filter_entry(|entry| !is_foreign(entry)) {
        let Ok(entry) = entry else {
            unreadable += 1;
            continue;
        };
        if !entry.file_type().is_file() {
            continue;
        }
        let Some(path) = relative(root, entry.path()) else {
            continue;
        };
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        if matches!(name, "pyproject.toml" | "setup.py" | "setup.cfg")
            && !tree.projects.iter().any(|p| p == folder)
        {
            tree.projects.push(folder.to_owned());
        }
        rules.read(folder, name, entry.path());
        if !has_extension(name, "py") {
            continue;
        }
        if entry.metadata().is_ok_and(|facts| facts.len() <= MOST_BYTES) {
            paths.push(path);
        } else {
            large += 1;
        }
    }
    let (sources, failed) = scan_all(root, &paths, &rules);
    tree.sources = sources;
    unreadable += failed;
    if large > 0 {
        tree.notes
            .push(format!("{large} Python files larger than 1 MiB were not read"));
    }
    if unreadable > 0 {
        tree.notes
            .push(format!("{unreadable} files or folders could not be read"));
    }
    tree
}

fn relative(root: &Path, path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path
        .strip_prefix(root)
        .ok()?
        .components()
        .map(|part| part.as_os_str().to_str())
        .collect();
    Some(parts?.join("/"))
}

pub(crate) fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|found| found == extension)
}

/// Folders below the root that hold nothing of the project's own: hidden ones and tools' (pytest does not look into
/// them either), environments of any name, and the copies that a build leaves.
fn is_foreign(entry: &DirEntry) -> bool {
    if entry.depth() == 0 || !entry.file_type().is_dir() {
        return false;
    }
    let name = entry.file_name().to_string_lossy();
    let below_build = entry
        .path()
        .parent()
        .is_some_and(|parent| parent.ends_with("build"));
    let is_copy = below_build && (name == "lib" || name.starts_with("lib.") || name.starts_with("bdist."));
    name.starts_with('.')
        || matches!(&*name, "venv" | "node_modules" | "__pycache__" | "site-packages")
        || has_extension(&name, "egg")
        || is_copy
        || entry.path().join("pyvenv.cfg").exists()
}

/// Reads and scans the files, on as many threads as there are processors.
fn scan_all(root: &Path, paths: &[String], rules: &TestFiles) -> (Vec<Source>, usize) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let chunk = paths.len().div_ceil(threads).max(1);
    let parts: Vec<Vec<Option<Source>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = paths
            .chunks(chunk)
            .map(|paths| scope.spawn(move || paths.iter().map(|path| scan_one(root, path, rules)).collect()))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_default())
            .collect()
    });
    let sources: Vec<Source> = parts.into_iter().flatten().flatten().collect();
    let failed = paths.len() - sources.len();
    (sources, failed)
}

fn scan_one(root: &Path, path: &str, rules: &TestFiles) -> Option<Source> {
    Some(Source {
        path: path.to_owned(),
        is_test: rules.is_test(path),
        facts: python::scan(&read_text(root, path)?),
    })
}

/// A file's text; bytes that are no UTF-8 are replaced.
pub(crate) fn read_text(root: &Path, path: &str) -> Option<String> {
    let bytes = std::fs::read(root.join(path)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
