//! Plug-ins that a person installed, or that are on PATH: used by their name alone, without a table and without trust.

use std::path::PathBuf;

use serde_json::json;

use super::{Plugged, executable};
use crate::support::{Project, rows};

const SUITE: &str = "[suite.own]\nbackend = \"lines\"\n";

/// A good plug-in outside the repository, whose suite names it.
fn outside(name: &str) -> (Plugged, PathBuf) {
    let plugged = Plugged::new("everything", "");
    plugged.project.write("qaas.toml", SUITE);
    let folder = plugged.project.outside().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join(name);
    std::fs::copy(plugged.project.root().join("tools/own.py"), &program).unwrap();
    executable(&program);
    (plugged, program)
}

#[test]
fn an_added_backend_is_shown_copied_used_and_removed() {
    let (plugged, program) = outside("qaas-backend-lines.py");
    let project = &plugged.project;
    let path = program.to_str().unwrap();
    let added = project.qaas(&["backend", "add", path]);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    for expected in [
        "lines (lines): run, list",
        path,
        "sha256",
        "protocol 1",
        "backend = \"lines\"",
    ] {
        assert!(added.stdout.contains(expected), "{expected}: {}", added.stdout);
    }
    std::fs::remove_file(&program).unwrap();
    let run = project.qaas(&["run", "--format", "json"]);
    assert_eq!(
        (run.code, rows(&run.json()).len()),
        (Some(0), 3),
        "{}",
        run.stdout
    );
    let listed = project.qaas(&["backend", "list"]);
    let line = listed
        .stdout
        .lines()
        .find(|line| line.starts_with("lines "))
        .unwrap();
    assert!(line.contains("keyword") && line.contains(path), "{line}");
    let removed = project.qaas(&["backend", "remove", "lines"]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
    let run = project.qaas(&["run"]);
    assert_eq!(run.code, Some(4));
    assert!(
        run.stderr.contains("there is no backend `lines`"),
        "{}",
        run.stderr
    );
    assert_eq!(project.qaas(&["backend", "remove", "lines"]).code, Some(4));
}

#[test]
fn a_copy_that_was_changed_is_not_used() {
    let (plugged, program) = outside("lines");
    let project = &plugged.project;
    assert_eq!(
        project.qaas(&["backend", "add", program.to_str().unwrap()]).code,
        Some(0)
    );
    let before = plugged.started().len();
    for copy in std::fs::read_dir(project.outside().join("state/plugins/files")).unwrap() {
        let copy = copy.unwrap().path().join("lines");
        executable(&copy);
        std::fs::write(&copy, "#!/bin/sh\nexit 0\n").unwrap();
    }
    let run = project.qaas(&["run"]);
    assert_eq!(run.code, Some(4));
    assert!(
        run.stderr.contains("damaged") && run.stderr.contains("qaas backend add"),
        "{}",
        run.stderr
    );
    assert_eq!(plugged.started().len(), before);
}

#[test]
fn what_is_no_backend_is_not_added() {
    let (plugged, program) = outside("lines");
    let project = &plugged.project;
    let path = program.to_str().unwrap();
    for (arguments, expected) in [
        (
            vec!["backend", "add", "/bin/echo"],
            "is not a qaas backend (it printed",
        ),
        (vec!["backend", "add", "/no/such/program"], "No such file"),
        (vec!["backend", "add", "/etc/passwd"], "what runs it"),
        (
            vec!["backend", "add", path, "--name", "../x"],
            "cannot be the name",
        ),
        (
            vec!["backend", "add", path, "--name", "unittest"],
            "is a built-in backend",
        ),
    ] {
        let added = project.qaas(&arguments);
        assert_eq!(added.code, Some(4), "{arguments:?}");
        assert!(added.stderr.contains(expected), "{arguments:?}: {}", added.stderr);
    }
    let installed = project.outside().join("state/plugins/installed");
    assert_eq!(std::fs::read_dir(installed).map_or(0, Iterator::count), 0);
}

fn on_path(project: Project, entry: &str) -> Project {
    #[expect(clippy::disallowed_methods, reason = "the tests' own environment")]
    let path = std::env::var("PATH").unwrap();
    project.env("PATH", &format!("{entry}:{path}"))
}

#[test]
fn a_program_on_path_is_found_by_its_name() {
    let (plugged, program) = outside("qaas-backend-lines");
    let Plugged { project, mark } = plugged;
    let project = on_path(project, program.parent().unwrap().to_str().unwrap());
    let listed = project.qaas(&["backend", "list"]);
    assert!(
        listed.stdout.contains(program.to_str().unwrap()),
        "{}",
        listed.stdout
    );
    assert!(!mark.exists(), "listing starts nothing");
    let run = project.qaas(&["run", "--format", "json"]);
    assert_eq!(
        (run.code, rows(&run.json()).len()),
        (Some(0), 3),
        "{}",
        run.stdout
    );
    let called = project.call("run_suite", &json!({}));
    assert_eq!(called["status"], "passed", "{called:#}");
    project.write("qaas.toml", "");
    let named = project.qaas(&["run", "--backend", "lines", "--suite", "own"]);
    assert!(!named.stderr.contains("no backend `lines`"), "{}", named.stderr);
}

#[test]
fn a_program_on_path_inside_the_repository_is_not_found() {
    for entry in ["tools", "."] {
        let plugged = Plugged::new("fine", "");
        let Plugged { project, mark } = plugged;
        project.write("qaas.toml", SUITE);
        let from = project.root().join("tools/own.py");
        for place in ["tools/qaas-backend-lines", "qaas-backend-lines"] {
            std::fs::copy(&from, project.root().join(place)).unwrap();
        }
        let entry = if entry == "." {
            entry.to_owned()
        } else {
            project.root().join(entry).display().to_string()
        };
        let project = on_path(project, &entry);
        let run = project.qaas(&["run"]);
        assert_eq!(run.code, Some(4), "{}", run.stdout);
        assert!(
            run.stderr.contains("there is no backend `lines`"),
            "{}",
            run.stderr
        );
        assert!(!mark.exists());
    }
}
