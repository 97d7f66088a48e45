//! The server as a client sees it: lines on standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::Project;

/// A client that speaks plain JSON-RPC lines.
struct Client {
    server: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Client {
    fn start(project: &Project) -> Self {
        let mut server = project
            .command(&["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (server.stdin.take(), server.stdout.take().unwrap());
        let mut client = Self {
            server,
            stdin,
            stdout: BufReader::new(stdout),
            next_id: 0,
        };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        client.ask("initialize", &hello);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and gives the answer's `result`, or its `error`.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert!(
                self.stdout.read_line(&mut line).unwrap() > 0,
                "the server closed its output"
            );
            let message: Value =
                serde_json::from_str(&line).expect("nothing but JSON-RPC on standard output");
            if message["id"] == id {
                return message.get("result").or(message.get("error")).unwrap().clone();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn tools(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", &json!({}));
        list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stdin.take();
        let _ = self.server.wait();
    }
}

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
