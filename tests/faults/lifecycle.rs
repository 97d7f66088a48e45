//! How calls, clients and servers end, and that everything ends with them.

use std::io::Write;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::nasty::{PLAIN, begun, gone, left, nasty, nothing_lies_about};
use crate::support::{Client, Project};

/// A test that hangs, deaf, with a deaf daemon beside it.
fn stubborn() -> Project {
    nasty(
        "def test_nasty():
    daemon(lambda: (deaf(), hang()))
    deaf()
    open('../up', 'w').close()
    hang()
",
    )
}

/// Starts the stubborn test and waits until it runs.
fn running(project: &Project) -> (Client, u64) {
    let mut client = Client::start(project);
    let run = client.begin_call(
        "run_suite",
        &json!({"selector": "test_nasty.py", "timeout_s": 55}),
    );
    begun(project, "up");
    (client, run)
}

/// The server ends, and all that it ran; a new one starts and finds nothing in its way.
fn ends(how: impl FnOnce(&mut Client)) -> ExitStatus {
    let project = stubborn();
    let (mut client, _) = running(&project);
    how(&mut client);
    let status = client.ended();
    gone(&project);
    Client::start(&project).is_well(PLAIN);
    nothing_lies_about(&project);
    let stale = project.outside().join("state/s");
    let stale = std::fs::read_dir(stale).map_or(0, Iterator::count);
    assert_eq!(stale, 0, "scratches of the dead server");
    status
}

#[test]
fn a_client_that_goes_away_takes_its_runs_along() {
    assert_eq!(ends(Client::hang_up).code(), Some(0));
}

#[test]
fn sigterm_ends_the_server_and_its_runs() {
    ends(|client| client.signal(Signal::TERM));
}

#[test]
fn sigint_ends_the_server_and_its_runs() {
    ends(|client| client.signal(Signal::INT));
}

#[test]
fn a_second_sigint_ends_them_at_once() {
    ends(|client| {
        client.signal(Signal::INT);
        std::thread::sleep(Duration::from_millis(50));
        client.signal(Signal::INT);
    });
}

#[test]
fn a_server_that_is_killed_takes_its_runs_along() {
    ends(|client| client.signal(Signal::KILL));
}

#[test]
fn a_client_that_reads_no_more_is_as_good_as_gone() {
    let project = stubborn();
    let mut server = project.command(&["mcp"]);
    let mut server = server
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let call = json!({"name": "run_suite", "arguments": {"selector": "test_nasty.py", "timeout_s": 55}});
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ] {
        writeln!(stdin, "{message}").unwrap();
    }
    begun(&project, "up");
    drop(server.stdout.take());
    writeln!(
        stdin,
        "{}",
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})
    )
    .unwrap();
    server.wait().unwrap();
    gone(&project);
}

#[test]
fn a_cancelled_call_ends_its_run_and_is_answered_at_most_once() {
    let project = stubborn();
    let (mut client, run) = running(&project);
    client.cancel(run);
    gone_but(&project, &client);
    client.is_well(PLAIN);
    assert!(client.answered(run) <= 1);
}

#[test]
fn a_cancelled_repetition_starts_no_further_run() {
    let project = nasty("def test_nasty():\n    open('../up', 'a').write('x'); time.sleep(.3)\n");
    let mut client = Client::start(&project);
    let arguments = json!({"test_id": "test_nasty.py::test_nasty", "n": 20, "timeout_s": 50});
    let call = client.begin_call("run_n_times", &arguments);
    begun(&project, "up");
    client.cancel(call);
    gone_but(&project, &client);
    client.is_well(PLAIN);
    let runs = std::fs::metadata(project.outside().join("up")).unwrap().len();
    assert!(runs < 20, "{runs} runs");
    assert_eq!(left(&project, &client), Vec::<String>::new());
}

#[test]
fn a_storm_of_cancels_leaves_nothing_and_loses_no_other_answer() {
    let project = nasty("def test_nasty(): time.sleep(.2)\n");
    let mut client = Client::start(&project);
    let mut kept = Vec::new();
    for number in 0..24 {
        let call = client.begin_call("run_single", &json!({"test_id": PLAIN, "timeout_s": 60}));
        if number % 4 == 0 {
            kept.push(call);
        } else {
            client.cancel(call);
            client.cancel(call);
        }
        client.cancel(9_999_999);
    }
    for call in kept {
        assert_eq!(client.wait(call)["structuredContent"]["outcome"], "passed");
        client.cancel(call);
    }
    gone_but(&project, &client);
    client.is_well(PLAIN);
}

/// Waits until nothing but the server is left.
fn gone_but(project: &Project, client: &Client) {
    let limit = std::time::Instant::now() + Duration::from_secs(30);
    while !left(project, client).is_empty() {
        assert!(
            std::time::Instant::now() < limit,
            "left alive: {:?}",
            left(project, client)
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}
