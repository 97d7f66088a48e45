use super::*;

fn report(when: &str, outcome: &str) -> Report {
    Report {
        when: when.to_owned(),
        outcome: outcome.to_owned(),
        text: (outcome == "failed").then(|| format!("{when} broke")),
        s: Some(0.5),
        ..Report::default()
    }
}

fn result(reports: Vec<Report>) -> TestResult {
    let mut trial = Trial::default();
    for report in reports {
        assert_eq!(trial.take(report, 1), Took::In);
    }
    trial.result("t.py::t".into(), None, 1)
}

fn three(setup: &str, call: &str, teardown: &str) -> TestResult {
    result(vec![
        report("setup", setup),
        report("call", call),
        report("teardown", teardown),
    ])
}

#[test]
fn a_failed_call_with_a_failed_teardown_keeps_both() {
    let row = three("passed", "failed", "failed");
    assert_eq!(row.outcome, Outcome::Failed);
    let phases: Vec<Phase> = row.failures.iter().map(|failure| failure.phase).collect();
    assert_eq!(phases, [Phase::Call, Phase::Teardown]);
    assert_eq!(row.message.as_deref(), Some("call broke\n\nteardown broke"));
    assert_eq!(row.duration_s, Some(1.5));
}

#[test]
fn a_failed_teardown_spoils_whatever_the_call_was() {
    for call in ["passed", "skipped"] {
        assert_eq!(three("passed", call, "failed").outcome, Outcome::Error);
    }
    let xfailed = Report {
        xfail: Some("known".into()),
        ..report("call", "skipped")
    };
    let row = result(vec![
        report("setup", "passed"),
        xfailed,
        report("teardown", "failed"),
    ]);
    assert_eq!(row.outcome, Outcome::Error);
}

#[test]
fn a_failed_setup_is_an_error() {
    let row = result(vec![report("setup", "failed"), report("teardown", "passed")]);
    assert_eq!((row.outcome, row.failures.len()), (Outcome::Error, 1));
}

#[test]
fn a_test_that_was_never_called_did_not_pass() {
    let row = result(vec![report("setup", "passed"), report("teardown", "passed")]);
    assert_eq!(row.outcome, Outcome::Skipped);
    assert!(row.message.unwrap().contains("never called"));
}

#[test]
fn a_lone_teardown_is_never_green() {
    assert!(result(vec![report("teardown", "passed")]).outcome.is_bad());
}

#[test]
fn a_dead_worker_makes_its_test_failed() {
    assert_eq!(
        result(vec![report("setup", "passed"), report("???", "failed")]).outcome,
        Outcome::Failed
    );
}

#[test]
fn a_failed_subtest_makes_a_passed_test_failed() {
    let subtest = Report {
        sub: Some("[step]".into()),
        ..report("call", "failed")
    };
    let row = result(vec![
        report("setup", "passed"),
        subtest,
        report("call", "passed"),
        report("teardown", "passed"),
    ]);
    assert_eq!(row.outcome, Outcome::Failed);
    assert_eq!(row.subtests[0].outcome, Outcome::Failed);
    assert!(row.message.unwrap().contains("subtest [step]"));
}

#[test]
fn a_word_that_is_not_pytests_is_a_try_that_does_not_count() {
    let mut trial = Trial::default();
    let took = trial.take(report("call", "rerun"), 2);
    assert!(
        matches!(
            took,
            Took::Rerun(Attempt {
                attempt: 2,
                outcome: Outcome::Failed,
                ..
            })
        ),
        "{took:?}"
    );
    assert!(trial.reran);
}

#[test]
fn captured_sections_are_shown_once() {
    let section = ("Captured stdout call".to_owned(), "hello\n".to_owned());
    let with = |when: &str| Report {
        sections: vec![section.clone()],
        ..report(when, "failed")
    };
    let row = result(vec![report("setup", "passed"), with("call"), with("teardown")]);
    assert_eq!(row.output.as_deref(), Some("--- Captured stdout call ---\nhello"));
}

#[test]
fn subtests_beyond_the_limit_are_counted() {
    let mut trial = Trial::default();
    for number in 0..KEPT_SUBTESTS + 5 {
        let subtest = Report {
            sub: Some(format!("({number})")),
            ..report("call", "passed")
        };
        trial.take(subtest, 1);
    }
    assert_eq!(trial.unlisted_subtests(), 5);
}
