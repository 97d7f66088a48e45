//! Good plug-ins: the example in Python, trust, and the tools that their capabilities give.

use serde_json::json;

use super::{Plugged, executable};
use crate::support::{Client, Project, rows};

const CALC: &str = "def add(a, b):\n    \"\"\"\n    >>> add(1, 2)\n    3\n    \"\"\"\n    return a + b\n\n\ndef sub(a, b):\n    \"\"\"\n    >>> sub(3, 2)\n    5\n    \"\"\"\n    return a - b\n\n\ndef later():\n    \"\"\"\n    >>> later()  # doctest: +SKIP\n    1\n    \"\"\"\n";

fn doctests() -> Project {
    let project = Project::bare().file("lib/calc.py", CALC);
    project.write(
        "tools/doctest_backend.py",
        include_str!("../../examples/backends/doctest_backend.py"),
    );
    executable(&project.root().join("tools/doctest_backend.py"));
    project.write(
        "qaas.toml",
        "[suite.docs]\nbackend = \"doctest\"\npaths = [\"lib\"]\n\n[backend.doctest]\nkind = \"exec\"\npath = \"tools/doctest_backend.py\"\n",
    );
    project
}

fn trusted(project: Project) -> Project {
    let agreed = project.qaas(&["trust", "--yes"]);
    assert_eq!(agreed.code, Some(0), "{}", agreed.stderr);
    assert!(
        agreed
            .stdout
            .contains("doctest (doctest): run, list, single, stream"),
        "{}",
        agreed.stdout
    );
    project
}

#[test]
fn the_example_in_python_runs_real_doctests_on_every_face() {
    let project = trusted(doctests());
    let run = project.qaas(&["run", "--format", "json"]);
    let expected = json!({
        "lib/calc.py::lib.calc.add": "passed",
        "lib/calc.py::lib.calc.sub": "failed",
        "lib/calc.py::lib.calc.later": "skipped",
    });
    assert_eq!((run.code, json!(rows(&run.json()))), (Some(1), expected.clone()));
    let called = project.call("run_suite", &json!({}));
    assert_eq!(json!(rows(&called)), expected);
    let one = project.call("run_single", &json!({"test_id": "lib/calc.py::lib.calc.sub"}));
    assert_eq!(
        (&one["outcome"], &one["parser"]),
        (&json!("failed"), &json!("doctest"))
    );
    assert!(
        one["output"].as_str().unwrap().contains("Expected:\n    5"),
        "{one:#}"
    );
    let listed = project.qaas(&["list"]);
    assert_eq!(listed.stdout.lines().take(3).count(), 3, "{}", listed.stdout);
    let flaky = project.call(
        "run_n_times",
        &json!({"test_id": "lib/calc.py::lib.calc.add", "n": 3}),
    );
    assert_eq!(flaky["passed"], 3, "{flaky:#}");
}

#[test]
fn the_example_never_calls_a_broken_file_or_nothing_at_all_green() {
    let project = trusted(doctests().file("lib/broken.py", "import nothing_like_this\n"));
    let run = project.qaas(&["run", "--format", "json"]);
    assert_eq!(run.code, Some(1));
    assert_eq!(rows(&run.json())["lib/broken.py"], "error");
    project.write("lib/calc.py", "pass\n");
    project.write("lib/broken.py", "pass\n");
    assert_eq!(project.qaas(&["run"]).code, Some(5));
    project.write("lib/calc.py", "import os; os._exit(0)\n");
    let run = project.qaas(&["run", "--format", "json"]);
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(
        run.json()["reason"]
            .as_str()
            .unwrap()
            .contains("did not end by itself"),
        "{}",
        run.stdout
    );
}

#[test]
fn the_example_has_less_than_a_hundred_lines_of_code() {
    let text = include_str!("../../examples/backends/doctest_backend.py");
    let code = text.rsplit("\"\"\"").next().unwrap().lines();
    let code = code.filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
    assert!(code.count() < 100);
}

#[test]
fn tools_are_offered_by_what_a_plug_in_can_do() {
    let one_that = |mode: &str| {
        let plugged = Plugged::new(mode, "").trusted();
        Client::start(&plugged.project).tools()
    };
    let all = one_that("everything");
    let few = one_that("fine");
    for tool in ["run_single", "run_n_times", "list_tests"] {
        assert!(all.iter().any(|offered| offered == tool), "{tool}: {all:?}");
        assert!(few.iter().all(|offered| offered != tool), "{tool}: {few:?}");
    }
    assert!(few.iter().any(|offered| offered == "run_suite"), "{few:?}");
}

#[test]
fn nothing_is_started_before_a_person_agreed() {
    let plugged = Plugged::new("fine", "");
    let project = &plugged.project;
    let run = project.qaas(&["run"]);
    assert_eq!(run.code, Some(4), "{}", run.stdout);
    assert!(run.stderr.contains("qaas trust"), "{}", run.stderr);
    for arguments in [
        &["check"][..],
        &["list"],
        &["doctor"],
        &["backend", "list"],
        &["affected", "tools/own.py"],
    ] {
        project.qaas(arguments);
    }
    let called = project.call("run_suite", &json!({}));
    assert_eq!(called["error"]["code"], "untrusted", "{called:#}");
    let mut client = Client::start(project);
    client.tools();
    for tool in ["run_suite", "list_tests", "affected_tests"] {
        client.call(tool, &json!({"paths": ["tools/own.py"], "trust": true}));
    }
    assert_eq!(plugged.started(), [0; 0]);
}

#[test]
fn an_agreement_under_a_running_server_counts_from_the_next_call() {
    let plugged = Plugged::new("fine", "");
    let mut client = Client::start(&plugged.project);
    assert_eq!(
        client.structure("run_suite", &json!({}))["error"]["code"],
        "untrusted"
    );
    let plugged = plugged.trusted();
    assert_eq!(client.structure("run_suite", &json!({}))["status"], "passed");
    plugged.project.qaas(&["trust", "--revoke"]);
    assert_eq!(
        client.structure("run_suite", &json!({}))["error"]["code"],
        "untrusted"
    );
}

#[test]
fn one_byte_of_the_program_takes_the_agreement_back() {
    let plugged = Plugged::new("fine", "").trusted();
    assert_eq!(plugged.project.qaas(&["run"]).code, Some(0));
    let before = plugged.started().len();
    plugged.program("tools/own.py", "finf");
    let run = plugged.project.qaas(&["run"]);
    assert_eq!(run.code, Some(4), "{}", run.stdout);
    assert!(run.stderr.contains("sha256"), "{}", run.stderr);
    assert_eq!(plugged.started().len(), before);
}

#[test]
fn what_runs_is_what_was_agreed_to_also_if_it_changes_meanwhile() {
    let plugged = Plugged::new("fine", "").trusted();
    let mut client = Client::start(&plugged.project);
    plugged.project.write("tools/own.py", "#!/bin/sh\nexit 1\n");
    let answer = client.structure("run_suite", &json!({}));
    assert_eq!(
        answer["status"], "passed",
        "the copy of what was agreed to: {answer:#}"
    );
}

#[test]
fn commands_that_execute_nothing_start_no_plug_in_either() {
    let plugged = Plugged::new("everything", "").trusted();
    let project = &plugged.project;
    let checked = project.qaas(&["check"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);
    let listed = project.qaas(&["backend", "list"]);
    assert!(
        listed.stdout.contains("run, list, single, keyword, stream"),
        "{}",
        listed.stdout
    );
    project.qaas(&["doctor"]);
    project.qaas(&["affected", "tools/own.py"]);
    project.call("affected_tests", &json!({"paths": ["tools/own.py"]}));
    assert_eq!(plugged.started(), [0; 0]);
}

#[test]
fn a_table_that_cannot_be_used_names_the_key_and_what_to_do() {
    for (table, expected) in [
        ("path = \"../x\"", "backend.own.path"),
        ("path = \"/bin/sh\"", "plain relative path"),
        ("path = \"tools/none\"", "No such file"),
        ("path = \"tools/plain\"", "chmod +x"),
        ("path = \"tools/text\"", "what runs it"),
        (
            "path = \"tools/lost\"",
            "names /no/such/python, which is not there",
        ),
        ("path = \"tools\"", "cannot be read"),
        ("path = \"tools/link\"", "leads out of the repository"),
        ("path = \"tools/open\"", "can be changed by every user"),
        ("pth = \"x\"", "did you mean `path`?"),
        ("path = 3", "must be a string"),
        (
            "path = \"tools/own.py\"\ntimeout = \"5 minutes\"",
            "timeout = \\\"5m\\\"",
        ),
        ("path = \"tools/own.py\"\ntimeout = 0", "above zero"),
        ("path = \"tools/own.py\"\nconfig = 1", "backend.own.config"),
        ("", "qaas backend add"),
    ] {
        let plugged = Plugged::new("fine", "");
        let project = &plugged.project;
        project.write("tools/plain", "#!/bin/sh\n");
        project.write("tools/text", "import os\n");
        project.write("tools/lost", "#!/no/such/python\n");
        project.write("tools/open", "");
        executable(&project.root().join("tools/open"));
        {
            use std::os::unix::fs::PermissionsExt;
            let open = std::fs::Permissions::from_mode(0o777);
            std::fs::set_permissions(project.root().join("tools/open"), open).unwrap();
        }
        std::os::unix::fs::symlink("/bin/sh", project.root().join("tools/link")).unwrap();
        project.write(
            "qaas.toml",
            &format!("[suite.own]\nbackend = \"own\"\n\n[backend.own]\nkind = \"exec\"\n{table}\n"),
        );
        let checked = project.qaas(&["check", "--format", "json"]);
        assert_eq!(checked.code, Some(4), "{table}: {}", checked.stdout);
        assert!(checked.stdout.contains(expected), "{table}: {}", checked.stdout);
        assert_eq!(plugged.started(), [0; 0]);
    }
}

#[test]
fn the_tables_config_arrives() {
    let project = Project::bare();
    let script = "#!/usr/bin/env python3\nimport json, sys\nfor line in sys.stdin:\n    call = json.loads(line)\n    params = call.get('params', {})\n    result = None\n    if call['method'] == 'initialize':\n        config, root = params['config'], params['root']\n        result = {'protocol': 1, 'info': {'name': 'x', 'capabilities': ['run']}}\n    if call['method'] == 'plan':\n        result = {'steps': [{'name': 'echo', 'program': '/bin/echo', 'args': [json.dumps(config), root], 'cwd': root}]}\n    if call['method'] == 'read':\n        result = {'events': [{'event': 'finished', 'nodeid': line, 'outcome': 'passed'} for batch in params['lines'] for line in batch['lines']]}\n    if call['method'] == 'finish':\n        result = {'events': [], 'ending': {'kind': 'completed', 'exit': 'ok'}}\n    print(json.dumps({'jsonrpc': '2.0', 'id': call['id'], 'result': result}), flush=True)\n";
    project.write("own.py", script);
    executable(&project.root().join("own.py"));
    project.write("qaas.toml", "[suite.own]\nbackend = \"own\"\n\n[backend.own]\nkind = \"exec\"\npath = \"own.py\"\nconfig = { depth = 3, words = [\"a b\"] }\n");
    let run = project.qaas(&["run", "--trust", "--format", "json"]);
    let name = format!(
        "{{\"depth\": 3, \"words\": [\"a b\"]}} {}",
        project.root().display()
    );
    assert_eq!(
        rows(&run.json()).keys().collect::<Vec<_>>(),
        [&name],
        "{}",
        run.stdout
    );
}

#[test]
fn a_plug_in_measures_coverage_of_another_ones_run() {
    let plugged = Plugged::new("fine", "");
    let project = &plugged.project;
    project.write("tools/cov.py", include_str!("../data/coverage_backend.py"));
    executable(&project.root().join("tools/cov.py"));
    project.write("one.txt", "");
    project.write(
        "qaas.toml",
        "[suite.own]\nbackend = \"own\"\ncoverage = \"cov\"\n\n[backend.own]\nkind = \"exec\"\npath = \"tools/own.py\"\n\n\
         [backend.cov]\nkind = \"exec\"\npath = \"tools/cov.py\"\n",
    );
    let plugged = plugged.trusted();
    let mut client = Client::start(&plugged.project);
    assert!(client.tools().iter().any(|tool| tool == "get_coverage"));
    let measured = client.structure("get_coverage", &json!({}));
    assert_eq!(measured["overall_percent"], 62.5, "{measured:#}");
    assert!(measured["files"].to_string().contains("one.txt"), "{measured:#}");
}

#[test]
fn the_example_says_what_it_is_when_a_person_starts_it() {
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/backends/doctest_backend.py"
    );
    #[expect(clippy::disallowed_methods, reason = "tests start processes")]
    let said = std::process::Command::new("python3")
        .args([example, "serve"])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&said.stderr).contains("qaas backend add"));
}
