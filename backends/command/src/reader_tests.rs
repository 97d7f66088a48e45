use runner_core::backend::TestBackend;
use runner_core::model::Outcome;
use runner_core::selector::Selector;
use serde_json::{Value, json};

use super::*;
use crate::Command;

fn backend(table: &Value) -> Command {
    Command::from_table("own", table.as_object().unwrap()).unwrap()
}

fn request(selectors: Vec<Selector>) -> RunRequest {
    let mut request = RunRequest::new(Mode::Run, "/repo", "/scratch");
    request.selection.selectors = selectors;
    request
}

fn node(path: &str, rest: &str) -> Selector {
    Selector::Node {
        path: path.to_owned(),
        rest: rest.to_owned(),
    }
}

fn exit(code: Option<i32>) -> StepExit {
    StepExit {
        step: "own".to_owned(),
        code,
        signal: code.is_none().then_some(9),
        ..StepExit::default()
    }
}

/// Reads a stream in segments of so many lines.
fn streamed(
    table: &Value,
    request: &RunRequest,
    text: &str,
    segment: usize,
    code: Option<i32>,
) -> (Vec<TestEvent>, Ending) {
    let mut reader = backend(table).reader(request);
    let mut events = Vec::new();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for lines in lines.chunks(segment.max(1)) {
        let lines = Lines {
            step: 0,
            stream: Stream::Stdout,
            lines: lines.to_vec(),
        };
        reader.read(&lines, &mut events);
    }
    let ending = reader
        .finish(&[exit(code)], &Artifacts::default(), &mut events)
        .unwrap();
    (events, ending)
}

/// Reads a file.
fn filed(
    table: &Value,
    request: &RunRequest,
    state: ArtifactState,
    code: Option<i32>,
) -> (Vec<TestEvent>, Ending) {
    let mut files = Artifacts::default();
    files.insert("report 1", state);
    let mut events = Vec::new();
    let mut reader = backend(table).reader(request);
    let ending = reader.finish(&[exit(code)], &files, &mut events).unwrap();
    (events, ending)
}

fn rows(events: &[TestEvent]) -> Vec<String> {
    let rows = events.iter().filter_map(|event| match event {
        TestEvent::Finished(row) => Some(format!("{} {}", row.outcome, row.nodeid)),
        TestEvent::Found { nodeid, .. } => Some(format!("found {nodeid}")),
        TestEvent::CollectFailed(error) => Some(format!("collect {}", error.nodeid)),
        _ => None,
    });
    rows.collect()
}

fn tap() -> Value {
    json!({"run": ["tool", "{ids...}"], "report": {"format": "tap"}, "exit": {"failed": [1], "none": [5], "usage": [64]}})
}

fn junit() -> Value {
    json!({"run": ["tool", "{report}", "{ids...}"], "report": {"format": "junit"}})
}

const XML: &str = r#"<testsuites><testsuite name="s">
<testcase file="/repo/a.rb" classname="S" name="adds"/><testcase file="./a.rb" classname="S" name="adds"/>
<testcase file="b.rb" name="fails"><failure message="no"/></testcase></testsuite></testsuites>"#;

fn bytes(text: &str) -> ArtifactState {
    ArtifactState::Bytes(text.as_bytes().to_vec())
}

#[test]
fn ids_are_relative_to_the_folder_and_namesakes_are_numbered() {
    let (events, ending) = filed(&junit(), &request(vec![]), bytes(XML), Some(1));
    assert_eq!(
        rows(&events),
        [
            "passed a.rb::S::adds",
            "passed a.rb::S::adds[2]",
            "failed b.rb::fails"
        ]
    );
    assert_eq!(
        (ending.kind, ending.exit),
        (EndingKind::Completed, ExitMeaning::TestsFailed)
    );
}

#[test]
fn tests_that_were_not_selected_are_dropped_and_explain_a_failing_exit() {
    let asked = request(vec![node("a.rb", "::S::adds")]);
    let (events, ending) = filed(&junit(), &asked, bytes(XML), Some(1));
    assert_eq!(rows(&events), ["passed a.rb::S::adds", "passed a.rb::S::adds[2]"]);
    assert_eq!(
        (ending.kind, ending.exit),
        (EndingKind::Completed, ExitMeaning::Ok)
    );
    assert!(
        matches!(events.last(), Some(TestEvent::Warning { message }) if message.contains("not selected"))
    );

    let asked = request(vec![Selector::Path { path: "b.rb".into() }]);
    assert_eq!(
        rows(&filed(&junit(), &asked, bytes(XML), Some(1)).0),
        ["failed b.rb::fails"]
    );
    let (events, ending) = filed(
        &junit(),
        &request(vec![node("a.rb", "::S::add")]),
        bytes(XML),
        Some(1),
    );
    assert_eq!(rows(&events), [""; 0]);
    assert_eq!(ending.kind, EndingKind::NoTests);
}

#[test]
fn a_report_that_is_missing_old_or_cut_is_no_good_end() {
    let table = json!({"run": ["tool"], "report": {"format": "junit", "path": "out/r.xml"}});
    for (state, word) in [
        (ArtifactState::Missing, "was not written"),
        (ArtifactState::Stale, "older"),
        (ArtifactState::Unusable("is a symbolic link".into()), "link"),
        (bytes(""), "is empty"),
        (bytes(&XML[..180]), "no whole XML"),
    ] {
        let (_, ending) = filed(&table, &request(vec![]), state, Some(0));
        assert_eq!(ending.kind, EndingKind::Cut, "{word}");
        let reason = ending.reason.unwrap();
        assert!(reason.contains("out/r.xml") && reason.contains(word), "{reason}");
    }
    let (events, _) = filed(&table, &request(vec![]), bytes(&XML[..180]), Some(0));
    assert_eq!(
        rows(&events),
        ["passed a.rb::S::adds", "passed a.rb::S::adds[2]"],
        "rows so far are kept"
    );
}

#[test]
fn a_report_that_was_not_written_is_told_with_the_path_expected_and_what_to_do() {
    let fixed = json!({"run": ["tool"], "report": {"format": "junit", "path": "out/r.xml"}});
    let new = request(vec![]).scratch.join("report-1.xml");
    let own = json!({"run": ["tool", "{report}"], "report": {"format": "junit"}});
    for (table, path, hint) in [
        (&fixed, "out/r.xml", "`report.path`"),
        (&own, &*new.display().to_string(), "given {report}"),
    ] {
        let (_, ending) = filed(table, &request(vec![]), ArtifactState::Missing, Some(0));
        let (reason, given) = (ending.reason.unwrap(), ending.hint.unwrap());
        assert!(
            reason.contains(&format!("the report {path} was not written")),
            "{reason}"
        );
        assert!(given.contains(hint), "{given}");
    }
}

#[test]
fn exit_codes_have_the_meaning_that_the_table_gives() {
    let plain = "ok 1 - a\n1..1\n";
    let rows = [
        (plain, Some(0), EndingKind::Completed, ExitMeaning::Ok),
        (plain, Some(1), EndingKind::Completed, ExitMeaning::TestsFailed),
        (plain, Some(3), EndingKind::Completed, ExitMeaning::Other),
        (plain, Some(64), EndingKind::Broken, ExitMeaning::Other),
        (plain, None, EndingKind::Cut, ExitMeaning::Other),
        ("", Some(5), EndingKind::NoTests, ExitMeaning::NoTests),
        ("", Some(0), EndingKind::Cut, ExitMeaning::Ok),
        ("ok 1 - a\n1..2\n", Some(0), EndingKind::Cut, ExitMeaning::Ok),
    ];
    for (text, code, kind, meaning) in rows {
        let (_, ending) = streamed(&tap(), &request(vec![]), text, 1, code);
        assert_eq!((ending.kind, ending.exit), (kind, meaning), "{text:?} {code:?}");
    }
}

#[test]
fn ignored_tests_that_a_keyword_does_not_find_are_dropped() {
    let table =
        json!({"run": ["tool", ["{keyword}"]], "report": {"format": "libtest-json", "path": "stdout"}});
    let mut asked = request(vec![]);
    asked.filters.keyword = Some("wanted".to_owned());
    let text = r#"{"type":"suite","event":"started"}
{"type":"test","event":"ignored","name":"wanted_later"}
{"type":"test","event":"ignored","name":"other"}
{"type":"test","event":"started","name":"wanted"}
{"type":"test","event":"ok","name":"wanted"}
{"type":"suite","event":"ok","ignored":2}"#;
    let (events, _) = streamed(&table, &asked, text, 1, Some(0));
    assert_eq!(rows(&events), ["skipped wanted_later", "passed wanted"]);
}

#[test]
fn stopping_early_as_asked_is_no_cut() {
    let mut asked = request(vec![]);
    asked.filters.max_failures = Some(1);
    let (_, ending) = streamed(&tap(), &asked, "not ok 1 - a\n1..1\n", 1, Some(1));
    assert_eq!(ending.kind, EndingKind::Stopped);
}

#[test]
fn a_listing_tells_each_test_once() {
    let table = json!({"run": ["tool", "{report}"], "list": ["tool", "-l"], "report": {"format": "junit"}});
    let mut asked = request(vec![]);
    asked.mode = Mode::List;
    let (events, ending) = streamed(&table, &asked, "a.rb::x\n\na.rb::y\na.rb::x\n", 1, Some(0));
    assert_eq!(rows(&events), ["found a.rb::x", "found a.rb::y"]);
    assert_eq!(ending.kind, EndingKind::Completed);
}

#[test]
fn events_of_a_reporter_are_passed_on_and_its_files_made_relative() {
    let table = json!({"run": ["tool", "{ids...}"], "report": {"format": "events", "path": "stdout"}});
    let text = r#"{"event": "started", "nodeid": "a::x"}
{"event": "collect_failed", "nodeid": "/repo/b.js", "message": "no"}
{"event": "finished", "nodeid": "a::x", "outcome": "failed"}
{"event": "finished", "nodeid": "c::x", "outcome": "failed"}
{"event": "ended"}"#;
    let (events, _) = streamed(&table, &request(vec![node("a", "::x")]), text, 1, Some(1));
    assert_eq!(rows(&events), ["collect b.js", "failed a::x"]);
    assert!(matches!(&events[0], TestEvent::Started { nodeid, .. } if nodeid == "a::x"));
    assert!(matches!(&events[2], TestEvent::Finished(row) if row.outcome == Outcome::Failed));
}

/// However the lines arrive, the events are the same.
#[test]
fn reading_is_chunk_proof() {
    let recorded = [
        ("tap", include_str!("../fixtures/node.tap")),
        ("tap", include_str!("../fixtures/vitest.tap")),
        ("libtest-json", include_str!("../fixtures/nextest.jsonl")),
        ("libtest-text", include_str!("../fixtures/cargo-test.txt")),
    ];
    for (format, text) in recorded {
        let table = json!({"run": ["tool"], "report": {"format": format, "path": "stdout"}});
        let whole = streamed(&table, &request(vec![]), text, usize::MAX, Some(1));
        for segment in [1, 7] {
            assert_eq!(
                streamed(&table, &request(vec![]), text, segment, Some(1)),
                whole,
                "{format}"
            );
        }
        let file = json!({"run": ["tool", "{report}"], "report": {"format": format, "path": "{report}"}});
        let filed = filed(&file, &request(vec![]), bytes(text), Some(1));
        assert_eq!(rows(&filed.0), rows(&whole.0), "{format}");
    }
}

fn events_table() -> Value {
    json!({
        "run": ["tool", "{ids...}"],
        "report": {"format": "events", "path": "stdout"},
        "exit": {"ok": [0], "failed": [1]}
    })
}

/// What a stream of events comes to.
fn events_of(request: &RunRequest, lines: &[&str], code: i32) -> (Vec<TestEvent>, Ending) {
    streamed(&events_table(), request, &lines.join("\n"), 1, Some(code))
}

const PASSED: &str = r#"{"event": "finished", "nodeid": "a.js::there", "outcome": "passed"}"#;
const ENDED: &str = r#"{"event": "ended"}"#;

#[test]
fn a_result_that_may_change_counts_only_where_the_framework_never_came_to_its_end() {
    let early = [
        r#"{"event": "running", "nodeid": "a.js"}"#,
        r#"{"event": "over", "nodeid": "a.js"}"#,
        r#"{"event": "running", "nodeid": "a.js::hangs"}"#,
        r#"{"event": "provisional", "nodeid": "a.js::late", "outcome": "passed"}"#,
    ];
    let late = r#"{"event": "finished", "nodeid": "a.js::late", "outcome": "failed"}"#;
    let whole = [&early[..], &[late, ENDED]].concat();
    let (events, ending) = events_of(&request(vec![]), &whole, 1);
    assert_eq!(rows(&events), ["failed a.js::late"]);
    assert_eq!(ending.kind, EndingKind::Completed);

    let (events, ending) = events_of(&request(vec![]), &early, 1);
    assert_eq!(rows(&events), ["passed a.js::late"]);
    let running =
        |event: &TestEvent| matches!(event, TestEvent::Started { nodeid, .. } if nodeid == "a.js::hangs");
    assert_eq!(events.iter().filter(|event| running(event)).count(), 1);
    assert_eq!(ending.kind, EndingKind::Cut);
}

#[test]
fn a_framework_that_counts_more_than_it_told_of_is_not_believed() {
    for (end, why) in [
        (r#"{"event": "ended", "passed": 1, "failed": 0}"#, None),
        (
            r#"{"event": "ended", "passed": 2}"#,
            Some("counts 2 passed, and told of 1"),
        ),
        (
            r#"{"event": "ended", "failed": 1}"#,
            Some("counts 1 failed, and told of 0"),
        ),
        (
            r#"{"event": "ended", "broken": "no configuration"}"#,
            Some("no configuration"),
        ),
    ] {
        let (_, ending) = events_of(&request(vec![]), &[PASSED, end], 0);
        match why {
            None => assert_eq!(ending.kind, EndingKind::Completed, "{end}"),
            Some(why) => assert!(ending.reason.unwrap().contains(why), "{end}"),
        }
    }
}

#[test]
fn a_selected_test_that_did_not_run_is_named_and_keeps_the_run_from_being_green() {
    let asked = request(vec![node("a.js", "::there"), node("a.js", "::gone")]);
    let (_, ending) = events_of(&asked, &[PASSED, ENDED], 0);
    assert_eq!(ending.kind, EndingKind::Cut);
    assert_eq!(ending.reason.unwrap(), "of 2 selected, 1 did not run: a.js::gone");

    let (_, ending) = events_of(&request(vec![node("a.js", "::gone")]), &[ENDED], 0);
    assert_eq!(ending.kind, EndingKind::NoTests);

    // A file that could not be loaded answers for the tests in it.
    let failed = r#"{"event": "collect_failed", "nodeid": "a.js", "message": "no database"}"#;
    let (events, ending) = events_of(&asked, &[failed, ENDED], 1);
    assert_eq!(
        (ending.kind, rows(&events)),
        (EndingKind::Completed, vec!["collect a.js".to_owned()])
    );
}

#[test]
fn a_namesake_run_alone_is_not_judged_by_the_first_of_the_name() {
    let first = r#"{"event": "finished", "nodeid": "a.js::same", "outcome": "failed"}"#;
    let second = r#"{"event": "finished", "nodeid": "a.js::same[2]", "outcome": "passed"}"#;
    let (events, _) = events_of(
        &request(vec![node("a.js", "::same[2]")]),
        &[first, second, ENDED],
        1,
    );
    assert_eq!(rows(&events), ["passed a.js::same[2]"]);
}

#[test]
fn a_framework_that_found_nothing_says_so_and_is_not_broken() {
    let end = r#"{"event": "ended", "none": "no test file was found"}"#;
    let (_, ending) = events_of(&request(vec![]), &[end], 1);
    assert_eq!(ending.kind, EndingKind::NoTests);
    assert_eq!(ending.reason.as_deref(), Some("no test file was found"));
    let (_, ending) = events_of(&request(vec![]), &[PASSED, end], 1);
    assert_eq!(ending.kind, EndingKind::Completed);
}

#[test]
fn half_an_emoji_in_a_line_loses_no_row() {
    let line =
        r#"{"event": "finished", "nodeid": "a.js::cut \ud83d", "outcome": "failed", "message": "\ude00"}"#;
    let (events, _) = events_of(&request(vec![]), &[line, ENDED], 1);
    assert_eq!(rows(&events), ["failed a.js::cut \u{fffd}"]);
}
