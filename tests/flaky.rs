//! A test that passes only when its framework runs it again is flaky in every answer, whoever asks.

use serde_json::json;

use crate::frameworks::javascript;
use crate::support::{Answer, Project, Pytest};

/// Fails at first, passes at the second try, in each process anew.
const FLAKY: &str = "import pytest\n\
    TRIES = []\n\
    @pytest.mark.flaky(reruns=2)\n\
    def test_second():\n    TRIES.append(1)\n    assert len(TRIES) == 2, 'not yet'\n\
    def test_sound(): pass\n";
const ID: &str = "test_f.py::test_second";

fn people_see_it(project: &Project, words: &[&str], id: &str) -> Answer {
    let answer = project.qaas(words);
    assert_eq!(answer.code, Some(0), "{}{}", answer.stdout, answer.stderr);
    for expected in [
        format!("FLAKY {id} (passed in try 2 of 2)"),
        format!("flaky   {id}  passed in try 2 of 2"),
        "1 of them flaky".to_owned(),
    ] {
        assert!(
            answer.stdout.contains(&expected),
            "{words:?}: {expected}: {}",
            answer.stdout
        );
    }
    answer
}

#[test]
fn a_pass_after_reruns_is_flaky_in_every_answer() {
    for backend in ["pytest-events", "pytest-json", "pytest-terminal"] {
        let project = Project::with_pytest(Pytest::V8_4)
            .file("test_f.py", FLAKY)
            .file("qaas.toml", &format!("[suite.unit]\nbackend = \"{backend}\"\n"));
        let run = people_see_it(&project, &["run", "--junit", "report.xml"], ID);
        assert!(
            run.stdout.contains("passed: 2 passed"),
            "{backend}: {}",
            run.stdout
        );
        people_see_it(&project, &["show"], ID);
        let xml = std::fs::read_to_string(project.root().join("report.xml")).unwrap();
        assert!(xml.contains("<flakyFailure"), "{backend}: {xml}");

        let suite = project.call("run_suite", &json!({}));
        assert_eq!(
            suite["flaky"],
            json!({"count": 1, "ids": [ID]}),
            "{backend}: {suite:#}"
        );
        assert_eq!(
            suite["totals"],
            json!({"total": 2, "passed": 2}),
            "{backend}: {suite:#}"
        );
        let rows = suite["tests"].as_array().unwrap();
        let row = rows.iter().find(|row| row["nodeid"] == ID).unwrap();
        assert_eq!(row["flaky"], true, "{backend}: {suite:#}");
        let single = project.call("run_single", &json!({"test_id": ID}));
        assert_eq!(
            (&single["outcome"], &single["flaky"]),
            (&json!("passed"), &json!(true)),
            "{backend}: {single:#}"
        );
        assert_eq!(
            single["attempts"].as_array().map(Vec::len),
            Some(1),
            "{backend}: {single:#}"
        );
        let page = project.call("get_run", &json!({"run_id": suite["run_id"], "part": "tests"}));
        assert_eq!(page["flaky"]["count"], 1, "{backend}: {page:#}");
    }
}

#[test]
fn a_repeated_test_that_each_run_saved_by_a_rerun_is_not_called_stable() {
    let project = Project::with_pytest(Pytest::V8_4).file("test_f.py", FLAKY);
    let answer = project.call("run_n_times", &json!({"test_id": ID, "n": 2}));
    assert_eq!(
        (&answer["passed"], &answer["flaky"]),
        (&json!(2), &json!(2)),
        "{answer:#}"
    );
    let people = project.qaas(&["repeat", ID, "-n", "2"]);
    assert!(
        people.stdout.contains("FLAKY: in 2 of the runs"),
        "{}",
        people.stdout
    );
    assert!(!people.stdout.contains("Stable"), "{}", people.stdout);
}

#[test]
fn a_retry_of_vitest_and_of_jest_is_flaky_too() {
    let body = "let n = 0\ntest('second', RETRY () => { if (++n < 2) throw new Error('not yet') })\n";
    for (package, file, text) in [
        (
            r#"{"private": true, "type": "module", "devDependencies": {"vitest": "*"}}"#,
            "f.test.js",
            format!(
                "import {{ test }} from 'vitest'\n{}",
                body.replace("RETRY", "{ retry: 2 },")
            ),
        ),
        (
            r#"{"private": true, "devDependencies": {"jest": "*"}}"#,
            "f.test.js",
            format!("jest.retryTimes(2)\n{}", body.replace("RETRY", "")),
        ),
    ] {
        let project = javascript(package).file(file, &text);
        people_see_it(&project, &["run"], "f.test.js::second");
        let suite = project.call("run_suite", &json!({}));
        assert_eq!(suite["flaky"]["count"], 1, "{package}: {suite:#}");
    }
}
