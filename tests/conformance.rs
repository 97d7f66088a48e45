//! Our own backends pass the conformance kit, on real runs of the sample projects in `tests/conformance`.

use std::path::Path;

use serde_json::Value;

use crate::support::{Answer, Project, node_modules, packages, rows, rust_library, with_toolchain};

/// A repository that is one of the sample projects.
fn sample(project: Project, name: &str) -> Project {
    filled(project, &format!("tests/conformance/{name}"))
}

fn filled(project: Project, from: &str) -> Project {
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(from), &project.root());
    project
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&place).unwrap();
            copy(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), &place).unwrap();
        }
    }
}

fn names(answer: &Value, outcome: &str) -> Vec<String> {
    let cases = answer["backends"][0]["cases"].as_array().unwrap().iter();
    let wanted = cases.filter(|case| case["outcome"] == outcome);
    wanted
        .map(|case| {
            format!(
                "{}/{}",
                case["group"].as_str().unwrap(),
                case["name"].as_str().unwrap()
            )
        })
        .collect()
}

/// Drives a backend through the kit, and expects it to hold everything but what is left out on purpose.
fn holds(project: &Project, backend: &str, skipped: &[&str]) {
    let answer = project.qaas(&["backend", "check", backend, "--project", ".", "--format", "json"]);
    let said = answer.json();
    assert_eq!(names(&said, "failed"), Vec::<String>::new(), "{said:#}");
    assert_eq!(names(&said, "skipped"), skipped, "{said:#}");
    assert_eq!((answer.code, &said["status"]), (Some(0), &Value::from("passed")));
}

#[test]
fn pytest_events_holds_the_kit() {
    holds(
        &sample(Project::new(), "pytest"),
        "pytest-events",
        &["planning/wrap"],
    );
}

#[test]
fn pytest_json_holds_the_kit() {
    holds(
        &sample(Project::new(), "pytest"),
        "pytest-json",
        &["planning/wrap"],
    );
}

#[test]
fn pytest_terminal_holds_the_kit() {
    holds(
        &sample(Project::new(), "pytest"),
        "pytest-terminal",
        &["planning/wrap"],
    );
}

#[test]
fn unittest_holds_the_kit() {
    let project = sample(Project::bare(), "unittest");
    holds(&project, "unittest", &["planning/wrap", "live/xpassed"]);
}

#[test]
fn node_test_holds_the_kit() {
    let skipped = [
        "planning/list",
        "planning/max-failures",
        "planning/wrap",
        "reading/killed-listing",
        "live/error",
        "live/xpassed",
        "live/list",
        "live/keyword-run",
        "live/max-failures-run",
    ];
    holds(&sample(Project::bare(), "node-test"), "node-test", &skipped);
}

/// A sample project with the pinned JavaScript packages.
fn javascript(name: &str) -> Project {
    let project = sample(Project::bare(), name);
    #[cfg(unix)]
    std::os::unix::fs::symlink(node_modules(), project.root().join("node_modules")).unwrap();
    project
}

#[test]
fn vitest_holds_the_kit() {
    let skipped = ["live/error", "live/xpassed"];
    holds(&javascript("vitest"), "vitest", &skipped);
}

#[test]
fn jest_holds_the_kit() {
    let skipped = ["live/error", "live/xfailed", "live/xpassed"];
    holds(&javascript("jest"), "jest", &skipped);
}

#[test]
fn nextest_holds_the_kit_where_it_is_installed() {
    let project = with_toolchain(sample(Project::bare(), "cargo"));
    let skipped = [
        "planning/wrap",
        "live/error",
        "live/xfailed",
        "live/xpassed",
        "live/broken-beside",
    ];
    let answer = project.qaas(&["backend", "check", "nextest", "--project", "."]);
    if answer.stdout.contains("`cargo-nextest` is not on PATH") {
        // What needs no real run is held all the same.
        assert_eq!(answer.code, Some(0), "{}", answer.stdout);
        test_skip::skip!(test_skip::Need::Nextest, "no real run was looked at");
    }
    holds(&project, "nextest", &skipped);
}

#[test]
fn the_example_executable_holds_the_kit() {
    let project = sample(Project::bare(), "doctest");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/backends/doctest_backend.py");
    let skipped = [
        "planning/keyword",
        "planning/max-failures",
        "planning/wrap",
        "live/error",
        "live/xfailed",
        "live/xpassed",
        "live/keyword-run",
        "live/max-failures-run",
    ];
    holds(&project, example.to_str().unwrap(), &skipped);
}

#[cfg(unix)]
#[test]
fn the_example_table_holds_the_kit_and_runs() {
    let project = filled(Project::bare(), "examples/backends/mocha");
    std::os::unix::fs::symlink(packages("mocha"), project.root().join("node_modules")).unwrap();
    let skipped = [
        "planning/max-failures",
        "planning/wrap",
        "live/error",
        "live/xfailed",
        "live/xpassed",
        "live/live-rows",
        "live/max-failures-run",
    ];
    assert_eq!(project.qaas(&["trust", "--yes"]).code, Some(0));
    holds(&project, ".", &skipped);
    let answer = project.qaas(&["run", "--trust", "--format", "json"]).json();
    assert_eq!(
        (&answer["status"], &answer["parser"]),
        (&Value::from("failed"), &Value::from("mocha"))
    );
    assert_eq!(rows(&answer).len(), 12, "{answer:#}");
    let table = include_str!("../examples/backends/mocha/qaas.toml");
    let table = table.split("[backend.mocha]").nth(1).unwrap();
    assert!(
        table.lines().filter(|line| !line.is_empty()).count() < 10,
        "{table}"
    );
}

#[cfg(unix)]
#[test]
fn a_program_that_is_no_backend_fails_once_and_in_words() {
    use std::os::unix::fs::PermissionsExt;
    let programs = [
        (
            "tools/stranger",
            "#!/bin/sh\necho hello\n",
            "it printed `hello` instead of an answer",
        ),
        (
            "tools/crasher",
            "#!/bin/sh\nkill -SEGV $$\n",
            "crashed (SIGSEGV) during initialize",
        ),
    ];
    for (path, text, words) in programs {
        let project = Project::bare().file(path, text);
        let program = project.root().join(path);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let answer = project.qaas(&["backend", "check", path]);
        assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
        let failed: Vec<&str> = answer
            .stdout
            .lines()
            .filter(|line| line.starts_with("FAILED"))
            .collect();
        assert!(
            failed.len() == 1 && failed[0].contains(words),
            "{}",
            answer.stdout
        );
    }
}

/// Plans, and answers everything about output with an error.
#[cfg(unix)]
const REFUSER: &str = "#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    answer = {'jsonrpc': '2.0', 'id': call['id'], 'result': None}
    if call['method'] == 'initialize':
        answer['result'] = {'protocol': 1, 'info': {'name': 'refuser', 'capabilities': ['run']}}
    elif call['method'] == 'plan':
        request = call['params']['request']
        keys = ('keyword', 'markers', 'max_failures', 'workers', 'extra_args')
        if any(request[key] for key in keys) or request['selection']['selectors']:
            answer = {'jsonrpc': '2.0', 'id': call['id'], 'error': {'code': -32000, 'message': 'cannot'}}
        else:
            answer['result'] = {'steps': [{'name': 'true', 'program': '/bin/true', 'cwd': request['cwd']}]}
    elif call['method'] in ('open', 'read', 'artifact', 'finish'):
        answer = {'jsonrpc': '2.0', 'id': call['id'], 'error': {'code': -32000, 'message': 'not written yet'}}
    print(json.dumps(answer), flush=True)
";

#[cfg(unix)]
#[test]
fn a_reader_that_only_answers_errors_does_not_pass() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::bare().file("refuser.py", REFUSER);
    let program = project.root().join("refuser.py");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let answer = project.qaas(&["backend", "check", "./refuser.py", "--format", "json"]);
    assert_eq!(answer.code, Some(1), "{}", answer.stdout);
    let said = answer.json();
    assert_eq!(names(&said, "failed"), ["reading/endings"], "{said:#}");
    assert!(said.to_string().contains("not written yet"), "{said:#}");
}

#[test]
fn without_a_sample_project_what_was_not_checked_is_said_at_the_end() {
    let project = Project::bare();
    let check = |more: &[&str]| {
        let answer = project.qaas(&[&["backend", "check", "unittest"], more].concat());
        assert_eq!(answer.code, Some(0), "{}", answer.stdout);
        answer.stdout
    };
    let short = check(&[]);
    assert!(!short.lines().any(|line| line.starts_with("skipped ")), "{short}");
    let last: Vec<&str> = short.lines().rev().take(6).collect();
    assert!(last[0].contains("real runs were NOT checked"), "{short}");
    let told = |words: &str| last.iter().any(|line| line.contains(words));
    assert!(told("skipped: no sample project was given"), "{short}");
    assert!(told("qaas backend check unittest --project DIR"), "{short}");
    let long = check(&["-v"]);
    assert!(long.contains("skipped live/all: no sample project"), "{long}");
}

#[test]
fn cargo_test_holds_the_kit() {
    let project = with_toolchain(sample(Project::bare(), "cargo-test"));
    let skipped = [
        "planning/list",
        "planning/max-failures",
        "planning/wrap",
        "reading/killed-listing",
        "live/error",
        "live/xfailed",
        "live/xpassed",
        "live/list",
        "live/max-failures-run",
        "live/broken-beside",
    ];
    holds(&project, "cargo-test", &skipped);
}

#[test]
fn coverage_py_holds_what_a_backend_that_only_measures_must() {
    let answer = Project::new().qaas(&["backend", "check", "coverage-py", "--format", "json"]);
    let said = answer.json();
    assert_eq!(names(&said, "failed"), Vec::<String>::new(), "{said:#}");
    let held = names(&said, "passed");
    assert!(held.contains(&"planning/wrap".to_owned()), "{said:#}");
    assert!(held.len() >= 14, "{said:#}");
}

#[test]
fn the_example_library_holds_the_kit() {
    let library = rust_library();
    let project = with_toolchain(sample(Project::bare(), "rustdoc"));
    let skipped = [
        "planning/keyword",
        "planning/list",
        "planning/max-failures",
        "planning/wrap",
        "reading/killed-listing",
        "live/error",
        "live/xfailed",
        "live/xpassed",
        "live/live-rows",
        "live/list",
        "live/keyword-run",
        "live/max-failures-run",
        "live/broken-beside",
        "live/crash",
    ];
    holds(&project, library.to_str().unwrap(), &skipped);
}

#[test]
fn every_backend_there_is_holds_what_needs_no_real_run() {
    let project = Project::bare();
    let listed = project.qaas(&["backend", "list", "--format", "json"]).json();
    let backends = listed["backends"].as_array().unwrap();
    assert!(backends.len() >= 10, "{listed:#}");
    for backend in backends {
        let name = backend["name"].as_str().unwrap();
        let answer = project.qaas(&["backend", "check", name, "--format", "json"]);
        let said = answer.json();
        assert_eq!(
            answer.code,
            Some(0),
            "{name}: {:?} {said:#}",
            names(&said, "failed")
        );
        let left_out = said["backends"][0]["cases"].to_string();
        assert!(left_out.contains("no sample project was given"), "{said:#}");
    }
}

/// A table whose command leaves a report that its own exit code and format cannot vouch for.
const BROKEN: &str = "[backend.own]
kind = \"command\"
run = [\"python3\", \"-c\", \"import sys; sys.exit(0)\", \"{ids...}\"]
report = { format = \"junit\", path = \"out.xml\" }
exit = { ok = [0, 1], failed = [2] }
";

fn folder(table: &str) -> Project {
    Project::bare()
        .file("own/qaas.toml", table)
        .file(
            "own/qaas-conformance.toml",
            "[outcomes]\n\"tests/a.txt::one\" = \"passed\"\n",
        )
        .file("own/tests/a.txt", "")
}

#[test]
fn the_tables_of_a_folder_need_trust_and_what_fails_is_told() {
    let project = folder(BROKEN);
    let refused = project.qaas(&["backend", "check", "./own"]);
    assert_eq!(refused.code, Some(4), "{}", refused.stdout);
    assert!(refused.stderr.contains("qaas trust"), "{}", refused.stderr);
    let answer = project.qaas(&["backend", "check", "./own", "--trust"]);
    assert_eq!(answer.code, Some(1), "{}", answer.stdout);
    let failed: Vec<&str> = answer
        .stdout
        .lines()
        .filter(|line| line.starts_with("FAILED"))
        .collect();
    let told = |words: &str| failed.iter().any(|line| line.contains(words));
    assert!(
        told("live/passed: expected tests that pass are `passed`; came"),
        "{}",
        answer.stdout
    );
    assert!(told("live/green: "), "{}", answer.stdout);
    let last = answer.stdout.lines().last().unwrap();
    assert!(last.contains(&format!(" {} failed, ", failed.len())), "{last}");
}

#[test]
fn one_line_of_json_a_case_and_one_for_all() {
    let answer = folder(BROKEN).qaas(&["backend", "check", "./own", "--trust", "--format", "jsonl"]);
    let lines: Vec<Value> = answer
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, cases) = lines.split_last().unwrap();
    assert!(cases.len() > 40, "{}", cases.len());
    for case in cases {
        for key in ["backend", "group", "name", "expected", "outcome", "came"] {
            assert!(case[key].is_string(), "{key}: {case}");
        }
    }
    let sum: u64 = ["passed", "failed", "skipped"]
        .iter()
        .map(|key| last[key].as_u64().unwrap())
        .sum();
    assert_eq!(sum, cases.len() as u64);
}

#[test]
fn a_backend_of_the_repositorys_own_file_needs_trust_by_its_name() {
    let project = Project::bare().file("qaas.toml", BROKEN);
    let refused = project.qaas(&["backend", "check", "own"]);
    assert_eq!(refused.code, Some(4), "{}", refused.stdout);
    assert!(refused.stderr.contains("qaas trust"), "{}", refused.stderr);
    let answer = project.qaas(&["backend", "check", "own", "--trust"]);
    assert!(
        answer.stdout.contains("passed  claims/name"),
        "{}{}",
        answer.stdout,
        answer.stderr
    );
}

#[test]
fn what_cannot_be_checked_is_an_error_that_says_what_to_do() {
    let project = Project::bare()
        .file("own/x", "")
        .file("sample/qaas-conformance.toml", "[outcome]\n");
    let refused = |words: &[&str]| -> Answer {
        let answer = project.qaas(&[&["backend", "check"], words].concat());
        assert_eq!(
            answer.code,
            Some(4),
            "{words:?}: {}{}",
            answer.stdout,
            answer.stderr
        );
        answer
    };
    assert!(
        refused(&["pytest-event"])
            .stderr
            .contains("did you mean `pytest-events`?")
    );
    assert!(refused(&["./own"]).stderr.contains("describes no backend"));
    assert!(refused(&["./nowhere"]).stderr.contains("nowhere"));
    assert!(
        refused(&["unittest", "--project", "own"])
            .stderr
            .contains("qaas-conformance.toml")
    );
    assert!(
        refused(&["unittest", "--project", "sample"])
            .stderr
            .contains("outcomes")
    );
}
