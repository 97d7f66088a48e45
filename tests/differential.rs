//! The run is the user's run: plain pytest and qaas agree, row by row, on real projects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::{Project, Pytest, rows};

/// Writes each test's outcome at the end of a plain run, from pytest's own reports.
const RECORDER: &str = r#"
import json, os

rows = {}

def pytest_runtest_logreport(report):
    if report.failed:
        outcome = "failed" if report.when == "call" else "error"
    elif hasattr(report, "wasxfail"):
        outcome = "xfailed" if report.skipped else "xpassed"
    elif report.skipped:
        outcome = "skipped"
    elif report.when == "call":
        outcome = "passed"
    else:
        return
    if rows.get(report.nodeid) != "failed":
        rows[report.nodeid] = outcome

def pytest_sessionfinish():
    with open(os.environ["ROWS"], "w") as file:
        json.dump(rows, file)
"#;

/// What a command prints, if it ends well.
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.code().is_some_and(|code| code <= 1),
        "{command:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

#[expect(clippy::disallowed_methods, reason = "tests start processes")]
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// Unpacks a project's source distribution into the repository.
fn unpack(project: &Project, name: &str, version: &str) {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let archive = printed(
        command(top.join("script/sdist"))
            .arg(top.join("target/sdists"))
            .args([name, version]),
    );
    printed(
        command("tar")
            .args(["--extract", "--strip-components=1", "--file"])
            .arg(archive.trim())
            .arg("--directory")
            .arg(project.root()),
    );
}

fn plain(project: &Project, selector: &str) -> BTreeMap<String, String> {
    let recorder: PathBuf = project.outside().join("recorder");
    let result = project.outside().join("rows.json");
    std::fs::create_dir_all(&recorder).unwrap();
    std::fs::write(recorder.join("recorder.py"), RECORDER).unwrap();
    printed(
        command(Pytest::V9_2.python())
            .args([
                "-m",
                "pytest",
                "-p",
                "recorder",
                "-p",
                "no:cacheprovider",
                selector,
            ])
            .current_dir(project.root())
            .env("PYTHONPATH", recorder)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("ROWS", &result),
    );
    serde_json::from_str(&std::fs::read_to_string(result).unwrap()).unwrap()
}

fn agree(name: &str, version: &str, selector: &str, at_least: usize) {
    let project = Project::new();
    unpack(&project, name, version);
    let wanted = plain(&project, selector);
    assert!(wanted.len() >= at_least, "{name}: {} tests", wanted.len());
    let arguments = json!({"selector": selector, "max_bytes": 0}).to_string();
    for backend in ["pytest-events", "pytest-json", "pytest-terminal"] {
        let words = ["call", "run_suite", "--backend", backend, "--args", &arguments];
        let found = rows(&project.qaas(&words).json());
        let differing: Vec<_> = wanted
            .iter()
            .filter(|(nodeid, outcome)| found.get(*nodeid) != Some(outcome))
            .collect();
        assert_eq!(differing, [], "{name} {backend}");
        assert_eq!(found.len(), wanted.len(), "{name} {backend}");
    }
}

#[test]
fn sqlparse_is_the_same_run() {
    agree("sqlparse", "0.5.3", "tests", 400);
}

#[test]
fn more_itertools_is_the_same_run() {
    agree("more-itertools", "10.7.0", "tests/test_more.py::ChunkedTests", 4);
}
