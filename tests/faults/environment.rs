//! Secrets of the server, and places to write that are not there.

use serde_json::{Value, json};

use super::nasty::{PLAIN, gone, nasty, survived, survived_call};
use crate::support::{Client, Project};

const SECRETS: [&str; 8] = [
    "FAKE_API_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "ANTHROPIC_API_KEY",
    "GITHUB_TOKEN",
    "DATABASE_PASSWORD",
    "SSH_AUTH_SOCK",
    "NPM_CONFIG__AUTH",
    "SOMETHING_PLAIN",
];

#[test]
fn the_servers_secrets_reach_no_test() {
    let secret = "zq8-hT5mLw2Rk9Xv4Bn";
    let mut project = nasty(
        "def test_nasty():
    open('../environment', 'w').write(json.dumps(dict(os.environ)))
    above = os.getppid()
    for _ in range(4):
        try: open('../environment', 'ab').write(open(f'/proc/{above}/environ', 'rb').read())
        except OSError: pass
        above = int(open(f'/proc/{above}/stat').read().rpartition(')')[2].split()[1]) or 1
    assert False, ' '.join(sorted(os.environ.values()))
",
    );
    for name in SECRETS {
        project = project.env(name, secret);
    }
    let arguments = json!({"test_id": "test_nasty.py::test_nasty", "timeout_s": 60});
    let answer = survived_call(&project, "run_single", &arguments);
    assert_eq!(answer["outcome"], "failed", "{answer:#}");
    assert!(!answer.to_string().contains(secret), "{answer:#}");
    let seen = std::fs::read(project.outside().join("environment")).unwrap();
    if rustix::process::geteuid().is_root() {
        test_skip::skipped(
            test_skip::Need::OrdinaryUser,
            "root may read every process's environment",
        );
    } else {
        assert!(!String::from_utf8_lossy(&seen).contains(secret));
    }
    let line = String::from_utf8_lossy(&seen);
    let inherited: Value = serde_json::Deserializer::from_str(&line)
        .into_iter()
        .next()
        .unwrap()
        .unwrap();
    for name in SECRETS {
        assert!(inherited[name].is_null(), "{name} was inherited");
    }
    let coverage = survived_call(
        &project,
        "get_coverage",
        &json!({"selector": "test_nasty.py", "timeout_s": 60}),
    );
    assert!(!coverage.to_string().contains(secret));
}

#[test]
fn what_looks_like_a_secret_is_taken_out_and_counted() {
    let shapes = [
        format!("ghp_{}", "a1B2".repeat(9)),
        format!("AKIA{}", "IOSFODNN7QWERTYU"),
        format!("sk-ant-api03-{}", "aB3_".repeat(24)),
        format!("xoxb-{}", "123456789012-abcdefghijklmnop"),
        format!(
            "eyJhbGciOiJIUzI1NiJ9.{}.{}",
            "eyJzdWIiOiIxIn0", "c2lnbmF0dXJlc2lnbmF0dXJl"
        ),
    ];
    let tests = format!(
        "SHAPES = {}\ndef test_nasty():\n    print(SHAPES); assert False, ' '.join(SHAPES)\n",
        json!(shapes)
    );
    let project = nasty(&tests);
    for (tool, arguments) in [
        ("run_single", json!({"test_id": "test_nasty.py::test_nasty"})),
        ("run_suite", json!({"selector": "test_nasty.py"})),
    ] {
        let answer = survived_call(&project, tool, &arguments);
        for shape in &shapes {
            assert!(!answer.to_string().contains(shape), "{shape}: {answer:#}");
        }
        assert!(answer.to_string().contains("redacted"), "{answer:#}");
    }
}

#[test]
fn the_values_of_secrets_that_tests_may_have_are_taken_out_of_answers() {
    let project = nasty("def test_nasty(): assert False, 'the value is hunter2-hunter2'\n")
        .env("DATABASE_PASSWORD", "hunter2-hunter2");
    let answer = survived(&project, 60.0);
    assert!(!answer.to_string().contains("hunter2-hunter2"), "{answer:#}");
    let person = project.qaas(&["run", "test_nasty.py"]);
    assert!(
        person.stdout.contains("hunter2-hunter2"),
        "a person sees the text as it is: {}",
        person.stdout
    );
}

/// A plain test with a temporary folder that cannot be used: a verdict or an error, never silence.
fn with_tmpdir(project: &Project) {
    let mut client = Client::start(project);
    let answer = client.call(
        "run_suite",
        &json!({"selector": "test_plain.py", "timeout_s": 60}),
    );
    let structure = &answer["structuredContent"];
    assert!(
        answer["isError"] == true || structure["status"] == "passed",
        "{answer:#}"
    );
    drop(client);
    gone(project);
}

#[test]
fn a_temporary_folder_that_is_a_file_is_told_or_done_without() {
    let project = nasty("").file("file", "x");
    let file = project.root().join("file");
    with_tmpdir(&project.env("TMPDIR", file.to_str().unwrap()));
}

#[test]
fn a_temporary_folder_that_is_not_there_is_told_or_done_without() {
    with_tmpdir(&nasty("").env("TMPDIR", "/no/such/folder"));
}

/// A test's own disk is full: nothing can be written by the run, whoever tries.
#[test]
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "tests start processes")]
fn a_full_disk_is_told_and_the_server_lives() {
    let project = nasty("def test_nasty(tmp_path):\n    (tmp_path / 'x').write_bytes(b'x' * 10_000_000)\n");
    let base = project.outside().to_owned();
    // A disk of its own, of 256 kB, in a mount namespace of its own.
    let script = format!(
        "mount -t tmpfs -o size=256k full {0}/tmp && mkdir {0}/tmp/state && QAAS_STATE_DIR={0}/tmp/state exec \"$@\"",
        base.display()
    );
    let wrap = |program: &std::ffi::OsStr, words: &[&str]| {
        let mut command = project.command(&[]);
        let mut wrapped = std::process::Command::new("unshare");
        wrapped.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]);
        wrapped
            .arg(program)
            .args(words)
            .current_dir(project.root())
            .env_clear();
        wrapped.envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        wrapped.stdin(std::process::Stdio::null());
        command.env_clear();
        wrapped
    };
    if !wrap("true".as_ref(), &[])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        test_skip::skip!(test_skip::Need::Namespaces, "no disk of its own can be mounted");
    }
    let mut client = Client::of(wrap(project.command(&[]).get_program(), &["mcp"]));
    let answer = client.structure(
        "run_suite",
        &json!({"selector": "test_nasty.py", "timeout_s": 60}),
    );
    assert_ne!(answer["status"], "passed", "{answer:#}");
    let answer = client.call(
        "run_suite",
        &json!({"selector": "test_plain.py", "timeout_s": 60}),
    );
    let status = &answer["structuredContent"]["status"];
    assert!(answer["isError"] == true || status == "passed", "{answer:#}");
    drop(client);
    gone(&project);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tests start processes")]
fn few_descriptors_end_in_errors_and_not_in_the_servers_end() {
    let project = nasty("");
    let mut server = project.command(&["mcp"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -n 48; exec \"$@\"", "sh"]);
    limited
        .arg(server.get_program())
        .arg("mcp")
        .current_dir(project.root())
        .env_clear();
    limited.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    server.env_clear();
    let mut client = Client::of(limited);
    let calls: Vec<u64> = (0..12)
        .map(|_| client.begin_call("run_single", &json!({"test_id": PLAIN, "timeout_s": 100})))
        .collect();
    for call in calls {
        let answer = client.wait(call);
        let outcome = &answer["structuredContent"]["outcome"];
        assert!(answer["isError"] == true || outcome == "passed", "{answer:#}");
    }
    client.is_well(PLAIN);
    drop(client);
    gone(&project);
}
