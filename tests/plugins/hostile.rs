//! Whatever a plug-in does: one clear error, the rows so far, nothing left running, and a host that goes on.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::Plugged;
use crate::support::{Client, rows};

/// Runs the suite with a person's consent for this one command.
fn run(plugged: &Plugged) -> (Option<i32>, Value) {
    let answer = plugged.project.qaas(&["run", "--trust", "--format", "json"]);
    (answer.code, answer.json())
}

/// What an answer gives as the reason of its trouble.
fn reason(answer: &Value) -> String {
    let mut texts = [&answer["reason"], &answer["error"]["message"]].into_iter();
    texts.find_map(Value::as_str).unwrap_or_default().to_owned()
}

/// The mode, what the reason has to say, and whether rows can have come before.
const WRONG: [(&str, &str); 20] = [
    (
        "stranger",
        "\"own\" is not a qaas backend (it printed `Welcome to the best backend!`",
    ),
    (
        "silent",
        "backend \"own\" ended itself (exit code 0) during initialize",
    ),
    ("future", "it chose protocol 9, and this qaas speaks 1"),
    ("past", "this backend speaks protocol 7 to 8"),
    ("hang_in_initialize", "did not answer initialize within 5 s"),
    ("hang_in_plan", "did not answer plan within 5 s"),
    ("hang_in_open", "did not answer open within 5 s"),
    (
        "hang_in_read",
        "did not answer read within 5 s and was ended; the last lines of its standard error:\n  about to hang",
    ),
    ("hang_in_finish", "did not answer finish within 5 s"),
    ("segv_in_plan", "backend \"own\" crashed (SIGSEGV) during plan"),
    ("segv_in_read", "backend \"own\" crashed (SIGSEGV) during read"),
    (
        "exit_in_finish",
        "backend \"own\" crashed (exit code 3) during finish",
    ),
    (
        "dies_talking",
        "backend \"own\" crashed (exit code 3) during read; the last lines of its standard error:\n  clue 20",
    ),
    (
        "not_json",
        "did not keep to the protocol during read: not a JSON-RPC answer",
    ),
    ("not_utf8", "answered read with what is not UTF-8"),
    ("wrong_id", "it answered call 4000, which was never made"),
    (
        "long_line",
        "answered read with a line of more than 16777216 bytes",
    ),
    (
        "closes_stdout",
        "backend \"own\" closed its output and went on during read",
    ),
    ("half_an_answer", "did not answer read within 5 s"),
    (
        "no_such_shape",
        "did not keep to the protocol during read: an event in the answer",
    ),
];

fn each_wrong(modes: &[(&str, &str)]) {
    for (mode, expected) in modes {
        // Only who hangs is to run into it: a busy machine may take seconds to start a Python.
        let hangs = mode.starts_with("hang") || *mode == "half_an_answer";
        let limit = if hangs { "5s" } else { "60s" };
        let plugged = Plugged::new(mode, &format!("timeout = \"{limit}\""));
        let (code, answer) = run(&plugged);
        let reason = reason(&answer);
        assert!(reason.contains(expected), "{mode}: {reason}\n{answer:#}");
        assert!(matches!(code, Some(2 | 4)), "{mode}: {code:?}\n{answer:#}");
        assert_ne!(answer["status"], "passed", "{mode}");
        assert!(
            reason.matches("backend \"own\"").count() <= 1,
            "{mode}: told once: {reason}"
        );
        assert_eq!(plugged.alive(), [0; 0], "{mode}");
    }
}

#[test]
fn what_goes_wrong_before_the_run_is_one_clear_error() {
    each_wrong(&WRONG[..6]);
}

#[test]
fn a_hanging_or_dying_plug_in_is_one_clear_error() {
    each_wrong(&WRONG[6..13]);
}

#[test]
fn wrong_answers_are_one_clear_error() {
    each_wrong(&WRONG[13..]);
}

#[test]
fn a_flood_on_standard_error_a_child_and_a_second_answer_do_no_harm() {
    for mode in ["flood", "leaves_child", "fine"] {
        let plugged = Plugged::new(mode, "timeout = \"60s\"");
        let (code, answer) = run(&plugged);
        assert_eq!(
            (code, &answer["status"]),
            (Some(0), &json!("passed")),
            "{mode}: {answer:#}"
        );
        assert_eq!(plugged.alive(), [0; 0], "{mode}");
    }
    // The second answer to one question is the wrong one to the next.
    let (_, answer) = run(&Plugged::new("twice", ""));
    assert!(reason(&answer).contains("twice"), "{answer:#}");
    assert_eq!(rows(&answer)["one"], "passed");
}

#[test]
fn a_child_of_a_plug_in_ends_with_it() {
    let plugged = Plugged::new("leaves_child", "");
    run(&plugged);
    let commands = std::fs::read_dir("/proc").unwrap().flatten();
    let left = commands
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| line == b"sleep\x00617\x00");
    assert_eq!(left.count(), 0);
}

#[test]
fn a_plug_in_that_ignores_the_end_of_its_input_is_ended() {
    let plugged = Plugged::new("stubborn", "");
    let begun = Instant::now();
    let (code, _) = run(&plugged);
    assert_eq!(code, Some(0));
    assert_eq!(plugged.alive(), [0; 0]);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn an_unknown_outcome_is_never_green() {
    let (code, answer) = run(&Plugged::new("unknown_outcome", ""));
    assert_eq!(code, Some(2), "{answer:#}");
    assert!(answer["unfinished"].to_string().contains("one"), "{answer:#}");
    assert!(answer["warnings"].to_string().contains("splendid"), "{answer:#}");
}

#[test]
fn a_server_goes_on_after_its_plug_in_died_and_starts_it_anew() {
    let plugged = Plugged::new("segv_in_finish", "").trusted();
    let mut client = Client::start(&plugged.project);
    for _ in 0..2 {
        let answer = client.structure("run_suite", &json!({}));
        assert!(
            reason(&answer).contains("crashed (SIGSEGV) during finish"),
            "{answer:#}"
        );
        assert_eq!(rows(&answer).len(), 3, "the rows so far are kept: {answer:#}");
    }
    assert_eq!(plugged.started().len(), 2);
    assert_eq!(plugged.alive(), [0; 0]);
}

#[test]
fn two_runs_at_once_do_not_disturb_each_other() {
    let plugged = Plugged::new("fine", "").trusted();
    let mut client = Client::start(&plugged.project);
    let ids: Vec<u64> = (0..4)
        .map(|_| client.begin_call("run_suite", &json!({})))
        .collect();
    for id in ids {
        let answer = client.wait(id)["structuredContent"].clone();
        assert_eq!(answer["status"], "passed", "{answer:#}");
        assert_eq!(rows(&answer).len(), 3);
    }
}

/// Starts a run whose plug-in hangs in `read` for an hour, and waits until it does.
fn hanging(plugged: &Plugged) -> std::process::Child {
    let mut command = plugged.project.command(&["run", "--trust"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(100);
    while !plugged.hangs() {
        assert!(Instant::now() < until, "the plug-in was never asked to read");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn a_cancel_does_not_wait_for_a_plug_in_that_hangs() {
    let plugged = Plugged::new("hang_in_read", "timeout = \"1h\"");
    let child = hanging(&plugged);
    let begun = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(plugged.alive(), [0; 0]);
}

#[test]
fn a_time_limit_does_not_wait_for_a_plug_in_that_hangs() {
    let plugged = Plugged::new("hang_in_read", "timeout = \"1h\"").trusted();
    let begun = Instant::now();
    let answer = plugged.project.call("run_suite", &json!({"timeout_s": 6}));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert_eq!(answer["status"], "timed_out", "{answer:#}");
    let named =
        "the time limit of 6 s passed: backend \"own\" had not answered read when nobody waited any more";
    assert!(reason(&answer).contains(named), "{answer:#}");
    assert_eq!(plugged.alive(), [0; 0]);
}

#[test]
fn a_time_limit_holds_while_a_plug_in_hangs_in_its_plan() {
    let plugged = Plugged::new("hang_in_plan", "timeout = \"1h\"").trusted();
    let begun = Instant::now();
    let named = "the time limit of 6 s passed: backend \"own\" had not answered plan";
    let answer = plugged.project.call("run_suite", &json!({"timeout_s": 6}));
    assert_eq!(answer["status"], "timed_out", "{answer:#}");
    assert!(reason(&answer).contains(named), "{answer:#}");
    let run = plugged
        .project
        .qaas(&["run", "--timeout", "6s", "--format", "json"]);
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(reason(&run.json()).contains(named), "{}", run.stdout);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert_eq!(plugged.alive(), [0; 0]);
}

#[test]
fn a_host_that_is_killed_leaves_no_plug_in_behind() {
    for mode in ["hang_in_read", "stubborn"] {
        let plugged = Plugged::new(mode, "timeout = \"1h\"");
        let mut child = if mode == "stubborn" {
            plugged.project.qaas(&["trust", "--yes"]);
            let _ = std::fs::remove_file(&plugged.mark);
            let mut client = Client::start(&plugged.project);
            client.structure("run_suite", &json!({}));
            client.signal(Signal::KILL);
            client.ended();
            None
        } else {
            Some(hanging(&plugged))
        };
        if let Some(child) = &mut child {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let until = Instant::now() + Duration::from_secs(60);
        while !plugged.alive().is_empty() {
            assert!(Instant::now() < until, "{mode}: {:?} is alive", plugged.alive());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
