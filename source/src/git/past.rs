//! What the past says: which files each commit changed, newest first, under the names that they have today.

use std::collections::HashMap;

use gix::bstr::ByteSlice;
use gix::diff::tree::recorder::Change;
use gix::{ObjectId, Repository as Git};

use super::{GitError, Repository};

/// Commits of more files are moves, formatting, releases: they tell nothing of what belongs together.
const MOST_FILES: usize = 40;
/// How many files a commit may touch before reading it is given up.
const MOST_CHANGES: usize = 2000;

/// The files of one commit that are below the root.
pub type Together = Vec<String>;

/// The past of the root, as far as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// The files that each commit changed, newest commit first; merges and very large commits left out.
    pub commits: Vec<Together>,
    /// Whether the past goes on where reading ended: the bound was reached, or the clone is shallow.
    pub is_cut: bool,
}

impl Repository {
    /// Reads the last commits before `HEAD`, at most so many.
    pub fn past(&self, most: usize) -> Result<Past, GitError> {
        let mut git = self.git.clone();
        git.object_cache_size_if_unset(16 * 1024 * 1024);
        let Some(head) = self.head() else {
            return Ok(Past::default());
        };
        let order = gix::traverse::commit::simple::CommitTimeOrder::NewestFirst;
        let sorting = gix::revision::walk::Sorting::ByCommitTime(order);
        let walk = git.rev_walk([head]).sorting(sorting);
        let mut reader = Reader {
            git: &git,
            trees: HashMap::new(),
            state: gix::diff::tree::State::default(),
            today: HashMap::new(),
        };
        let mut past = Past::default();
        let mut seen = 0;
        for info in walk.all().map_err(GitError::unreadable)?.take(most) {
            let Ok(info) = info else {
                break;
            };
            seen += 1;
            let parents: Vec<ObjectId> = info.parent_ids().map(gix::Id::detach).collect();
            if let [parent] = parents.as_slice()
                && let Some(changes) = reader.changes(info.id, *parent)
            {
                let paths = changes.iter().filter_map(|path| self.below_root(path));
                past.commits.push(paths.map(str::to_owned).collect());
            }
        }
        past.commits.retain(|files| !files.is_empty());
        past.is_cut = git.is_shallow().unwrap_or(true) || seen >= most;
        Ok(past)
    }

    /// What a past depends on: as long as this is the same, so is [`Repository::past`].
    pub fn past_key(&self, most: usize) -> String {
        let head = self.head().map(|head| head.to_string()).unwrap_or_default();
        // Deepening a shallow clone leaves HEAD where it was.
        let shallow = self.git.shallow_commits().ok().flatten();
        let shallow: Vec<String> = shallow
            .iter()
            .flat_map(|commits| commits.iter().map(ToString::to_string))
            .collect();
        format!("1 {head} {most} {} {}", shallow.join(","), self.prefix)
    }

    /// The text of a file below the root as a commit has it.
    pub fn text_at(&self, commit: ObjectId, path: &str) -> Option<String> {
        let data = self.file_at(commit, std::path::Path::new(&format!("{}{path}", self.prefix)))?;
        Some(String::from_utf8_lossy(&data).into_owned())
    }
}

struct Reader<'g> {
    git: &'g Git,
    trees: HashMap<ObjectId, ObjectId>,
    state: gix::diff::tree::State,
    /// What files of older commits are called today.
    today: HashMap<String, String>,
}

impl Reader<'_> {
    fn tree(&mut self, commit: ObjectId) -> Option<ObjectId> {
        if let Some(tree) = self.trees.get(&commit) {
            return Some(*tree);
        }
        let tree = self.git.find_commit(commit).ok()?.tree_id().ok()?.detach();
        self.trees.insert(commit, tree);
        Some(tree)
    }

    /// The paths that a commit changed, by their names of today; `None` if it cannot be read or is too large to tell.
    fn changes(&mut self, commit: ObjectId, parent: ObjectId) -> Option<Vec<String>> {
        let (before, after) = (self.tree(parent)?, self.tree(commit)?);
        let before = self.git.find_object(before).ok()?;
        let after = self.git.find_object(after).ok()?;
        let mut recorder = Bounded::default();
        let compared = gix::diff::tree(
            gix::objs::TreeRefIter::from_bytes(&before.data, before.id.kind()),
            gix::objs::TreeRefIter::from_bytes(&after.data, after.id.kind()),
            &mut self.state,
            &self.git.objects,
            &mut recorder,
        );
        let records = recorder.inner.records;
        if compared.is_err() {
            return None;
        }
        let (paths, moved) = sort(&records);
        let mut named: Vec<String> = paths.into_iter().map(|path| self.called_today(path)).collect();
        for (old, new) in moved {
            let new = self.called_today(new);
            named.push(new.clone());
            self.today.insert(old, new);
        }
        named.sort();
        named.dedup();
        (named.len() <= MOST_FILES).then_some(named)
    }

    fn called_today(&self, path: String) -> String {
        self.today.get(&path).cloned().unwrap_or(path)
    }
}

/// Changed paths, and pairs of an old and a new path: one file went and another came with the same content, or with the
/// same name.
fn sort(records: &[Change]) -> (Vec<String>, Vec<(String, String)>) {
    let mut paths = Vec::new();
    let mut gone = Vec::new();
    let mut come = Vec::new();
    for record in records {
        let (list, mode, path, id) = match record {
            Change::Addition {
                entry_mode,
                path,
                oid,
                ..
            } => (&mut come, entry_mode, path, oid),
            Change::Deletion {
                entry_mode,
                path,
                oid,
                ..
            } => (&mut gone, entry_mode, path, oid),
            Change::Modification { entry_mode, path, .. } => {
                if entry_mode.is_blob() {
                    paths.push(path.to_str_lossy().into_owned());
                }
                continue;
            }
        };
        if mode.is_blob() {
            list.push((path.to_str_lossy().into_owned(), *id));
        }
    }
    let mut moved = Vec::new();
    for (old, id) in gone {
        let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
        let same = come.iter().position(|(_, other)| *other == id);
        let same = same.or_else(|| come.iter().position(|(new, _)| name(new) == name(&old)));
        if let Some(index) = same {
            moved.push((old, come.swap_remove(index).0));
        }
    }
    paths.extend(come.into_iter().map(|(path, _)| path));
    (paths, moved)
}

/// A recorder that gives up on commits that change the whole world.
#[derive(Default)]
struct Bounded {
    inner: gix::diff::tree::Recorder,
}

impl gix::diff::tree::Visit for Bounded {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.inner.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &gix::bstr::BStr) {
        self.inner.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &gix::bstr::BStr) {
        self.inner.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.inner.pop_path_component();
    }

    fn visit(&mut self, change: gix::diff::tree::visit::Change) -> gix::diff::tree::visit::Action {
        if self.inner.records.len() > MOST_CHANGES {
            return std::ops::ControlFlow::Break(());
        }
        self.inner.visit(change)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Commits a whole tree of files, each with its text.
    fn commit(git: &Git, files: &[(&str, &str)]) {
        let mut editor = git.empty_tree().edit().unwrap();
        for (path, text) in files {
            let blob = git.write_blob(text).unwrap();
            editor
                .upsert(*path, gix::objs::tree::EntryKind::Blob, blob)
                .unwrap();
        }
        let tree = editor.write().unwrap();
        let parents: Vec<ObjectId> = git.head_id().ok().map(gix::Id::detach).into_iter().collect();
        let who = gix::actor::SignatureRef {
            name: "n".into(),
            email: "e@x".into(),
            time: "1700000000 +0000",
        };
        git.commit_as(who, who, "HEAD", "message", tree, parents).unwrap();
    }

    fn open(folder: &Path) -> (Git, Repository) {
        let git = gix::init(folder).unwrap();
        (git, Repository::open(folder).unwrap())
    }

    #[test]
    fn a_file_that_moved_keeps_its_past() {
        let folder = tempfile::tempdir().unwrap();
        let (git, repository) = open(folder.path());
        commit(&git, &[("a.py", "1"), ("test_a.py", "1")]);
        commit(&git, &[("a.py", "2"), ("test_a.py", "2")]);
        commit(&git, &[("src/a.py", "2"), ("test_a.py", "2")]);
        let past = repository.past(100).unwrap();
        let expected = [vec!["src/a.py"], vec!["src/a.py", "test_a.py"]];
        assert_eq!(past.commits, expected, "the first commit has no parent");
        assert!(!past.is_cut);
        let head = repository.head().unwrap();
        assert_eq!(repository.text_at(head, "src/a.py").as_deref(), Some("2"));
        assert_eq!(repository.text_at(head, "a.py"), None);
    }

    #[test]
    fn a_repository_without_a_commit_has_no_past() {
        let folder = tempfile::tempdir().unwrap();
        let (_, repository) = open(folder.path());
        assert_eq!(repository.past(100).unwrap(), Past::default());
    }
}
