use std::collections::BTreeSet;
use std::io::Cursor;

use runner_core::backend::{
    BackendError, BackendInfo, Capability, Mode, OutputReader, RunRequest, TestBackend,
};
use runner_core::event::{Ending, ExitMeaning, TestEvent};
use runner_core::facts::Project;
use runner_core::model::{Outcome, TestResult};
use runner_core::plan::{Artifacts, Lines, Plan, StepExit};
use runner_core::wire::{self, MAX_LINE, Maker, Session};
use serde_json::{Value, json};

/// Every line is the name of a passed test; some words do something else.
struct Words;

struct WordsReader {
    seen: usize,
}

impl TestBackend for Words {
    fn info(&self) -> BackendInfo {
        BackendInfo {
            name: "words".to_owned(),
            framework: String::new(),
            language: String::new(),
            capabilities: BTreeSet::from([Capability::Run]),
            needs: Vec::new(),
            options: Vec::new(),
        }
    }

    fn plan(&self, request: &RunRequest, _: &Project) -> Result<Plan, BackendError> {
        match request.filters.keyword.as_deref() {
            Some("panic") => panic!("no plan"),
            Some(word) => {
                Err(BackendError::new("bad_option", format!("not {word}")).with_hint("say nothing"))
            }
            None => Ok(Plan::default()),
        }
    }

    fn reader(&self, _: &RunRequest) -> Box<dyn OutputReader> {
        Box::new(WordsReader { seen: 0 })
    }
}

impl OutputReader for WordsReader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        for line in &lines.lines {
            assert_ne!(line, "panic", "a word that is not liked");
            self.seen += 1;
            events.push(TestEvent::Finished(Box::new(TestResult::new(
                line.as_str(),
                Outcome::Passed,
            ))));
        }
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        if exits.is_empty() {
            return Err(BackendError::new("crashed", "no exit"));
        }
        if let Ok(bytes) = files.bytes("report") {
            let text = String::from_utf8_lossy(bytes);
            let rows = text.lines().map(|line| TestResult::new(line, Outcome::Passed));
            events.extend(rows.map(|row| TestEvent::Finished(Box::new(row))));
        }
        Ok(Ending::because(
            runner_core::event::EndingKind::Completed,
            ExitMeaning::Ok,
            format!("{} lines", self.seen),
        ))
    }
}

fn words() -> Session {
    Session::new(Box::new(|_| Ok(Box::new(Words))))
}

/// Sends lines and gives back the answers.
fn talk(lines: &[String]) -> Vec<Value> {
    let mut output = Vec::new();
    let input = lines.join("\n") + "\n";
    super::serve_on(&mut words(), Cursor::new(input), &mut output).expect("served");
    let text = String::from_utf8(output).expect("UTF-8");
    text.lines()
        .inspect(|line| assert!(line.len() <= MAX_LINE))
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn call(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn begin(features: &[&str]) -> String {
    call(
        1,
        "initialize",
        &json!({"protocol": {"min": 1, "max": 7}, "features": features}),
    )
}

fn request() -> Value {
    serde_json::to_value(RunRequest::new(Mode::Run, "/r", "/s")).expect("JSON")
}

fn open(reader: u64) -> String {
    call(2, "open", &json!({"reader": reader, "request": request()}))
}

fn read(id: u64, reader: u64, words: &[&str]) -> String {
    let lines = json!([{"step": 0, "stream": "stdout", "lines": words}]);
    call(id, "read", &json!({"reader": reader, "lines": lines}))
}

fn finish(reader: u64) -> String {
    let exits = json!([{"step": "a", "code": 0, "duration_s": 0.1}]);
    call(9, "finish", &json!({"reader": reader, "exits": exits}))
}

#[test]
fn a_whole_run_is_answered_in_order() {
    let answers = talk(&[
        begin(&["more", "colour"]),
        open(4),
        read(3, 4, &["a", "b"]),
        finish(4),
        call(10, "shutdown", &json!({})),
    ]);
    assert_eq!(answers[0]["result"]["protocol"], 1);
    assert_eq!(answers[0]["result"]["features"], json!(["more"]));
    assert_eq!(answers[0]["result"]["info"]["name"], "words");
    assert_eq!(answers[1], json!({"jsonrpc": "2.0", "id": 2, "result": null}));
    assert_eq!(answers[2]["result"]["events"][1]["nodeid"], "b");
    assert_eq!(answers[3]["result"]["ending"]["reason"], "2 lines");
    assert_eq!(answers[4]["id"], 10);
}

#[test]
fn no_common_version_names_both_ranges() {
    let answers = talk(&[call(1, "initialize", &json!({"protocol": {"min": 2, "max": 3}}))]);
    let message = answers[0]["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("protocol 1") && message.contains("2 to 3"),
        "{message}"
    );
    assert_eq!(answers[0]["error"]["code"], -32_001);
}

#[test]
fn what_is_no_call_gets_an_error_and_the_conversation_goes_on() {
    let answers = talk(&[
        "hello".to_owned(),
        call(1, "plan", &json!({})),
        begin(&[]),
        call(2, "mutate", &json!({})),
        call(3, "plan", &json!({"request": 1})),
        json!({"jsonrpc": "2.0", "method": "log"}).to_string(),
        read(4, 77, &["a"]),
        begin(&[]),
    ]);
    let codes: Vec<Option<i64>> = answers
        .iter()
        .map(|answer| answer["error"]["code"].as_i64())
        .collect();
    let expected = [
        Some(-32_700),
        Some(-32_602),
        None,
        Some(-32_601),
        Some(-32_602),
        Some(-32_602),
        Some(-32_602),
    ];
    assert_eq!(codes, expected);
    assert_eq!(answers[0]["id"], Value::Null);
}

#[test]
fn a_refusal_arrives_with_its_word_and_its_hint() {
    let mut request = request();
    request["keyword"] = json!("x");
    let answers = talk(&[
        begin(&[]),
        call(
            2,
            "plan",
            &json!({"request": request, "project": Project::default()}),
        ),
    ]);
    let expected =
        json!({"code": -32_000, "message": "not x", "data": {"code": "bad_option", "hint": "say nothing"}});
    assert_eq!(answers[1]["error"], expected);
}

#[test]
fn a_panic_costs_its_reader_and_no_other() {
    let mut panics = request();
    panics["keyword"] = json!("panic");
    let answers = talk(&[
        begin(&[]),
        open(1),
        open(2),
        read(3, 1, &["a", "panic"]),
        read(4, 1, &["b"]),
        read(5, 2, &["c"]),
        call(
            6,
            "plan",
            &json!({"request": panics, "project": Project::default()}),
        ),
        finish(2),
        open(1),
        read(7, 1, &["d"]),
    ]);
    assert_eq!(answers[3]["error"]["code"], -32_002);
    let message = answers[4]["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("panicked earlier") && message.contains("not liked"),
        "{message}"
    );
    assert_eq!(answers[5]["result"]["events"][0]["nodeid"], "c");
    assert_eq!(answers[6]["error"]["message"], "panicked in `plan`: no plan");
    assert_eq!(answers[7]["result"]["ending"]["reason"], "1 lines");
    assert_eq!(
        answers[9]["result"]["events"][0]["nodeid"], "d",
        "the number was given again"
    );
}

#[test]
fn files_come_in_pieces_and_events_go_in_pages() {
    let names: Vec<String> = (0..21_000).map(|n| format!("{n}-{}", "x".repeat(800))).collect();
    let report = names.join("\n").into_bytes();
    let state = runner_core::plan::ArtifactState::Bytes(report);
    let mut lines = vec![begin(&["more"]), open(1)];
    for piece in wire::pieces(1, "report", &state) {
        lines.push(call(3, "artifact", &serde_json::to_value(piece).expect("JSON")));
    }
    lines.push(finish(1));
    lines.extend((0..4).map(|id| call(20 + id, "more", &json!({"reader": 1}))));
    let answers = talk(&lines);
    let mut found = Vec::new();
    let mut over = false;
    for answer in answers.iter().skip_while(|answer| answer["id"] != 9) {
        if over {
            assert_eq!(answer["error"]["code"], -32_602, "nothing is left: {answer}");
            continue;
        }
        let events = answer["result"]["events"].as_array().expect("events");
        found.extend(
            events
                .iter()
                .map(|event| event["nodeid"].as_str().expect("a name").to_owned()),
        );
        over = answer["result"]["more"] != true;
    }
    assert!(over, "the pages end");
    assert!(found == names, "{} of {}", found.len(), names.len());
}

#[test]
fn a_host_without_pages_hears_that_it_is_too_much() {
    let names = vec!["x".repeat(600); 26_000];
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    let answers = talk(&[
        begin(&[]),
        open(1),
        read(3, 1, &words[..10_000]),
        read(4, 1, &words),
    ]);
    assert_eq!(
        answers[2]["result"]["events"].as_array().map(Vec::len),
        Some(10_000)
    );
    assert!(answers[3]["error"]["message"].is_string(), "an error");
}

#[test]
fn a_line_without_an_end_is_not_a_call() {
    let mut output = Vec::new();
    let input = Cursor::new(begin(&[]));
    super::serve_on(&mut words(), input, &mut output).expect("served");
    assert!(output.is_empty());
}

#[test]
fn a_line_over_the_limit_ends_the_conversation() {
    let mut output = Vec::new();
    let input = Cursor::new(vec![b'x'; MAX_LINE + 10]);
    let error = super::serve_on(&mut words(), input, &mut output).expect_err("too long");
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
}

#[test]
fn bytes_that_are_not_utf8_get_an_error() {
    let mut output = Vec::new();
    let input = Cursor::new(b"{\"id\":\xff}\n".to_vec());
    super::serve_on(&mut words(), input, &mut output).expect("served");
    let text = String::from_utf8(output).expect("UTF-8");
    assert!(text.contains("not UTF-8") && text.contains("\\\\xff"), "{text}");
}

#[test]
fn a_backend_that_cannot_be_made_says_why() {
    let mut output = Vec::new();
    let make: Maker = Box::new(|params| {
        assert_eq!(params.config["depth"], 3);
        Err(BackendError::new("bad_config", "`depth` must be 1 or 2"))
    });
    let params = json!({"protocol": {"min": 1, "max": 1}, "config": {"depth": 3}});
    let input = Cursor::new(call(1, "initialize", &params) + "\n");
    super::serve_on(&mut Session::new(make), input, &mut output).expect("served");
    let answer: Value = serde_json::from_slice(&output).expect("JSON");
    assert_eq!(answer["error"]["data"]["code"], "bad_config");
}
