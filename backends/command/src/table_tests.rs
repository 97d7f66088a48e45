use serde_json::json;

use super::*;
use crate::Command;
use runner_core::backend::{Capability, TestBackend};

fn table(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn fault(value: &Value) -> Fault {
    read("own", &table(value)).unwrap_err()
}

/// A right table with some keys changed.
fn with(changes: &Value) -> Value {
    let mut base = json!({
        "run": ["tool", "--out", "{report}", "{ids...}"],
        "report": {"format": "junit", "path": "{report}"},
    });
    for (key, value) in changes.as_object().unwrap() {
        base[key] = value.clone();
    }
    base
}

/// What is changed, the key that the fault names, a part of its message, a part of its hint.
#[rustfmt::skip]
const FAULTS: [(&str, &str, &str, &str); 35] = [
    (r#"{"runn": ["x"]}"#, "runn", "no key `runn`", "`run`"),
    (r#"{"run": "tool --all"}"#, "run", "not one string", r#"["tool", "--all"]"#),
    (r#"{"run": ["tool", "{reprot}"]}"#, "run[1]", "no placeholder {reprot}", "`report`"),
    (r#"{"run": ["tool", ["-k", "{keywrd}"]]}"#, "run[1][1]", "{keywrd}", "`keyword`"),
    (r#"{"run": ["tool", "{keyword}"]}"#, "run[1]", "has no value", "list of its own"),
    (r#"{"run": ["tool", "{id}"]}"#, "run[1]", "several tests", "{ids...}"),
    (r#"{"run": ["tool", "{id}"]}"#, "run[1]", "several tests", r#"["--option", "{id}"]"#),
    (r#"{"coverage": {"format": "lcov", "args": [["{id}"]]}}"#, "coverage.args[0][0]", "several tests", "{ids...}"),
    (r#"{"run": []}"#, "run", "is empty", "program"),
    (r#"{"run": [["tool"]]}"#, "run[0]", "no program", "PATH"),
    (r#"{"run": ["tool", 3]}"#, "run[1]", "must be a word", "quotes"),
    (r#"{"report": {"path": "{report}"}}"#, "report", "`format` is missing", "junit"),
    (r#"{"report": {"format": "junot"}}"#, "report.format", "no report format `junot`", "`junit`"),
    (r#"{"report": "junit"}"#, "report", "must be a table", "{ format"),
    (r#"{"report": {"format": "junit", "path": "/tmp/x"}}"#, "report.path", "leads out", "relative"),
    (r#"{"report": {"format": "junit", "path": "../x"}}"#, "report.path", "leads out", "relative"),
    (r#"{"report": {"format": "junit", "path": "channel"}}"#, "report.path", "one segment", "{report}"),
    (r#"{"report": {"format": "tap"}}"#, "run", "which nothing reads", "path = \"{report}\""),
    (r#"{"run": ["tool", "{ids...}"]}"#, "run", "{report} stands neither in it", "--output={report}"),
    (r#"{"single": ["tool", "{id}"]}"#, "single", "no report could ever be found", "path = "),
    (r#"{"list": ["tool"], "list_report": {"format": "junit"}}"#, "list", "{report} stands neither", "{report}"),
    (r#"{"report": {"format": "junit", "pth": "x"}}"#, "report.pth", "no key `pth`", "`path`"),
    (r#"{"id": "{file}::{nam}"}"#, "id", "no field {nam}", "`name`"),
    (r#"{"exit": {"ok": [0], "failed": [0]}}"#, "exit.ok[0]", "stands under `failed`", "one meaning"),
    (r#"{"exit": {"failed": [300]}}"#, "exit.failed[0]", "no exit code", "0 to 255"),
    (r#"{"exit": {"bad": [1]}}"#, "exit.bad", "no key", "ok, failed, none, usage"),
    (r#"{"env": {"A": "{ids_file}"}}"#, "env.A", "cannot stand", "{report}"),
    (r#"{"cwd": "../x"}"#, "cwd", "leads out", "`..`"),
    (r#"{"needs": ["node"]}"#, "needs[0]", "no need", "program:NAME"),
    (r#"{"detect": ["a/b"]}"#, "detect[0]", "looked for", "Gemfile"),
    (r#"{"list_report": {"format": "lines"}}"#, "list_report", "no `list`", "list = ["),
    (r#"{"files": {"../x": ""}}"#, "files.../x", "plain file name", "{scratch}"),
    (r#"{"coverage": {"format": "lcow", "args": []}}"#, "coverage.format", "no coverage format `lcow`", "`lcov`"),
    (r#"{"coverage": {"format": "lcov"}}"#, "coverage", "`args` is missing", "--coverage"),
    (r#"{"run": ["tool", "{coverage}"]}"#, "run[1]", "measure nothing", "args"),
];

#[test]
fn every_fault_names_its_key_and_what_would_be_right() {
    for (changes, key, message, hint) in FAULTS {
        let changes: Value = serde_json::from_str(changes).unwrap();
        let fault = fault(&with(&changes));
        assert_eq!(fault.key, key, "{changes}: {fault}");
        assert!(fault.message.contains(message), "{changes}: {fault}");
        assert!(fault.hint.contains(hint), "{changes}: {fault}");
    }
    assert!(
        fault(&json!({"report": {"format": "tap"}}))
            .message
            .contains("`run` is missing")
    );
    assert!(
        fault(&json!({"run": ["x"]}))
            .message
            .contains("`report` is missing")
    );
}

#[test]
fn a_command_without_report_is_a_fault_only_if_it_can_never_work() {
    for changes in [
        json!({"run": ["tool"], "env": {"OUT": "{report}"}}),
        json!({"run": ["tool"], "env": {"OUT": "{scratch}"}}),
        json!({"run": ["tool", "--dir={scratch}"], "report": {"format": "junit", "path": "{scratch}/out.xml"}}),
        json!({"run": ["tool", "--dir={scratch}"]}),
        json!({"run": ["tool"], "report": {"format": "junit", "path": "out.xml"}}),
        json!({"run": ["tool"], "report": {"format": "junit", "path": "stdout"}}),
        json!({"run": ["tool"], "report": {"format": "tap"}}),
    ] {
        assert!(read("own", &table(&with(&changes))).is_ok(), "{changes}");
    }
}

#[test]
fn what_it_can_do_is_told_from_what_the_table_gives() {
    let can = |changes: &Value| {
        let info = Command::from_table("own", &table(&with(changes))).unwrap().info();
        info.capabilities
            .into_iter()
            .map(Capability::as_str)
            .collect::<Vec<_>>()
    };
    assert_eq!(can(&json!({})), ["run", "single"]);
    assert_eq!(can(&json!({"run": ["tool", "{report}"]})), ["run"]);
    assert_eq!(
        can(&json!({"run": ["tool", "{report}", ["-t", "{name}"]]})),
        ["run", "single"]
    );
    assert_eq!(
        can(&json!({
            "run": ["tool", ["-k", "{keyword}"], ["-x", "{max_failures}"], "{ids...}"],
            "report": {"format": "tap", "path": "stdout"},
            "list": ["tool", "--list"],
            "id": "{classname}::{name}",
        })),
        [
            "run",
            "list",
            "single",
            "keyword",
            "stream",
            "max_failures",
            "names"
        ]
    );
}

#[test]
fn the_program_is_a_need_and_others_can_be_named() {
    let needs = |changes: &Value| read("own", &table(&with(changes))).unwrap().needs;
    assert_eq!(needs(&json!({})), [Need::Program("tool".into())]);
    assert_eq!(needs(&json!({"run": ["./gradlew", "{report}"]})), []);
    let named =
        needs(&json!({"run": ["{python}", "{report}"], "needs": ["package:x", "python:y", "program:z"]}));
    let [x, y, z] = [
        Need::NodePackage("x".into()),
        Need::PythonPackage("y".into()),
        Need::Program("z".into()),
    ];
    assert_eq!(named, [Need::Python, x, y, z]);
}
