//! The server as a client sees it: lines on standard input and output.

use serde_json::{Value, json};

use crate::support::{Client, Project};

fn project() -> Project {
    Project::new().file(
        "test_a.py",
        "def test_ok(): print('{\"jsonrpc\": \"2.0\"}')\ndef test_bad(): assert 1 == 2\n",
    )
}

#[test]
fn the_structure_and_the_text_each_tell_the_whole() {
    let project = project();
    let mut client = Client::start(&project);
    let result = client.call("run_suite", &json!({}));
    let structure = &result["structuredContent"];
    assert_eq!(structure["status"], "failed");
    assert_eq!(structure["totals"], json!({"total": 2, "failed": 1, "passed": 1}));
    let text = result["content"][0]["text"].as_str().unwrap();
    for part in [
        "failed",
        "test_a.py::test_bad",
        structure["run_id"].as_str().unwrap(),
    ] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    assert_ne!(
        result["isError"],
        json!(true),
        "failing tests are an answer, not an error"
    );
}

#[test]
fn call_prints_what_the_server_answers() {
    let project = project();
    let strip = |mut value: Value| {
        let fields = value.as_object_mut().unwrap();
        for changing in ["run_id", "duration_s", "next", "changed_since"] {
            fields.remove(changing);
        }
        for row in fields["tests"].as_array_mut().unwrap() {
            row.as_object_mut().unwrap().remove("duration_s");
        }
        value["environment"] = Value::Null;
        value
    };
    let called = project.call("run_suite", &json!({}));
    let served = Client::start(&project).call("run_suite", &json!({}))["structuredContent"].clone();
    assert_eq!(strip(called), strip(served));
}

#[test]
fn the_offer_follows_the_configuration() {
    let all = [
        "run_suite",
        "run_single",
        "run_n_times",
        "affected_tests",
        "get_coverage",
        "list_tests",
        "get_run",
    ];
    let plain = project();
    let tools = Client::start(&plain).tools();
    assert!(
        all.iter().all(|name| tools.contains(&(*name).to_owned())),
        "{tools:?}"
    );

    let off = project().file("qaas.toml", "[suite.unit]\ncoverage = false\n");
    assert!(!Client::start(&off).tools().contains(&"get_coverage".to_owned()));

    let narrowed = project().file("qaas.toml", "[suite.unit]\n[mcp]\ntools = [\"run_suite\"]\n");
    assert_eq!(Client::start(&narrowed).tools(), ["run_suite"]);
}

#[test]
fn a_broken_config_still_starts_the_server() {
    let project = project().file("qaas.toml", "[suite.unit]\nbakend = 1\n");
    let mut client = Client::start(&project);
    assert!(client.tools().contains(&"run_suite".to_owned()));
    let result = client.call("run_suite", &json!({}));
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("qaas.toml:2") && text.contains("backend"), "{text}");
}

#[test]
fn an_unknown_tool_is_a_protocol_error() {
    let project = project();
    assert_eq!(
        Client::start(&project).call("no_such_tool", &json!({}))["code"],
        -32602
    );
}

#[test]
fn a_background_run_can_be_fetched_later() {
    let project = project();
    let mut client = Client::start(&project);
    let begun = client.call("run_suite", &json!({"background": true}))["structuredContent"].clone();
    let run_id = begun["run_id"].as_str().unwrap();
    let done = client.call("get_run", &json!({"run_id": run_id, "wait_s": 60}))["structuredContent"].clone();
    assert_eq!(done["status"], "failed", "{done:#}");
    let other = Project::new();
    let mut restarted = Client::start(&other);
    assert_eq!(
        restarted.call("get_run", &json!({"run_id": run_id}))["isError"],
        true,
        "another repository's run"
    );
}
