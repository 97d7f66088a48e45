//! What clients may send, and what is refused.

use std::time::Duration;

use process::Cancel;
use serde_json::{Map, Value, json};

use super::{misspelt_key, workspace};
use crate::{
    Kind, OpError, Tool, affected_tests, call, cancel_run, get_coverage, get_run, list_tests, run_n_times,
    run_single, run_suite,
};

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

/// Code and message of the refusal.
fn refusal<T: std::fmt::Debug>(result: Result<T, OpError>) -> String {
    let error = result.expect_err("it was accepted");
    assert_eq!(
        (error.error.code.as_str(), error.exit().code()),
        ("bad_argument", 4)
    );
    error.headline()
}

#[test]
fn run_suite_takes_what_the_first_clients_sent() {
    let arguments = run_suite::Arguments::from_json(&map(json!({
        "selector": "  tests/api ", "cwd": "", "timeout_s": "45", "suite": null, "max_failures": 1.0, "max_bytes": 0,
    })))
    .unwrap();
    assert_eq!(arguments.selectors, ["tests/api"]);
    assert_eq!(arguments.scope.cwd, None);
    assert_eq!(arguments.scope.timeout, Some(Duration::from_secs(45)));
    assert_eq!(arguments.filters.max_failures, Some(1));
}

#[test]
fn a_fraction_of_a_second_above_one_is_a_time_limit() {
    let arguments = run_suite::Arguments::from_json(&map(json!({ "timeout_s": 2.5 }))).unwrap();
    assert_eq!(arguments.scope.timeout, Some(Duration::from_millis(2500)));
}

#[test]
fn bad_values_are_refused_and_never_replaced_by_a_default() {
    let digits = "9".repeat(400);
    for bad in [
        json!({ "timeout_s": 0 }),
        json!({ "timeout_s": 0.5 }),
        json!({ "timeout_s": -5 }),
        json!({ "timeout_s": "abc" }),
        json!({ "timeout_s": "NaN" }),
        json!({ "timeout_s": "inf" }),
        json!({ "timeout_s": 1e308 }),
        json!({ "timeout_s": digits }),
        json!({ "timeout_s": [] }),
        json!({ "timeout_s": {} }),
        json!({ "timeout_s": true }),
        json!({ "selector": 5 }),
        json!({ "selector": ["a"] }),
        json!({ "selectors": "a" }),
        json!({ "selectors": ["a", 1] }),
        json!({ "selectors": ["a", " "] }),
        json!({ "cwd": 3 }),
        json!({ "max_failures": 0 }),
        json!({ "failed_of": "last", "selector": "tests" }),
    ] {
        let text = refusal(run_suite::Arguments::from_json(&map(bad.clone())));
        assert!(text.len() < 400, "{bad} is echoed in full: {text}");
    }
}

#[test]
fn an_unknown_argument_is_refused_with_the_nearest_name() {
    let text = refusal(run_suite::Arguments::from_json(&map(json!({ "selectr": "a" }))));
    assert_eq!(
        text,
        "`run_suite` takes no argument `selectr`. Did you mean `selector`?"
    );
    let text = refusal(list_tests::Arguments::from_json(&map(json!({ "zzzzzzzzzz": 1 }))));
    assert!(text.contains("It takes: cwd,"), "{text}");
}

#[test]
fn a_test_id_is_required_and_not_empty() {
    for bad in [
        json!({}),
        json!({ "test_id": "" }),
        json!({ "test_id": "  " }),
        json!({ "test_id": null }),
    ] {
        assert_eq!(
            refusal(run_single::Arguments::from_json(&map(bad))),
            "`test_id` is required."
        );
    }
    refusal(run_single::Arguments::from_json(&map(json!({ "test_id": 7 }))));
}

#[test]
fn an_unknown_argument_is_named_also_where_another_is_missing() {
    assert_eq!(
        refusal(run_single::Arguments::from_json(&map(json!({ "tset_id": "a" })))),
        "`test_id` is required, and `run_single` takes no argument `tset_id`. Did you mean `test_id`?"
    );
    assert_eq!(
        refusal(run_n_times::Arguments::from_json(&map(json!({})))),
        "`test_id` and `n` are required."
    );
    let text = refusal(cancel_run::Arguments::from_json(&map(json!({ "id": "a" }))));
    assert!(
        text.starts_with("`run_id` is required, and `cancel_run` takes no argument `id`."),
        "{text}"
    );
}

#[test]
fn line_ends_alone_are_no_way_of_asking_for_everything() {
    let read = |selector: &str| run_suite::Arguments::from_json(&map(json!({ "selector": selector })));
    assert!(read(" ").is_ok());
    for bad in ["\r\n", "\n", "\t"] {
        refusal(read(bad));
    }
}

#[test]
fn n_is_a_whole_number_between_one_and_twenty() {
    let read = |n: Value| run_n_times::Arguments::from_json(&map(json!({ "test_id": "a.py::t", "n": n })));
    for (good, n) in [(json!(1), 1), (json!("20"), 20), (json!(4.0), 4)] {
        assert_eq!(read(good).unwrap().n, n);
    }
    for bad in [
        json!(0),
        json!(-1),
        json!(21),
        json!(1e9),
        json!(0.5),
        json!("x"),
        json!(null),
        json!([3]),
    ] {
        refusal(read(bad));
    }
}

#[test]
fn affected_paths_are_an_array() {
    let read = |paths: Value| affected_tests::Arguments::from_json(&map(json!({ "paths": paths })));
    assert_eq!(read(json!(["src/a.py"])).unwrap().paths, ["src/a.py"]);
    refusal(read(json!("src/a.py")));
    refusal(read(json!([1])));
    refusal(get_coverage::Arguments::from_json(&map(
        json!({ "paths": "src" }),
    )));
}

#[test]
fn get_run_knows_its_words() {
    let read = |value: Value| get_run::Arguments::from_json(&map(value));
    let arguments =
        read(json!({ "run_id": "last", "part": "failures", "cursor": "500", "wait_s": 0.25 })).unwrap();
    assert_eq!(arguments.part, Some(get_run::Part::Failures));
    assert_eq!(arguments.cursor, Some(500));
    assert_eq!(arguments.wait, Duration::from_millis(250));
    for bad in [
        json!({}),
        json!({ "run_id": "last", "part": "all" }),
        json!({ "run_id": "last", "outcome": "red" }),
        json!({ "run_id": "last", "cursor": "-1" }),
        json!({ "run_id": "last", "wait_s": 601 }),
        json!({ "run_id": "last", "limit": 0 }),
    ] {
        refusal(read(bad));
    }
}

/// A value that such an argument may have.
fn good(kind: Kind) -> Value {
    match kind {
        Kind::String | Kind::Suite => json!("7"),
        Kind::Strings => json!(["7"]),
        Kind::Flag => json!(false),
        Kind::Count { least, .. } => json!(least),
        Kind::Seconds { least, .. } => json!(least),
        Kind::Bytes => json!(5000),
        Kind::Choice(words) => json!(words()[0]),
    }
}

/// The refusal of a call that gives what must be given, and `more`. `None` if its arguments were taken.
async fn refused(tool: Tool, more: (&str, Value)) -> Option<String> {
    let (_folder, mut workspace) = workspace();
    // Whoever has read its arguments meets this, or looks for a run that is not there.
    workspace.settings = Err(misspelt_key());
    let required = tool.definition().arguments().filter(|argument| argument.required);
    let mut arguments: Map<String, Value> = required
        .map(|argument| (argument.name.to_owned(), good(argument.kind)))
        .collect();
    arguments.insert(more.0.to_owned(), more.1);
    let error = call(&workspace, tool, &arguments, Cancel::new(), &mut |_, _| {})
        .await
        .unwrap_err();
    match error.error.code.as_str() {
        "bad_argument" => Some(error.error.message),
        "config" | "no_such_run" => None,
        other => panic!("{tool:?} answers {other}"),
    }
}

#[tokio::test]
async fn each_tool_reads_every_argument_of_its_definition_and_refuses_any_other() {
    for &tool in Tool::ALL {
        for argument in tool.definition().arguments() {
            let name = argument.name;
            assert_eq!(refused(tool, (name, good(argument.kind))).await, None, "{tool:?}");
            if name == "max_bytes" {
                // Read by the faces.
                continue;
            }
            let said = refused(tool, (name, json!({ "a": 1 }))).await.expect(name);
            assert!(said.starts_with(&format!("`{name}` must be")), "{tool:?}: {said}");
        }
        let said = refused(tool, ("surely_not", json!(1))).await.unwrap();
        assert!(said.contains("takes no argument `surely_not`"), "{said}");
    }
}

#[tokio::test]
async fn numbers_outside_the_bounds_of_a_definition_are_refused() {
    for &tool in Tool::ALL {
        for argument in tool.definition().arguments() {
            let name = argument.name;
            let (least, most) = argument.kind.bounds();
            let outside = [least.map(|least| least - 1.0), most.map(|most| most + 1.0)];
            for number in outside.into_iter().flatten().filter(|_| name != "max_bytes") {
                let said = refused(tool, (name, json!(number))).await;
                assert!(said.is_some(), "{tool:?} takes {name} = {number}");
            }
        }
    }
}
