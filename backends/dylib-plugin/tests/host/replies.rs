//! What a library hands out, and what is not taken from it.

use runner_core::wire::{CallError, Method, codes};
use serde_json::{Value, json};

use crate::support::{ask, begun, initialize, lines, load, params};

/// The answer of a library that was told to do `misdeed` when it plans.
fn plan(misdeed: &str) -> Result<Value, CallError> {
    let mut library = begun(&lines(&[]), &json!({"do": format!("{misdeed}@plan")}));
    ask(&mut library, Method::Plan, &params(Method::Plan))
}

fn assert_bad(misdeed: &str, words: &[&str]) {
    let error = plan(misdeed).unwrap_err();
    for word in words.iter().chain(&["backend `it`", "`plan`"]) {
        assert!(
            error.message.contains(word),
            "`{word}` is missing: {}",
            error.message
        );
    }
    assert!(!error.message.contains(char::is_control), "{:?}", error.message);
    let data = error.data.unwrap();
    assert_eq!(data.code.as_deref(), Some("bad_reply"), "{}", error.message);
    assert!(data.hint.is_some());
}

#[test]
fn a_buffer_that_cannot_be_is_refused() {
    assert_bad("null-with-length", &["a length of 7"]);
    assert_bad("overfull", &["900 bytes in a buffer of 3"]);
    assert_bad("too-long", &["67108865 bytes", "67108864"]);
    assert_bad("not-utf8", &["not UTF-8, from byte 7 on", r"\xff"]);
    assert_bad("not-json", &["not JSON", r"\x1b[31mplan"]);
    assert_bad("odd-status", &["status 77", "what is this"]);
}

#[test]
fn a_shape_is_not_looked_at_here_and_lines_are_made_one() {
    assert_eq!(plan("wrong-shape").unwrap(), json!({"steps": 7}));
    assert_eq!(plan("pretty").unwrap(), json!({"steps": []}));
    assert_eq!(plan("nothing").unwrap(), Value::Null);
}

#[test]
fn a_librarys_own_errors_arrive() {
    let error = plan("error").unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (codes::BACKEND, "there is no moon")
    );
    let data = error.data.unwrap();
    assert_eq!(data.code.as_deref(), Some("no_moon"));
    assert_eq!(data.hint.as_deref(), Some("wait"));
    let error = plan("error-text").unwrap_err();
    assert_eq!(
        error.message,
        r"backend `it` failed at `plan` with `went \x01 wrong`"
    );
    assert_eq!(
        plan("unsupported").unwrap_err().data.unwrap().code.unwrap(),
        "unsupported"
    );
}

#[test]
fn create_may_fail_and_nothing_else_is_called_then() {
    let mut library = load(&lines(&[])).unwrap();
    let error = ask(&mut library, Method::Plan, &params(Method::Plan)).unwrap_err();
    assert!(error.message.contains("before `initialize`"), "{}", error.message);
    let error = initialize(&mut library, &json!({"do": "error@initialize"})).unwrap_err();
    assert_eq!(error.message, "there is no moon");
    let error = ask(&mut library, Method::Plan, &params(Method::Plan)).unwrap_err();
    assert!(error.message.contains("before `initialize`"), "{}", error.message);
}

#[test]
fn after_a_panic_of_the_backend_itself_there_is_a_new_instance() {
    let mut library = begun(&lines(&[]), &json!({"do": "panicked@plan"}));
    for _ in 0..3 {
        let error = ask(&mut library, Method::Plan, &params(Method::Plan)).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (codes::PANICKED, "lost"));
    }
    ask(&mut library, Method::Open, &params(Method::Open)).unwrap();
}

#[test]
fn every_output_is_given_back_once() {
    let mut library = begun(&lines(&[]), &json!({}));
    for _ in 0..1000 {
        for method in [Method::Open, Method::Read, Method::Finish, Method::Close] {
            ask(&mut library, method, &params(method)).unwrap();
        }
    }
    let plan = ask(&mut library, Method::Plan, &params(Method::Plan)).unwrap();
    let words = plan["steps"][0]["args"][1].as_str().unwrap();
    assert!(words.contains("of 2001 outputs 0 are out"), "{words}");
}

#[test]
fn outputs_that_are_refused_are_given_back_too() {
    for misdeed in [
        "overfull",
        "too-long",
        "not-utf8",
        "not-json",
        "odd-status",
        "error",
        "panicked",
    ] {
        let mut library = begun(&lines(&[]), &json!({"do": format!("{misdeed}@open")}));
        for _ in 0..10 {
            ask(&mut library, Method::Open, &params(Method::Open)).unwrap_err();
        }
        let plan = ask(&mut library, Method::Plan, &params(Method::Plan)).unwrap();
        let words = plan["steps"][0]["args"][1].as_str().unwrap();
        assert!(words.contains("outputs 0 are out"), "{misdeed}: {words}");
    }
}
