//! The run is the user's run: plain pytest and qaas agree, row by row, on real projects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Project, rows, venv};

/// Keeps what plain pytest says of each test.
const RECORDER: &str = include_str!("data/recorder.py");

/// A project's tests, and what they are run with.
struct Suite<'a> {
    name: &'a str,
    version: &'a str,
    selector: &'a str,
    /// The fewest tests there must be: less, and nothing was compared.
    at_least: usize,
    environment: &'a str,
    /// The folder that its code is imported from.
    source: &'a str,
}

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
fn unpack(project: &Project, suite: &Suite<'_>) {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let archive = printed(
        command(top.join("script/sdist"))
            .arg(top.join("target/sdists"))
            .args([suite.name, suite.version]),
    );
    printed(
        command("tar")
            .args(["--extract", "--strip-components=1", "--file"])
            .arg(archive.trim())
            .arg("--directory")
            .arg(project.root()),
    );
}

/// What plain pytest says, as the recorder wrote it.
fn plain(project: &Project, suite: &Suite<'_>) -> Value {
    let recorder: PathBuf = project.outside().join("recorder");
    let result = project.outside().join("rows.json");
    std::fs::create_dir_all(&recorder).unwrap();
    std::fs::write(recorder.join("recorder.py"), RECORDER).unwrap();
    let path = format!(
        "{}:{}",
        recorder.display(),
        project.root().join(suite.source).display()
    );
    printed(
        command(venv(suite.environment))
            .args(["-m", "pytest", "-p", "recorder", "-p", "no:cacheprovider"])
            .arg(suite.selector)
            .current_dir(project.root())
            .env("PYTHONPATH", path)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("ROWS", &result),
    );
    serde_json::from_str(&std::fs::read_to_string(result).unwrap()).unwrap()
}

/// Holds every backend to plain pytest: the same rows, and the status that its exit code means.
fn agree(suite: &Suite<'_>) {
    let python = venv(suite.environment);
    let project = Project::bare().env(
        "VIRTUAL_ENV",
        python.ancestors().nth(2).unwrap().to_str().unwrap(),
    );
    let source = project.root().join(suite.source);
    let project = project.env("PYTHONPATH", source.to_str().unwrap());
    unpack(&project, suite);
    let record = plain(&project, suite);
    let wanted: BTreeMap<String, String> = serde_json::from_value(record["rows"].clone()).unwrap();
    let name = suite.name;
    assert!(wanted.len() >= suite.at_least, "{name}: {} tests", wanted.len());
    let arguments = json!({"selector": suite.selector, "max_bytes": 0}).to_string();
    for backend in ["pytest-events", "pytest-json", "pytest-terminal"] {
        let words = ["call", "run_suite", "--backend", backend, "--args", &arguments];
        let answer = project.qaas(&words).json();
        let found = rows(&answer);
        let differing: Vec<_> = wanted
            .iter()
            .filter(|(nodeid, outcome)| found.get(*nodeid) != Some(outcome))
            .collect();
        assert_eq!(differing, [], "{name} {backend}");
        assert_eq!(found.len(), wanted.len(), "{name} {backend}");
        let status = if record["exit"] == 0 { "passed" } else { "failed" };
        assert_eq!(answer["status"], status, "{name} {backend}: {}", answer["reason"]);
        assert_eq!(answer["exit_code"], record["exit"], "{name} {backend}");
    }
}

/// Ids of SQL text, with line ends and quotes.
#[test]
fn sqlparse_is_the_same_run() {
    agree(&Suite {
        name: "sqlparse",
        version: "0.5.3",
        selector: "tests",
        at_least: 400,
        environment: "pytest-9.2",
        source: ".",
    });
}

/// Subtests of `unittest`.
#[test]
fn more_itertools_is_the_same_run() {
    agree(&Suite {
        name: "more-itertools",
        version: "10.7.0",
        selector: "tests/test_more.py::ChunkedTests",
        at_least: 4,
        environment: "pytest-9.2",
        source: ".",
    });
}

/// Depends on the terminal's width, and turns every warning into a failure.
#[test]
fn click_is_the_same_run() {
    agree(&Suite {
        name: "click",
        version: "8.1.7",
        selector: "tests",
        at_least: 500,
        environment: "pytest-7.4",
        source: "src",
    });
}

/// Tests in classes and functions, under an old pytest.
#[test]
fn toolz_is_the_same_run() {
    agree(&Suite {
        name: "toolz",
        version: "0.12.1",
        selector: "toolz",
        at_least: 150,
        environment: "pytest-6.2",
        source: ".",
    });
}

/// `unittest` throughout.
#[test]
fn cachetools_is_the_same_run() {
    agree(&Suite {
        name: "cachetools",
        version: "5.5.0",
        selector: "tests",
        at_least: 150,
        environment: "pytest-8.4",
        source: "src",
    });
}

/// Sees handlers of the root logger, the working folder and the environment; some tests fail under these versions.
#[test]
fn flask_is_the_same_run() {
    agree(&Suite {
        name: "flask",
        version: "3.0.3",
        selector: "tests",
        at_least: 400,
        environment: "flask",
        source: "src",
    });
}
