//! Programs that misbehave, and what they leave behind.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, Project};

/// In front of every nasty test file: each of its processes ends itself after a minute.
const PRELUDE: &str = "
import json, os, signal, subprocess, sys, time
os.register_at_fork(after_in_child=lambda: signal.alarm(60))
signal.alarm(60)

def hang():
    end = time.time() + 60
    while time.time() < end:
        time.sleep(1)

def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)

def child(body=hang):
    pid = os.fork()
    if pid == 0:
        try:
            body()
        finally:
            os._exit(0)
    return pid

def in_session(body=hang):
    os.setsid()
    body()

def daemon(body=hang):
    def first():
        os.setsid()
        child(body)
    os.waitpid(child(first), 0)

def program(script):
    return [sys.executable, '-c', 'import os, signal, time; signal.alarm(60); ' + script]
";

/// The plain test that has to pass whatever happened before.
pub(crate) const PLAIN: &str = "test_plain.py::test_plain";

/// A project with a nasty test file `test_nasty.py`, and plain things beside it. The grace is short.
pub(crate) fn nasty(tests: &str) -> Project {
    Project::new()
        .file("qaas.toml", "[suite.default]\ngrace = \"300ms\"\n")
        .file("test_plain.py", "def test_plain(): pass\n")
        .file("test_nasty.py", &format!("{PRELUDE}\n{tests}"))
}

/// Runs `test_nasty.py` on a server that has to survive it, and to leave nothing alive.
pub(crate) fn survived(project: &Project, timeout_s: f64) -> Value {
    survived_call(
        project,
        "run_suite",
        &json!({"selector": "test_nasty.py", "timeout_s": timeout_s}),
    )
}

/// The same with any tool.
pub(crate) fn survived_call(project: &Project, tool: &str, arguments: &Value) -> Value {
    let mut client = Client::start(project);
    let answer = client.structure(tool, arguments);
    assert_eq!(
        left(project, &client),
        Vec::<String>::new(),
        "left alive: {answer:#}"
    );
    client.is_well(PLAIN);
    assert_eq!(zombies(&client), 0);
    drop(client);
    nothing_lies_about(project);
    answer
}

/// Waits until the tests have made a file: only then have they begun to be nasty.
pub(crate) fn begun(project: &Project, name: &str) {
    let file = project.outside().join(name);
    until(|| file.exists(), || format!("{name} was never made"));
}

/// Waits until no process of a project is left. For what ends without an answer.
pub(crate) fn gone(project: &Project) {
    until(
        || processes(project).is_empty(),
        || format!("left alive: {:?}", processes(project)),
    );
}

fn until(enough: impl Fn() -> bool, why: impl Fn() -> String) {
    let limit = Instant::now() + Duration::from_secs(30);
    while !enough() {
        assert!(Instant::now() < limit, "{}", why());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// That a project's repository and its temporary folder hold no more than what belongs there.
pub(crate) fn nothing_lies_about(project: &Project) {
    let names = |folder| -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect()
    };
    let temporary: Vec<String> = names(project.outside().join("tmp"));
    assert_eq!(temporary, Vec::<String>::new(), "temporary files");
    let written = names(project.root())
        .into_iter()
        .filter(|name| matches!(name.as_str(), ".pytest_cache" | ".coverage" | ".report.json"));
    assert_eq!(written.count(), 0, "written into the repository");
}

/// The living processes of a project, besides the server.
pub(crate) fn left(project: &Project, client: &Client) -> Vec<String> {
    let server = format!("{} ", client.pid());
    let mut alive = processes(project);
    alive.retain(|process| !process.starts_with(&server));
    alive
}

/// Every living process that works in a project's folder or knows it by its environment: number and command line.
/// Zombies have neither.
#[cfg(target_os = "linux")]
pub(crate) fn processes(project: &Project) -> Vec<String> {
    let folder = project.outside().to_str().unwrap().as_bytes();
    let numbers = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
    });
    let belongs = |pid: &String| {
        let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
        cwd.is_ok_and(|cwd| cwd.starts_with(project.outside()))
            || std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|bytes| bytes.windows(folder.len()).any(|part| part == folder))
    };
    let line = |pid: String| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        format!("{pid} {}", String::from_utf8_lossy(&words).replace('\0', " "))
    };
    numbers.filter(belongs).map(line).collect()
}

/// Elsewhere there is no way to see them that holds for every system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn processes(_: &Project) -> Vec<String> {
    Vec::new()
}

/// Dead children that a server has not taken notice of.
pub(crate) fn zombies(client: &Client) -> usize {
    let children = format!("/proc/{0}/task/{0}/children", client.pid());
    let children = std::fs::read_to_string(children).unwrap_or_default();
    let is_zombie = |pid: &&str| {
        std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
    };
    children.split_whitespace().filter(is_zombie).count()
}

/// The most memory a server has used so far, in kB. `None` where the system does not tell.
pub(crate) fn peak_kb(client: &Client) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.pid())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The outcome of a test in an answer; `None` if it has no row.
pub(crate) fn outcome<'a>(answer: &'a Value, nodeid: &str) -> Option<&'a str> {
    let rows = answer["tests"].as_array()?;
    let row = rows.iter().find(|row| row["nodeid"] == nodeid)?;
    row["outcome"].as_str()
}
