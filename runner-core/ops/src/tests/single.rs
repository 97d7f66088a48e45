//! `run_single` and `run_n_times`: answers from hand-made records.

use super::*;
use crate::run_single::SingleOutcome;
use crate::{run_n_times, run_single};
use runner_core::model::Status;

fn single(
    workspace: &Workspace,
    id: &str,
    script: impl FnOnce(Script) -> Report,
) -> Result<run_single::Answer, OpError> {
    run_single::answer(workspace, &script(Script::new(workspace, "run_single", &[id])))
}

#[test]
fn one_test_answers_with_its_failure_in_full() {
    let (_folder, workspace) = workspace();
    let answer = single(&workspace, "tests/test_a.py::t", |script| {
        script
            .failed("tests/test_a.py::t", "assert 1 == 2")
            .completed(1)
            .done()
    })
    .unwrap();
    assert_eq!(answer.headline(), "tests/test_a.py::t: failed.");
    assert_eq!(answer.output.as_deref(), Some("assert 1 == 2"));
    assert!(answer.tests.is_empty());
    let passed = single(&workspace, "tests/test_a.py::t", |script| {
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
    let (_folder, workspace) = workspace();
    let answer = single(&workspace, "tests/test_a.py::p", |script| {
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
    let skipped = single(&workspace, "tests/test_a.py::p", |script| {
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
    let (_folder, workspace) = workspace();
    let id = "tests/test_a.py::t";
    let cut = || Ending::because(EndingKind::Cut, ExitMeaning::Other, "the process died");
    let crashed = single(&workspace, id, |script| {
        script.started(id).end(killed(false), cut(), "Fatal").done()
    })
    .unwrap();
    assert_eq!(
        (crashed.outcome, crashed.status),
        (SingleOutcome::Crashed, Status::Broken)
    );
    assert_eq!(crashed.output.as_deref().map(str::trim), Some("Fatal"));
    let hung = single(&workspace, id, |script| {
        script
            .started(id)
            .end(killed(true), cut(), "")
            .cause(StopReason::TimedOut {
                limit_ms: 1000,
                unanswered: None,
            })
    })
    .unwrap();
    assert_eq!((hung.outcome, hung.timed_out), (SingleOutcome::Timeout, true));
    let unimported = single(&workspace, id, |script| {
        script
            .collector("tests/test_a.py", "ImportError")
            .end(exit(2), cut(), "")
            .done()
    })
    .unwrap();
    assert_eq!(unimported.outcome, SingleOutcome::NotCollected);
    assert_eq!(unimported.message.as_deref(), Some("ImportError"));
    let other = single(&workspace, id, |script| {
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
    let (_folder, workspace) = workspace();
    let id = "tests/test_a.py::t";
    let broken = || Ending::because(EndingKind::Broken, ExitMeaning::Other, "internal error");
    let report = Script::new(&workspace, "run_n_times", &[id])
        .row(id, Outcome::Passed)
        .completed(0)
        .failed(id, "boom")
        .completed(1)
        .end(exit(3), broken(), "")
        .row(id, Outcome::Passed)
        .completed(0)
        .done();
    let answer = run_n_times::answer(&workspace, &report).unwrap();
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
         (passed); 95 % interval 6 to 79 %. 1 never reached the test and do not count."
    );
}

#[test]
fn runs_that_never_reached_the_test_have_no_rate() {
    let (_folder, workspace) = workspace();
    let id = "tests/test_a.py::t";
    let broken = Ending::because(
        EndingKind::Broken,
        ExitMeaning::Other,
        "conftest.py cannot be imported",
    );
    let report = Script::new(&workspace, "run_n_times", &[id])
        .end(exit(4), broken, "")
        .cause(StopReason::Cancelled {
            by: "run_n_times".into(),
        });
    let error = run_n_times::answer(&workspace, &report).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Broken);
    assert!(
        error.headline().contains("conftest.py cannot be imported"),
        "{}",
        error.headline()
    );
    let missing = Script::new(&workspace, "run_n_times", &[id])
        .completed(5)
        .cause(StopReason::Cancelled {
            by: "run_n_times".into(),
        });
    assert_eq!(
        run_n_times::answer(&workspace, &missing).unwrap_err().kind,
        ErrorKind::NoTests
    );
}

#[test]
fn an_iteration_cut_by_the_limit_for_all_of_them_does_not_count() {
    let (_folder, workspace) = workspace();
    let id = "tests/test_a.py::t";
    let cut = Ending::because(EndingKind::Cut, ExitMeaning::Other, "killed");
    let report = Script::new(&workspace, "run_n_times", &[id])
        .row(id, Outcome::Passed)
        .completed(0)
        .started(id)
        .end(killed(true), cut, "")
        .cause(StopReason::TimedOut {
            limit_ms: 2000,
            unanswered: None,
        });
    let answer = run_n_times::answer(&workspace, &report).unwrap();
    assert_eq!((answer.runs, answer.valid, answer.passed), (1, 1, 1));
    assert!(answer.timed_out);
}
