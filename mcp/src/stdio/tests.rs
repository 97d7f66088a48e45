//! A server and a client over a socket pair.

use std::time::Duration;

use engine::config::{ConfigError, Settings};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::serve_stdio;
use crate::ServerExit;
use crate::testing::{DONE, GO_ON, workspace};

struct Client {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
    last_id: u64,
    /// The ids of all answers so far.
    answered: Vec<Value>,
    server: JoinHandle<ServerExit>,
    root: tempfile::TempDir,
}

impl Client {
    /// A client of a server that has not been spoken to.
    fn connect(settings: Result<Settings, ConfigError>) -> Self {
        let root = tempfile::tempdir().unwrap();
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let workspace = workspace(root.path(), settings);
        let server = tokio::spawn(async move {
            let reader = theirs.try_clone().unwrap();
            serve_stdio(workspace, reader, theirs).await.unwrap()
        });
        ours.set_nonblocking(true).unwrap();
        let (reader, writer) = UnixStream::from_std(ours).unwrap().into_split();
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            last_id: 0,
            answered: Vec::new(),
            server,
            root,
        }
    }

    async fn legacy() -> Self {
        let mut client = Self::connect(Ok(Settings::default()));
        let answer = client.initialize("2025-06-18").await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
        client
    }

    async fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.ask("initialize", params).await;
        self.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        answer
    }

    async fn write(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    async fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.write(&message.to_string()).await;
        self.last_id
    }

    async fn answer_to(&mut self, id: u64) -> Value {
        let reading = async {
            loop {
                let line = self
                    .lines
                    .next_line()
                    .await
                    .unwrap()
                    .expect("the server is there");
                let message: Value = serde_json::from_str(&line).unwrap();
                self.answered.push(message["id"].clone());
                if message["id"] == id {
                    return message;
                }
            }
        };
        timeout(Duration::from_secs(10), reading)
            .await
            .expect("an answer in time")
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer_to(id).await
    }

    async fn call(&mut self, path: &str) -> Value {
        self.ask("tools/call", affected(path)).await
    }

    /// Lets a call that waits go on.
    fn let_go_on(&self) {
        std::fs::write(self.root.path().join(GO_ON), "").unwrap();
    }

    async fn is_alive(&mut self) {
        let answer = self.call("src/a.py").await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}

fn affected(path: &str) -> Value {
    json!({"name": "affected_tests", "arguments": {"paths": [path]}})
}

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    params
}

#[tokio::test]
async fn both_eras_are_offered_the_same_tools() {
    let mut lists = Vec::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::connect(Ok(Settings::default()));
        let answer = client.initialize(version).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "qaas");
        lists.push(client.ask("tools/list", json!({})).await["result"]["tools"].clone());
    }
    let mut client = Client::connect(Ok(Settings::default()));
    let answer = client.ask("server/discover", modern(json!({}))).await;
    let versions = answer["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{answer}");
    lists.push(client.ask("tools/list", modern(json!({}))).await["result"]["tools"].clone());
    assert!(lists.iter().all(|list| *list == lists[0]));
    // No backend is there, so nothing can run.
    assert_eq!(lists[0][0]["name"], "affected_tests");
}

#[tokio::test]
async fn an_answer_has_both_halves() {
    let mut client = Client::legacy().await;
    let answer = client.call("src/a.py").await["result"].clone();
    assert_eq!(
        answer["structuredContent"]["affected"][0]["test_file"],
        "tests/test_a.py"
    );
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("tests/test_a.py (likely, score 100: name matches a.py)"),
        "{text}"
    );
}

#[tokio::test]
async fn a_tool_that_is_not_offered_is_a_protocol_error() {
    let mut client = Client::legacy().await;
    for name in ["no_such_tool", "run_suite"] {
        let answer = client
            .ask("tools/call", json!({"name": name, "arguments": {}}))
            .await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains("affected_tests")
        );
    }
    let answer = client.ask("no/such", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601);
    client.is_alive().await;
}

#[tokio::test]
async fn wrong_arguments_are_an_error_answer_that_says_what_is_right() {
    let mut client = Client::legacy().await;
    for arguments in [
        json!({}),
        json!({"paths": "a"}),
        json!({"paths": ["a"], "x": 1}),
        json!({"paths": ["../a"]}),
    ] {
        let answer = client
            .ask(
                "tools/call",
                json!({"name": "affected_tests", "arguments": arguments}),
            )
            .await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(answer["result"]["structuredContent"]["error"]["message"].is_string());
    }
    let answer = client
        .ask("tools/call", json!({"name": "affected_tests", "arguments": [1]}))
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn a_panic_in_a_tool_is_an_error_answer() {
    let mut client = Client::legacy().await;
    let answer = client.call("panic").await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    client.is_alive().await;
}

#[tokio::test]
async fn other_requests_are_answered_while_a_call_goes_on() {
    let mut client = Client::legacy().await;
    let slow = client.send("tools/call", affected("wait")).await;
    client.ask("tools/list", json!({})).await;
    client.is_alive().await;
    client.let_go_on();
    assert_eq!(client.answer_to(slow).await["result"]["isError"], false);
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered() {
    let mut client = Client::legacy().await;
    let slow = client.send("tools/call", affected("wait")).await;
    let note = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}});
    client.write(&note.to_string()).await;
    client.is_alive().await;
    client.let_go_on();
    while !client.root.path().join(DONE).exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    client.is_alive().await;
    assert!(!client.answered.contains(&slow.into()), "{:?}", client.answered);
}

#[tokio::test]
async fn nonsense_does_not_end_the_server() {
    let mut client = Client::connect(Ok(Settings::default()));
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":9,"method":"{}"}}"#,
        "x".repeat(5_000_000)
    );
    let deep = "[".repeat(20_000);
    let lines = [
        "",
        "{",
        "[]",
        "null",
        "\u{0}",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":5}"#,
        &deep,
        &long,
    ];
    for line in lines {
        client.write(line).await;
    }
    client.initialize("2025-11-25").await;
    for line in lines {
        client.write(line).await;
    }
    client.is_alive().await;
}

#[tokio::test]
async fn a_broken_configuration_is_what_every_tool_answers() {
    let broken = ConfigError {
        file: "/repo/qaas.toml".into(),
        line: Some(3),
        column: Some(1),
        key: Some("suite.unit.timout".into()),
        message: "unknown key".into(),
        hint: Some("Did you mean `timeout`?".into()),
    };
    let mut client = Client::connect(Err(broken));
    client.initialize("2025-06-18").await;
    let tools = client.ask("tools/list", json!({})).await;
    assert_eq!(
        tools["result"]["tools"].as_array().unwrap().len(),
        ops::Tool::ALL.len()
    );
    for call in [affected("a"), json!({"name": "run_suite"})] {
        let answer = client.ask("tools/call", call).await["result"].clone();
        assert_eq!(answer["isError"], true);
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("qaas.toml:3:1: suite.unit.timout"), "{text}");
        assert!(text.contains("Did you mean `timeout`?"), "{text}");
    }
}

#[tokio::test]
async fn a_resource_that_is_not_there_has_the_code_of_its_era() {
    let mut client = Client::legacy().await;
    let templates = client.ask("resources/templates/list", json!({})).await;
    assert_eq!(
        templates["result"]["resourceTemplates"][0]["uriTemplate"],
        "qaas://runs/{run_id}/report"
    );
    let answer = client
        .ask("resources/read", json!({"uri": "qaas://runs/r-0/report"}))
        .await;
    assert_eq!(answer["error"]["code"], -32002, "{answer}");
    let mut client = Client::connect(Ok(Settings::default()));
    let answer = client
        .ask("resources/read", modern(json!({"uri": "qaas://runs/r-0/report"})))
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn the_server_ends_when_its_client_is_gone() {
    let mut client = Client::legacy().await;
    client.send("tools/call", affected("wait")).await;
    let Client {
        lines,
        writer,
        server,
        ..
    } = client;
    drop((lines, writer));
    let ended = timeout(Duration::from_secs(10), server)
        .await
        .expect("ends in time")
        .unwrap();
    assert_eq!(ended, ServerExit::ClientGone);
}

#[tokio::test]
async fn the_last_answer_is_written_although_the_client_sends_no_more() {
    let mut client = Client::legacy().await;
    let id = client.send("tools/call", affected("src/a.py")).await;
    client.writer.shutdown().await.unwrap();
    assert_eq!(client.answer_to(id).await["id"], id);
}
