use std::fs;
use std::path::{Path, PathBuf};

use super::{BaseError, Content, Difference, GitError, Repository};

/// A repository made by git itself, without anybody's settings.
struct Made {
    folder: tempfile::TempDir,
}

impl Made {
    fn new() -> Self {
        let made = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        made.git(&["init", "-q", "-b", "main"]);
        made
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, words: &[&str]) {
        #[expect(clippy::disallowed_methods, reason = "tests start processes")]
        let mut command = std::process::Command::new("git");
        let identity = [
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "-c",
            "commit.gpgsign=false",
        ];
        command.args(identity).args(words).current_dir(self.root());
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    fn repository(&self) -> Repository {
        Repository::open(self.root()).unwrap()
    }

    fn difference(&self) -> Difference {
        let repository = self.repository();
        let base = repository.base(None).unwrap();
        repository.difference(base.commit).unwrap()
    }
}

fn text(text: &str) -> Content {
    Content::File {
        bytes: text.into(),
        executable: false,
    }
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

#[test]
fn committed_staged_unstaged_and_untracked_are_one_difference() {
    let made = Made::new();
    for name in ["committed", "staged", "unstaged", "deleted", "kept"] {
        made.write(name, "was\n");
    }
    made.write(".gitignore", "ignored/\n*.log\n");
    made.commit();
    made.git(&["switch", "-q", "-c", "feature"]);
    made.write("committed", "now\n");
    made.commit();
    made.write("staged", "now\n");
    made.git(&["add", "staged"]);
    made.write("unstaged", "now\n");
    fs::remove_file(made.root().join("deleted")).unwrap();
    made.write("new/untracked", "new\n");
    made.write("ignored/x", "x");
    made.write("a.log", "x");
    made.write(".venv/pyvenv.cfg", "");
    made.write(".venv/lib/x.py", "");
    let found = made.difference();
    let was: Vec<&Path> = found.was.keys().map(PathBuf::as_path).collect();
    assert_eq!(was, paths(&["committed", "deleted", "staged", "unstaged"]));
    assert!(found.was.values().all(|content| *content == text("was\n")));
    assert_eq!(found.added, paths(&["new/untracked"]));
    assert_eq!(
        found.now,
        paths(&["committed", "new/untracked", "staged", "unstaged"])
    );
}

#[test]
fn an_edit_of_the_same_size_in_the_same_moment_is_seen() {
    let made = Made::new();
    made.write("a", "was\n");
    made.commit();
    made.write("a", "now\n");
    assert_eq!(made.difference().now, paths(&["a"]));
    made.write("a", "was\n");
    assert_eq!(made.difference(), Difference::default());
}

#[cfg(unix)]
#[test]
fn modes_links_and_odd_names_are_those_of_a_checkout() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let made = Made::new();
    made.write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(made.root().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("one", made.root().join("link")).unwrap();
    made.write("größe \"m\".txt", "m\n");
    made.commit();
    fs::set_permissions(made.root().join("run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(made.root().join("link")).unwrap();
    symlink("two", made.root().join("link")).unwrap();
    made.write("größe \"m\".txt", "n\n");
    let was = made.difference().was;
    assert_eq!(was[Path::new("link")], Content::Link("one".into()));
    assert_eq!(
        was[Path::new("run.sh")],
        Content::File {
            bytes: b"#!/bin/sh\n".to_vec(),
            executable: true
        }
    );
    assert_eq!(was[Path::new("größe \"m\".txt")], text("m\n"));
}

#[test]
fn line_ends_are_those_that_a_checkout_gives() {
    let made = Made::new();
    made.write(".gitattributes", "*.csv text eol=crlf\nraw.csv -text\n");
    made.write("data/a.csv", "a\r\nb\r\n");
    made.write("raw.csv", "a\nb\n");
    made.commit();
    assert_eq!(made.difference(), Difference::default());
    made.write("data/a.csv", "c\n");
    made.write("raw.csv", "c\n");
    let was = made.difference().was;
    assert_eq!(was[Path::new("data/a.csv")], text("a\r\nb\r\n"));
    assert_eq!(was[Path::new("raw.csv")], text("a\nb\n"));
}

#[test]
fn the_base_is_where_the_work_left_the_default_branch() {
    let made = Made::new();
    made.commit();
    let first = made.repository().head().unwrap();
    made.git(&["tag", "v1"]);
    made.git(&["switch", "-q", "-c", "feature"]);
    made.commit();
    made.git(&["switch", "-q", "main"]);
    made.write("later", "x");
    made.commit();
    let on_main = made.repository().base(None).unwrap();
    assert_eq!(Some(on_main.commit), made.repository().head());
    made.git(&["switch", "-q", "feature"]);
    assert_eq!(made.repository().base(None).unwrap().commit, first);
    assert_eq!(made.repository().base(Some("v1")).unwrap().commit, first);
    assert_eq!(made.repository().base(Some("HEAD~1")).unwrap().commit, first);
}

#[test]
fn each_trouble_has_its_words_and_what_mends_it() {
    let made = Made::new();
    let unborn = made.repository().base(None).unwrap_err();
    assert!(matches!(unborn, BaseError::Unborn) && unborn.hint().unwrap().contains("git commit"));
    made.commit();
    let none = made.repository().base(Some("release/9.9")).unwrap_err();
    assert!(none.to_string().contains("release/9.9"));
    made.git(&["switch", "-q", "--orphan", "other"]);
    made.write("a", "x");
    made.commit();
    assert!(matches!(
        made.repository().base(None),
        Err(BaseError::Unrelated(_))
    ));
    made.git(&["branch", "-D", "-q", "main"]);
    assert!(matches!(
        made.repository().base(None),
        Err(BaseError::NoDefaultBranch)
    ));
}

#[test]
fn a_folder_without_git_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = Repository::open(folder.path());
    assert!(matches!(outcome, Err(GitError::NoRepository(_))));
}

#[test]
fn a_root_below_the_work_tree_sees_paths_from_there() {
    let folder = tempfile::tempdir().unwrap();
    gix::init(folder.path()).unwrap();
    let root = folder.path().join("packages/web");
    std::fs::create_dir_all(&root).unwrap();
    let repository = Repository::open(&root).unwrap();
    assert_eq!(repository.head(), None, "there is no commit yet");
    assert_eq!(repository.below_root("packages/web/a.py"), Some("a.py"));
    assert_eq!(repository.below_root("packages/core/a.py"), None);
}
