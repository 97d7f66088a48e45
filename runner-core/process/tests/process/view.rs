//! A job that sees a folder as it was.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use process::{Cancel, Job, ProcessError, View, ViewContents, ViewFile};

use crate::common::{Outcome, run, run_with, sh};
use runner_core::plan::Stream;

struct Folders {
    folder: tempfile::TempDir,
}

impl Folders {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root").canonicalize().unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn job(&self, files: &[(&str, ViewFile)], gone: &[&str], script: &str) -> Job {
        let contents = ViewContents {
            root: self.root(),
            files: files
                .iter()
                .map(|(path, file)| (PathBuf::from(path), file.clone()))
                .collect(),
            gone: gone.iter().map(PathBuf::from).collect(),
        };
        let view = View::lay(&contents, &self.folder.path().join("view")).unwrap();
        let mut job = sh(script);
        job.cwd = self.root();
        job.view = Some(view);
        job
    }
}

fn text(text: &str) -> ViewFile {
    ViewFile::File {
        bytes: text.into(),
        executable: false,
    }
}

/// What the job said; none where this machine allows no namespaces, which is then said.
async fn seen(job: Job) -> Option<Outcome> {
    match run_with(job, &Cancel::new()).await {
        Err(ProcessError::View { source, .. }) => {
            #[expect(
                clippy::print_stderr,
                reason = "who reads a run must see what it did not look at"
            )]
            {
                eprintln!("SKIPPED: views are not allowed here: {source}");
            }
            assert!(!Path::new("/proc/self/ns/mnt").exists() || source.raw_os_error().is_some());
            None
        }
        outcome => Some(outcome.unwrap()),
    }
}

#[tokio::test]
async fn files_are_as_they_were_and_the_folder_stays_as_it_is() {
    let folders = Folders::new();
    folders.write("a.txt", "now");
    folders.write("kept/b.txt", "same");
    folders.write("new/c.txt", "new");
    folders.write("run.sh", "#!/bin/sh\necho now\n");
    let script = "cat a.txt old/d.txt kept/b.txt link; ./run.sh; ls; echo written > a.txt; rm kept/b.txt; mkdir more; cat a.txt";
    let files = [
        ("a.txt", text("was\n")),
        ("old/d.txt", text("gone since\n")),
        ("link", ViewFile::Link("a.txt".into())),
        (
            "run.sh",
            ViewFile::File {
                bytes: b"#!/bin/sh\necho was\n".to_vec(),
                executable: true,
            },
        ),
    ];
    let Some(outcome) = seen(folders.job(&files, &["new/c.txt"], script)).await else {
        return;
    };
    assert_eq!(
        outcome.of(Stream::Stdout),
        [
            "was",
            "gone since",
            "samewas",
            "was",
            "a.txt",
            "kept",
            "link",
            "old",
            "run.sh",
            "written"
        ]
    );
    assert_eq!(fs::read_to_string(folders.root().join("a.txt")).unwrap(), "now");
    let mut names: Vec<_> = fs::read_dir(folders.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["a.txt", "kept", "new", "run.sh"]);
    assert!(folders.root().join("kept/b.txt").exists());
}

#[tokio::test]
async fn a_folder_and_a_file_of_one_name_change_places() {
    let folders = Folders::new();
    folders.write("was_file/inner.txt", "now");
    folders.write("was_folder", "now");
    let files = [
        ("was_file", text("file\n")),
        ("was_folder/inner.txt", text("inner\n")),
    ];
    let gone = ["was_file/inner.txt", "was_folder"];
    let job = folders.job(&files, &gone, "cat was_file was_folder/inner.txt");
    let Some(outcome) = seen(job).await else { return };
    assert_eq!(outcome.of(Stream::Stdout), ["file", "inner"]);
}

#[tokio::test]
async fn who_runs_in_a_view_is_who_they_were() {
    let folders = Folders::new();
    let plain = run(sh("id -u; id -g")).await;
    let Some(outcome) = seen(folders.job(&[], &[], "id -u; id -g")).await else {
        return;
    };
    assert_eq!(outcome.of(Stream::Stdout), plain.of(Stream::Stdout));
}

#[tokio::test]
async fn a_path_with_what_separates_options_is_covered() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("a,b:c\\d e");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("x"), "now").unwrap();
    let contents = ViewContents {
        root: root.clone(),
        files: [(PathBuf::from("x"), text("was\n"))].into(),
        gone: Vec::new(),
    };
    let mut job = sh("cat x");
    job.view = Some(View::lay(&contents, &folder.path().join("v,i:e\\w")).unwrap());
    job.cwd = root;
    let Some(outcome) = seen(job).await else { return };
    assert_eq!(outcome.of(Stream::Stdout), ["was"]);
}

#[tokio::test]
async fn nothing_of_a_job_in_a_view_is_alive_after_it() {
    let folders = Folders::new();
    let job = folders.job(&[], &[], "setsid sleep 600 & echo $!; sleep 0.1");
    let Some(outcome) = seen(job).await else { return };
    let pid: i32 = outcome.of(Stream::Stdout)[0].trim().parse().unwrap();
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn a_file_outside_the_folder_is_refused() {
    let folders = Folders::new();
    for (file, gone) in [
        ("../a", None),
        ("/etc/passwd", None),
        ("", None),
        ("a", Some("../b")),
    ] {
        let contents = ViewContents {
            root: folders.root(),
            files: [(PathBuf::from(file), text("x"))].into(),
            gone: gone.map(PathBuf::from).into_iter().collect(),
        };
        assert!(
            View::lay(&contents, &folders.folder.path().join("view")).is_err(),
            "{file}"
        );
    }
}

#[test]
fn files_bear_a_time_long_ago_and_their_modes() {
    let folders = Folders::new();
    folders.write("sub/a", "now");
    fs::set_permissions(folders.root().join("sub"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("a", folders.root().join("sub/l")).unwrap();
    let job = folders.job(&[("sub/a", text("was"))], &[], "true");
    let layer = job.view.unwrap().layer;
    let age = fs::metadata(layer.join("sub/a"))
        .unwrap()
        .modified()
        .unwrap()
        .elapsed()
        .unwrap();
    assert!(age.as_secs() > 365 * 24 * 3600);
    assert_eq!(
        fs::metadata(layer.join("sub")).unwrap().permissions().mode() & 0o777,
        0o750
    );
}
