//! The change between a base and the work tree, from git's files and the sources on both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use runner_core::change::{BaseFile, Change, ChangeReader, NoBase, Renamed, TestChanges};
use source::git::{BaseError, Content, Difference, Repository};

use crate::{Snapshot, Told, compare};

/// Unchanged files are read too where there are no more: what a changed test inherits or calls may be in them.
const MOST_UNCHANGED: usize = 400;
/// Files larger than this were made by a program.
const LARGEST: usize = 1 << 20;
/// Where pytest's own configuration is.
const CONFIGURATION: [&str; 5] = [
    "pyproject.toml",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
];

/// Reads changes. Keeps nothing between calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader;

impl ChangeReader for Reader {
    fn read(&self, root: &Path, base: Option<&str>) -> Result<Change, NoBase> {
        let repository = Repository::open(root).map_err(|error| no_base(&BaseError::Git(error)))?;
        let found = repository.base(base).map_err(|error| no_base(&error))?;
        let unreadable = |error| no_base(&BaseError::Git(error));
        let difference = repository.difference(found.commit).map_err(unreadable)?;
        let files = repository.files_at(found.commit).map_err(unreadable)?;
        let unchanged: Vec<&PathBuf> = files.iter().map(|(path, _)| path).collect();
        let tests = test_changes(repository.work_dir(), &difference, &unchanged);
        Ok(Change {
            commit: found.commit.to_string(),
            why: found.why,
            work_tree: repository.work_dir().to_owned(),
            notes: difference
                .unfiltered
                .iter()
                .map(|path| {
                    format!(
                        "{} is as it is now on both sides: its filter was not run",
                        path.display()
                    )
                })
                .collect(),
            was: difference
                .was
                .into_iter()
                .map(|(path, content)| (path, base_file(content)))
                .collect(),
            added: difference.added,
            tests,
        })
    }
}

fn no_base(error: &BaseError) -> NoBase {
    let hint = error.hint().or_else(|| match error {
        BaseError::Git(source::git::GitError::NoRepository(_)) => {
            Some("Comparing needs git's history: git init, and a commit of what was before.".to_owned())
        }
        _ => None,
    });
    NoBase {
        message: error.to_string(),
        hint,
    }
}

fn base_file(content: Content) -> BaseFile {
    match content {
        Content::File { bytes, executable } => BaseFile::File { bytes, executable },
        Content::Link(target) => BaseFile::Link(target),
    }
}

/// What the change did to the tests, as far as the sources tell.
fn test_changes(work_tree: &Path, difference: &Difference, files: &[&PathBuf]) -> TestChanges {
    let touched = difference.was.keys().chain(&difference.now);
    if !touched
        .clone()
        .any(|path| is_python(path) || is_configuration(path))
    {
        return TestChanges::default();
    }
    let (mut base, mut head) = (Snapshot::default(), Snapshot::default());
    for (path, content) in &difference.was {
        if let (Content::File { bytes, .. }, true) = (content, is_python(path) || is_configuration(path)) {
            add(&mut base, path, bytes);
        }
    }
    for path in &difference.now {
        if is_python(path) || is_configuration(path) {
            read(work_tree, path, &mut [&mut head]);
        }
    }
    let touched: BTreeSet<&PathBuf> = touched.collect();
    let mut left = MOST_UNCHANGED;
    let wanted =
        |path: &&&PathBuf| !touched.contains(**path) && (is_configuration(path) || is_of_tests(path));
    for path in files.iter().filter(wanted) {
        let Some(less) = left.checked_sub(1) else { break };
        left = less;
        read(work_tree, path, &mut [&mut base, &mut head]);
    }
    told(compare(&base, &head))
}

fn told(changes: crate::Changes) -> TestChanges {
    let by_id = |list: Vec<Told>| -> BTreeMap<String, Vec<String>> {
        list.into_iter().map(|told| (told.id, told.what)).collect()
    };
    let renamed = changes.renamed.into_iter();
    TestChanges {
        renamed: renamed
            .map(|renamed| Renamed {
                was: renamed.was,
                id: renamed.id,
            })
            .collect(),
        muted: by_id(changes.muted),
        weakened: by_id(changes.weakened),
        rewritten: by_id(changes.rewritten),
        removed: changes.removed,
    }
}

fn read(work_tree: &Path, path: &Path, into: &mut [&mut Snapshot]) {
    let here = work_tree.join(path);
    let is_plain = here
        .symlink_metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST as u64);
    if let Some(bytes) = is_plain.then(|| std::fs::read(&here).ok()).flatten() {
        for snapshot in into {
            add(snapshot, path, &bytes);
        }
    }
}

fn add(snapshot: &mut Snapshot, path: &Path, bytes: &[u8]) {
    if bytes.len() <= LARGEST
        && let (Ok(text), Some(path)) = (std::str::from_utf8(bytes), path.to_str())
    {
        snapshot.add(path, text);
    }
}

fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py")
}

fn is_configuration(path: &Path) -> bool {
    path.to_str().is_some_and(|path| CONFIGURATION.contains(&path))
}

/// Whether a file that did not change may matter to a test that did.
fn is_of_tests(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let folder =
        |part: &std::ffi::OsStr| matches!(part.to_str(), Some("test" | "tests" | "testing" | "checks"));
    is_python(path)
        && (name == "conftest.py"
            || name.starts_with("test_")
            || name.ends_with("_test.py")
            || path.parent().is_some_and(|parent| parent.iter().any(folder)))
}
