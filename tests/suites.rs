//! One repository with several suites, by the commands and by the tools.

use serde_json::{Value, json};

use crate::support::{Client, Project};

/// Two Python projects that look alike, as `qaas.toml` names them.
fn two() -> Project {
    Project::new()
        .file(
            "alpha/tests/test_it.py",
            "def test_env(): pass\ndef test_red(): assert 1 == 2\n",
        )
        .file("beta/tests/test_it.py", "def test_env(): pass\n")
        .file(
            "beta/tests/test_other.py",
            "def test_other(): assert 'b' == 'c'\n",
        )
        .file(
            "qaas.toml",
            "[suite.alpha]\ndir = \"alpha\"\n[suite.beta]\ndir = \"beta\"\n",
        )
}

/// Suite and status of each part.
fn suites(answer: &Value) -> Vec<(String, String)> {
    let parts = answer["suites"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer:#}"));
    let word = |part: &Value, name: &str| part[name].as_str().unwrap_or_default().to_owned();
    parts
        .iter()
        .map(|part| (word(part, "suite"), word(part, "status")))
        .collect()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter()
        .map(|(suite, status)| ((*suite).to_owned(), (*status).to_owned()))
        .collect()
}

#[test]
fn a_call_that_names_no_suite_is_about_all_of_them_for_every_tool() {
    let project = two();
    let run = project.call("run_suite", &json!({}));
    assert_eq!(run["status"], "failed", "{run:#}");
    assert_eq!(
        run["totals"],
        json!({"total": 4, "passed": 2, "failed": 2}),
        "{run:#}"
    );
    assert_eq!(suites(&run), pairs(&[("alpha", "failed"), ("beta", "failed")]));
    let list = project.call("list_tests", &json!({}));
    assert_eq!(
        (&list["status"], &list["total"]),
        (&json!("done"), &json!(4)),
        "{list:#}"
    );
    let coverage = project.call("get_coverage", &json!({"selector": "alpha/tests"}));
    assert_eq!(coverage["environment"]["suite"], "alpha", "{coverage:#}");
    let again = project.call("run_suite", &json!({"failed_of": "last"}));
    assert_eq!(again["totals"], json!({"total": 2, "failed": 2}), "{again:#}");
}

#[test]
fn several_suites_are_one_json_value_with_what_the_tool_answers() {
    let project = two();
    let answer = project.qaas(&["run", "--format", "json"]);
    assert_eq!(answer.code, Some(1));
    let answer = answer.json();
    assert_eq!(suites(&answer), pairs(&[("alpha", "failed"), ("beta", "failed")]));
    let listed = project.qaas(&["list", "--format", "json"]).json();
    assert_eq!(suites(&listed), pairs(&[("alpha", "done"), ("beta", "done")]));
    let stream = project.qaas(&["run", "--format", "jsonl"]).stdout;
    let ends = stream
        .lines()
        .filter(|line| line.starts_with(r#"{"type":"finished""#));
    assert_eq!(ends.count(), 2, "{stream}");
}

#[test]
fn selectors_of_several_suites_are_cut_and_printed_ids_find_theirs() {
    let project = two();
    let both = project.qaas(&["run", "alpha/tests/test_it.py::test_env", "beta/tests/test_it.py"]);
    assert_eq!(both.code, Some(0), "{}{}", both.stdout, both.stderr);
    assert!(
        both.stdout.contains("2 suites, passed: 2 tests"),
        "{}",
        both.stdout
    );
    let other = project.qaas(&["run", "tests/test_other.py::test_other"]);
    assert_eq!(other.code, Some(1), "{}{}", other.stdout, other.stderr);
    let single = project.call("run_single", &json!({"test_id": "tests/test_it.py::test_env"}));
    assert_eq!(single["error"]["code"], "suite_needed", "{single:#}");
    let ready = &single["next"][1];
    let there = project.call(ready["tool"].as_str().unwrap(), &ready["arguments"]);
    assert_eq!(
        (&there["status"], &there["environment"]["suite"]),
        (&json!("passed"), &json!("beta"))
    );
    let word = project.call("run_suite", &json!({"selector": "other"}));
    assert_eq!(suites(&word), pairs(&[("beta", "failed")]), "{word:#}");
    assert_eq!(word["left_out"][0]["suite"], "alpha", "{word:#}");
}

#[test]
fn stopping_at_the_first_failure_stops_all_suites_and_the_last_line_sums_up() {
    let answer = two().qaas(&["run", "-x"]);
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    assert!(!answer.stdout.contains("test_other"), "{}", answer.stdout);
    let last = answer.stdout.lines().last().unwrap();
    assert!(last.contains("Left out: beta (not begun"), "{last}");
}

#[test]
fn a_background_run_of_several_suites_has_a_run_for_each() {
    let project = two();
    let mut client = Client::start(&project);
    let started = client.structure("run_suite", &json!({"background": true}));
    let runs = started["suites"]
        .as_array()
        .unwrap_or_else(|| panic!("{started:#}"));
    for (run, status) in runs.iter().zip(["failed", "failed"]) {
        let answer = client.structure("get_run", &json!({"run_id": run["run_id"], "wait_s": 90}));
        assert_eq!(answer["status"], status, "{answer:#}");
    }
    assert_eq!(runs.len(), 2);
}

#[test]
fn what_lies_in_no_suite_is_refused_and_nothing_else_runs_in_its_place() {
    let project = two().file("lib/test_x.py", "def test_x(): pass\n");
    for (selector, code) in [
        ("lib/test_x.py", "suite_needed"),
        ("lib", "suite_needed"),
        ("/etc", "outside_root"),
        ("../elsewhere", "outside_root"),
    ] {
        let answer = project.call("run_suite", &json!({"selector": selector}));
        assert_eq!(answer["error"]["code"], code, "{selector}: {answer:#}");
        assert!(answer["totals"].is_null(), "{answer:#}");
    }
}
