//! pytest-events on every pytest version that qaas is held to, whatever the project's options do to pytest.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Project, Pytest, rows};

const TESTS: &str = "import pytest\n\ndef test_ok(): pass\ndef test_bad(): assert 1 == 2, 'told you'\n\
                     def test_skip(): pytest.skip('not here')\n";

fn expected() -> BTreeMap<String, String> {
    [("ok", "passed"), ("bad", "failed"), ("skip", "skipped")]
        .map(|(name, outcome)| (format!("test_a.py::test_{name}"), outcome.to_owned()))
        .into()
}

fn project(version: Pytest, addopts: &str, tests: &str) -> Project {
    Project::with_pytest(version)
        .file("pytest.ini", &format!("[pytest]\naddopts = {addopts}\n"))
        .file("test_a.py", tests)
}

fn run(project: &Project, arguments: &Value) -> Value {
    let arguments = arguments.to_string();
    let answer = project.qaas(&[
        "call",
        "run_suite",
        "--backend",
        "pytest-events",
        "--args",
        &arguments,
    ]);
    answer.json()
}

#[test]
fn no_option_takes_the_rows_away() {
    for version in Pytest::ALL {
        for addopts in [
            "-p no:terminal",
            "--assert=plain -W error",
            "-s -p no:logging",
            "-n 2",
        ] {
            let answer = run(&project(version, addopts, TESTS), &json!({}));
            assert_eq!(rows(&answer), expected(), "{version:?} {addopts}: {answer:#}");
            assert_eq!(answer["status"], "failed", "{version:?} {addopts}: {answer:#}");
        }
    }
}

#[test]
fn plug_ins_need_not_be_loaded_by_pytest() {
    for version in Pytest::ALL {
        let project = project(version, "", TESTS).env("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1");
        let answer = run(&project, &json!({}));
        assert_eq!(rows(&answer), expected(), "{version:?}: {answer:#}");
    }
}

#[test]
fn reruns_are_attempts_and_subtests_spoil_their_test() {
    let flaky = "n = [0]\n\ndef test_second_time():\n    n[0] += 1\n    assert n[0] == 2\n\
                 def test_parts(subtests):\n    for i in range(2):\n        with subtests.test(msg='a - b', i=i):\n            \
                 assert i == 0\n";
    let answer = run(
        &project(Pytest::V8_4, "--reruns 1", flaky),
        &json!({"max_bytes": 0}),
    );
    let found = rows(&answer);
    assert_eq!(found["test_a.py::test_second_time"], "passed", "{answer:#}");
    assert_eq!(found["test_a.py::test_parts"], "failed", "{answer:#}");
    let tests = answer["tests"].as_array().unwrap();
    let again = tests
        .iter()
        .find(|row| row["nodeid"] == "test_a.py::test_second_time");
    assert_eq!(
        again.unwrap()["attempts"].as_array().map(Vec::len),
        Some(1),
        "{answer:#}"
    );
}

#[test]
fn a_crash_keeps_what_finished_and_is_never_green() {
    for version in Pytest::ALL {
        let tests = "import os\n\ndef test_ok(): pass\ndef test_dies(): os.kill(os.getpid(), 11)\n";
        let answer = run(&project(version, "", tests), &json!({}));
        assert_eq!(answer["status"], "incomplete", "{version:?}: {answer:#}");
        assert_eq!(
            rows(&answer)["test_a.py::test_ok"],
            "passed",
            "{version:?}: {answer:#}"
        );
        assert_eq!(answer["unfinished"][0]["nodeid"], "test_a.py::test_dies");
    }
}

#[test]
fn a_time_limit_names_the_worker_that_hangs() {
    for version in [Pytest::V6_2, Pytest::V9_2] {
        let tests = "import time\n\ndef test_a(): pass\ndef test_hangs(): time.sleep(600)\n";
        let project = project(version, "-n 1", tests);
        // However long this machine takes to start pytest and its worker: the limit is one that lets the test begin.
        let began = |answer: &Value| answer["unfinished"][0]["nodeid"] == "test_a.py::test_hangs";
        let limits = [6, 12, 24, 48, 96].into_iter();
        let mut answers = limits.map(|limit| run(&project, &json!({"timeout_s": limit})));
        let answer = answers.find(began).expect("a limit within which the test began");
        assert_eq!(answer["status"], "timed_out", "{version:?}: {answer:#}");
        let hung = &answer["unfinished"][0];
        assert_eq!(hung["worker"], "gw0", "{version:?}: {answer:#}");
        assert!(hung["stack"].as_str().unwrap().contains("test_hangs"), "{hung}");
    }
}
