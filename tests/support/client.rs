//! A client that speaks plain JSON-RPC lines with `qaas mcp`, and can be as rude as clients are.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Project;

/// Far above what anything takes here: a test that waits so long has failed.
const LONG: Duration = Duration::from_secs(100);

pub(crate) struct Client {
    server: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    answers: BTreeMap<u64, Vec<Value>>,
    next_id: u64,
}

impl Client {
    /// Of a server that has nothing alive but what its runs started.
    pub(crate) fn start(project: &Project) -> Self {
        Self::of(project.command(&["mcp", "--no-warm"]))
    }

    /// Of a server as people start it: a process waits for the next run.
    pub(crate) fn warm(project: &Project) -> Self {
        Self::of(project.command(&["mcp"]))
    }

    /// A client of a server that is started in a way of its own.
    pub(crate) fn of(mut server: Command) -> Self {
        let mut server = server
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = server.stdin.take();
        let lines = read_lines(server.stdout.take().unwrap());
        let mut client = Self {
            server,
            stdin,
            lines,
            answers: BTreeMap::new(),
            next_id: 0,
        };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        client.ask("initialize", &hello);
        client.notify("notifications/initialized", &json!({}));
        client
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.id()
    }

    /// Sends bytes as they are. That the server does not take them is no error here.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
        }
    }

    fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request without waiting for its answer.
    pub(crate) fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}));
        self.next_id
    }

    pub(crate) fn begin_call(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.begin("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        self.notify("notifications/cancelled", &json!({"requestId": id}));
    }

    /// The answer to a request: its `result`, or its `error`.
    pub(crate) fn wait(&mut self, id: u64) -> Value {
        let until = Instant::now() + LONG;
        while !self.answers.contains_key(&id) {
            let line = self
                .lines
                .recv_timeout(until.saturating_duration_since(Instant::now()));
            let line = line.unwrap_or_else(|why| panic!("request {id} was never answered: {why}"));
            self.take(&line);
        }
        let message = &self.answers[&id][0];
        message.get("result").or(message.get("error")).unwrap().clone()
    }

    /// How often a request has been answered so far.
    pub(crate) fn answered(&mut self, id: u64) -> usize {
        while let Ok(line) = self.lines.try_recv() {
            self.take(&line);
        }
        self.answers.get(&id).map_or(0, Vec::len)
    }

    fn take(&mut self, line: &str) {
        let message: Value = serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("{error}: no JSON-RPC on standard output: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        if let (Some(id), None) = (message["id"].as_u64(), message.get("method")) {
            assert!((1..=self.next_id).contains(&id), "nobody asked: {line}");
            self.answers.entry(id).or_default().push(message);
        }
    }

    /// Sends a request and gives the answer's `result`, or its `error`.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.wait(id)
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The structured half of a tool's answer.
    pub(crate) fn structure(&mut self, tool: &str, arguments: &Value) -> Value {
        self.call(tool, arguments)["structuredContent"].clone()
    }

    pub(crate) fn tools(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", &json!({}));
        list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The client goes away: it closes its end of the server's input.
    pub(crate) fn hang_up(&mut self) {
        self.stdin.take();
    }

    /// Sends the server a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.server);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the server's own end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let until = Instant::now() + LONG;
        loop {
            if let Some(status) = self.server.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// That every request so far was answered exactly once, and that the server still works.
    pub(crate) fn is_well(&mut self, plain_test: &str) {
        let answer = self.structure("run_single", &json!({"test_id": plain_test, "timeout_s": 60}));
        assert_eq!(answer["outcome"], "passed", "{answer:#}");
        let twice = self.answers.iter().filter(|(_, answers)| answers.len() != 1);
        assert_eq!(twice.count(), 0, "a request was answered twice");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.hang_up();
        if std::thread::panicking() {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}

/// Reads on a thread of its own, so that waiting can end.
fn read_lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines() {
            // An end, or a test that is over.
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
