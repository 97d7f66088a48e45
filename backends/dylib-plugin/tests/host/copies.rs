//! What is loaded is what was looked at, whatever becomes of the file in between.

use std::fs;

use dylib_plugin::{Hosted, Library, look};
use runner_core::wire::{Answer, Method};
use serde_json::json;

use crate::support::{lines, panics, sha256};

#[test]
fn a_file_that_was_changed_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.so");
    let content = look(&lines(&[])).unwrap();
    // One of another backend in its place: it would load well.
    fs::copy(panics(), &copy).unwrap();
    let error = Library::load("it", &copy, &sha256(&content)).err().unwrap();
    assert_eq!(error.fault.code(), "library_changed");
    assert!(error.to_string().contains(&sha256(&content)), "{error}");
}

#[test]
fn what_cannot_be_loaded_is_an_answer() {
    let mut hosted = Hosted::new(
        "it".to_owned(),
        "/source/it.so".into(),
        "/nowhere/copy".into(),
        "0".to_owned(),
    );
    let error = hosted.answer(Method::Plan, "{}").unwrap_err();
    assert_eq!(error.message, "call `initialize` first");
    let params = json!({"protocol": {"min": 1, "max": 1}}).to_string();
    let error = hosted.answer(Method::Initialize, &params).unwrap_err();
    assert_eq!(error.message, "/source/it.so: there is no such file");
    let data = error.data.unwrap();
    assert_eq!(data.code.as_deref(), Some("library_missing"));
    assert!(data.hint.is_some());
    assert_eq!(hosted.answer(Method::Shutdown, "{}").unwrap(), "null");
}

#[test]
fn a_hosted_library_answers_once_the_host_has_introduced_itself() {
    let folder = tempfile::tempdir().unwrap();
    let content = look(&lines(&[])).unwrap();
    let copy = folder.path().join("copy.so");
    fs::write(&copy, &content).unwrap();
    let mut hosted = Hosted::new("it".to_owned(), lines(&[]), copy, sha256(&content));
    let params = json!({"protocol": {"min": 1, "max": 1}}).to_string();
    let answer = hosted.answer(Method::Initialize, &params).unwrap();
    assert!(answer.contains("\"lines\""), "{answer}");
    assert_eq!(hosted.answer(Method::Close, "{\"reader\": 1}").unwrap(), "null");
}
