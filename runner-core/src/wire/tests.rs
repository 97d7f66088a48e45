use std::borrow::Cow;
use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::backend::{BackendError, Capability, Mode, Need, RunRequest};
use crate::event::{Ending, EndingKind, ExitMeaning, TestEvent};
use crate::facts::Project;
use crate::model::{Outcome, Phase, TestResult};
use crate::plan::{ArtifactState, Lines, Plan, Stream};

/// As an `initialize` of protocol 1 looked before there were features.
const OLD_INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":{"min":1,"max":1}}}"#;
/// As a later one may look.
const NEW_INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":{"min":1,"max":3,"preferred":2},"features":["more","colour"],"host":{"name":"qaas","version":"9.0","build":"x"},"root":"/r","config":{"a":1},"locale":"en"},"trace":"t"}"#;

fn result_of(line: &str) -> &str {
    parse_reply(line)
        .expect("a reply")
        .expect("no notification")
        .result
        .expect("no error")
}

#[test]
fn versions_meet_at_the_newest_that_both_speak() {
    let range = |min, max| Versions { min, max };
    assert_eq!(range(1, 3).common(range(2, 5)), Some(3));
    assert_eq!(range(2, 5).common(range(1, 3)), Some(3));
    assert_eq!(range(1, 1).common(range(1, 1)), Some(1));
    assert_eq!(range(1, 2).common(range(3, 4)), None);
    assert_eq!(range(3, 4).common(range(1, 2)), None);
    assert_eq!(range(1, 2).to_string(), "1 to 2");
    assert_eq!(range(2, 2).to_string(), "2");
}

#[test]
fn an_older_and_a_newer_host_are_understood() {
    for (line, features) in [(OLD_INITIALIZE, 0), (NEW_INITIALIZE, 2)] {
        let call = parse_call(line).expect("a call");
        assert_eq!(Method::parse(&call.method), Some(Method::Initialize));
        let params: InitializeParams = serde_json::from_str(call.params).expect("parameters");
        assert_eq!(params.protocol.common(PROTOCOL), Some(1));
        assert_eq!(params.features.len(), features);
    }
}

#[test]
fn an_older_and_a_newer_backend_are_understood() {
    let old =
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"info":{"name":"x","capabilities":["run"]}}}"#;
    let (answer, left_out) = initialized(result_of(old)).expect("an answer");
    assert_eq!(answer.info.capabilities, BTreeSet::from([Capability::Run]));
    assert_eq!(left_out, [""; 0]);
    let new = r#"{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"features":["colour"],"info":{"name":"x","icon":"y",
        "capabilities":["run","mutate"],"needs":[{"program":"x"},{"gpu":2}],
        "options":[{"name":"a","kind":"bool","about":""},{"name":"b","kind":"date","about":""}]}}}"#;
    let (answer, left_out) = initialized(result_of(new)).expect("an answer");
    assert_eq!(answer.info.needs, [Need::Program("x".to_owned())]);
    assert_eq!(answer.info.options.len(), 1);
    assert_eq!(left_out.len(), 3, "{left_out:?}");
    assert_eq!(left_out[0], "capability \"mutate\"");
}

#[test]
fn events_that_are_not_known_become_warnings_and_the_others_stay() {
    let text = r#"{"events":[{"event":"started","nodeid":"a"},{"event":"mutated","nodeid":"a"},
        {"event":"finished","nodeid":"a","outcome":"passed","energy_j":3}]}"#;
    let events = events(text).expect("events").events;
    assert_eq!(events.len(), 3);
    assert!(matches!(&events[1], TestEvent::Warning { message } if message.contains("`mutated`")));
    assert!(matches!(&events[2], TestEvent::Finished(row) if row.outcome == Outcome::Passed));
}

#[test]
fn a_test_of_an_unknown_outcome_has_no_row_but_is_not_forgotten() {
    let text = r#"{"events":[{"event":"finished","nodeid":"a","outcome":"flaky"}]}"#;
    let events = events(text).expect("events").events;
    assert!(matches!(&events[0], TestEvent::Started { nodeid, .. } if nodeid == "a"));
    assert!(matches!(&events[1], TestEvent::Warning { message } if message.contains("`flaky` of a")));
    assert_eq!(events.len(), 2);
}

#[test]
fn an_unknown_phase_costs_only_the_phase() {
    let text = r#"{"events":[{"event":"finished","nodeid":"a","outcome":"failed",
        "failures":[{"phase":"warmup","text":"boom"}]},{"event":"entered","nodeid":"b","phase":"warmup"}]}"#;
    let events = events(text).expect("events").events;
    let rows: Vec<&TestResult> = events
        .iter()
        .filter_map(|event| match event {
            TestEvent::Finished(row) => Some(&**row),
            _ => None,
        })
        .collect();
    assert_eq!(rows[0].failures[0].phase, Phase::Call);
    let warnings = events
        .iter()
        .filter(|event| matches!(event, TestEvent::Warning { .. }));
    assert_eq!(warnings.count(), 2);
}

#[test]
fn an_event_that_lacks_what_it_must_have_is_an_error() {
    for event in [
        r#"{"event":"finished","outcome":"passed"}"#,
        r#"{"event":"finished","nodeid":"a"}"#,
        r#"{"nodeid":"a","outcome":"passed"}"#,
        r#""finished""#,
        "3",
    ] {
        let error = events(&format!(r#"{{"events":[{event}]}}"#)).expect_err(event);
        assert!(matches!(error, WireError::Shape { .. }), "{error}");
    }
}

#[test]
fn an_ending_in_unknown_words_is_broken_and_says_so() {
    let text = r#"{"events":[],"ending":{"kind":"melted","exit":"warm","reason":"too hot"}}"#;
    let (_, ending) = finished(text).expect("an ending");
    assert_eq!(ending.kind, EndingKind::Broken);
    assert_eq!(ending.exit, ExitMeaning::Other);
    let reason = ending.reason.expect("a reason");
    assert!(
        reason.contains("`melted`") && reason.contains("too hot"),
        "{reason}"
    );
    assert!(finished("null").is_err(), "an ending is needed");
}

#[test]
fn refusals_travel_whole() {
    let error = BackendError::new("bad_option", "no such thing").with_hint("try another");
    let line = reply(Some(7), Err::<&(), _>(&error.clone().into())).expect("a line");
    let reply = parse_reply(&line).expect("a reply").expect("no notification");
    assert_eq!(reply.id, 7);
    assert_eq!(BackendError::from(reply.result.expect_err("an error")), error);
    // A stranger's error, without our data.
    let plain = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}"#;
    let reply = parse_reply(plain).expect("a reply").expect("no notification");
    assert_eq!(
        BackendError::from(reply.result.expect_err("an error")).code,
        "bad_call"
    );
}

#[test]
fn what_is_no_answer_is_told_with_its_first_bytes() {
    for line in [
        "hello",
        "[]",
        "{}",
        r#"{"id":"a"}"#,
        r#"{"id":1,"method":"x"}"#,
        "",
    ] {
        assert!(parse_reply(line).is_err(), "{line}");
    }
    let error = parse_reply(&format!("\u{1b}[31m{}", "é".repeat(100))).expect_err("no answer");
    let text = error.to_string();
    assert!(
        text.contains("\\x1b[31m\\xc3\\xa9") && text.contains('…'),
        "{text}"
    );
    assert!(
        parse_reply(r#"{"jsonrpc":"2.0","method":"log"}"#)
            .expect("fine")
            .is_none()
    );
}

#[test]
fn a_line_over_the_limit_is_not_written() {
    let long = "x".repeat(MAX_LINE);
    let error = request(1, Method::Read, &json!({ "lines": long })).expect_err("too long");
    assert!(matches!(error, WireError::TooLong { .. }), "{error}");
}

#[test]
fn calls_and_their_parameters_come_back_as_they_were() {
    let asked = RunRequest::new(Mode::List, "/r/a", "/s");
    let project = Project::default();
    let line = request(
        3,
        Method::Wrap,
        &WrapParams {
            request: Cow::Borrowed(&asked),
            project: Cow::Borrowed(&project),
            plan: Cow::Owned(Plan::default()),
        },
    )
    .expect("a line");
    let call = parse_call(&line).expect("a call");
    assert_eq!((call.id, call.method.as_str()), (Some(3), "wrap"));
    let params: WrapParams<'_> = serde_json::from_str(call.params).expect("parameters");
    assert_eq!((&*params.request, &*params.project), (&asked, &project));
    let read = ReadParams {
        reader: 1,
        lines: Cow::Owned(vec![Lines {
            step: 0,
            stream: Stream::Channel,
            lines: vec!["a\u{2028}\n".to_owned()],
        }]),
    };
    let line = request(4, Method::Read, &read).expect("a line");
    assert!(!line.contains('\n'));
    let back: ReadParams<'_> = serde_json::from_str(parse_call(&line).expect("a call").params).expect("read");
    assert_eq!(back, read);
}

#[test]
fn every_method_has_one_name() {
    for method in Method::ALL {
        assert_eq!(Method::parse(method.as_str()), Some(method));
        assert_eq!(
            serde_json::to_value(method).expect("a word"),
            Value::from(method.as_str())
        );
    }
    assert_eq!(Method::parse("mutate"), None);
}

#[test]
fn what_is_written_by_this_side_is_read_exactly() {
    let row = TestResult::new("a::b", Outcome::Xfailed);
    let answer = Finished {
        events: Cow::Owned(vec![TestEvent::Finished(Box::new(row))]),
        ending: Ending::because(EndingKind::Cut, ExitMeaning::TestsFailed, "cut"),
        more: true,
    };
    let line = reply(Some(1), Ok(&answer)).expect("a line");
    let (events, ending) = finished(result_of(&line)).expect("an answer");
    assert_eq!(
        (events.events, ending, events.more),
        (answer.events, answer.ending, true)
    );
}

#[test]
fn files_go_over_in_pieces() {
    let bytes: Vec<u8> = (0..MAX_PIECE * 2 + 5).map(|index| (index % 251) as u8).collect();
    let state = ArtifactState::Bytes(bytes.clone());
    let all: Vec<ArtifactParams> = pieces(1, "report", &state).collect();
    assert_eq!(
        all.iter().map(|piece| piece.last).collect::<Vec<_>>(),
        [false, false, true]
    );
    let back: Vec<u8> = all
        .iter()
        .flat_map(|piece| from_base64(&piece.base64).expect("base64"))
        .collect();
    assert!(back == bytes, "the pieces are the file");
    for (state, expected) in [
        (ArtifactState::Missing, PieceState::Missing),
        (ArtifactState::Stale, PieceState::Stale),
        (ArtifactState::Bytes(Vec::new()), PieceState::Bytes),
        (
            ArtifactState::Unusable("a folder".to_owned()),
            PieceState::Unusable,
        ),
    ] {
        let all: Vec<ArtifactParams> = pieces(1, "report", &state).collect();
        assert_eq!((all.len(), all[0].state, all[0].last), (1, expected, true));
    }
}

proptest! {
    #[test]
    fn base64_comes_back(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        prop_assert_eq!(from_base64(&to_base64(&bytes)), Some(bytes));
    }

    #[test]
    fn nothing_that_a_backend_prints_makes_the_host_panic(line in ".{0,80}") {
        let _ = parse_reply(&line);
        let _ = parse_call(&line);
        let _ = events(&line);
        let _ = finished(&line);
        let _ = initialized(&line);
        if let Some(bytes) = from_base64(&line) {
            prop_assert_eq!(to_base64(&bytes), line);
        }
    }
}

#[test]
fn base64_is_the_standard_one() {
    assert_eq!(to_base64(b"hello"), "aGVsbG8=");
    assert_eq!(from_base64("aGVsbG8="), Some(b"hello".to_vec()));
    for wrong in ["aGVsbG8", "a===", "====", "aG=sbG8=", "aGVs bG8"] {
        assert_eq!(from_base64(wrong), None, "{wrong}");
    }
}
