//! Where a nodeid's file lies. Frameworks name files relative to a folder of their own choice, mostly but not
//! always the working folder, and qaas hands their ids on verbatim; so an id is looked for where it can be from.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::rows::Row;
use engine::project::is_foreign;
use runner_core::model::Outcome;
use runner_core::nodeid::NodeId;
use runner_core::selector::{MAX_SELECTOR_BYTES, Selector};

/// Entries looked at before the search for a file gives up.
const MOST_ENTRIES: usize = 50_000;

/// The id of a test by its name alone, if that is what a text that names no file can be.
pub(super) fn name(text: &str) -> Option<Selector> {
    let text = text.trim();
    let sound = !text.is_empty()
        && !text.starts_with(['-', '@', ':'])
        && text.len() <= MAX_SELECTOR_BYTES
        && !text.chars().any(char::is_control);
    sound.then(|| Selector::Node {
        path: String::new(),
        rest: text.to_owned(),
    })
}

/// The folders of the repository in which the relative path `file` is a file.
pub(super) fn below(root: &Path, file: &str) -> Vec<PathBuf> {
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
    if file.is_empty() || !Path::new(file).components().all(inside) {
        return Vec::new();
    }
    let entries = walkdir::WalkDir::new(root)
        .follow_links(false)
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !entry.file_type().is_dir() || !is_foreign(entry.path()));
    entries
        .take(MOST_ENTRIES)
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_dir() && entry.path().join(file).is_file())
        .map(walkdir::DirEntry::into_path)
        .collect()
}

fn above<'a>(root: &'a Path, from: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
    from.ancestors()
        .take_while(move |folder| folder.starts_with(root))
        .map(Path::to_path_buf)
}

/// What was asked for: an id as it was given, and the real file that it was found to mean.
pub(super) struct AskedTest<'a> {
    pub(super) id: &'a str,
    pub(super) root: &'a Path,
    pub(super) cwd: &'a Path,
}

impl AskedTest<'_> {
    /// Of `nodeids` (all of one run), those that are the asked test: the id itself, or the ids of its parameters.
    ///
    /// An id that is equal letter by letter wins. Else the rows' common base folder is found, and a row counts if
    /// its file is the asked file and the rest is equal. Never by how an id ends.
    pub(super) fn pick<'n>(&self, nodeids: impl Iterator<Item = &'n str> + Clone) -> BTreeSet<&'n str> {
        let exact: BTreeSet<&str> = nodeids.clone().filter(|nodeid| *nodeid == self.id).collect();
        if !exact.is_empty() {
            return exact;
        }
        // What is read from text has line ends of one kind only.
        let returns = self.id.replace("\r\n", "\n");
        if returns != self.id && nodeids.clone().any(|nodeid| nodeid == returns) {
            return nodeids.filter(|nodeid| *nodeid == returns).collect();
        }
        let verbatim: BTreeSet<&str> = nodeids
            .clone()
            .filter(|nodeid| NodeId::of(self.id).stands_for(nodeid))
            .collect();
        if !verbatim.is_empty() {
            return verbatim;
        }
        let id = NodeId::of(self.id);
        let Some(asked) = self.real_file(id.file()) else {
            return BTreeSet::new();
        };
        let files: BTreeSet<&str> = nodeids.clone().map(|nodeid| NodeId::of(nodeid).file()).collect();
        // One run has one base. A file that a plug-in made up exists under none, so the base with most files wins.
        let candidates =
            above(self.root, self.cwd).chain(above(self.root, asked.parent().unwrap_or(self.root)));
        let base = candidates
            .filter(|base| files.iter().any(|file| is_file(&base.join(file), &asked)))
            .map(|base| (files.iter().filter(|file| base.join(file).exists()).count(), base))
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
            .map(|(_, base)| base);
        let Some(base) = base else {
            return BTreeSet::new();
        };
        let same_file = |nodeid: &&str| is_file(&base.join(NodeId::of(nodeid).file()), &asked);
        let of_file: Vec<&str> = nodeids.filter(same_file).collect();
        let equal: BTreeSet<&str> = of_file
            .iter()
            .copied()
            .filter(|nodeid| NodeId::of(nodeid).rest() == id.rest())
            .collect();
        if !equal.is_empty() {
            return equal;
        }
        of_file
            .into_iter()
            .filter(|nodeid| {
                // The file is the same, whatever it is called from there.
                let other = NodeId::of(nodeid);
                id.rest().is_empty() || NodeId::of(id.rest()).stands_for(other.rest())
            })
            .collect()
    }

    fn real_file(&self, file: &str) -> Option<PathBuf> {
        // Not by a search below the root: an id that was found that way has to be borne out letter by letter.
        let base = above(self.root, self.cwd).find(|base| base.join(file).is_file())?;
        base.join(file).canonicalize().ok()
    }
}

fn is_file(path: &Path, real: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path == real)
}

/// The outcome that several rows share: the worst.
pub(super) fn worst(rows: &[Row]) -> Option<&Row> {
    // The first of the worst: `max_by_key` would give the last.
    rows.iter().rev().max_by_key(|row| Outcome::severity(row.outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Repository {
        folder: tempfile::TempDir,
    }

    impl Repository {
        fn of(files: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for file in files {
                let path = folder.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            Self { folder }
        }

        fn pick(&self, id: &str, cwd: &str, nodeids: &[&str]) -> Vec<String> {
            let root = self.folder.path().canonicalize().unwrap();
            let cwd = root.join(cwd);
            let asked = AskedTest {
                id,
                root: &root,
                cwd: &cwd,
            };
            asked
                .pick(nodeids.iter().copied())
                .into_iter()
                .map(str::to_owned)
                .collect()
        }
    }

    #[test]
    fn an_id_is_never_matched_by_how_it_ends() {
        let repository = Repository::of(&["tests/test_a.py", "a/tests/test_a.py"]);
        let rows = ["tests/test_a.py::not_test_a", "a/tests/test_a.py::test_a"];
        assert!(repository.pick("tests/test_a.py::test_a", ".", &rows).is_empty());
    }

    #[test]
    fn an_id_with_a_carriage_return_is_found_where_the_text_lost_it() {
        let repository = Repository::of(&["test_a.py"]);
        let rows = ["test_a.py::t[a\nb]", "test_a.py::t[a]"];
        let picked = repository.pick("test_a.py::t[a\r\nb]", ".", &rows);
        assert_eq!(picked, ["test_a.py::t[a\nb]"]);
    }

    #[test]
    fn an_id_given_relative_to_cwd_is_found_under_the_frameworks_own_base() {
        let repository = Repository::of(&["a/tests/test_x.py", "tests/test_x.py"]);
        let rows = [
            "a/tests/test_x.py::t[1]",
            "a/tests/test_x.py::t[2]",
            "tests/test_x.py::t[1]",
        ];
        assert_eq!(
            repository.pick("tests/test_x.py::t[2]", "a", &rows),
            ["a/tests/test_x.py::t[2]"]
        );
    }

    #[test]
    fn an_id_relative_to_a_folder_below_cwd_is_found_too() {
        let repository = Repository::of(&["web/tests/test_w.py"]);
        let rows = ["tests/test_w.py::t"];
        assert!(repository.pick("test_w.py::t", ".", &rows).is_empty());
        assert_eq!(
            repository.pick("web/tests/test_w.py::t", ".", &rows),
            ["tests/test_w.py::t"]
        );
        assert_eq!(
            repository.pick("tests/test_w.py::t", ".", &rows),
            ["tests/test_w.py::t"]
        );
    }

    #[test]
    fn a_base_id_stands_for_all_its_parameters_and_a_class_for_its_methods() {
        let repository = Repository::of(&["test_p.py"]);
        let rows = [
            "test_p.py::t[1]",
            "test_p.py::t[a - b]",
            "test_p.py::tt",
            "test_p.py::C::m",
            "test_p.py::g@group",
        ];
        assert_eq!(
            repository.pick("test_p.py::g", ".", &rows),
            ["test_p.py::g@group"]
        );
        assert_eq!(
            repository.pick("test_p.py::t", ".", &rows),
            ["test_p.py::t[1]", "test_p.py::t[a - b]"]
        );
        assert_eq!(repository.pick("test_p.py::C", ".", &rows), ["test_p.py::C::m"]);
        assert_eq!(repository.pick("test_p.py", ".", &rows).len(), 5);
    }

    #[test]
    fn a_file_that_several_folders_have_is_not_guessed() {
        let repository = Repository::of(&["a/tests/test_x.py", "b/tests/test_x.py"]);
        let root = repository.folder.path().canonicalize().unwrap();
        assert_eq!(below(&root, "tests/test_x.py").len(), 2);
        assert_eq!(below(&root, "b/tests/test_x.py"), std::slice::from_ref(&root));
        assert!(below(&root, "../tests/test_x.py").is_empty());
    }
}
