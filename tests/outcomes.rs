//! The outcome rules (docs/outcomes.md), held on real pytest of several versions and with every pytest backend.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Project, Pytest, rows};

const BACKENDS: [&str; 3] = ["pytest-events", "pytest-json", "pytest-terminal"];

fn run(project: &Project, backend: &str) -> Value {
    let root = project.root();
    let words = [
        "call",
        "run_suite",
        "--root",
        root.to_str().unwrap(),
        "--backend",
        backend,
    ];
    project
        .qaas(&[&words[..], &["--args", r#"{"max_bytes": 0}"#]].concat())
        .json()
}

/// Runs one file with every backend, on the oldest and the newest pytest, and compares rows and status.
fn check(contents: &str, status: &str, expected: &[(&str, &str)]) {
    for version in [Pytest::V6_2, Pytest::V9_2] {
        let project = Project::with_pytest(version).file("test_a.py", contents);
        for backend in BACKENDS {
            let answer = run(&project, backend);
            let expected: BTreeMap<_, _> = expected
                .iter()
                .map(|(id, outcome)| ((*id).to_owned(), (*outcome).to_owned()))
                .collect();
            assert_eq!(rows(&answer), expected, "{version:?} {backend}: {answer:#}");
            assert_eq!(answer["status"], status, "{version:?} {backend}: {answer:#}");
        }
    }
}

#[test]
fn the_six_words() {
    check(
        r#"
import pytest

def test_passed(): pass
def test_failed(): assert 1 == 2
@pytest.fixture
def broken(): raise RuntimeError("no database")
def test_error(broken): pass
def test_skipped(): pytest.skip("not here")
@pytest.mark.xfail(reason="known")
def test_xfailed(): assert False
@pytest.mark.xfail(reason="mended?")
def test_xpassed(): pass
"#,
        "failed",
        &[
            ("test_a.py::test_passed", "passed"),
            ("test_a.py::test_failed", "failed"),
            ("test_a.py::test_error", "error"),
            ("test_a.py::test_skipped", "skipped"),
            ("test_a.py::test_xfailed", "xfailed"),
            ("test_a.py::test_xpassed", "xpassed"),
        ],
    );
}

#[test]
fn a_good_call_with_a_failing_teardown_is_an_error() {
    check(
        r#"
import pytest

@pytest.fixture
def leaky():
    yield
    raise RuntimeError("left open")

def test_one(leaky): pass
"#,
        "failed",
        &[("test_a.py::test_one", "error")],
    );
}

#[test]
fn a_strict_xpass_is_a_failure_and_an_xfail_need_not_run() {
    check(
        r#"
import os, pytest

@pytest.mark.xfail(strict=True, reason="must fail")
def test_strict(): pass
@pytest.mark.xfail(run=False, reason="would end the process")
def test_never_run(): os._exit(3)
"#,
        "failed",
        &[
            ("test_a.py::test_strict", "failed"),
            ("test_a.py::test_never_run", "xfailed"),
        ],
    );
}

#[test]
fn ids_with_spaces_dashes_brackets_and_colons_are_verbatim() {
    check(
        r#"
import pytest

@pytest.mark.parametrize("v", [1, 2, 3, 4], ids=["two words", "a - b", "x::y", "[z]"])
def test_id(v): assert v != 2
"#,
        "failed",
        &[
            ("test_a.py::test_id[two words]", "passed"),
            ("test_a.py::test_id[a - b]", "failed"),
            ("test_a.py::test_id[x::y]", "passed"),
            ("test_a.py::test_id[[z]]", "passed"),
        ],
    );
}

#[test]
fn only_skips_are_not_called_passed() {
    check(
        "import pytest\n\ndef test_a(): pytest.skip('never')\n",
        "all_skipped",
        &[("test_a.py::test_a", "skipped")],
    );
}

#[test]
fn a_file_that_does_not_import_is_an_error_row_and_never_green() {
    for backend in BACKENDS {
        let project = Project::new()
            .file(
                "test_broken.py",
                "import no_such_module_anywhere\n\ndef test_x(): pass\n",
            )
            .file("test_fine.py", "def test_y(): pass\n");
        let answer = run(&project, backend);
        assert_eq!(rows(&answer)["test_broken.py"], "error", "{backend}: {answer:#}");
        assert_ne!(answer["status"], "passed", "{backend}: {answer:#}");
        let text = answer.to_string();
        assert!(text.contains("no_such_module_anywhere"), "{backend}: {answer:#}");
    }
}

#[test]
fn a_process_that_ends_itself_with_zero_is_never_green() {
    for backend in BACKENDS {
        let project = Project::new().file(
            "test_a.py",
            "import os\n\ndef test_one(): pass\ndef test_exits(): os._exit(0)\ndef test_three(): pass\n",
        );
        let answer = run(&project, backend);
        assert_eq!(answer["status"], "incomplete", "{backend}: {answer:#}");
        assert_eq!(
            rows(&answer).get("test_a.py::test_one").map(String::as_str),
            Some("passed"),
            "{backend}"
        );
        assert!(
            !rows(&answer).contains_key("test_a.py::test_exits"),
            "{backend}: {answer:#}"
        );
    }
}

#[test]
fn a_time_limit_keeps_what_finished_and_names_what_hung() {
    for backend in BACKENDS {
        let project = Project::new().file(
            "test_a.py",
            "import time\n\ndef test_one(): pass\ndef test_hangs(): time.sleep(60)\ndef test_three(): pass\n",
        );
        let answer = project
            .qaas(&[
                "call",
                "run_suite",
                "--backend",
                backend,
                "--args",
                r#"{"timeout_s": 3}"#,
            ])
            .json();
        assert_eq!(answer["status"], "timed_out", "{backend}: {answer:#}");
        assert_eq!(answer["timed_out"], true, "{backend}");
        assert_eq!(answer["exit_code"], Value::Null, "{backend}");
        assert_eq!(
            rows(&answer),
            BTreeMap::from([("test_a.py::test_one".to_owned(), "passed".to_owned())])
        );
        assert_eq!(
            answer["unfinished"][0]["nodeid"], "test_a.py::test_hangs",
            "{backend}: {answer:#}"
        );
    }
}

#[test]
fn the_hang_report_shows_the_tests_own_line() {
    let project = Project::new().file(
        "test_a.py",
        "import time\n\ndef helper():\n    time.sleep(60)\n\ndef test_hangs():\n    helper()\n",
    );
    let answer = project.call("run_suite", &json!({"timeout_s": 2}));
    let hung = &answer["unfinished"][0];
    assert_eq!(hung["phase"], "call", "{answer:#}");
    let stack = hung["stack"].as_str().unwrap();
    assert!(
        stack.contains("helper") && stack.contains("test_hangs"),
        "{stack}"
    );
    assert!(
        !stack.contains("_pytest"),
        "trimmed to the project's frames: {stack}"
    );
}

#[test]
fn addopts_of_the_project_cannot_spoil_the_rows() {
    for addopts in [
        "-qq",
        "-v",
        "--tb=no",
        "--ff",
        "--color=yes",
        "-n 2",
        "--json-report --json-report-file=other.json",
    ] {
        for backend in BACKENDS {
            let project = Project::new()
                .file("pytest.ini", &format!("[pytest]\naddopts = {addopts}\n"))
                .file(
                    "test_a.py",
                    "def test_ok(): pass\ndef test_bad(): assert 1 == 2, 'told you'\n",
                );
            let answer = run(&project, backend);
            let expected = [
                ("test_a.py::test_ok", "passed"),
                ("test_a.py::test_bad", "failed"),
            ];
            let expected = expected.map(|(id, outcome)| (id.to_owned(), outcome.to_owned()));
            assert_eq!(
                rows(&answer),
                BTreeMap::from(expected),
                "{addopts} {backend}: {answer:#}"
            );
        }
    }
}
