//! `run_suite`, and what all answers share: answers from hand-made records.

use super::*;
use crate::{run_single, run_suite};
use runner_core::model::Status;

#[test]
fn a_green_run_says_so_in_one_sentence_and_speaks_of_no_trouble() {
    let (_folder, workspace) = workspace();
    let report = Script::new(&workspace, "run_suite", &[])
        .row("tests/test_a.py::t", Outcome::Passed)
        .row("tests/test_a.py::s", Outcome::Skipped)
        .completed(0)
        .done();
    let answer = run_suite::answer(&workspace, &report).unwrap();
    assert_eq!(answer.headline(), "2 tests: 1 passed, 1 skipped in 1.2 s.");
    let json = json(&answer);
    assert_eq!(
        json["totals"],
        serde_json::json!({ "total": 2, "passed": 1, "skipped": 1 })
    );
    assert_eq!(json["tests"][0]["duration_s"], 0.1235);
    assert_eq!(json["tests"][0]["message"], serde_json::Value::Null);
    assert_eq!(
        (&json["duration_s"], &json["selector"]),
        (&1.235.into(), &serde_json::Value::Null)
    );
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    let expected = [
        "run_id",
        "status",
        "totals",
        "tests",
        "exit_code",
        "timed_out",
        "duration_s",
        "parser",
        "cwd",
        "selector",
        "environment",
    ];
    assert_eq!(keys, expected);
}

#[test]
fn failures_come_with_ready_calls_and_the_variables_they_speak_of() {
    let (_folder, workspace) = workspace();
    let report = Script::new(&workspace, "run_suite", &["tests"])
        .row("tests/test_a.py::ok", Outcome::Passed)
        .failed("tests/test_a.py::a", "KeyError: 'DATABASE_URL'")
        .failed("tests/test_a.py::b", "assert 1 == 2")
        .completed(1)
        .done();
    let answer = run_suite::answer(&workspace, &report).unwrap();
    assert_eq!(answer.status, Status::Failed);
    assert_eq!(answer.headline(), "3 tests: 1 passed, 2 failed in 1.2 s.");
    assert_eq!(answer.environment.dropped_variables, ["DATABASE_URL"]);
    let calls = json(&answer.next);
    assert_eq!(calls[0]["tool"], "run_single");
    assert_eq!(
        calls[0]["arguments"],
        serde_json::json!({ "test_id": "tests/test_a.py::a" })
    );
    assert_eq!(calls[1]["arguments"], serde_json::json!({ "failed_of": "r1" }));
    assert_eq!(answer.output_tail, None);
}

#[test]
fn a_collector_that_failed_is_a_row_and_is_named_again() {
    let (_folder, workspace) = workspace();
    let report = Script::new(&workspace, "run_suite", &[])
        .collector("tests/test_b.py", "SyntaxError: invalid syntax")
        .end(
            exit(2),
            Ending::because(
                EndingKind::Interrupted,
                ExitMeaning::Other,
                "1 error during collection",
            ),
            "tail",
        )
        .done();
    let json = json(&run_suite::answer(&workspace, &report).unwrap());
    assert_eq!(json["status"], "broken");
    assert_eq!(json["tests"][0]["outcome"], "error");
    assert_eq!(json["tests"][0]["phase"], "collect");
    assert_eq!(json["collection_errors"][0]["nodeid"], "tests/test_b.py");
    assert!(
        json["collection_errors"][0].get("outcome").is_none(),
        "it is named, not counted twice"
    );
    assert_eq!(json["totals"]["error"], 1);
    assert!(json.get("output_tail").is_none(), "the error has said it");
}

#[test]
fn a_time_limit_keeps_the_rows_and_names_what_was_running() {
    let (_folder, workspace) = workspace();
    let report = Script::new(&workspace, "run_suite", &[])
        .tell(TestEvent::Counted {
            selected: 5,
            deselected: 0,
        })
        .row("tests/test_a.py::quick", Outcome::Passed)
        .started("tests/test_a.py::stuck")
        .end(
            killed(true),
            Ending::because(EndingKind::Cut, ExitMeaning::Other, "killed"),
            "tail",
        )
        .cause(StopReason::TimedOut {
            limit_ms: 6_000,
            unanswered: None,
        });
    let answer = run_suite::answer(&workspace, &report).unwrap();
    assert!(answer.timed_out);
    assert_eq!((answer.exit_code, answer.signal), (None, Some(9)));
    assert_eq!(answer.never_started, Some(3));
    assert_eq!(json(&answer.unfinished)[0]["nodeid"], "tests/test_a.py::stuck");
    let headline = answer.headline();
    assert!(
        headline.contains("TIMED OUT: these are partial results (the time limit of 6 s passed"),
        "{headline}"
    );
    assert_eq!(
        json(&answer.next)[0]["arguments"]["test_id"],
        "tests/test_a.py::stuck"
    );
}

#[test]
fn nothing_to_run_is_an_error_answer_with_what_is_known() {
    let (_folder, workspace) = workspace();
    let report = Script::new(&workspace, "run_suite", &["-k nothing"])
        .tell(TestEvent::Counted {
            selected: 0,
            deselected: 4,
        })
        .completed(5)
        .done();
    let error = run_suite::answer(&workspace, &report).unwrap_err();
    assert_eq!(errors(&error), (ErrorKind::NoTests, "no_tests", 5));
    let json = json(&error);
    assert_eq!(json["status"], "no_tests");
    assert_eq!(json["exit_code"], 5);
    assert_eq!(json["run_id"], "r1");
    assert!(
        json["error"]["message"]
            .as_str()
            .unwrap()
            .contains("4 deselected"),
        "{json}"
    );
    assert!(json["error"]["hint"].as_str().unwrap().contains("list_tests"));
    assert_eq!(json["next"][0]["tool"], "list_tests");
    assert_eq!(json["environment"]["backend"], "paper");
}

#[test]
fn a_framework_that_does_not_come_to_a_test_is_an_error_answer() {
    let (_folder, workspace) = workspace();
    let ending = Ending::because(
        EndingKind::Broken,
        ExitMeaning::Other,
        "unrecognized arguments: --cov-branch",
    )
    .with_hint("take it out of addopts");
    let report = Script::new(&workspace, "run_suite", &[])
        .end(exit(4), ending, "usage: …")
        .done();
    let error = run_suite::answer(&workspace, &report).unwrap_err();
    assert_eq!(errors(&error), (ErrorKind::Broken, "broken", 2));
    assert_eq!(error.error.hint.as_deref(), Some("take it out of addopts"));
    assert_eq!(error.known.output_tail.as_deref(), Some("usage: …"));
}

#[test]
fn what_the_engine_could_not_begin_keeps_its_code() {
    let (_folder, workspace) = workspace();
    let report = Script::new(&workspace, "run_suite", &[]).cause(StopReason::Failed {
        code: "no_program".into(),
        message: "could not start python".into(),
        hint: None,
    });
    let error = run_suite::answer(&workspace, &report).unwrap_err();
    assert_eq!(errors(&error), (ErrorKind::Broken, "no_program", 2));
}

#[test]
fn no_answer_has_a_field_that_envelopes_use() {
    let (_folder, workspace) = workspace();
    let report = Script::new(&workspace, "run_suite", &[])
        .failed("tests/test_a.py::t", "boom")
        .completed(1)
        .done();
    let answers = [
        json(&run_suite::answer(&workspace, &report).unwrap()),
        json(
            &run_single::answer(
                &workspace,
                &Script::new(&workspace, "run_single", &["t.py::t"])
                    .row("t.py::t", Outcome::Passed)
                    .completed(0)
                    .done(),
            )
            .unwrap(),
        ),
    ];
    for answer in answers {
        for field in [
            "data",
            "result",
            "structured",
            "content",
            "text",
            "ok",
            "raised",
            "error",
        ] {
            assert!(answer.get(field).is_none(), "{field} in {answer}");
        }
        assert!(answer.get("status").is_some());
    }
}
