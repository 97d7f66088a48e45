//! What is told of backends: names that are taken, words that are not known, hints that lead somewhere.

use serde_json::{Value, json};

use super::{Plugged, executable};
use crate::support::{Project, rows};

/// A table of a framework that says that there is nothing to run.
const NOTHING: &str = "[suite.own]
backend = \"own\"

[backend.own]
kind = \"command\"
run = [\"sh\", \"-c\", \"exit 5\", \"sh\", \"{ids...}\"]
report = { format = \"tap\" }
id = \"{name}\"
exit = { ok = [0], failed = [1], none = [5] }
";

#[test]
fn a_table_of_a_built_ins_name_is_refused_in_words() {
    let project = Project::bare().file("qaas.toml", &NOTHING.replace("own", "jest"));
    for words in [&["check"][..], &["run"], &["backend", "list"]] {
        let answer = project.qaas(words);
        assert_eq!(answer.code, Some(4), "{}{}", answer.stdout, answer.stderr);
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(said.contains("`jest` is a built-in backend"), "{said}");
        assert!(said.contains("[backend.own-jest]"), "{said}");
    }
}

#[test]
fn a_name_is_refused_by_one_rule_wherever_it_is_given() {
    for name in ["a b", ".b", "-a", "", "\u{e9}"] {
        let table = NOTHING
            .replace("own", "x")
            .replace("backend.x", &format!("backend.{name:?}"));
        let checked = Project::bare().file("qaas.toml", &table).qaas(&["check"]);
        assert_eq!(checked.code, Some(4), "{name:?}: {}", checked.stdout);
        let said = format!("{}{}", checked.stdout, checked.stderr);
        assert!(
            said.contains("cannot be the name of a backend"),
            "{name:?}: {said}"
        );
        assert!(
            said.contains("letters, digits, `-`, `_` and `.`"),
            "{name:?}: {said}"
        );
    }
    let plugged = Plugged::new("fine", "");
    let added = plugged
        .project
        .qaas(&["backend", "add", "tools/own.py", "--name=-a"]);
    assert_eq!(added.code, Some(4));
    assert!(
        added.stderr.contains("cannot be the name of a backend"),
        "{}",
        added.stderr
    );
}

/// A program on PATH, under this name.
fn on_path(mode: &str, name: &str) -> Plugged {
    let plugged = Plugged::new(mode, "");
    let folder = plugged.project.outside().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let program = folder.join(name);
    std::fs::copy(plugged.project.root().join("tools/own.py"), &program).unwrap();
    executable(&program);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
    let Plugged { project, mark } = plugged;
    Plugged {
        project: project.env("PATH", &path),
        mark,
    }
}

#[test]
fn a_program_of_a_built_ins_name_is_not_used_and_that_is_told() {
    let plugged = on_path("fine", "qaas-backend-unittest");
    let project = &plugged.project;
    project.write("qaas.toml", "[suite.own]\nbackend = \"unittest\"\n");
    project.write("test_a.py", "");
    let words = "is not used: `unittest` is a built-in backend";
    for arguments in [
        &["backend", "list"][..],
        &["check"],
        &["backend", "check", "unittest"],
    ] {
        let answer = project.qaas(arguments);
        assert!(answer.stdout.contains(words), "{arguments:?}: {}", answer.stdout);
    }
    assert_eq!(plugged.started(), [0; 0]);
}

#[test]
fn an_unknown_backend_is_compared_with_installed_ones_too() {
    let plugged = on_path("fine", "qaas-backend-lines");
    let project = &plugged.project;
    project.write("qaas.toml", "[suite.own]\nbackend = \"linse\"\n");
    let checked = project.qaas(&["check"]);
    assert!(
        format!("{}{}", checked.stdout, checked.stderr).contains("did you mean `lines`?"),
        "{}{}",
        checked.stdout,
        checked.stderr
    );
    project.write("qaas.toml", "[suite.own]\nbackend = \"unittest\"\n");
    for arguments in [&["run", "--backend", "linse"][..], &["backend", "check", "linse"]] {
        let answer = project.qaas(arguments);
        assert_eq!(answer.code, Some(4), "{}{}", answer.stdout, answer.stderr);
        assert!(
            answer.stderr.contains("did you mean `lines`?"),
            "{}",
            answer.stderr
        );
    }
}

#[test]
fn words_that_this_qaas_does_not_know_are_told_by_every_command() {
    let plugged = Plugged::new("flies", "").trusted();
    let project = &plugged.project;
    let words = "says of itself what this qaas does not know, and it is left out: capability \"fly\"";
    let checked = project.qaas(&["check"]);
    assert!(checked.stdout.contains(words), "{}", checked.stdout);
    let run = project.qaas(&["run", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    let warnings = run.json()["warnings"].clone();
    assert!(
        warnings[0].as_str().unwrap_or_default().contains(words),
        "{warnings}"
    );
    let kit = project.qaas(&["backend", "check", "own"]);
    assert!(kit.stdout.contains(words), "{}", kit.stdout);
}

#[test]
fn hints_do_not_lead_to_a_listing_where_there_is_none() {
    let project = Project::bare().file("qaas.toml", NOTHING);
    let trusted = project.qaas(&["trust", "--yes"]);
    assert_eq!(trusted.code, Some(0), "{}", trusted.stderr);
    for (tool, arguments) in [
        ("run_suite", json!({})),
        ("run_suite", json!({"selector": "adds"})),
        ("run_single", json!({"test_id": "adds"})),
        ("run_single", json!({"test_id": "-x"})),
    ] {
        let answer = project.call(tool, &arguments);
        let hint = answer["error"]["hint"].as_str().unwrap_or_default();
        assert!(!hint.is_empty(), "{answer:#}");
        assert!(!answer.to_string().contains("list_tests"), "{answer:#}");
        assert!(!hint.contains("test_file"), "ids have no files here: {answer:#}");
    }
}

#[test]
fn no_python_is_shown_where_none_is_used() {
    let project = Project::new().file(
        "qaas.toml",
        &NOTHING.replace("exit 5", "echo ok 1 - adds; echo 1..1"),
    );
    project.qaas(&["trust", "--yes"]);
    let answer = project.call("run_suite", &json!({}));
    assert_eq!(answer["status"], "passed", "{answer:#}");
    assert_eq!(answer["environment"]["python"], Value::Null, "{answer:#}");
    for words in [&["run"][..], &["check"], &["doctor"]] {
        let answer = project.qaas(words);
        let about_it = answer.stdout.lines().filter(|line| line.contains("own"));
        let lines: Vec<&str> = about_it
            .filter(|line| line.to_lowercase().contains("python"))
            .collect();
        assert_eq!(lines, [""; 0], "{words:?}: {}", answer.stdout);
    }
}

#[test]
fn tests_that_were_not_asked_for_are_told_beside_the_one_that_was() {
    let plugged = Plugged::new("names", "").trusted();
    let answer = plugged.project.call("run_single", &json!({"test_id": "two"}));
    assert_eq!(answer["outcome"], "passed", "{answer:#}");
    assert_eq!(rows(&answer).len(), 0, "one row needs no list: {answer:#}");
    let told = "backend `own` also ran 2 tests that were not asked for";
    assert!(answer["warnings"].to_string().contains(told), "{answer:#}");
}

#[test]
fn a_copy_keeps_its_own_name_in_tracebacks() {
    let plugged = Plugged::new("raise_in_read", "");
    let run = plugged.project.qaas(&["run", "--trust", "--format", "json"]);
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(run.stdout.contains("/own.py\\\", line "), "{}", run.stdout);
}

#[test]
fn a_run_ends_when_the_backend_that_reads_it_has_died() {
    let plugged = Plugged::new("forever_segv_in_read", "");
    // The tests' own command would go on for ever: that this returns is half of what is held here.
    let run = plugged.project.qaas(&["run", "--trust", "--format", "json"]);
    let answer = run.json();
    assert_eq!(run.code, Some(2), "{answer:#}");
    let said = answer.to_string();
    assert!(said.contains("crashed (SIGSEGV) during read"), "{answer:#}");
    assert!(!said.contains("cancelled"), "{answer:#}");
}

#[test]
fn trust_on_a_call_has_no_effect_and_says_so() {
    let plugged = Plugged::new("fine", "");
    let called = plugged.project.qaas(&["call", "run_suite", "--trust"]);
    assert_eq!(called.code, Some(1), "{}", called.stdout);
    assert_eq!(called.json()["error"]["code"], "untrusted");
    assert!(
        called.stderr.contains("`--trust` has no effect on `qaas call`"),
        "{}",
        called.stderr
    );
    assert_eq!(plugged.started(), [0; 0]);
}
