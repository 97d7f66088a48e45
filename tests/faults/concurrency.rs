//! Many calls at once, on one repository.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::nasty::{PLAIN, begun, left, nasty, nothing_lies_about};
use crate::support::Client;

#[test]
fn runs_of_one_repository_do_not_disturb_each_other() {
    let project = nasty("import shop\ndef test_nasty(tmp_path): assert shop.one(1) == 2\n").file(
        "shop.py",
        "def one(x):\n    return x + 1\ndef never():\n    return 0\n",
    );
    let mut client = Client::start(&project);
    let calls: Vec<(&str, u64)> = ["get_coverage", "run_suite", "run_single"]
        .into_iter()
        .cycle()
        .take(9)
        .map(|tool| {
            let arguments = match tool {
                "get_coverage" => json!({"paths": ["shop.py"], "timeout_s": 100}),
                "run_suite" => json!({"timeout_s": 100}),
                _ => json!({"test_id": "test_nasty.py::test_nasty", "timeout_s": 100}),
            };
            (tool, client.begin_call(tool, &arguments))
        })
        .collect();
    let mut percents = Vec::new();
    for (tool, call) in calls {
        let answer = client.wait(call);
        let structure = &answer["structuredContent"];
        assert_ne!(answer["isError"], true, "{answer:#}");
        match tool {
            "get_coverage" => percents.push(structure["overall_percent"].clone()),
            "run_suite" => assert_eq!(
                structure["totals"],
                json!({"total": 2, "passed": 2}),
                "{answer:#}"
            ),
            _ => assert_eq!(structure["outcome"], "passed", "{answer:#}"),
        }
    }
    percents.dedup();
    assert_eq!(percents.len(), 1, "{percents:?}");
    assert!(
        percents[0].as_f64().is_some_and(|percent| percent > 0.0),
        "{percents:?}"
    );
    drop(client);
    nothing_lies_about(&project);
}

#[test]
fn two_servers_on_one_repository_do_not_disturb_each_other() {
    let project = nasty("def test_nasty(): pass\n");
    let mut servers = [Client::start(&project), Client::start(&project)];
    for _ in 0..3 {
        let calls: Vec<u64> = servers
            .iter_mut()
            .map(|client| client.begin_call("run_suite", &json!({})))
            .collect();
        for (client, call) in servers.iter_mut().zip(calls) {
            assert_eq!(client.wait(call)["structuredContent"]["status"], "passed");
        }
    }
}

#[test]
fn light_tools_do_not_wait_for_runs() {
    let project = nasty("def test_nasty():\n    open('../up', 'w').close(); hang()\n");
    let mut client = Client::start(&project);
    // More than run at once, so that some of them wait for their turn.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let arguments = json!({"selector": "test_nasty.py", "timeout_s": 50});
    let runs: Vec<u64> = (0..cores + 2)
        .map(|_| client.begin_call("run_suite", &arguments))
        .collect();
    begun(&project, "up");
    client.tools();
    client.ask("ping", &json!({}));
    let affected = client.structure("affected_tests", &json!({"paths": ["test_plain.py"]}));
    assert_eq!(
        affected["affected"][0]["test_file"], "test_plain.py",
        "{affected:#}"
    );
    let refused = client.call("run_suite", &json!({"selector": "-x"}));
    assert_eq!(refused["isError"], true);
    assert!(
        runs.iter().all(|run| client.answered(*run) == 0),
        "the runs go on meanwhile"
    );
    for run in runs {
        client.cancel(run);
    }
    client.is_well(PLAIN);
    assert_eq!(left(&project, &client), Vec::<String>::new());
}

#[test]
fn as_many_runs_as_cores_go_on_at_once_and_all_are_answered() {
    let tests = "import fcntl
def count(by):
    with open('../count', 'a+') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0); now = int(file.read() or 0) + by
        file.truncate(0); file.write(str(now)); file.flush()
    return now
def test_nasty():
    open('../seen', 'a').write(f'{count(1)}\\n'); time.sleep(.3); count(-1)
";
    let project = nasty(tests);
    let mut client = Client::start(&project);
    let arguments = json!({"test_id": "test_nasty.py::test_nasty", "timeout_s": 100});
    let calls: Vec<u64> = (0..12)
        .map(|_| client.begin_call("run_single", &arguments))
        .collect();
    for call in calls {
        assert_eq!(client.wait(call)["structuredContent"]["outcome"], "passed");
    }
    let seen = std::fs::read_to_string(project.outside().join("seen")).unwrap();
    let most = seen.lines().map(|line| line.parse::<usize>().unwrap()).max();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(
        most.is_some_and(|most| (1..=cores).contains(&most)),
        "{most:?} at once"
    );
}

#[test]
fn nonsense_on_the_wire_does_not_end_the_server() {
    let project = nasty("");
    let mut client = Client::start(&project);
    let deep = format!("{}\n", "[".repeat(20_000));
    for line in [
        &b"\n"[..],
        b"{\n",
        b"[]\n",
        b"null\n",
        b"\xff\xfe\x00\n",
        b"{\"jsonrpc\":\"2.0\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":5}\n",
        deep.as_bytes(),
    ] {
        client.raw(line);
    }
    client.is_well(PLAIN);
}

#[test]
fn a_request_of_16_megabytes_is_dropped_and_the_server_goes_on() {
    let project = nasty("");
    let mut client = Client::start(&project);
    let selector = |bytes: usize| json!({"selector": "k".repeat(bytes)});
    // What is not read has no id that could be answered; a line that is read is answered, however long.
    let dropped = client.begin_call("run_suite", &selector(16_000_000));
    let refused = client.call("run_suite", &selector(3_000_000));
    assert_eq!(refused["isError"], true, "{refused:#}");
    client.is_well(PLAIN);
    assert_eq!(client.answered(dropped), 0);
}

#[test]
fn a_client_that_reads_slowly_loses_no_answer() {
    let project = nasty("");
    let mut server = project.command(&["mcp"]);
    let mut server = server
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, stdout) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    // Far more than a pipe holds: the server has to wait for the reader.
    let asking = std::thread::spawn(move || {
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let asks = (0..200).map(|id| match id {
            0 => json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": hello}),
            _ => json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {}}),
        });
        asks.for_each(|ask| writeln!(stdin, "{ask}").unwrap());
        stdin
    });
    std::thread::sleep(Duration::from_secs(1));
    let mut seen = BTreeSet::new();
    for line in BufReader::new(stdout).lines().take(200) {
        let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
        assert!(answer["result"].is_object(), "{answer:#}");
        assert!(
            seen.insert(answer["id"].as_u64()),
            "{} was answered twice",
            answer["id"]
        );
    }
    assert_eq!(seen.len(), 200);
    drop(asking.join().unwrap());
    server.wait().unwrap();
}

#[test]
fn long_and_odd_arguments_are_refused_and_not_echoed_whole() {
    let project = nasty("");
    let mut client = Client::start(&project);
    let long = "k".repeat(300_000);
    let longer_path = format!("{}::b", "a".repeat(5_000));
    for word in [
        "test_plain.py\0",
        "a\0b",
        "test_plain.py\n-p evil",
        "\r\n",
        &long,
        &longer_path,
        "\u{202e}",
    ] {
        for (tool, name) in [("run_suite", "selector"), ("run_single", "test_id")] {
            let answer: Value = client.call(tool, &json!({name: word}));
            assert_eq!(answer["isError"], true, "{tool} {answer:#}");
            assert!(
                answer.to_string().len() < 25_000,
                "{tool} echoes {}",
                answer.to_string().len()
            );
        }
    }
}
