mod any;

use super::*;
use crate::event::{RunEvent, TestEvent};
use crate::facts::RunFacts;
use crate::model::{CollectionError, Outcome, Phase, TestResult};
use crate::plan::StepExit;

/// What one iteration saw, in the fewest words.
#[derive(Clone, Debug, Default)]
struct Seen {
    rows: Vec<Outcome>,
    collection_errors: Vec<&'static str>,
    running: Vec<&'static str>,
    selected: Option<u64>,
    code: Option<i32>,
    timed_out: bool,
    ending: Option<Ending>,
}

fn ending(kind: EndingKind, exit: ExitMeaning) -> Ending {
    Ending {
        kind,
        ..Ending::completed(exit)
    }
}

impl Seen {
    fn events(&self, iteration: u32) -> Vec<RunEvent> {
        let mut tests = Vec::new();
        if let Some(selected) = self.selected {
            tests.push(TestEvent::Counted {
                selected,
                deselected: 0,
            });
        }
        for (number, outcome) in self.rows.iter().enumerate() {
            tests.push(TestEvent::Finished(Box::new(TestResult::new(
                format!("t::{number}"),
                *outcome,
            ))));
        }
        for nodeid in &self.collection_errors {
            tests.push(TestEvent::CollectFailed(CollectionError {
                nodeid: (*nodeid).to_owned(),
                message: "ImportError".to_owned(),
                summary: None,
                location: None,
            }));
        }
        for nodeid in &self.running {
            let nodeid = (*nodeid).to_owned();
            tests.push(TestEvent::Started {
                nodeid: nodeid.clone(),
                worker: None,
            });
            tests.push(TestEvent::Entered {
                nodeid,
                phase: Phase::Call,
            });
        }
        let mut events = vec![RunEvent::IterationStarted { iteration }];
        events.extend(tests.into_iter().map(|test| RunEvent::Test { iteration, test }));
        let exit = StepExit {
            step: "pytest".to_owned(),
            code: self.code,
            timed_out: self.timed_out,
            ..StepExit::default()
        };
        events.push(RunEvent::StepExited { iteration, exit });
        events.push(RunEvent::IterationEnded {
            iteration,
            ending: self.ending.clone(),
            duration_s: 1.0,
            output_tail: String::new(),
        });
        events
    }
}

fn report_of(iterations: &[Seen], cause: Option<StopReason>, listing: bool) -> Report {
    let mut report = Report::default();
    report.add(&RunEvent::Started(Box::new(RunFacts {
        listing,
        ..RunFacts::default()
    })));
    for (number, seen) in iterations.iter().enumerate() {
        for event in seen.events(number as u32 + 1) {
            report.add(&event);
        }
    }
    if let Some(cause) = cause {
        report.add(&RunEvent::Finished {
            cause,
            duration_s: 1.0,
        });
    }
    report
}

fn verdict_of(seen: &Seen) -> Verdict {
    report_of(std::slice::from_ref(seen), Some(StopReason::Done), false).verdict()
}

fn status_of(seen: &Seen) -> Status {
    verdict_of(seen).status
}

fn green() -> Seen {
    Seen {
        rows: vec![Outcome::Passed],
        code: Some(0),
        ending: Some(ending(EndingKind::Completed, ExitMeaning::Ok)),
        ..Seen::default()
    }
}

fn red() -> Seen {
    Seen {
        rows: vec![Outcome::Passed, Outcome::Failed],
        code: Some(1),
        ending: Some(ending(EndingKind::Completed, ExitMeaning::TestsFailed)),
        ..Seen::default()
    }
}

fn failed() -> StopReason {
    StopReason::Failed {
        code: "x".into(),
        message: "the disk is full".into(),
        hint: Some("free some".into()),
    }
}

#[test]
fn a_green_run_says_nothing_more() {
    assert_eq!(verdict_of(&green()), Verdict::plain(Status::Passed));
    let others = [
        Outcome::Passed,
        Outcome::Skipped,
        Outcome::Xfailed,
        Outcome::Xpassed,
    ];
    let seen = Seen {
        rows: others.to_vec(),
        ..green()
    };
    assert_eq!(status_of(&seen), Status::Passed);
}

#[test]
fn a_run_of_skips_only_is_not_called_passed() {
    let skips = |more: &[Outcome]| Seen {
        rows: [&[Outcome::Skipped, Outcome::Skipped], more].concat(),
        ..green()
    };
    assert_eq!(verdict_of(&skips(&[])), Verdict::plain(Status::AllSkipped));
    assert_eq!(status_of(&skips(&[Outcome::Xfailed])), Status::Passed);
    let failed = Seen {
        code: Some(1),
        ending: Some(ending(EndingKind::Completed, ExitMeaning::TestsFailed)),
        ..skips(&[Outcome::Failed])
    };
    assert_eq!(status_of(&failed), Status::Failed);
}

#[test]
fn before_the_end_a_run_is_queued_or_running() {
    assert_eq!(report_of(&[], None, false).status(), Status::Queued);
    assert_eq!(report_of(&[green()], None, false).status(), Status::Running);
}

#[test]
fn a_bad_row_is_never_green_whatever_the_exit_code_says() {
    for bad in [Outcome::Failed, Outcome::Error] {
        for meaning in [
            ExitMeaning::Ok,
            ExitMeaning::TestsFailed,
            ExitMeaning::NoTests,
            ExitMeaning::Other,
        ] {
            let seen = Seen {
                rows: vec![Outcome::Passed, bad],
                ending: Some(ending(EndingKind::Completed, meaning)),
                ..green()
            };
            assert_eq!(status_of(&seen), Status::Failed, "{bad} {meaning:?}");
        }
    }
    let seen = Seen {
        code: Some(0),
        ending: Some(ending(EndingKind::Completed, ExitMeaning::Ok)),
        ..red()
    };
    let reason = verdict_of(&seen).reason;
    assert_eq!(
        reason.as_deref(),
        Some("pytest exited with 0, although tests failed")
    );
}

#[test]
fn a_failing_exit_without_a_failing_row_is_broken_with_the_reason() {
    for meaning in [ExitMeaning::TestsFailed, ExitMeaning::Other, ExitMeaning::NoTests] {
        let seen = Seen {
            code: Some(3),
            ending: Some(ending(EndingKind::Completed, meaning)),
            ..green()
        };
        let verdict = verdict_of(&seen);
        assert_eq!(verdict.status, Status::Broken, "{meaning:?}");
        assert_eq!(
            verdict.reason.as_deref(),
            Some("pytest exited with 3, yet no test failed")
        );
    }
}

#[test]
fn a_failed_collection_is_failed_beside_results_and_broken_alone() {
    for (rows, expected) in [(vec![Outcome::Passed], Status::Failed), (vec![], Status::Broken)] {
        for kind in [EndingKind::Completed, EndingKind::Stopped, EndingKind::NoTests] {
            let seen = Seen {
                rows: rows.clone(),
                collection_errors: vec!["tests/test_x.py"],
                ending: Some(ending(kind, ExitMeaning::Other)),
                ..green()
            };
            let verdict = verdict_of(&seen);
            assert_eq!(verdict.status, expected, "{kind:?}");
            if expected == Status::Broken {
                assert!(verdict.reason.unwrap().contains("tests/test_x.py"));
            }
        }
    }
}

#[test]
fn nothing_to_run_is_no_tests() {
    for (kind, meaning) in [
        (EndingKind::NoTests, ExitMeaning::NoTests),
        (EndingKind::NoTests, ExitMeaning::Other),
        (EndingKind::Completed, ExitMeaning::Ok),
        (EndingKind::Completed, ExitMeaning::NoTests),
    ] {
        let seen = Seen {
            rows: vec![],
            ending: Some(ending(kind, meaning)),
            ..green()
        };
        assert_eq!(status_of(&seen), Status::NoTests, "{kind:?} {meaning:?}");
    }
}

#[test]
fn a_file_that_skips_itself_is_no_test() {
    let mut report = report_of(
        &[Seen {
            rows: vec![],
            ..green()
        }],
        None,
        false,
    );
    let mut row = TestResult::new("tests/test_x.py", Outcome::Skipped);
    row.phase = Some(Phase::Collect);
    report.add(&RunEvent::Test {
        iteration: 1,
        test: TestEvent::Finished(Box::new(row)),
    });
    report.add(&RunEvent::Finished {
        cause: StopReason::Done,
        duration_s: 1.0,
    });
    assert_eq!(report.status(), Status::NoTests);
}

#[test]
fn a_cut_record_is_incomplete_and_names_what_was_running() {
    let seen = Seen {
        running: vec!["t::hangs"],
        selected: Some(5),
        ending: Some(Ending::because(
            EndingKind::Cut,
            ExitMeaning::Other,
            "killed by signal 9",
        )),
        ..red()
    };
    let verdict = verdict_of(&seen);
    assert_eq!(verdict.status, Status::Incomplete);
    let reason = "killed by signal 9; it was running: t::hangs (call); 2 never started";
    assert_eq!(verdict.reason.as_deref(), Some(reason));
    let nothing = Seen { rows: vec![], ..seen };
    assert_eq!(status_of(&nothing), Status::Broken);
    assert_eq!(
        status_of(&Seen {
            ending: None,
            ..green()
        }),
        Status::Incomplete
    );
    assert_eq!(
        status_of(&Seen {
            ending: None,
            rows: vec![],
            ..green()
        }),
        Status::Broken
    );
}

#[test]
fn a_green_exit_with_missing_results_is_incomplete() {
    let unfinished = Seen {
        running: vec!["t::lost"],
        ..green()
    };
    assert_eq!(status_of(&unfinished), Status::Incomplete);
    let fewer = Seen {
        selected: Some(3),
        ..green()
    };
    assert_eq!(status_of(&fewer), Status::Incomplete);
    let all = Seen {
        selected: Some(1),
        ..green()
    };
    assert_eq!(status_of(&all), Status::Passed);
}

#[test]
fn stopping_at_a_failure_is_failed_and_says_stopped() {
    let seen = Seen {
        selected: Some(9),
        running: vec!["t::other_worker"],
        ending: Some(Ending::because(
            EndingKind::Stopped,
            ExitMeaning::TestsFailed,
            "stopping after 1 failures",
        )),
        ..red()
    };
    let verdict = verdict_of(&seen);
    assert_eq!((verdict.status, verdict.stopped), (Status::Failed, true));
    assert_eq!(verdict.reason.as_deref(), Some("stopping after 1 failures"));
}

#[test]
fn many_running_tests_are_counted_not_listed() {
    let names = ["t::a", "t::b", "t::c", "t::d", "t::e", "t::f", "t::g"];
    let seen = Seen {
        running: names.to_vec(),
        ending: Some(ending(EndingKind::Interrupted, ExitMeaning::Other)),
        ..red()
    };
    assert!(
        verdict_of(&seen)
            .reason
            .unwrap()
            .ends_with("t::e (call) and 2 more")
    );
}

#[test]
fn a_time_limit_says_how_long_and_what_was_running() {
    let slow = Seen {
        running: vec!["t::slow"],
        selected: Some(4),
        timed_out: true,
        ..red()
    };
    let cause = StopReason::TimedOut {
        limit_ms: 1500,
        unanswered: None,
    };
    let verdict = report_of(&[slow.clone(), green()], Some(cause), false).verdict();
    assert_eq!(verdict.status, Status::TimedOut);
    let reason = "the time limit of 1.5 s passed; still running: t::slow (call); 1 never started";
    assert_eq!(verdict.reason.as_deref(), Some(reason));
    let alone = report_of(&[slow], None, false);
    assert_eq!(judge_iteration(alone.first()).status, Status::TimedOut);
}

#[test]
fn where_several_hold_the_order_decides() {
    let incomplete = Seen {
        ending: Some(ending(EndingKind::Cut, ExitMeaning::Other)),
        ..red()
    };
    let broken = Seen {
        rows: vec![],
        ending: Some(ending(EndingKind::Broken, ExitMeaning::Other)),
        ..green()
    };
    let no_tests = Seen {
        rows: vec![],
        ending: Some(ending(EndingKind::NoTests, ExitMeaning::NoTests)),
        ..green()
    };
    let timed_out = Seen {
        timed_out: true,
        ..red()
    };
    let in_order = [timed_out, broken, incomplete, red(), no_tests, green()];
    let names = [
        Status::TimedOut,
        Status::Broken,
        Status::Incomplete,
        Status::Failed,
        Status::NoTests,
        Status::Passed,
    ];
    for (place, (worse, name)) in in_order.iter().zip(names).enumerate() {
        for better in &in_order[place..] {
            for both in [[worse.clone(), better.clone()], [better.clone(), worse.clone()]] {
                assert_eq!(report_of(&both, Some(StopReason::Done), false).status(), name);
            }
        }
    }
    for seen in in_order {
        let by = || {
            Some(StopReason::Cancelled {
                by: "the client".into(),
            })
        };
        let verdict = report_of(&[seen], by(), false).verdict();
        assert_eq!(verdict.status, Status::Cancelled);
        assert_eq!(verdict.reason.as_deref(), Some("cancelled by the client"));
    }
}

#[test]
fn an_engine_that_could_not_go_on_is_incomplete_or_broken() {
    let verdict = report_of(&[red()], Some(failed()), false).verdict();
    assert_eq!(
        (verdict.status, verdict.hint.as_deref()),
        (Status::Incomplete, Some("free some"))
    );
    let verdict = report_of(&[], Some(failed()), false).verdict();
    assert_eq!(
        (verdict.status, verdict.reason.as_deref()),
        (Status::Broken, Some("the disk is full"))
    );
    assert_eq!(
        report_of(&[], Some(StopReason::Done), false).status(),
        Status::Broken
    );
}

#[test]
fn a_listing_is_judged_by_what_was_found() {
    let listed = |seen: &Seen| {
        let mut report = report_of(std::slice::from_ref(seen), None, true);
        let test = TestEvent::Found {
            nodeid: "t::a".to_owned(),
            location: None,
        };
        report.add(&RunEvent::Test { iteration: 1, test });
        report.add(&RunEvent::Finished {
            cause: StopReason::Done,
            duration_s: 1.0,
        });
        report.status()
    };
    let whole = Seen {
        rows: vec![],
        ..green()
    };
    assert_eq!(listed(&whole), Status::Passed);
    let partly = Seen {
        collection_errors: vec!["tests/test_x.py"],
        ending: Some(ending(EndingKind::Interrupted, ExitMeaning::Other)),
        ..whole.clone()
    };
    assert_eq!(listed(&partly), Status::Failed);
    let cut = Seen {
        ending: Some(ending(EndingKind::Cut, ExitMeaning::Other)),
        ..whole.clone()
    };
    assert_eq!(listed(&cut), Status::Incomplete);
    let empty = report_of(&[whole], Some(StopReason::Done), true);
    assert_eq!(empty.status(), Status::NoTests);
}
