//! What a framework prints itself is shown to whoever asks it to print.

use crate::support::{Project, Pytest};

const TESTS: &str = "import logging, time, warnings, pytest\n\n\
    @pytest.fixture\ndef base():\n    return 1\n\n\
    def test_slow(base):\n    print('a word of a test')\n    logging.getLogger().warning('a record')\n    time.sleep(0.02)\n\n\
    def test_warns():\n    warnings.warn('careful there')\n";

fn project(version: Pytest) -> Project {
    Project::with_pytest(version).file("test_o.py", TESTS)
}

fn shown(project: &Project, words: &[&str], expected: &[&str]) -> String {
    let answer = project.qaas(words);
    assert_eq!(
        answer.code,
        Some(0),
        "{words:?}: {}{}",
        answer.stdout,
        answer.stderr
    );
    for text in expected {
        assert!(
            answer.stdout.contains(text),
            "{words:?}: {text}: {}{}",
            answer.stdout,
            answer.stderr
        );
    }
    answer.stdout
}

#[test]
fn options_that_print_show_what_they_print() {
    for version in Pytest::ALL {
        let project = project(version);
        shown(
            &project,
            &["run"],
            &["── warnings summary", "careful there", "2 passed, 1 warning in"],
        );
        shown(
            &project,
            &["run", "--", "--durations=3"],
            &["slowest", "test_o.py::test_slow"],
        );
        shown(
            &project,
            &["run", "--", "-rA"],
            &["PASSES", "a word of a test", "PASSED test_o.py::test_slow"],
        );
        shown(
            &project,
            &["run", "--", "--setup-show"],
            &["SETUP    F base", "passed: 2 passed"],
        );
        shown(
            &project,
            &["run", "-s"],
            &["a word of a test", "passed: 2 passed"],
        );
        shown(
            &project,
            &["run", "--", "-o", "log_cli=true"],
            &["a record", "passed: 2 passed"],
        );
    }
}

#[test]
fn an_option_for_something_else_than_running_tests_is_not_called_broken() {
    for version in [Pytest::V7_4, Pytest::V9_2] {
        let project = project(version);
        for (word, expected) in [
            ("--fixtures", "base -- test_o.py"),
            ("--markers", "@pytest.mark.skip"),
            ("--help", "--maxfail"),
            ("--co", "<Function test_slow>"),
            ("--setup-plan", "SETUP    F base"),
        ] {
            let said = shown(&project, &["run", "--", word], &[expected]);
            assert!(!said.contains("broken"), "{word}: {said}");
        }
    }
}

#[test]
fn the_other_backends_of_pytest_show_it_too_and_not_what_they_ask_for_themselves() {
    for backend in ["pytest-json", "pytest-terminal"] {
        let project =
            project(Pytest::V9_2).file("qaas.toml", &format!("[suite.unit]\nbackend = \"{backend}\"\n"));
        let plain = shown(&project, &["run"], &["── warnings summary", "1 warning"]);
        assert!(!plain.contains("slowest"), "{backend}: {plain}");
        shown(&project, &["run", "--durations", "2"], &["slowest", "test_slow"]);
        shown(&project, &["run", "--", "--markers"], &["@pytest.mark.skip"]);
    }
}

#[test]
fn an_agent_is_told_how_many_warnings_there_were_and_finds_them_in_the_output() {
    let project = project(Pytest::V9_2);
    let answer = project.call("run_suite", &serde_json::json!({}));
    assert_eq!(answer["framework_warnings"], 1, "{answer:#}");
    let output = project.call(
        "get_run",
        &serde_json::json!({"run_id": "last", "search": "careful"}),
    );
    assert!(
        output["output"].as_str().unwrap().contains("careful there"),
        "{output:#}"
    );
    assert_eq!(output["lines"], 2, "{output:#}");
    let tail = project.call("get_run", &serde_json::json!({"run_id": "last", "tail": 1}));
    assert!(tail["output"].as_str().unwrap().contains("2 passed"), "{tail:#}");
}

#[test]
fn a_word_of_pytest_is_refused_where_another_framework_runs_the_suite() {
    let project = Project::bare().file(
        "qaas.toml",
        "[suite.x]\nbackend = \"x\"\n[backend.x]\nkind = \"command\"\nrun = [\"true\"]\nreport = { format = \"tap\" }\n",
    );
    let answer = project.qaas(&["run", "--pdb", "--trust"]);
    assert_eq!(answer.code, Some(4), "{}{}", answer.stdout, answer.stderr);
    assert!(answer.stderr.contains("`--pdb` is pytest's"), "{}", answer.stderr);
}
