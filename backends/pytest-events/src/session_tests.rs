//! Sessions as odd plug-ins tell them.

use runner_core::event::RunEvent;
use runner_core::report::Report;

use super::*;

/// The rows of a session with these lines, as a report folds them.
fn fold(lines: &[&str]) -> (Session, Report) {
    let mut session = Session::default();
    let mut events = Vec::new();
    session.read(
        r#"{"e":"hello","nonce":"n","pid":1,"step":"pytest","pytest":"9.2.0"}"#,
        "n",
        &mut events,
    );
    for line in lines {
        session.read(line, "n", &mut events);
    }
    session.end(&mut events);
    let events: Vec<RunEvent> = events
        .into_iter()
        .map(|test| RunEvent::Test { iteration: 1, test })
        .collect();
    let begin = RunEvent::IterationStarted { iteration: 1 };
    (session, Report::fold(std::iter::once(&begin).chain(&events)))
}

const START: &str = r#"{"e":"start","id":"t.py::test_a","line":1}"#;
const NO_CALL: &str = r#"{"e":"report","id":"t.py::test_a","before":[["setup",0.1]],"when":"teardown","outcome":"passed","s":0.1}"#;
const PASSED: &str = r#"{"e":"passed","s":0.3}"#;

#[test]
fn a_try_without_a_call_is_no_verdict_when_another_try_comes() {
    let (session, report) = fold(&[
        r#"{"e":"collected","selected":1,"deselected":0}"#,
        START,
        NO_CALL,
        START,
        NO_CALL,
        START,
        PASSED,
    ]);
    let rows = &report.first().rows;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].outcome, rows[0].attempt), (Outcome::Passed, 3));
    assert_eq!(rows[0].attempts.len(), 2);
    assert_eq!(session.left_out(), 0);
    assert_eq!(report.warnings, Vec::<String>::new());
}

#[test]
fn a_test_that_is_never_called_at_all_gets_its_row_at_the_end() {
    let (_, report) = fold(&[START, NO_CALL]);
    assert_eq!(report.first().rows[0].outcome, Outcome::Skipped);
}

#[test]
fn a_test_that_told_nothing_did_not_pass_because_the_next_one_did() {
    let (mut session, report) = fold(&[
        START,
        r#"{"e":"start","id":"t.py::test_b","line":2}"#,
        PASSED,
        r#"{"e":"finish","exit":0,"started":2,"ended":1}"#,
    ]);
    let mut events = Vec::new();
    session.passed_unsaid(&mut events);
    assert!(events.is_empty());
    assert_eq!(report.first().rows.len(), 1);
    assert_eq!(report.first().unfinished()[0].nodeid, "t.py::test_a");
}

#[test]
fn a_test_that_ran_twice_keeps_the_worse_result() {
    let failed = r#"{"e":"report","id":"t.py::test_a","before":[["setup",0.1]],"when":"call","outcome":"failed","text":"E x"}"#;
    let torn = r#"{"e":"report","id":"t.py::test_a","when":"teardown","outcome":"passed"}"#;
    for lines in [
        [START, PASSED, START, failed, torn],
        [START, failed, torn, START, PASSED],
    ] {
        let (_, report) = fold(&lines);
        let rows = &report.first().rows;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].outcome, Outcome::Failed);
        assert_eq!(report.first().warnings.len(), 1, "{:?}", report.first().warnings);
    }
}

#[test]
fn an_expected_failure_of_a_teardown_is_not_the_calls() {
    let call = r#"{"e":"report","id":"t.py::test_a","when":"call","outcome":"passed","xfail":"one day"}"#;
    let torn =
        r#"{"e":"report","id":"t.py::test_a","when":"teardown","outcome":"skipped","xfail":"one day"}"#;
    let (_, report) = fold(&[START, call, torn]);
    assert_eq!(report.first().rows[0].outcome, Outcome::Xpassed);
    let (_, report) = fold(&[
        START,
        r#"{"e":"report","id":"t.py::test_a","before":[["setup",0.1],["call",0.1]],"when":"teardown","outcome":"skipped","reason":"Skipped: x"}"#,
    ]);
    assert_eq!(report.first().rows[0].outcome, Outcome::Passed);
}

#[test]
fn an_expected_crash_of_a_forked_test_is_no_failure() {
    let report = r#"{"e":"report","id":"t.py::test_a","when":"???","outcome":"skipped","xfail":"one day"}"#;
    let (_, report) = fold(&[START, report]);
    assert_eq!(report.first().rows[0].outcome, Outcome::Xfailed);
}

#[test]
fn a_test_that_is_tried_again_without_a_new_start_keeps_its_last_verdict() {
    let retried = r#"{"e":"report","id":"t.py::test_a","before":[["setup",0.1]],"when":"call","outcome":"retried","text":"E x"}"#;
    let failed = r#"{"e":"report","id":"t.py::test_a","when":"call","outcome":"failed","text":"E x"}"#;
    let torn = r#"{"e":"report","id":"t.py::test_a","when":"teardown","outcome":"passed"}"#;
    let torn_after_pass =
        r#"{"e":"report","id":"t.py::test_a","before":[["call",0.1]],"when":"teardown","outcome":"passed"}"#;
    for (lines, outcome) in [
        (vec![START, retried, failed, torn], Outcome::Failed),
        (vec![START, retried, torn_after_pass], Outcome::Passed),
    ] {
        let (session, report) = fold(&lines);
        let rows = &report.first().rows;
        assert_eq!(rows.len(), 1, "{outcome}");
        assert_eq!((rows[0].outcome, rows[0].attempt), (outcome, 2));
        assert_eq!(rows[0].attempts.len(), 1);
        assert_eq!(session.running().count(), 0);
        assert_eq!(report.warnings, Vec::<String>::new());
    }
}

#[test]
fn a_try_that_is_only_torn_down_behind_its_word_is_no_verdict() {
    let rerun = r#"{"e":"report","id":"t.py::test_a","before":[["setup",0.1]],"when":"call","outcome":"rerun","text":"E x"}"#;
    let torn = r#"{"e":"report","id":"t.py::test_a","when":"teardown","outcome":"passed"}"#;
    let (session, report) = fold(&[START, rerun, torn]);
    assert_eq!(report.first().rows.len(), 0);
    assert_eq!(session.running().count(), 1);
}
