//! Why something failed is what an answer begins with, for people and for agents.

use serde_json::{Value, json};

use crate::support::Project;

#[test]
fn a_failure_for_want_of_a_variable_is_not_called_the_callers_doing() {
    let project = Project::new()
        .env("DATABASE_URL", "postgres://here")
        .file(
            "test_e.py",
            "import os\n\ndef test_db():\n    assert os.environ['DATABASE_URL'].startswith('postgres')\n",
        )
        .file("pytest.ini", "[pytest]\n");
    assert_eq!(project.qaas(&["run"]).code, Some(0));
    let answer = project.call("run_suite", &json!({}));
    let changes = &answer["changed_since"];
    assert_eq!(changes["newly_failing"]["count"], 1, "{answer:#}");
    assert_eq!(
        changes["without_variables"],
        json!(["DATABASE_URL"]),
        "{answer:#}"
    );
    let hint = answer["hint"].as_str().unwrap();
    assert!(hint.contains("`[env] pass = [\"DATABASE_URL\"]`"), "{hint}");
    assert_eq!(
        answer["tests"][0]["location"],
        json!({"file": "test_e.py", "line": 4}),
        "{answer:#}"
    );
    let single = project.call("run_single", &json!({"test_id": "test_e.py::test_db"}));
    assert_eq!(single["hint"], answer["hint"], "{single:#}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_memory_that_bites_is_named_and_not_the_reporter() {
    let project = Project::new()
        .file(
            "test_m.py",
            "def test_m():\n    assert len(bytearray(900_000_000))\n",
        )
        .file("qaas.toml", "[suite.unit]\nlimits = { memory = \"20MB\" }\n");
    let answer = project.call("run_suite", &json!({}));
    let text = answer.to_string();
    assert!(text.contains("limit `memory = \\\"20MB\\\"`"), "{answer:#}");
    assert!(!text.contains("really pytest"), "{answer:#}");
    let people = project.qaas(&["run"]);
    let said = people.stdout + &people.stderr;
    assert!(
        said.contains("`memory = \"20MB\"`") && said.contains("raise `memory`"),
        "{said}"
    );
}

fn crashing() -> Project {
    Project::new()
        .file(
            "lib.py",
            "import ctypes\n\ndef crash():\n    ctypes.string_at(0)\n",
        )
        .file(
            "test_s.py",
            "import lib\n\ndef test_ok():\n    pass\n\ndef test_segv():\n    lib.crash()\n",
        )
}

#[test]
fn a_crash_is_told_by_the_projects_frames_for_people_and_for_agents() {
    let project = crashing();
    let answer = project.call("run_suite", &json!({}));
    assert_eq!(answer["status"], "incomplete", "{answer:#}");
    let stack = answer["unfinished"][0]["stack"].as_str().unwrap();
    assert!(
        stack.contains("lib.py:4 in crash\ntest_s.py:7 in test_segv"),
        "{stack}"
    );
    assert!(!answer.to_string().contains("_pytest/"), "{answer:#}");
    assert!(
        answer.to_string().len() < 2_600,
        "{} bytes: {answer:#}",
        answer.to_string().len()
    );
    let people = project.qaas(&["run"]).stdout;
    assert!(
        people.contains("lib.py:4 in crash") && !people.contains("_pytest/"),
        "{people}"
    );
}

/// All texts of an answer.
fn texts(answer: &Value) -> String {
    answer.to_string().replace("\\n", "\n")
}

#[test]
fn a_file_that_does_not_load_begins_with_its_place_and_cause_in_every_backend() {
    for backend in ["pytest-events", "pytest-json", "pytest-terminal"] {
        let project = Project::new()
            .file("qaas.toml", &format!("[suite.unit]\nbackend = \"{backend}\"\n"))
            .file("helper.py", "import json\nimport nope_thing\n")
            .file("test_imp.py", "import helper\n")
            .file("test_syn.py", "def f(:\n    pass\n");
        let people = project.qaas(&["run"]).stdout;
        for (head, cause) in [
            (
                "ERROR test_imp.py (collect)",
                "helper.py:2: ModuleNotFoundError: No module named 'nope_thing'",
            ),
            (
                "ERROR test_syn.py (collect)",
                "test_syn.py:1: SyntaxError: invalid syntax",
            ),
        ] {
            let at = people.find(head).unwrap_or_else(|| panic!("{backend}: {people}"));
            let next = people[at..].lines().nth(1).unwrap_or_default();
            assert_eq!(next.trim(), cause, "{backend}: {people}");
        }
        assert!(
            !people.contains("importlib") && !people.contains("_pytest"),
            "{backend}: {people}"
        );
        let answer = project.call("run_suite", &json!({}));
        let text = texts(&answer);
        assert!(!text.contains("importlib"), "{backend}: {answer:#}");
        let errors = answer["collection_errors"].as_array().unwrap();
        let place = |nodeid: &str| {
            let error = errors.iter().find(|error| error["nodeid"] == nodeid).unwrap();
            error["location"].clone()
        };
        assert_eq!(
            place("test_imp.py"),
            json!({"file": "helper.py", "line": 2}),
            "{backend}"
        );
        assert_eq!(
            place("test_syn.py"),
            json!({"file": "test_syn.py", "line": 1}),
            "{backend}"
        );
    }
}

#[test]
fn a_package_below_src_that_is_not_installed_is_told_with_the_way_to_install_it() {
    let project = Project::new()
        .file("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n")
        .file("src/shop/__init__.py", "")
        .file("tests/test_a.py", "import shop.cart\n\ndef test_a():\n    pass\n");
    let answer = project.call("run_suite", &json!({}));
    let warnings = answer["warnings"].to_string();
    assert!(
        warnings.contains("`shop` lies in `src`") && warnings.contains("pip install -e ."),
        "{answer:#}"
    );
    let people = project.qaas(&["run"]).stdout;
    assert!(people.contains("note: `shop` lies in `src`"), "{people}");
}

#[test]
fn what_a_passing_test_printed_can_be_read() {
    let project = Project::new().file(
        "test_p.py",
        "import sys\n\ndef test_p():\n    print('out of it')\n    print('beside it', file=sys.stderr)\n\ndef test_quiet():\n    pass\n",
    );
    let answer = project.call("run_single", &json!({"test_id": "test_p.py::test_p"}));
    let output = answer["output"].as_str().unwrap();
    assert!(
        output.contains("out of it") && output.contains("beside it"),
        "{answer:#}"
    );
    let quiet = project.call("run_single", &json!({"test_id": "test_p.py::test_quiet"}));
    assert_eq!(quiet["output"], Value::Null, "{quiet:#}");
    assert_eq!(project.qaas(&["run", "test_p.py::test_p"]).code, Some(0));
    let shown = project.qaas(&["show", "--test", "test_p.py::test_p"]).stdout;
    assert!(
        shown.contains("passed  test_p.py::test_p") && shown.contains("   out of it"),
        "{shown}"
    );
}

#[test]
fn rows_that_are_shown_by_outcome_are_set_apart_from_their_texts() {
    let project = Project::new().file("test_f.py", "def test_f():\n    assert 1 == 2\n");
    project.qaas(&["run"]);
    let shown = project.qaas(&["show", "--outcome", "failed"]).stdout;
    assert!(
        shown.starts_with("failed  test_f.py::test_f  test_f.py:2\n   def test_f():"),
        "{shown}"
    );
}
