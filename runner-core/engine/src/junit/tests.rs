use super::*;
use runner_core::event::{Ending, EndingKind, ExitMeaning, RunEvent, StopReason, TestEvent};
use runner_core::facts::RunFacts;
use runner_core::model::{Failure, Phase};

fn report(tests: Vec<TestEvent>, ending: Ending) -> Report {
    let mut report = Report::default();
    let facts = RunFacts {
        run_id: "r1".to_owned(),
        suite: "unit".to_owned(),
        ..RunFacts::default()
    };
    report.add(&RunEvent::Started(Box::new(facts)));
    report.add(&RunEvent::IterationStarted { iteration: 1 });
    for test in tests {
        report.add(&RunEvent::Test { iteration: 1, test });
    }
    report.add(&RunEvent::IterationEnded {
        iteration: 1,
        ending: Some(ending),
        duration_s: 0.25,
        output_tail: String::new(),
    });
    report.add(&RunEvent::Finished {
        cause: StopReason::Done,
        duration_s: 0.5,
    });
    report
}

fn finished(nodeid: &str, outcome: Outcome) -> TestResult {
    let mut result = TestResult::new(nodeid, outcome);
    result.duration_s = Some(0.125);
    result
}

fn row(result: TestResult) -> TestEvent {
    TestEvent::Finished(Box::new(result))
}

fn xml(tests: Vec<TestEvent>, ending: Ending) -> String {
    to_xml(&[report(tests, ending)]).unwrap()
}

#[test]
fn a_run_becomes_a_suite_with_counts_and_properties() {
    let mut skipped = finished("tests/test_x.py::test_s", Outcome::Skipped);
    skipped.message = Some("needs a database".to_owned());
    let text = xml(
        vec![
            row(finished("tests/test_x.py::TestC::test_a[a::b]", Outcome::Passed)),
            row(skipped),
        ],
        Ending::completed(ExitMeaning::Ok),
    );
    for expected in [
        r#"<testsuite name="unit" tests="2" skipped="1" errors="0" failures="0" time="0.250">"#,
        r#"<property name="run_id" value="r1"/>"#,
        r#"<property name="status" value="passed"/>"#,
        r#"<testcase name="test_a[a::b]" classname="tests.test_x.TestC" time="0.125"/>"#,
        r#"<skipped message="needs a database" type="skipped"/>"#,
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn failures_attempts_subtests_and_output_have_their_places() {
    let mut failed = finished("t.py::test_f", Outcome::Failed);
    for (phase, text) in [
        (Phase::Call, "assert 1 == 2"),
        (Phase::Teardown, "no such <file>"),
    ] {
        failed.failures.push(Failure {
            phase,
            text: text.to_owned(),
            summary: Some(text.to_owned()),
            location: None,
        });
    }
    failed.output = Some("printed \u{1b}[31mred\u{0}".to_owned());
    failed.subtests.push(Subtest {
        description: "(i=1)".to_owned(),
        outcome: Outcome::Failed,
        duration_s: None,
        message: Some("i is odd".to_owned()),
    });
    let attempt = Attempt {
        attempt: 1,
        outcome: Outcome::Failed,
        duration_s: None,
        message: Some("the first try".to_owned()),
    };
    let reran = |nodeid: &str| TestEvent::Reran {
        nodeid: nodeid.to_owned(),
        attempt: attempt.clone(),
    };
    let text = xml(
        vec![
            reran("t.py::test_f"),
            row(failed),
            reran("t.py::test_flaky"),
            row(finished("t.py::test_flaky", Outcome::Passed)),
            row(finished("t.py::test_e", Outcome::Error)),
        ],
        Ending::completed(ExitMeaning::TestsFailed),
    );
    for expected in [
        r#"tests="4" skipped="0" errors="1" failures="2""#,
        r#"<failure message="assert 1 == 2" type="failed">assert 1 == 2"#,
        "no such &lt;file&gt;",
        r#"<rerunFailure message="the first try" type="failed">"#,
        r#"<flakyFailure message="the first try" type="failed">"#,
        r#"<testcase name="test_f (i=1)" classname="t">"#,
        "<system-out>printed red</system-out>",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("as a whole"));
}

#[test]
fn what_keeps_a_run_from_being_trusted_is_an_error_case() {
    let started = TestEvent::Started {
        nodeid: "t.py::test_hangs".to_owned(),
        worker: None,
    };
    let broken = TestEvent::CollectFailed(CollectionError {
        nodeid: "tests/test_bad.py".to_owned(),
        message: "ImportError: no module".to_owned(),
        summary: None,
        location: None,
    });
    let text = xml(
        vec![row(finished("t.py::test_a", Outcome::Passed)), started, broken],
        Ending::because(EndingKind::Cut, ExitMeaning::Other, "killed by signal 9"),
    );
    for expected in [
        r#"tests="4" skipped="0" errors="3" failures="0""#,
        r#"<error message="ImportError: no module" type="collect">"#,
        r#"<testcase name="test_hangs" classname="t">"#,
        r#"type="unfinished">"#,
        r#"<testcase name="the run as a whole" classname="unit">"#,
        r#"<error message="killed by signal 9; it was running: t.py::test_hangs" type="incomplete">"#,
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let nothing = to_xml(&[Report::default()]).unwrap();
    assert!(nothing.contains(r#"type="queued""#), "{nothing}");
}

#[test]
fn every_iteration_is_a_suite() {
    let mut report = report(
        vec![row(finished("t.py::test_a", Outcome::Passed))],
        Ending::completed(ExitMeaning::Ok),
    );
    report.add(&RunEvent::IterationStarted { iteration: 2 });
    let text = to_xml(&[report]).unwrap();
    assert!(text.contains(r#"<testsuite name="unit #1" tests="1""#), "{text}");
    assert!(
        text.contains(r#"<testsuite name="unit #2" tests="1" skipped="0" errors="1""#),
        "{text}"
    );
}
