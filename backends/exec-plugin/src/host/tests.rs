mod fakes;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use runner_core::backend::{BackendError, Capability, Mode, RunRequest, StillWanted, TestBackend};
use runner_core::facts::Project;
use runner_core::plan::{ArtifactState, Artifacts, Lines, Plan, StepExit, Stream};
use serde_json::Map;

use super::{ExecBackend, Received, Spec};

use self::fakes::{Script, Threads, row};

fn spec() -> Spec {
    Spec {
        name: "x".to_owned(),
        root: "/r".into(),
        config: Map::new(),
        timeout: Duration::from_secs(20),
        idle: Duration::from_secs(600),
        known: None,
    }
}

fn words() -> (ExecBackend, Arc<AtomicUsize>) {
    let started = Arc::new(AtomicUsize::new(0));
    let launch = Threads {
        started: started.clone(),
    };
    (
        ExecBackend::new(spec(), Box::new(launch), Box::new(|| Ok(()))),
        started,
    )
}

fn scripted(turns: &[&[&str]], timeout: Duration) -> ExecBackend {
    let line = |text: &&str| Received::Line(text.as_bytes().to_vec());
    let turns = turns.iter().map(|turn| turn.iter().map(line).collect()).collect();
    let spec = Spec { timeout, ..spec() };
    ExecBackend::new(spec, Box::new(Script(turns)), Box::new(|| Ok(())))
}

fn request() -> RunRequest {
    RunRequest {
        nonce: "n".to_owned(),
        ..RunRequest::new(Mode::Run, "/r", "/s")
    }
}

fn lines(lines: Vec<String>) -> Lines {
    Lines {
        step: 0,
        stream: Stream::Stdout,
        lines,
    }
}

const HELLO: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"info":{"name":"y","capabilities":["run"]}}}"#;

#[test]
fn nothing_is_started_before_it_is_needed_and_a_run_takes_one_process() {
    let (backend, started) = words();
    assert_eq!(backend.info().name, "x");
    assert!(!backend.is_known() && backend.info().can(Capability::Run));
    assert_eq!(started.load(Ordering::Relaxed), 0);
    let plan = backend.plan(&request(), &Project::default()).expect("a plan");
    assert_eq!(plan.steps[0].name, "n");
    assert_eq!(backend.info().name, "x", "the table's name, not its own");
    assert!(backend.info().can(Capability::Single));
    let mut reader = backend.reader(&request());
    let mut events = Vec::new();
    reader.read(&lines(vec!["a".to_owned(), "b".to_owned()]), &mut events);
    assert_eq!(events, [row("a"), row("b")]);
    let mut files = Artifacts::default();
    files.insert("report", ArtifactState::Bytes(b"c".to_vec()));
    files.insert("old", ArtifactState::Stale);
    files.dumps.insert(7, "stack".to_owned());
    let ending = reader
        .finish(&[StepExit::default()], &files, &mut events)
        .expect("an ending");
    assert_eq!(events.len(), 3);
    assert_eq!(ending.reason.as_deref(), Some("1 exits, 1 dumps, Stale"));
    assert_eq!(started.load(Ordering::Relaxed), 1);
}

#[test]
fn a_process_that_waits_too_long_is_let_go_and_started_anew_when_needed() {
    let started = Arc::new(AtomicUsize::new(0));
    let launch = Threads {
        started: started.clone(),
    };
    let spec = Spec {
        idle: Duration::from_millis(20),
        ..spec()
    };
    let backend = ExecBackend::new(spec, Box::new(launch), Box::new(|| Ok(())));
    let until = Instant::now() + Duration::from_secs(60);
    while started.load(Ordering::Relaxed) < 3 {
        assert!(Instant::now() < until, "it waits for ever");
        backend.plan(&request(), &Project::default()).expect("a plan");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn two_runs_at_once_have_a_process_each() {
    let (backend, started) = words();
    let (mut one, mut two) = (backend.reader(&request()), backend.reader(&request()));
    let mut events = Vec::new();
    one.read(&lines(vec!["a".to_owned()]), &mut events);
    two.read(&lines(vec!["b".to_owned()]), &mut events);
    for mut reader in [one, two] {
        reader
            .finish(&[], &Artifacts::default(), &mut events)
            .expect("an ending");
    }
    assert_eq!(
        (events, started.load(Ordering::Relaxed)),
        (vec![row("a"), row("b")], 2)
    );
    backend.plan(&request(), &Project::default()).expect("a plan");
    assert_eq!(started.load(Ordering::Relaxed), 2, "one of the two was kept");
}

#[test]
fn long_lines_many_lines_and_large_files_arrive() {
    let (backend, _) = words();
    let mut reader = backend.reader(&request());
    let mut events = Vec::new();
    let long = "é\u{1}".repeat(1 << 20);
    reader.read(&lines(vec![long.clone()]), &mut events);
    assert!(events == [row(&long)], "a line of 3 MiB");
    events.clear();
    let names: Vec<String> = (0..3_000).map(|n| format!("{n} {}", "x".repeat(700))).collect();
    reader.read(&lines(names.clone()), &mut events);
    assert!(events.iter().zip(&names).all(|(event, name)| *event == row(name)) && events.len() == 3_000);
    events.clear();
    let mut files = Artifacts::default();
    files.insert("report", ArtifactState::Bytes(names.join("\n").into_bytes()));
    reader.finish(&[], &files, &mut events).expect("an ending");
    assert_eq!(events.len(), 3_000);
}

#[test]
fn a_refusal_ends_nothing() {
    let (backend, started) = words();
    let list = RunRequest::new(Mode::List, "/r", "/s");
    let error = backend.plan(&list, &Project::default()).expect_err("no listing");
    assert_eq!(error.code, "unsupported");
    backend.plan(&request(), &Project::default()).expect("a plan");
    assert_eq!(started.load(Ordering::Relaxed), 1);
}

#[test]
fn nothing_is_started_behind_a_closed_gate() {
    let started = Arc::new(AtomicUsize::new(0));
    let launch = Threads {
        started: started.clone(),
    };
    let gate = || Err(BackendError::new("untrusted", "ask a person"));
    let backend = ExecBackend::new(spec(), Box::new(launch), Box::new(gate));
    assert_eq!(
        backend
            .plan(&request(), &Project::default())
            .expect_err("closed")
            .code,
        "untrusted"
    );
    assert_eq!(
        backend.probe(&StillWanted::default()).expect_err("closed").code,
        "untrusted"
    );
    let mut reader = backend.reader(&request());
    reader.read(&lines(vec!["a".to_owned()]), &mut Vec::new());
    let error = reader
        .finish(&[], &Artifacts::default(), &mut Vec::new())
        .expect_err("closed");
    assert_eq!(
        (error.code.as_str(), started.load(Ordering::Relaxed)),
        ("untrusted", 0)
    );
}

#[test]
fn each_wrong_answer_is_one_clear_error() {
    let long = Duration::from_secs(20);
    let cases: [(&[&[&str]], &str); 8] = [
        (
            &[&["Hello, I am a program"]],
            "\"x\" is not a qaas backend (it printed `Hello, I am a program`",
        ),
        (
            &[
                &[
                    r#"{"jsonrpc":"2.0","id":1,"result":{"protocol":9,"info":{"name":"y","capabilities":[]}}}"#,
                ],
            ],
            "protocol 9, and this qaas speaks 1",
        ),
        (
            &[&[r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"I speak 2 to 3"}}"#]],
            "I speak 2 to 3",
        ),
        (
            &[&[HELLO], &["not json"]],
            "did not keep to the protocol during plan: not a JSON-RPC answer",
        ),
        (
            &[&[HELLO], &[r#"{"jsonrpc":"2.0","id":7,"result":null}"#]],
            "it answered call 7, which was never made",
        ),
        (
            &[&[HELLO], &[r#"{"jsonrpc":"2.0","id":1,"result":null}"#]],
            "it answered call 1 twice",
        ),
        (
            &[&[HELLO], &[r#"{"jsonrpc":"2.0","id":2,"result":{"steps":3}}"#]],
            "the answer to `plan`: invalid type",
        ),
        (
            &[&[HELLO], &[r#"{"jsonrpc":"2.0","id":2,"method":"ask"}"#]],
            "a backend may not ask",
        ),
    ];
    for (turns, expected) in cases {
        let error = scripted(turns, long)
            .plan(&request(), &Project::default())
            .expect_err(expected);
        assert!(error.message.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn a_notification_is_passed_over() {
    let log = r#"{"jsonrpc":"2.0","method":"log","params":{"text":"hello"}}"#;
    let plan = r#"{"jsonrpc":"2.0","id":2,"result":{"steps":[]}}"#;
    let backend = scripted(&[&[log, HELLO], &[log, log, plan]], Duration::from_secs(20));
    assert_eq!(backend.plan(&request(), &Project::default()), Ok(Plan::default()));
}

#[test]
fn endless_notifications_are_no_answer() {
    let log = r#"{"jsonrpc":"2.0","method":"log"}"#;
    let many: Vec<&str> = std::iter::repeat_n(log, 200_000).collect();
    let backend = scripted(&[&[HELLO], &many], Duration::from_millis(5));
    let error = backend
        .plan(&request(), &Project::default())
        .expect_err("no answer");
    assert_eq!(error.code, "hangs");
}

#[test]
fn what_a_backend_says_of_itself_and_refuses_with_is_safe_to_print() {
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"info":{"name":"y","framework":"a\u001b[2J","capabilities":["run"]}}}"#;
    let refusal = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"\u001b[2Jno","data":{"hint":"\u0007"}}}"#;
    let backend = scripted(&[&[hello], &[refusal]], Duration::from_secs(20));
    let error = backend
        .plan(&request(), &Project::default())
        .expect_err("refused");
    let said = format!(
        "{}{error}{}",
        backend.info().framework,
        error.hint.clone().expect("a hint")
    );
    assert!(!said.contains(['\u{1b}', '\u{7}']), "{said:?}");
}

#[test]
fn bytes_over_the_limit_and_bytes_that_are_not_utf8_are_errors() {
    for (received, expected) in [
        (
            Received::TooLong(b"xxx".to_vec()),
            "a line of more than 16777216 bytes",
        ),
        (
            Received::Line(b"{\"id\":\xff}".to_vec()),
            "not UTF-8: `{\\\"id\\\":\\xff}`",
        ),
    ] {
        let turns = vec![vec![Received::Line(HELLO.into())], vec![received]];
        let backend = ExecBackend::new(spec(), Box::new(Script(turns)), Box::new(|| Ok(())));
        let error = backend.plan(&request(), &Project::default()).expect_err(expected);
        assert!(error.message.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn a_death_names_the_signal_the_call_and_the_last_words_made_visible() {
    let turns = vec![vec![Received::Line(HELLO.into())], vec![Received::End]];
    let backend = ExecBackend::new(spec(), Box::new(Script(turns)), Box::new(|| Ok(())));
    let mut reader = backend.reader(&request());
    let mut events = Vec::new();
    reader.read(&lines(vec!["a".to_owned()]), &mut events);
    reader.read(&lines(vec!["b".to_owned()]), &mut events);
    assert_eq!(events, [], "one error, told at the end");
    let error = reader
        .finish(&[], &Artifacts::default(), &mut events)
        .expect_err("it died");
    let text = error.to_string();
    assert!(
        text.starts_with("backend \"x\" crashed (SIGSEGV) during open; the last lines"),
        "{text}"
    );
    assert!(
        !text.contains('\u{1b}') && !text.contains("stderr 9") && text.contains("stderr 10"),
        "{text}"
    );
}

#[test]
fn pages_without_an_end_are_an_error() {
    let open = r#"{"jsonrpc":"2.0","id":2,"result":null}"#;
    let read =
        r#"{"jsonrpc":"2.0","id":3,"result":{"events":[{"event":"started","nodeid":"a"}],"more":true}}"#;
    let backend = scripted(&[&[HELLO], &[open], &[read]], Duration::from_secs(20));
    let mut reader = backend.reader(&request());
    let mut events = Vec::new();
    reader.read(&lines(vec!["a".to_owned()]), &mut events);
    assert_eq!(events.len(), 1, "what came is kept");
    let error = reader
        .finish(&[], &Artifacts::default(), &mut events)
        .expect_err("no such feature");
    assert!(error.message.contains("`more`"), "{error}");
}

#[test]
fn a_program_that_could_not_be_asked_is_not_started_again_at_once() {
    let backend = scripted(&[&["Hello, I am a program"]], Duration::from_secs(20));
    let learned = backend.probe(&StillWanted::default()).expect_err("a stranger");
    let planned = backend.plan(&request(), &Project::default());
    assert_eq!(planned, Err(learned));
    let again = backend
        .plan(&request(), &Project::default())
        .expect_err("started anew");
    assert_eq!(again.code, "not_a_backend");
}

#[test]
fn silence_is_bounded_by_the_timeout() {
    let backend = scripted(&[&[HELLO]], Duration::from_millis(200));
    let error = backend
        .plan(&request(), &Project::default())
        .expect_err("silence");
    assert!(
        error.message.contains("did not answer plan within 0.2 s"),
        "{error}"
    );
}

#[test]
fn silence_is_cut_short_when_nobody_waits() {
    let backend = scripted(&[&[HELLO]], Duration::from_secs(600));
    let wanted = Arc::new(AtomicBool::new(false));
    let waits = StillWanted::while_true(move || wanted.load(Ordering::Relaxed));
    let begun = Instant::now();
    let backend = backend.for_run(&waits).expect("it waits for a process");
    let error = backend
        .plan(&request(), &Project::default())
        .expect_err("silence");
    assert_eq!(error.code, "unanswered");
    assert!(begun.elapsed() < Duration::from_secs(60));
}
