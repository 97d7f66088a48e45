//! Answers from hand-made records.

use super::*;
use crate::model::{Coverage, FileCoverage, Status};
use crate::ops::run_single::SingleOutcome;
use crate::ops::{ErrorKind, OpError, get_coverage, list_tests, run_n_times, run_single, run_suite};

#[test]
fn a_green_run_says_so_in_one_sentence_and_speaks_of_no_trouble() {
    let (_folder, desk) = desk();
    let report = Script::new(&desk, "run_suite", &[])
        .row("tests/test_a.py::t", Outcome::Passed)
        .row("tests/test_a.py::s", Outcome::Skipped)
        .completed(0)
        .done();
    let answer = run_suite::answer(&desk, &report).unwrap();
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
    let (_folder, desk) = desk();
    let report = Script::new(&desk, "run_suite", &["tests"])
        .row("tests/test_a.py::ok", Outcome::Passed)
        .failed("tests/test_a.py::a", "KeyError: 'DATABASE_URL'")
        .failed("tests/test_a.py::b", "assert 1 == 2")
        .completed(1)
        .done();
    let answer = run_suite::answer(&desk, &report).unwrap();
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
    let (_folder, desk) = desk();
    let report = Script::new(&desk, "run_suite", &[])
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
    let json = json(&run_suite::answer(&desk, &report).unwrap());
    assert_eq!(json["status"], "broken");
    assert_eq!(json["tests"][0]["outcome"], "error");
    assert_eq!(json["tests"][0]["phase"], "collect");
    assert_eq!(json["collection_errors"][0]["nodeid"], "tests/test_b.py");
    assert!(
        json["collection_errors"][0].get("outcome").is_none(),
        "it is named, not counted twice"
    );
    assert_eq!(json["totals"]["error"], 1);
    assert_eq!(json["output_tail"], "tail");
}

#[test]
fn a_time_limit_keeps_the_rows_and_names_what_was_running() {
    let (_folder, desk) = desk();
    let report = Script::new(&desk, "run_suite", &[])
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
        .cause(EndCause::TimedOut { limit_ms: 6_000 });
    let answer = run_suite::answer(&desk, &report).unwrap();
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

fn errors(error: &OpError) -> (ErrorKind, &str, u8) {
    (error.kind, error.error.code.as_str(), error.exit())
}

#[test]
fn nothing_to_run_is_an_error_answer_with_what_is_known() {
    let (_folder, desk) = desk();
    let report = Script::new(&desk, "run_suite", &["-k nothing"])
        .tell(TestEvent::Counted {
            selected: 0,
            deselected: 4,
        })
        .completed(5)
        .done();
    let error = run_suite::answer(&desk, &report).unwrap_err();
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
    let (_folder, desk) = desk();
    let ending = Ending::because(
        EndingKind::Broken,
        ExitMeaning::Other,
        "unrecognized arguments: --cov-branch",
    )
    .with_hint("take it out of addopts");
    let report = Script::new(&desk, "run_suite", &[])
        .end(exit(4), ending, "usage: …")
        .done();
    let error = run_suite::answer(&desk, &report).unwrap_err();
    assert_eq!(errors(&error), (ErrorKind::Broken, "broken", 2));
    assert_eq!(error.error.hint.as_deref(), Some("take it out of addopts"));
    assert_eq!(error.known.output_tail.as_deref(), Some("usage: …"));
}

#[test]
fn what_the_engine_could_not_begin_keeps_its_code() {
    let (_folder, desk) = desk();
    let report = Script::new(&desk, "run_suite", &[]).cause(EndCause::Failed {
        code: "no_program".into(),
        message: "could not start python".into(),
        hint: None,
    });
    let error = run_suite::answer(&desk, &report).unwrap_err();
    assert_eq!(errors(&error), (ErrorKind::Broken, "no_program", 2));
}

fn single(
    desk: &Desk,
    id: &str,
    script: impl FnOnce(Script) -> Report,
) -> Result<run_single::Answer, OpError> {
    run_single::answer(desk, &script(Script::new(desk, "run_single", &[id])))
}

#[test]
fn one_test_answers_with_its_failure_in_full() {
    let (_folder, desk) = desk();
    let answer = single(&desk, "tests/test_a.py::t", |script| {
        script
            .failed("tests/test_a.py::t", "assert 1 == 2")
            .completed(1)
            .done()
    })
    .unwrap();
    assert_eq!(answer.headline(), "tests/test_a.py::t: failed.");
    assert_eq!(answer.output.as_deref(), Some("assert 1 == 2"));
    assert!(answer.tests.is_empty());
    let passed = single(&desk, "tests/test_a.py::t", |script| {
        script
            .row("tests/test_a.py::t", Outcome::Passed)
            .completed(0)
            .done()
    })
    .unwrap();
    assert_eq!(
        (passed.output, passed.message, passed.duration_s),
        (None, None, Some(0.1235))
    );
}

#[test]
fn a_base_id_answers_with_all_its_parameters_and_the_worst() {
    let (_folder, desk) = desk();
    let answer = single(&desk, "tests/test_a.py::p", |script| {
        script
            .row("tests/test_a.py::p[1]", Outcome::Passed)
            .failed("tests/test_a.py::p[2]", "boom")
            .row("tests/test_a.py::p[3]", Outcome::Skipped)
            .completed(1)
            .done()
    })
    .unwrap();
    assert_eq!(answer.outcome, SingleOutcome::Finished(Outcome::Failed));
    assert_eq!(
        (answer.nodeid.as_str(), answer.tests.len()),
        ("tests/test_a.py::p", 3)
    );
    let skipped = single(&desk, "tests/test_a.py::p", |script| {
        script
            .row("tests/test_a.py::p[1]", Outcome::Skipped)
            .row("tests/test_a.py::p[2]", Outcome::Skipped)
            .completed(0)
            .done()
    })
    .unwrap();
    assert_eq!(skipped.outcome, SingleOutcome::Finished(Outcome::Skipped));
}

#[test]
fn a_test_that_never_reported_is_never_called_passed() {
    let (_folder, desk) = desk();
    let id = "tests/test_a.py::t";
    let cut = || Ending::because(EndingKind::Cut, ExitMeaning::Other, "the process died");
    let crashed = single(&desk, id, |script| {
        script.started(id).end(killed(false), cut(), "Fatal").done()
    })
    .unwrap();
    assert_eq!(
        (crashed.outcome, crashed.status),
        (SingleOutcome::Crashed, Status::Broken)
    );
    assert_eq!(crashed.output.as_deref().map(str::trim), Some("Fatal"));
    let hung = single(&desk, id, |script| {
        script
            .started(id)
            .end(killed(true), cut(), "")
            .cause(EndCause::TimedOut { limit_ms: 1000 })
    })
    .unwrap();
    assert_eq!((hung.outcome, hung.timed_out), (SingleOutcome::Timeout, true));
    let unimported = single(&desk, id, |script| {
        script
            .collector("tests/test_a.py", "ImportError")
            .end(exit(2), cut(), "")
            .done()
    })
    .unwrap();
    assert_eq!(unimported.outcome, SingleOutcome::NotCollected);
    assert_eq!(unimported.message.as_deref(), Some("ImportError"));
    let other = single(&desk, id, |script| {
        script
            .row("tests/test_a.py::not_t", Outcome::Passed)
            .completed(0)
            .done()
    });
    assert_eq!(
        errors(&other.unwrap_err()),
        (ErrorKind::NoTests, "no_such_test", 5)
    );
}

#[test]
fn the_flake_rate_counts_only_runs_that_reached_the_test() {
    let (_folder, desk) = desk();
    let id = "tests/test_a.py::t";
    let broken = || Ending::because(EndingKind::Broken, ExitMeaning::Other, "internal error");
    let report = Script::new(&desk, "run_n_times", &[id])
        .row(id, Outcome::Passed)
        .completed(0)
        .failed(id, "boom")
        .completed(1)
        .end(exit(3), broken(), "")
        .row(id, Outcome::Passed)
        .completed(0)
        .done();
    let answer = run_n_times::answer(&desk, &report).unwrap();
    let json = json(&answer);
    assert_eq!(
        json["outcomes"],
        serde_json::json!(["passed", "failed", "not_collected", "passed"])
    );
    assert_eq!(
        (answer.runs, answer.valid, answer.passed, answer.failed),
        (4, 3, 2, 1)
    );
    assert_eq!(json["flake_rate"], 0.3333);
    assert_eq!(json["majority_outcome"], "passed");
    assert_eq!(json["messages"], serde_json::json!(["run 2: boom"]));
    assert_eq!(
        answer.headline(),
        "tests/test_a.py::t over 4 runs: 2 passed, 1 did not. FLAKY: 33 % of the runs disagree with the majority \
         (passed). 1 never reached the test and do not count."
    );
}

#[test]
fn runs_that_never_reached_the_test_have_no_rate() {
    let (_folder, desk) = desk();
    let id = "tests/test_a.py::t";
    let broken = Ending::because(
        EndingKind::Broken,
        ExitMeaning::Other,
        "conftest.py cannot be imported",
    );
    let report = Script::new(&desk, "run_n_times", &[id])
        .end(exit(4), broken, "")
        .cause(EndCause::Cancelled {
            by: "run_n_times".into(),
        });
    let error = run_n_times::answer(&desk, &report).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Broken);
    assert!(
        error.headline().contains("conftest.py cannot be imported"),
        "{}",
        error.headline()
    );
    let missing = Script::new(&desk, "run_n_times", &[id])
        .completed(5)
        .cause(EndCause::Cancelled {
            by: "run_n_times".into(),
        });
    assert_eq!(
        run_n_times::answer(&desk, &missing).unwrap_err().kind,
        ErrorKind::NoTests
    );
}

#[test]
fn an_iteration_cut_by_the_limit_for_all_of_them_does_not_count() {
    let (_folder, desk) = desk();
    let id = "tests/test_a.py::t";
    let cut = Ending::because(EndingKind::Cut, ExitMeaning::Other, "killed");
    let report = Script::new(&desk, "run_n_times", &[id])
        .row(id, Outcome::Passed)
        .completed(0)
        .started(id)
        .end(killed(true), cut, "")
        .cause(EndCause::TimedOut { limit_ms: 2000 });
    let answer = run_n_times::answer(&desk, &report).unwrap();
    assert_eq!((answer.runs, answer.valid, answer.passed), (1, 1, 1));
    assert!(answer.timed_out);
}

fn measured(percents: &[(&str, f64)]) -> TestEvent {
    let file = |(path, percent): &(&str, f64)| FileCoverage {
        path: (*path).into(),
        percent: *percent,
        covered_lines: 1,
        statements: 2,
        missing_lines: Vec::new(),
        covered_branches: 0,
        branches: 0,
    };
    TestEvent::Coverage(Coverage {
        percent: Some(61.236),
        files: percents.iter().map(file).collect(),
    })
}

#[test]
fn coverage_answers_with_rounded_percents_and_shows_failing_tests() {
    let (_folder, desk) = desk();
    let report = Script::new(&desk, "get_coverage", &[])
        .failed("tests/test_a.py::t", "boom")
        .tell(measured(&[("src/b.py", 62.499), ("src/a.py", 100.0)]))
        .completed(1)
        .done();
    let answer = get_coverage::answer(&desk, &report).unwrap();
    let json = json(&answer);
    assert_eq!(json["overall_percent"], 61.24);
    assert_eq!(
        json["files"],
        serde_json::json!({ "src/a.py": 100.0, "src/b.py": 62.5 })
    );
    assert_eq!(
        (&json["tests_exit_code"], &json["status"]),
        (&1.into(), &"failed".into())
    );
    assert_eq!(json["tests"][0]["nodeid"], "tests/test_a.py::t");
    assert_eq!(
        answer.headline(),
        "Coverage (lines) 61.24 % over 2 files. Lowest: src/b.py 62.5 %. The tests: 1 failed, status failed."
    );
}

#[test]
fn coverage_below_wanted_paths_goes_by_whole_path_parts() {
    let (_folder, desk) = desk();
    let answer = || {
        let report = Script::new(&desk, "get_coverage", &[])
            .row("tests/test_a.py::t", Outcome::Passed)
            .tell(measured(&[("src/a/x.py", 50.0), ("src/ab.py", 10.0)]))
            .completed(0)
            .done();
        get_coverage::answer(&desk, &report).unwrap()
    };
    let wanted = |paths: &[&str]| {
        let mut answer = answer();
        let paths: Vec<String> = paths.iter().map(|&path| path.into()).collect();
        get_coverage::keep_wanted(&mut answer, &paths).map(|()| answer)
    };
    let kept = wanted(&["src/a"]).unwrap();
    assert_eq!(kept.files.keys().collect::<Vec<_>>(), ["src/a/x.py"]);
    assert!(kept.warnings.is_empty());
    assert_eq!(wanted(&["."]).unwrap().files.len(), 2);
    assert_eq!(
        wanted(&["src/a", "lib"]).unwrap().warnings,
        ["nothing was measured below lib"]
    );
    let error = wanted(&["lib", "other"]).unwrap_err();
    assert_eq!(errors(&error), (ErrorKind::BadRequest, "nothing_measured", 4));
    assert!(
        error.error.message.contains("lib, other"),
        "{}",
        error.error.message
    );
}

#[test]
fn coverage_without_figures_is_an_error_and_over_the_limit_an_answer_without_files() {
    let (_folder, desk) = desk();
    let start = || Script::new(&desk, "get_coverage", &[]).row("tests/test_a.py::t", Outcome::Passed);
    let none = get_coverage::answer(&desk, &start().completed(0).done()).unwrap_err();
    assert_eq!(errors(&none), (ErrorKind::Broken, "no_coverage", 2));
    let cut = Ending::because(EndingKind::Cut, ExitMeaning::Other, "killed");
    let report = start()
        .end(killed(true), cut, "")
        .cause(EndCause::TimedOut { limit_ms: 1000 });
    let answer = get_coverage::answer(&desk, &report).unwrap();
    assert!(answer.timed_out && answer.files.is_empty() && answer.overall_percent.is_none());
    assert_eq!(answer.hint.as_deref(), Some("Narrow it with `selector`."));
    assert_eq!(answer.totals.total(), 1);
}

#[test]
fn a_list_names_the_tests_and_what_could_not_be_collected() {
    let (_folder, desk) = desk();
    let found = |nodeid: &str| TestEvent::Found {
        nodeid: nodeid.into(),
        location: None,
    };
    let start = || {
        Script::new(&desk, "list_tests", &[])
            .tell(found("a.py::t[x::y]"))
            .tell(found("a.py::u"))
    };
    let whole = list_tests::answer(&desk, &start().completed(0).done()).unwrap();
    assert_eq!(whole.headline(), "2 tests in 1 file.");
    assert_eq!((whole.status, whole.exit()), ("done", 0));
    let part = start().collector("b.py", "SyntaxError").completed(2).done();
    let part = list_tests::answer(&desk, &part).unwrap();
    assert_eq!((part.status, part.exit()), ("incomplete", 2));
    let nothing = Script::new(&desk, "list_tests", &[]).completed(5).done();
    assert_eq!(list_tests::answer(&desk, &nothing).unwrap_err().exit(), 5);
}

#[test]
fn no_answer_has_a_field_that_envelopes_use() {
    let (_folder, desk) = desk();
    let report = Script::new(&desk, "run_suite", &[])
        .failed("tests/test_a.py::t", "boom")
        .completed(1)
        .done();
    let answers = [
        json(&run_suite::answer(&desk, &report).unwrap()),
        json(
            &run_single::answer(
                &desk,
                &Script::new(&desk, "run_single", &["t.py::t"])
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
