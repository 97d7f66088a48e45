//! A run by a process that was waiting in its start-up is the run that a new process makes.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Value, json};

use crate::support::{Client, Project, Pytest, rows};

const VERSIONS: [Pytest; 3] = [Pytest::V7_4, Pytest::V8_4, Pytest::V9_2];
const ONE: &str = "tests/test_state.py::test_state";

/// A project that is a plug-in itself, and whose tests see their process.
fn probing(version: Pytest) -> Project {
    Project::with_pytest(version)
        .file(
            "pytest.ini",
            "[pytest]\naddopts = -p helping --strict-markers\npythonpath = .\nfilterwarnings = error::UserWarning\n",
        )
        .file(
            "helping.py",
            "import pytest\ndef check(x): assert x == 41 + 1\n@pytest.fixture\ndef helper(): return check\n",
        )
        .file("tests/conftest.py", "import sys\nMODULES = sorted(sys.modules)\n")
        .file("tests/test_state.py", include_str!("data/state_probe.py"))
        // pytest 7.4 looks for `-p` before it follows `pythonpath`.
        .env("PYTHONPATH", ".")
}

/// What the probe saw, without what is another in every run.
fn state(project: &Project) -> BTreeMap<String, Value> {
    let path = project.root().join("tests/state.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let scratch = Regex::new(r"/s/[a-z0-9]{8}/(w\d*|t)").unwrap();
    let text = scratch.replace_all(&text, "/s/SCRATCH/$1");
    let passing = Regex::new(r"0x[0-9a-f]+|#\d+ \(deleted\)|\[\d+\]\x22|stack-\d+|/proc/\d+").unwrap();
    serde_json::from_str(&passing.replace_all(
        &text,
        |found: &regex::Captures<'_>| {
            if found[0].ends_with('"') { "N\"" } else { "N" }
        },
    ))
    .unwrap()
}

fn start(answer: &Value) -> &str {
    answer["environment"]["start"]["how"]
        .as_str()
        .unwrap_or("unknown")
}

fn why(answer: &Value) -> &str {
    answer["environment"]["start"]["why"]
        .as_str()
        .unwrap_or("unknown")
}

#[test]
fn a_test_sees_the_same_process_whether_it_was_waiting_or_is_new() {
    for version in VERSIONS {
        let project = probing(version);
        let mut client = Client::warm(&project);
        // The first one writes the bytecode.
        let mut states = Vec::new();
        for expected in ["cold", "warm", "warm"] {
            let answer = client.structure("run_single", &json!({"test_id": ONE}));
            assert_eq!(answer["outcome"], "passed", "{version:?}: {answer:#}");
            assert_eq!(start(&answer), expected, "{version:?}: {answer:#}");
            states.push(state(&project));
        }
        for (name, cold) in &states[0] {
            assert_eq!(cold, &states[2][name], "{version:?}: {name}");
        }
    }
}

#[test]
fn rows_endings_and_texts_are_the_same() {
    let tests = "import os, pytest\ndef test_ok(): print('said')\ndef test_bad(): assert [1] == [2], 'told you'\n\
                 @pytest.mark.parametrize('x', ['a b', 'é'])\ndef test_x(x): assert x != 'é'\n\
                 def test_skip(): pytest.skip('not here')\n";
    for version in VERSIONS {
        let project = Project::with_pytest(version)
            .file("test_a.py", tests)
            .file("test_dies.py", "import os\ndef test_dies(): os._exit(7)\n")
            .file("test_broken.py", "import no_such_module\n");
        let mut client = Client::warm(&project);
        let mut both = |arguments: &Value| {
            client.structure("run_suite", &json!({"selector": "test_a.py"}));
            let warm = client.structure("run_suite", arguments);
            let cold = project.call("run_suite", arguments);
            assert_eq!(start(&warm), "warm", "{version:?}: {warm:#}");
            assert_eq!(start(&cold), "cold", "{version:?}: {cold:#}");
            let told = |answer: &Value| {
                let parts = [
                    "status",
                    "reason",
                    "totals",
                    "collection_errors",
                    "unfinished",
                    "warnings",
                ];
                let messages: Vec<Value> = answer["tests"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|row| row["message"].clone())
                    .collect();
                (parts.map(|part| answer[part].clone()), messages)
            };
            assert_eq!(rows(&warm), rows(&cold), "{version:?} {arguments}");
            assert_eq!(told(&warm), told(&cold), "{version:?} {arguments}");
        };
        both(&json!({"selector": "test_a.py"}));
        both(&json!({"selector": "x and not skip"}));
        both(&json!({"selector": "test_a.py", "max_failures": 1}));
        both(&json!({"selectors": ["test_a.py", "test_broken.py"]}));
        both(&json!({"selectors": ["test_a.py", "test_dies.py"]}));
        both(&json!({}));
    }
}

#[test]
fn a_plug_in_that_changed_is_never_run_from_memory() {
    let project = Project::new()
        .file("pytest.ini", "[pytest]\naddopts = -p helping\npythonpath = .\n")
        .file(
            "helping.py",
            "import pytest\n@pytest.fixture\ndef value(): return 1\n",
        )
        .file("test_a.py", "def test_a(value): assert value == 1\n");
    let mut client = Client::warm(&project);
    let one = json!({"test_id": "test_a.py::test_a"});
    client.structure("run_single", &one);
    let warm = client.structure("run_single", &one);
    assert_eq!((start(&warm), warm["outcome"].as_str()), ("warm", Some("passed")));
    project.write(
        "helping.py",
        "import pytest\n@pytest.fixture\ndef value(): return 2\n",
    );
    let cold = client.structure("run_single", &one);
    assert_eq!((start(&cold), cold["outcome"].as_str()), ("cold", Some("failed")));
    // It was changed while the process waited, or while it started.
    assert!(why(&cold).contains("helping.py"), "{cold:#}");
    let warm = client.structure("run_single", &one);
    assert_eq!((start(&warm), warm["outcome"].as_str()), ("warm", Some("failed")));
}

#[test]
fn code_and_configuration_are_those_of_the_moment() {
    let project = Project::new()
        .file("pytest.ini", "[pytest]\n")
        .file(
            "conftest.py",
            "import pytest\n@pytest.fixture\ndef value(): return 1\n",
        )
        .file(
            "test_a.py",
            "import pytest\ndef test_a(value): assert value == 1\n@pytest.mark.xfail\ndef test_passes(): pass\n",
        );
    let mut client = Client::warm(&project);
    let one = json!({"test_id": "test_a.py::test_a"});
    client.structure("run_single", &one);
    project.write(
        "conftest.py",
        "import pytest\n@pytest.fixture\ndef value(): return 2\n",
    );
    let warm = client.structure("run_single", &one);
    assert_eq!((start(&warm), warm["outcome"].as_str()), ("warm", Some("failed")));
    let passes = json!({"test_id": "test_a.py::test_passes"});
    let lenient = client.structure("run_single", &passes);
    assert_eq!(lenient["outcome"], "xpassed", "{lenient:#}");
    project.write("pytest.ini", "[pytest]\nxfail_strict = true\n");
    // A process that had read the old configuration does not go on; one that was still starting has read the new one.
    let strict = client.structure("run_single", &passes);
    assert_eq!(strict["outcome"], "failed", "{strict:#}");
    assert!(
        start(&strict) == "warm" || why(&strict).contains("configuration"),
        "{strict:#}"
    );
}

#[test]
fn where_a_new_process_is_needed_the_answer_says_why() {
    let of = |addopts: &str, toml: &str| {
        let project = Project::new()
            .file("pytest.ini", &format!("[pytest]\naddopts = {addopts}\n"))
            .file("test_a.py", "def test_a(): pass\n")
            .file("qaas.toml", toml);
        let mut client = Client::warm(&project);
        let mut last = Value::Null;
        for _ in 0..2 {
            last = client.structure("run_suite", &json!({}));
            assert_eq!(last["status"], "passed", "{last:#}");
            assert_eq!(start(&last), "cold", "{last:#}");
        }
        why(&last).to_owned()
    };
    assert!(of("-n 2", "").contains("--numprocesses"));
    let off = of(
        "",
        "[suite.unit]\nbackend = \"pytest-events\"\noptions = { warm = false }\n",
    );
    assert!(off.contains("always started anew"), "{off}");
}

#[test]
fn nothing_waits_where_it_is_not_wanted() {
    let project = Project::new().file("test_a.py", "def test_a(): pass\n");
    let mut client = Client::start(&project);
    for _ in 0..2 {
        let answer = client.structure("run_suite", &json!({}));
        assert_eq!(start(&answer), "cold", "{answer:#}");
    }
}

#[test]
fn nothing_that_waits_outlives_the_server() {
    let project = Project::new().file("test_a.py", "def test_a(): pass\n");
    let mut client = Client::warm(&project);
    for expected in ["cold", "warm"] {
        let answer = client.structure("run_suite", &json!({}));
        assert_eq!(start(&answer), expected, "{answer:#}");
    }
    client.hang_up();
    assert!(client.ended().success());
    let waits = |pid: &std::path::Path| {
        let line = std::fs::read(pid.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&*project.outside().to_string_lossy())
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let processes = || {
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
    };
    while processes().any(|pid| waits(&pid)) {
        assert!(std::time::Instant::now() < until, "a process still waits");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
