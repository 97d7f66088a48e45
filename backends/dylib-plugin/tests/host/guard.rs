//! Libraries made with `export!`: no panic leaves them, and no memory stays.

use dylib_plugin::Library;
use runner_core::wire::{Method, codes};
use serde_json::{Value, json};

use crate::support::{ask, begun, initialize, load, panics, params};

fn call(library: &mut Library, method: Method) -> Result<Value, (i64, String)> {
    ask(library, method, &params(method)).map_err(|error| (error.code, error.message))
}

/// The error of a call that panics, checked to be one.
fn panic_of(library: &mut Library, method: Method, words: &str) {
    let (code, message) = call(library, method).unwrap_err();
    assert_eq!(code, codes::PANICKED, "{message}");
    assert!(message.contains(words), "{message}");
}

#[test]
fn a_whole_run_goes_through_the_table() {
    let mut library = begun(&panics(), &json!({}));
    let plan = call(&mut library, Method::Plan).unwrap();
    assert_eq!(plan["steps"][0]["program"], "/bin/echo");
    call(&mut library, Method::Open).unwrap();
    let rows = call(&mut library, Method::Read).unwrap();
    assert_eq!(rows["events"].as_array().unwrap().len(), 2);
    call(&mut library, Method::Artifact).unwrap();
    let end = call(&mut library, Method::Finish).unwrap();
    assert_eq!(end["ending"]["reason"], "5 bytes");
    call(&mut library, Method::Close).unwrap();
}

#[test]
fn a_panic_of_a_reader_costs_this_reader_only() {
    for (at, method) in [("read", Method::Read), ("finish", Method::Finish)] {
        let mut library = begun(&panics(), &json!({"at": at}));
        call(&mut library, Method::Open).unwrap();
        panic_of(&mut library, method, &format!("told to panic in {at}"));
        panic_of(&mut library, Method::Read, "panicked earlier");
        panic_of(&mut library, Method::Finish, "panicked earlier");
        call(&mut library, Method::Close).unwrap();
        call(&mut library, Method::Open).unwrap();
        call(&mut library, Method::Plan).unwrap();
    }
}

#[test]
fn other_readers_go_on() {
    let mut library = begun(&panics(), &json!({}));
    let open = |library: &mut Library, reader: u64| {
        let mut params = params(Method::Open);
        params["reader"] = json!(reader);
        ask(library, Method::Open, &params).unwrap();
    };
    let read = |library: &mut Library, reader: u64, line: &str| {
        let lines = json!([{"step": 0, "stream": "stdout", "lines": [line]}]);
        ask(library, Method::Read, &json!({"reader": reader, "lines": lines}))
    };
    open(&mut library, 1);
    open(&mut library, 2);
    assert_eq!(read(&mut library, 1, "panic").unwrap_err().code, codes::PANICKED);
    assert_eq!(read(&mut library, 2, "a").unwrap()["events"][0]["nodeid"], "a");
}

#[test]
fn a_panic_of_the_backend_itself_is_an_error_of_its_call() {
    for (at, method) in [("plan", Method::Plan), ("open", Method::Open)] {
        let mut library = begun(&panics(), &json!({"at": at}));
        panic_of(&mut library, method, &format!("told to panic in {at}"));
        // Of a new instance: the old one is not asked again.
        panic_of(&mut library, method, &format!("told to panic in {at}"));
    }
    for at in ["create", "info"] {
        let error = initialize(&mut load(&panics()).unwrap(), &json!({"at": at})).unwrap_err();
        assert_eq!(error.code, codes::PANICKED);
        assert!(
            error.message.contains(&format!("told to panic in {at}")),
            "{}",
            error.message
        );
    }
}

#[test]
fn a_payload_that_panics_when_dropped_is_not_dropped() {
    let mut library = begun(&panics(), &json!({"at": "plan, and when dropped"}));
    panic_of(&mut library, Method::Plan, "panicked");
    drop(library);
}

#[test]
fn a_panic_while_destroyed_stays_inside() {
    drop(begun(&panics(), &json!({"at": "destroy"})));
}

#[test]
fn errors_arrive_with_their_word_and_hint() {
    let mut library = begun(&panics(), &json!({"at": "error"}));
    let error = ask(&mut library, Method::Plan, &params(Method::Plan)).unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (codes::BACKEND, "told to refuse")
    );
    let data = error.data.unwrap();
    assert_eq!(data.code.as_deref(), Some("refused"));
    assert_eq!(data.hint.as_deref(), Some("tell it something else"));
    let error = initialize(&mut load(&panics()).unwrap(), &json!({"at": "refuse"})).unwrap_err();
    assert_eq!(error.data.unwrap().code.as_deref(), Some("bad_config"));
}

#[test]
fn a_host_of_another_protocol_hears_both_versions_and_a_newer_one_is_answered() {
    let params = |min: u32, max: u32| {
        let future = json!({"colour": true});
        json!({"protocol": {"min": min, "max": max}, "features": ["telepathy"], "future": future, "config": {}})
    };
    let error = ask(&mut load(&panics()).unwrap(), Method::Initialize, &params(7, 9)).unwrap_err();
    assert_eq!(error.data.unwrap().code.as_deref(), Some("protocol"));
    assert!(
        error.message.contains("7 to 9") && error.message.contains("protocol 1"),
        "{}",
        error.message
    );
    let answer = ask(&mut load(&panics()).unwrap(), Method::Initialize, &params(1, 9)).unwrap();
    assert_eq!(
        (&answer["protocol"], &answer["features"]),
        (&json!(1), &json!([]))
    );
}

#[test]
fn a_hundred_thousand_calls_leave_nothing_behind() {
    let mut library = begun(&panics(), &json!({}));
    let live = |library: &mut Library| {
        let plan = call(library, Method::Plan).unwrap();
        plan["steps"][0]["name"].as_str().unwrap().parse::<i64>().unwrap()
    };
    let round = |library: &mut Library| {
        for method in [
            Method::Open,
            Method::Read,
            Method::Artifact,
            Method::Finish,
            Method::Close,
        ] {
            call(library, method).unwrap();
        }
    };
    round(&mut library);
    let before = live(&mut library);
    for _ in 0..20_000 {
        round(&mut library);
    }
    assert_eq!(live(&mut library), before);
}
