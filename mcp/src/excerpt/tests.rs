//! The promise of bytes, and what must hold within it.

use std::collections::BTreeMap;

use ops::{
    Answer, EnvironmentFacts, ErrorKind, Ids, NextCall, OpError, Row, Tool, Totals, get_run, run_n_times,
    run_single, run_suite,
};
use proptest::prelude::*;
use runner_core::model::{Location, Outcome, Status, Unfinished};
use serde_json::{Map, Value, json};

use super::{ENVELOPE, Excerpt, measure, of, of_error};

fn row(nodeid: impl Into<String>, outcome: Outcome, message: Option<String>) -> Row {
    let result = runner_core::model::TestResult {
        duration_s: Some(0.0012),
        message,
        ..runner_core::model::TestResult::new(nodeid, outcome)
    };
    Row::from(&result)
}

fn totals(rows: &[Row]) -> Totals {
    let mut totals = Totals::default();
    for row in rows {
        *totals.0.entry(row.outcome).or_default() += 1;
    }
    totals
}

fn suite(status: Status, tests: Vec<Row>) -> run_suite::Answer {
    run_suite::Answer {
        run_id: "r-0123456789abcdef".into(),
        status,
        reason: None,
        hint: None,
        stopped: false,
        totals: totals(&tests),
        flaky: Ids::default(),
        tests,
        collection_errors: Vec::new(),
        unfinished: Vec::new(),
        never_started: None,
        deselected: 0,
        framework_warnings: 0,
        exit_code: Some(0),
        signal: None,
        timed_out: false,
        duration_s: 1.234,
        parser: "pytest-events".into(),
        cwd: "/home/someone/projects/a-repository-with-a-name".into(),
        selector: None,
        selectors: Vec::new(),
        output_tail: None,
        warnings: Vec::new(),
        changed_since: None,
        next: Vec::new(),
        environment: EnvironmentFacts {
            suite: "default".into(),
            backend: "pytest-events".into(),
            argv: (0..20).map(|n| format!("--some-option-number={n}")).collect(),
            ..EnvironmentFacts::default()
        },
    }
}

fn shown(answer: run_suite::Answer, max_bytes: usize) -> Excerpt {
    of(Box::new(answer), Some(max_bytes))
}

fn size(excerpt: &Excerpt) -> usize {
    measure::of_map(&excerpt.structured) + measure::of_text(&excerpt.text) + ENVELOPE
}

fn passed(count: usize) -> Vec<Row> {
    (0..count)
        .map(|n| {
            row(
                format!("tests/test_many.py::test_number_{n}"),
                Outcome::Passed,
                None,
            )
        })
        .collect()
}

/// Calls `see` for every object in the value.
fn objects(value: &Value, see: &mut impl FnMut(&Map<String, Value>)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| objects(item, see)),
        Value::Object(map) => {
            see(map);
            map.values().for_each(|item| objects(item, see));
        }
        _ => {}
    }
}

/// Tests that an answer names, folded ones included, and those that it says it leaves out.
fn accounted(structured: &Map<String, Value>) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for row in structured["tests"].as_array().into_iter().flatten() {
        let folded = row
            .get("identical")
            .map_or(0, |same| same["nodeids"].as_array().unwrap().len());
        let outcome = row["outcome"].as_str().unwrap();
        *counts.entry(outcome.to_owned()).or_default() += 1 + folded as u64;
    }
    for outcome in Outcome::ALL {
        let omitted = structured
            .get("omitted")
            .and_then(|omitted| omitted.get(outcome.as_str()));
        if let Some(count) = omitted {
            *counts.entry(outcome.as_str().to_owned()).or_default() += count.as_u64().unwrap();
        }
    }
    counts
}

#[test]
fn a_green_run_of_any_size_is_short() {
    for count in [100, 30_000] {
        let excerpt = shown(suite(Status::Passed, passed(count)), 20_000);
        assert!(excerpt.text.len() < 700, "{}", excerpt.text);
        let structure = Value::Object(excerpt.structured.clone()).to_string();
        assert!(structure.len() < 1_500, "{structure}");
        assert_eq!(excerpt.structured["omitted"], json!({ "passed": count }));
        assert_eq!(excerpt.structured["next"][0]["arguments"]["outcome"], "passed");
        assert_eq!(excerpt.structured["totals"]["passed"], count);
        assert!(excerpt.structured["environment"]["argv"][0].is_string());
    }
}

#[test]
fn a_small_green_run_lists_its_rows_and_leaves_nothing_out() {
    let excerpt = shown(suite(Status::Passed, passed(20)), 20_000);
    assert_eq!(excerpt.structured["tests"].as_array().unwrap().len(), 20);
    assert!(!excerpt.structured.contains_key("omitted"));
    assert!(!excerpt.structured.contains_key("next"));
}

#[test]
fn a_run_that_is_not_green_lists_passed_rows_after_its_failures() {
    let mut rows = passed(60);
    rows.push(row(
        "tests/test_z.py::test_bad",
        Outcome::Failed,
        Some("assert 1 == 2".into()),
    ));
    let excerpt = shown(suite(Status::Failed, rows), 20_000);
    let tests = excerpt.structured["tests"].as_array().unwrap();
    assert_eq!(tests[0]["nodeid"], "tests/test_z.py::test_bad");
    assert_eq!(tests.len(), 61);
    assert!(
        excerpt
            .text
            .contains("FAILED tests/test_z.py::test_bad\n    assert 1 == 2"),
        "{}",
        excerpt.text
    );
    assert!(excerpt.text.contains("untrusted"));
}

#[test]
fn identical_failures_are_folded_with_their_count_and_ids() {
    let text = "E   ConnectionError: no database\n".repeat(20);
    let rows = (0..300).map(|n| {
        row(
            format!("tests/test_db.py::test_{n}"),
            Outcome::Error,
            Some(text.clone()),
        )
    });
    let excerpt = shown(suite(Status::Failed, rows.collect()), 20_000);
    let first = &excerpt.structured["tests"][0];
    assert_eq!(first["identical"]["count"], 299);
    assert_eq!(first["identical"]["nodeids"].as_array().unwrap().len(), 299);
    assert!(
        excerpt
            .text
            .contains("and 299 more that failed alike: tests/test_db.py::test_1,"),
        "{}",
        excerpt.text
    );
    assert!(size(&excerpt) <= 20_000);
}

#[test]
fn few_identical_failures_stay_rows_of_their_own() {
    let rows = (0..4).map(|n| {
        row(
            format!("t.py::test_{n}"),
            Outcome::Failed,
            Some("assert False".into()),
        )
    });
    let excerpt = shown(suite(Status::Failed, rows.collect()), 20_000);
    assert_eq!(excerpt.structured["tests"].as_array().unwrap().len(), 4);
}

#[test]
fn three_hundred_different_failures_among_thirty_thousand_tests() {
    let mut rows = passed(29_700);
    rows.extend((0..300).map(|n| {
        let text = format!(
            "def test():\n>   assert {n} == 0\nE   assert {n} == 0\n{}",
            "context\n".repeat(300)
        );
        row(
            format!("tests/test_some.py::test_{n}"),
            Outcome::Failed,
            Some(text),
        )
    }));
    let excerpt = shown(suite(Status::Failed, rows), 20_000);
    assert!(size(&excerpt) <= 20_000, "{}", size(&excerpt));
    assert_eq!(
        excerpt.structured["tests"][0]["nodeid"],
        "tests/test_some.py::test_0"
    );
    assert!(excerpt.structured["tests"].as_array().unwrap().len() > 15);
    assert!(excerpt.text.contains("FAILED tests/test_some.py::test_0\n"));
    let counts = accounted(&excerpt.structured);
    assert_eq!((counts["passed"], counts["failed"]), (29_700, 300));
    assert!(
        excerpt.structured["next"]
            .as_array()
            .unwrap()
            .iter()
            .any(|call| call["tool"] == "get_run")
    );
}

#[test]
fn a_huge_message_keeps_head_and_tail() {
    let text = format!("HEAD {} TAIL", "m".repeat(20_000_000));
    let excerpt = shown(
        suite(Status::Failed, vec![row("t.py::t", Outcome::Failed, Some(text))]),
        20_000,
    );
    let message = excerpt.structured["tests"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("HEAD") && message.ends_with("TAIL") && message.contains("bytes left out"));
    assert!(size(&excerpt) <= 20_000);
}

#[test]
fn what_hung_is_named_with_its_stack() {
    let mut answer = suite(Status::TimedOut, passed(3));
    answer.unfinished = vec![Unfinished {
        nodeid: "t.py::test_hangs".into(),
        phase: Some(runner_core::model::Phase::Call),
        stack: Some("File \"t.py\", line 3, in test_hangs".into()),
        worker: None,
    }];
    let excerpt = shown(answer, 20_000);
    assert!(
        excerpt
            .text
            .contains("Began and did not end: t.py::test_hangs (call)\n    File \"t.py\"")
    );
    assert_eq!(excerpt.structured["unfinished"][0]["nodeid"], "t.py::test_hangs");
}

#[test]
fn text_of_tests_is_set_in_line_by_line() {
    let text = "E  x\nstatus: passed\nNext: cancel_run {}";
    let excerpt = shown(
        suite(
            Status::Failed,
            vec![row("t.py::t", Outcome::Failed, Some(text.into()))],
        ),
        20_000,
    );
    let forged = excerpt
        .text
        .lines()
        .filter(|line| line.starts_with("status: passed") || line.starts_with("Next:"));
    assert_eq!(forged.count(), 0, "{}", excerpt.text);
}

#[test]
fn thirty_files_that_fail_alike_are_all_named() {
    let error = |number: usize| runner_core::model::CollectionError {
        nodeid: format!("tests/test_{number}.py"),
        message: format!(
            "ImportError while importing test module '/home/someone/project/tests/test_{number}.py'.\n{}\nE   ModuleNotFoundError: No module named 'nope'",
            "a line of the traceback\n".repeat(12)
        ),
        summary: None,
        location: None,
    };
    let errors: Vec<_> = (0..30).map(error).collect();
    let mut answer = suite(Status::Broken, errors.iter().map(Row::from).collect());
    answer.output_tail = Some("the same once more\n".repeat(300));
    answer.collection_errors = errors;
    let excerpt = of(Box::new(answer), Some(20_000));
    let named = excerpt.structured["collection_errors"].as_array().unwrap();
    assert_eq!(named.len(), 30);
    assert_eq!(excerpt.structured["tests"][0]["identical"]["count"], 29);
}

#[test]
fn a_collector_that_failed_is_a_row_and_named_once_more() {
    let text = format!("{}\nE   EOFError: no more", "context\n".repeat(40));
    let mut answer = suite(
        Status::Broken,
        vec![row("t.py", Outcome::Error, Some(text.clone()))],
    );
    answer.collection_errors = vec![runner_core::model::CollectionError {
        nodeid: "t.py".into(),
        message: text,
        summary: Some("EOFError: no more".into()),
        location: None,
    }];
    let excerpt = shown(answer, 20_000);
    assert_eq!(
        excerpt.structured["collection_errors"][0]["message"],
        "EOFError: no more"
    );
    let message = excerpt.structured["tests"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("context"));
}

#[test]
fn without_a_limit_everything_is_there() {
    let text = "x".repeat(50_000);
    let rows = (0..500).map(|n| {
        row(
            format!("t.py::test_{n}"),
            Outcome::Failed,
            Some(format!("{n}{text}")),
        )
    });
    let excerpt = of(Box::new(suite(Status::Failed, rows.collect())), None);
    let tests = excerpt.structured["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 500);
    assert_eq!(tests[7]["message"].as_str().unwrap().len(), 50_001);
}

#[test]
fn an_error_answer_says_what_to_do_in_both_halves() {
    let error = OpError::new(ErrorKind::NoTests, "no_tests", "no test matched `x`")
        .with_hint("Check the selector.")
        .with_next(NextCall::new(Tool::ListTests, "see which tests there are"));
    let excerpt = of_error(&error, Some(20_000));
    assert_eq!(excerpt.structured["status"], "no_tests");
    assert_eq!(excerpt.structured["error"]["hint"], "Check the selector.");
    assert_eq!(excerpt.structured["next"][0]["tool"], "list_tests");
    assert!(
        excerpt.text.contains("no test matched `x`. Check the selector."),
        "{}",
        excerpt.text
    );
    assert!(excerpt.text.contains("status: no_tests"));
}

fn page(tests: Vec<Row>, offset: usize, all: usize) -> Answer {
    let shown = offset + tests.len();
    Box::new(get_run::Page {
        run_id: "r-0123456789abcdef".into(),
        status: Status::Failed,
        reason: None,
        tool: "run_suite".into(),
        part: Some(get_run::Part::Tests),
        totals: totals(&tests),
        flaky: Ids::default(),
        progress: None,
        tests,
        nodeids: Vec::new(),
        matching: Some(all),
        offset,
        cursor: (shown < all).then(|| shown.to_string()),
        output: None,
        lines: None,
        collection_errors: Vec::new(),
        unfinished: Vec::new(),
        exit_code: Some(1),
        timed_out: false,
        duration_s: 1.0,
        parser: "pytest-events".into(),
        cwd: "/repo".into(),
        selector: None,
        warnings: Vec::new(),
        next: Vec::new(),
        environment: None,
    })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop::sample::select(Outcome::ALL.to_vec())
}

prop_compose! {
    fn any_row()(
        nodeid in "\\PC{1,80}",
        wide in 0usize..40,
        outcome in outcome(),
        message in prop::option::of(prop_oneof!["\\PC{0,60}", Just("the same".to_owned()), any::<String>()]),
        times in prop_oneof![Just(1usize), 1usize..80],
        line in prop::option::of(1u32..9999),
    ) -> Row {
        let mut row = row(format!("{nodeid}{}", "w".repeat(wide * wide)), outcome, message.map(|text| text.repeat(times)));
        row.location = line.map(|line| Location { file: "tests/test_a.py".into(), line: Some(line) });
        row.summary = row.message.as_deref().and_then(|text| text.lines().next()).map(str::to_owned);
        row
    }
}

prop_compose! {
    fn any_suite()(
        mut tests in prop::collection::vec(any_row(), 0..60),
        status in prop::sample::select(vec![Status::Passed, Status::Failed, Status::Incomplete, Status::TimedOut]),
        reason in prop::option::of("\\PC{0,3000}"),
        stack in prop::option::of("\\PC{0,9000}"),
        tail in prop::option::of(any::<String>()),
        warnings in prop::collection::vec("\\PC{0,900}", 0..9),
        cwd in "/\\PC{0,300}",
    ) -> run_suite::Answer {
        if status == Status::Passed {
            tests.retain(|row| !row.is_bad());
        }
        let mut answer = suite(status, tests);
        answer.reason = reason;
        answer.unfinished = stack.into_iter().map(|stack| Unfinished {
            nodeid: "t.py::hung".into(),
            phase: None,
            stack: Some(stack),
            worker: None,
        }).collect();
        answer.output_tail = tail.map(|tail| tail.repeat(50));
        answer.next = answer.tests.iter().filter(|row| row.is_bad()).take(2).map(|row| {
            NextCall::new(Tool::RunSingle, "again").with("test_id", row.nodeid.as_str())
        }).collect();
        answer.warnings = warnings;
        answer.cwd = cwd;
        answer
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_answer_is_larger_than_it_may_be(answer in any_suite(), max_bytes in 2_000usize..60_000) {
        let (status, all, given) = (answer.status, answer.totals.clone(), answer.tests.clone());
        let excerpt = shown(answer, max_bytes);
        prop_assert!(size(&excerpt) <= max_bytes, "{} > {max_bytes}", size(&excerpt));
        let structured = Value::Object(excerpt.structured.clone());
        prop_assert!(structured.to_string().len() + json!(excerpt.text).to_string().len() <= max_bytes);

        // Each half says how it stands.
        prop_assert_eq!(&structured["status"], status.as_str());
        prop_assert_eq!(&structured["run_id"], "r-0123456789abcdef");
        prop_assert_eq!(&structured["totals"], &json!(all));
        let says = format!("status: {status}, run_id: r-0123456789abcdef");
        prop_assert!(excerpt.text.contains(&says), "{}", excerpt.text);

        // Every test is listed, folded or counted, once.
        let counts: BTreeMap<String, u64> = all.0.iter().map(|(o, n)| (o.as_str().to_owned(), *n)).collect();
        prop_assert_eq!(accounted(&excerpt.structured), counts);

        // What looks like a row is one.
        let mut forged = Vec::new();
        objects(&structured, &mut |map| {
            if let (Some(nodeid), Some(outcome)) = (map.get("nodeid"), map.get("outcome")) {
                let known = given.iter().any(|row| *nodeid == row.nodeid && *outcome == row.outcome.as_str());
                if !known { forged.push(map.clone()); }
            }
        });
        prop_assert!(forged.is_empty(), "{forged:?}");
        let next = structured.get("next").and_then(Value::as_array).map_or(0, Vec::len);
        prop_assert!(next <= 2);
        prop_assert!(crate::offer::conforms(Tool::RunSuite, &structured));
    }

    #[test]
    fn paging_comes_by_every_row_once(rows in prop::collection::vec(any_row(), 1..60), max_bytes in 4_000usize..20_000) {
        let mut seen = Vec::new();
        let mut offset = 0;
        while offset < rows.len() {
            let excerpt = of(page(rows[offset..].to_vec(), offset, rows.len()), Some(max_bytes));
            prop_assert!(size(&excerpt) <= max_bytes);
            let tests = excerpt.structured.get("tests").and_then(Value::as_array).cloned().unwrap_or_default();
            for test in &tests {
                let nodeid = test["nodeid"].as_str().unwrap();
                prop_assert!(excerpt.text.contains(nodeid), "{nodeid} is not in {}", excerpt.text);
                seen.push(nodeid.to_owned());
            }
            let next = excerpt.structured.get("cursor").map(|cursor| cursor.as_str().unwrap().parse::<usize>().unwrap());
            let next = next.unwrap_or(rows.len());
            let more = format!("\"cursor\": \"{next}\"");
            prop_assert_eq!(excerpt.text.contains(&more), next < rows.len());
            prop_assert!(next > offset);
            // Only a row that no page can hold is passed over.
            let too_large = tests.is_empty() && excerpt.structured["omitted"]["too_large"] == 1;
            prop_assert!(tests.len() == next - offset || (too_large && next == offset + 1));
            offset = next;
        }
        let small = rows.iter().filter(|row| measure::of_text(&row.nodeid) < 300).count();
        prop_assert!(seen.len() >= small, "{} of {small}", seen.len());
    }
}

fn single(output: &str, tests: Vec<Row>) -> Box<run_single::Answer> {
    Box::new(run_single::Answer {
        run_id: "r-0123456789abcdef".into(),
        status: Status::Failed,
        reason: None,
        hint: None,
        nodeid: "t.py::test_many".into(),
        outcome: run_single::SingleOutcome::Finished(Outcome::Failed),
        flaky: false,
        attempts: Vec::new(),
        duration_s: None,
        message: Some("assert 1 == 2".into()),
        output: Some(output.to_owned()),
        tests,
        collection_errors: Vec::new(),
        unfinished: Vec::new(),
        exit_code: Some(1),
        signal: None,
        timed_out: false,
        parser: "pytest-events".into(),
        cwd: "/repo".into(),
        warnings: Vec::new(),
        next: Vec::new(),
        environment: EnvironmentFacts::default(),
    })
}

#[test]
fn one_tests_output_is_whole_without_a_budget_and_cut_and_counted_within_one() {
    let output = "x".repeat(50_000);
    let whole = of(single(&output, Vec::new()), None);
    assert_eq!(whole.structured["output"], output);
    let bounded = of(single(&output, Vec::new()), Some(1_000_000));
    let shown = bounded.structured["output"].as_str().unwrap();
    assert!(shown.len() < 8_100, "{} bytes", shown.len());
    assert!(shown.contains("[… 42000 bytes left out …]"), "{shown}");
}

#[test]
fn the_first_line_counts_the_rows_that_are_shown_below_it() {
    let rows = ["a", "b"].map(|id| row(format!("t.py::test_many[{id}]"), Outcome::Failed, None));
    let excerpt = of(single("", rows.into()), Some(20_000));
    assert!(excerpt.text.contains("(the worst of 2)"), "{}", excerpt.text);
}

#[test]
fn messages_of_repeats_beyond_the_first_are_counted() {
    let answer = run_n_times::Answer {
        run_id: "r-0123456789abcdef".into(),
        status: Status::Failed,
        reason: None,
        test_id: "t.py::test_x".into(),
        runs: 20,
        valid: 20,
        passed: 0,
        failed: 20,
        flaky: 0,
        flake_rate: 0.0,
        flake_interval: [0.0, 0.161],
        would_show: Vec::new(),
        majority_outcome: run_single::SingleOutcome::Finished(Outcome::Failed),
        outcomes: Vec::new(),
        counts: BTreeMap::new(),
        messages: (1..=20)
            .map(|run| format!("run {run}: {}", "m".repeat(5_000)))
            .collect(),
        collection_errors: Vec::new(),
        timed_out: false,
        duration_s: 1.0,
        parser: "pytest-events".into(),
        cwd: "/repo".into(),
        warnings: Vec::new(),
        next: Vec::new(),
        environment: EnvironmentFacts::default(),
    };
    let whole = of(Box::new(answer.clone()), None);
    assert_eq!(whole.structured["messages"].as_array().unwrap().len(), 20);
    let bounded = of(Box::new(answer), Some(20_000));
    let shown = bounded.structured["messages"].as_array().unwrap().len();
    assert!((1..=5).contains(&shown), "{shown}");
    assert_eq!(bounded.structured["omitted"]["messages"], 20 - shown);
}
