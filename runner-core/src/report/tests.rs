use super::*;
use crate::event::{EndingKind, ExitMeaning};
use crate::model::Failure;

fn finished(nodeid: &str, outcome: Outcome, worker: Option<&str>) -> TestEvent {
    let mut result = TestResult::new(nodeid, outcome);
    result.worker = worker.map(str::to_owned);
    TestEvent::Finished(Box::new(result))
}

fn started(nodeid: &str, worker: Option<&str>) -> TestEvent {
    TestEvent::Started {
        nodeid: nodeid.to_owned(),
        worker: worker.map(str::to_owned),
    }
}

fn iteration_of(events: impl IntoIterator<Item = TestEvent>) -> Iteration {
    let mut iteration = Iteration::default();
    for event in events {
        iteration.add(&event);
    }
    iteration
}

#[test]
fn details_fill_in_a_row_and_never_change_its_verdict() {
    let mut more = TestResult::new("a", Outcome::Passed);
    more.message = Some("assert 1 == 2".to_owned());
    more.duration_s = Some(0.5);
    let mut stranger = more.clone();
    stranger.nodeid = "b".to_owned();
    let iteration = iteration_of([
        finished("a", Outcome::Failed, None),
        TestEvent::Detailed(Box::new(more)),
        TestEvent::Detailed(Box::new(stranger)),
    ]);
    assert_eq!(iteration.rows.len(), 1);
    assert_eq!(iteration.rows[0].outcome, Outcome::Failed);
    assert_eq!(iteration.rows[0].message.as_deref(), Some("assert 1 == 2"));
    assert_eq!(iteration.rows[0].duration_s, Some(0.5));
    assert!(iteration.warnings.is_empty());
}

#[test]
fn the_first_verdict_for_a_test_counts() {
    let iteration = iteration_of([
        finished("a", Outcome::Failed, None),
        finished("a", Outcome::Passed, None),
    ]);
    assert_eq!(iteration.row("a").unwrap().outcome, Outcome::Failed);
    assert_eq!(iteration.warnings.len(), 1);
}

#[test]
fn a_run_that_is_told_twice_does_not_warn_of_every_test() {
    let once: Vec<TestEvent> = (0..50)
        .map(|n| finished(&format!("a{n}"), Outcome::Passed, None))
        .collect();
    let worse = finished("a7", Outcome::Failed, None);
    let iteration = iteration_of(
        once.iter()
            .cloned()
            .chain(once.clone())
            .chain([worse])
            .chain(once.clone()),
    );
    assert_eq!(iteration.warnings.len(), 6, "{:?}", iteration.warnings);
    assert!(
        iteration.warnings[3].starts_with("96 more results"),
        "{:?}",
        iteration.warnings
    );
    assert!(iteration.warnings[4].contains("a7 was reported more than once (passed, then failed)"));
    assert_eq!(iteration.row("a7").unwrap().outcome, Outcome::Failed);
}

#[test]
fn another_worker_may_only_make_a_verdict_worse() {
    for (first, second, kept) in [
        (Outcome::Passed, Outcome::Failed, Outcome::Failed),
        (Outcome::Failed, Outcome::Passed, Outcome::Failed),
        (Outcome::Passed, Outcome::Passed, Outcome::Passed),
    ] {
        let iteration = iteration_of([
            finished("a", first, Some("gw0")),
            finished("a", second, Some("gw1")),
        ]);
        assert_eq!(iteration.row("a").unwrap().outcome, kept);
        assert_eq!(iteration.rows.len(), 1);
        assert_eq!(iteration.warnings.len(), usize::from(first != second));
    }
}

#[test]
fn both_failures_of_a_test_and_all_its_attempts_are_kept() {
    let failure = |phase, text: &str| Failure {
        phase,
        text: text.to_owned(),
        summary: None,
        location: None,
    };
    let mut result = TestResult::new("a", Outcome::Failed);
    result.failures = vec![failure(Phase::Call, "one"), failure(Phase::Teardown, "two")];
    let rerun = |attempt| TestEvent::Reran {
        nodeid: "a".to_owned(),
        attempt: Attempt {
            attempt,
            outcome: Outcome::Failed,
            duration_s: None,
            message: Some(format!("try {attempt}")),
        },
    };
    let iteration = iteration_of([rerun(1), rerun(2), TestEvent::Finished(Box::new(result))]);
    let row = iteration.row("a").unwrap();
    assert_eq!(row.failures.len(), 2);
    assert_eq!(row.attempt, 3);
    let tries: Vec<_> = row
        .attempts
        .iter()
        .filter_map(|attempt| attempt.message.as_deref())
        .collect();
    assert_eq!(tries, ["try 1", "try 2"]);
}

#[test]
fn what_started_and_did_not_finish_is_unfinished() {
    let iteration = iteration_of([
        TestEvent::Counted {
            selected: 5,
            deselected: 1,
        },
        started("a", Some("gw0")),
        started("b", Some("gw1")),
        finished("a", Outcome::Passed, Some("gw0")),
        TestEvent::Entered {
            nodeid: "b".to_owned(),
            phase: Phase::Setup,
        },
        TestEvent::Hung {
            nodeid: "b".to_owned(),
            phase: None,
            stack: Some("sleep".to_owned()),
            worker: Some("gw1".to_owned()),
        },
    ]);
    let hung = Unfinished {
        nodeid: "b".to_owned(),
        phase: Some(Phase::Setup),
        stack: Some("sleep".to_owned()),
        worker: Some("gw1".to_owned()),
    };
    assert_eq!(iteration.unfinished(), [hung]);
    assert_eq!(iteration.never_started(), Some(3));
    assert_eq!(iteration.rows.len(), 1);
}

#[test]
fn a_file_given_twice_does_not_look_like_missing_tests() {
    let counted = TestEvent::Counted {
        selected: 2,
        deselected: 0,
    };
    let iteration = iteration_of([
        counted,
        finished("a", Outcome::Passed, None),
        finished("a", Outcome::Passed, None),
    ]);
    assert_eq!(iteration.never_started(), Some(0));
}

#[test]
fn a_collector_that_fails_on_every_worker_fails_once_and_counts_as_an_error() {
    let error = TestEvent::CollectFailed(CollectionError {
        nodeid: "x.py".to_owned(),
        message: "ImportError".to_owned(),
        summary: None,
        location: None,
    });
    let iteration = iteration_of([error.clone(), error, finished("a", Outcome::Passed, None)]);
    assert_eq!(iteration.collection_errors.len(), 1);
    let totals = iteration.totals();
    assert_eq!((totals[&Outcome::Error], totals[&Outcome::Passed]), (1, 1));
    assert!(iteration.has_failures());
    assert_eq!(iteration.finished_tests(), 1);
}

#[test]
fn a_record_has_one_end() {
    let end = |cause| RunEvent::Finished {
        cause,
        duration_s: 1.0,
    };
    let limit = StopReason::TimedOut {
        limit_ms: 1,
        unanswered: None,
    };
    let report = Report::fold(&[end(limit.clone()), end(StopReason::Done)]);
    assert_eq!(report.cause, Some(limit));
}

#[test]
fn iterations_out_of_turn_are_left_out() {
    let report = Report::fold(&[
        RunEvent::IterationStarted { iteration: u32::MAX },
        RunEvent::IterationStarted { iteration: 1 },
        RunEvent::IterationEnded {
            iteration: 1,
            ending: Some(Ending::because(EndingKind::Cut, ExitMeaning::Other, "cut")),
            duration_s: 0.5,
            output_tail: "tail".to_owned(),
        },
        RunEvent::IterationStarted { iteration: 3 },
    ]);
    assert_eq!(report.iterations.len(), 1);
    assert!(report.first().ended);
    assert_eq!(report.first().output_tail, "tail");
}

#[test]
fn a_hang_in_a_worker_is_the_started_tests_own() {
    let iteration = iteration_of([
        started("a", None),
        TestEvent::Hung {
            nodeid: "a".to_owned(),
            phase: Some(Phase::Call),
            stack: Some("t.py:3 in a".to_owned()),
            worker: Some("gw1".to_owned()),
        },
    ]);
    assert_eq!(iteration.unfinished().len(), 1);
    let hung = &iteration.unfinished()[0];
    assert_eq!(
        (hung.worker.as_deref(), hung.phase),
        (Some("gw1"), Some(Phase::Call))
    );
}
