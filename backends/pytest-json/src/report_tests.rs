use proptest::prelude::*;
use serde_json::json;

use super::*;

fn outcome(test: &Value) -> Option<(Outcome, bool)> {
    let report = json!({"tests": [test]});
    let exact = read(report.to_string().as_bytes()).ok()?;
    let result = &exact.results[0];
    Some((result.outcome, !exact.unsure.contains(&result.nodeid)))
}

fn test(word: &str, stages: &[(&str, &str)]) -> Value {
    let mut test = json!({"nodeid": "a.py::t", "outcome": word});
    for (name, outcome) in stages {
        test[*name] = json!({"outcome": outcome, "duration": 0.25});
    }
    test
}

#[test]
fn stages_decide_and_the_word_only_tells_what_was_expected() {
    let ran = [("setup", "passed"), ("call", "passed"), ("teardown", "passed")];
    let skipped = [("setup", "skipped"), ("teardown", "passed")];
    assert_eq!(outcome(&test("passed", &ran)), Some((Outcome::Passed, true)));
    assert_eq!(outcome(&test("xpassed", &ran)), Some((Outcome::Xpassed, true)));
    assert_eq!(
        outcome(&test("skipped", &skipped)),
        Some((Outcome::Skipped, true))
    );
    assert_eq!(
        outcome(&test("xfailed", &skipped)),
        Some((Outcome::Xfailed, true))
    );
    // One part skipped, the test itself passed.
    assert_eq!(outcome(&test("skipped", &ran)), Some((Outcome::Passed, false)));
    // Only a part failed.
    assert_eq!(outcome(&test("failed", &ran)), Some((Outcome::Failed, false)));
    assert_eq!(outcome(&test("rerun", &ran)), Some((Outcome::Passed, false)));
    assert_eq!(outcome(&test("fine", &ran)), Some((Outcome::Passed, false)));
    let torn = [("setup", "passed"), ("call", "passed"), ("teardown", "failed")];
    assert_eq!(outcome(&test("well", &torn)), Some((Outcome::Error, true)));
    let both = [("setup", "passed"), ("call", "failed"), ("teardown", "failed")];
    assert_eq!(outcome(&test("error", &both)), Some((Outcome::Failed, true)));
    assert_eq!(
        outcome(&test("failed", &[("???", "failed")])),
        Some((Outcome::Failed, true))
    );
    // Its teardown failed as expected, so it was expected to fail.
    assert_eq!(outcome(&test("xfailed", &ran)), Some((Outcome::Xpassed, false)));
    assert_eq!(
        outcome(&test("xpassed", &skipped)),
        Some((Outcome::Skipped, false))
    );
    assert_eq!(outcome(&test("xfailed", &[])), Some((Outcome::Xfailed, false)));
    assert_eq!(outcome(&test("fine", &[])), None);
}

#[test]
fn a_stage_that_ended_in_a_plug_ins_own_way_did_not_pass() {
    let with = |call| {
        let stages = [("setup", "passed"), ("call", call), ("teardown", "passed")];
        let report = json!({"tests": [test("flaky", &stages)]});
        read(report.to_string().as_bytes()).unwrap().results.len()
    };
    assert_eq!(with("passed"), 1);
    assert_eq!(with("flaky"), 0);
    assert_eq!(with("rerun"), 0);
}

#[test]
fn a_report_that_holds_no_readable_tests_says_why() {
    let why = |text: &str| read(text.as_bytes()).unwrap_err();
    assert_eq!(why("{\"tests\": [{"), "is cut short");
    assert!(why("<html>").starts_with("is not JSON"));
    assert!(why("[]").starts_with("holds "));
    assert!(why("{\"summary\": {}}").starts_with("holds no tests"));
    assert!(why("{\"tests\": [3]}").starts_with("holds tests in a shape"));
    assert!(why("{\"tests\": [{\"nodeid\": 3}]}").starts_with("holds tests in a shape"));
}

#[test]
fn the_reason_of_a_skip_is_read_out_of_its_tuple() {
    assert_eq!(
        skip_reason("('/a/b.py', 14, 'Skipped: it\\'s \"late\"')"),
        "it's \"late\""
    );
    assert_eq!(
        skip_reason("('/a, b.py', 14, \"Skipped: it's, 'late'\")"),
        "it's, 'late'"
    );
    assert_eq!(skip_reason("('/a/b.py', 14, 'Skipped')"), "");
    assert_eq!(skip_reason("anything"), "anything");
}

#[test]
fn a_failure_keeps_all_its_texts() {
    let report = json!({"tests": [{"nodeid": "a.py::t", "outcome": "error",
        "call": {"outcome": "failed", "duration": 0.1, "longrepr": "E assert 0",
            "crash": {"path": "/r/a.py", "lineno": 3, "message": "assert 0\n where"}},
        "teardown": {"outcome": "failed", "duration": 0.2, "longrepr": {"odd": 1}}}]});
    let exact = read(report.to_string().as_bytes()).unwrap();
    let row = &exact.results[0];
    assert_eq!(row.message.as_deref(), Some("E assert 0\n\n{\"odd\":1}"));
    assert_eq!(row.failures.len(), 2);
    assert_eq!(row.failures[0].summary.as_deref(), Some("assert 0"));
    assert_eq!(row.failures[0].location.as_ref().and_then(|at| at.line), Some(3));
    assert_eq!(row.failures[1].phase, Phase::Teardown);
    assert!((row.duration_s.unwrap() - 0.3).abs() < 1e-9);
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![
            Just("passed"),
            Just("failed"),
            Just("skipped"),
            Just("('a', 1, 'Skipped"),
            Just("é\\")
        ]
        .prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("tests"),
        Just("nodeid"),
        Just("outcome"),
        Just("setup"),
        Just("call"),
        Just("longrepr"),
        Just("crash"),
        Just("collectors"),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_no_json_object_with_tests_is_refused(report in json(), bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(read) = read(report.to_string().as_bytes()) {
            prop_assert!(report["tests"].is_array(), "{:?}", read);
        }
        prop_assert!(read(&bytes).is_err() || serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
    }
}
