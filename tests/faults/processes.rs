//! Tests that do not want to end, or that leave something running.

use serde_json::{Value, json};

use super::nasty::{nasty, outcome, survived, survived_call};

/// A file whose first test passes and whose second has to be ended at its time limit.
fn hanging(body: &str) -> Value {
    let tests = format!("def test_before(): pass\ndef test_nasty():\n    {body}\n");
    let answer = survived(&nasty(&tests), 3.0);
    assert_eq!(answer["status"], "timed_out", "{answer:#}");
    assert_eq!(answer["timed_out"], true);
    assert_eq!(outcome(&answer, "test_nasty.py::test_before"), Some("passed"));
    assert_eq!(
        answer["unfinished"][0]["nodeid"], "test_nasty.py::test_nasty",
        "{answer:#}"
    );
    answer
}

/// A test that passes and leaves something behind, which is named; the verdict is kept.
fn leaking(body: &str) {
    let answer = survived(&nasty(&format!("def test_nasty():\n    {body}\n")), 60.0);
    assert_eq!(answer["status"], "passed", "{answer:#}");
    assert!(answer.to_string().contains("outlived"), "{answer:#}");
}

/// A test that ends its own run: never green, and what had passed stays passed.
fn fatal(body: &str) -> Value {
    let tests = format!("def test_before(): pass\ndef test_nasty():\n    {body}\ndef test_after(): pass\n");
    let answer = survived(&nasty(&tests), 60.0);
    let status = answer["status"].as_str().unwrap();
    assert!(["incomplete", "broken"].contains(&status), "{answer:#}");
    assert_eq!(outcome(&answer, "test_nasty.py::test_before"), Some("passed"));
    assert_eq!(outcome(&answer, "test_nasty.py::test_nasty"), None);
    assert_eq!(outcome(&answer, "test_nasty.py::test_after"), None);
    answer
}

#[test]
fn a_hanging_test_is_ended() {
    hanging("hang()");
}

#[test]
fn a_test_that_ignores_sigterm_is_ended() {
    hanging("deaf(); hang()");
}

#[test]
fn a_test_that_stops_itself_is_ended() {
    hanging("os.kill(os.getpid(), signal.SIGSTOP); hang()");
}

#[test]
fn a_test_that_closed_its_output_is_ended() {
    // The channel of the rows goes too: the rows that came before have to be enough.
    hanging("os.closerange(1, 64); hang()");
}

#[test]
fn a_test_that_forks_when_it_is_asked_to_end_is_ended() {
    hanging("signal.signal(signal.SIGTERM, lambda *_: child(in_session)); hang()");
}

#[test]
fn a_burst_of_processes_that_hide_is_ended() {
    hanging("deaf(); [child(in_session) for _ in range(60)]; hang()");
}

#[test]
fn a_pair_that_restarts_each_other_is_ended() {
    hanging(
        "exec('def pair():\\n    deaf()\\n    end = time.time() + 30\\n    while time.time() < end:\\n        os.waitpid(child(pair_end), 0)\\ndef pair_end():\\n    os.setsid(); time.sleep(.01)', globals()); daemon(pair); daemon(pair); hang()",
    );
}

#[test]
fn a_child_in_the_group_is_named_and_ended() {
    leaking("child()");
}

#[test]
fn a_child_that_holds_every_pipe_is_named_and_ended() {
    leaking("subprocess.Popen(program('time.sleep(50)'), close_fds=False, start_new_session=True)");
}

#[test]
fn a_daemon_is_named_and_ended() {
    leaking("daemon(); time.sleep(.3)");
}

#[test]
fn a_daemon_that_ignores_sigterm_is_named_and_ended() {
    leaking("daemon(lambda: (deaf(), hang())); time.sleep(.3)");
}

#[test]
fn a_hundred_zombies_go_with_the_test() {
    let tests = "def test_nasty():\n    for _ in range(100): child(lambda: None)\n    time.sleep(.2)\n";
    let answer = survived(&nasty(tests), 60.0);
    assert_eq!(answer["status"], "passed", "{answer:#}");
}

#[test]
fn a_test_that_kills_its_parent_ends_its_own_run_only() {
    let tests = "def test_before(): pass\ndef test_nasty():\n    child(in_session)\n    os.kill(os.getppid(), signal.SIGKILL)\n    hang()\n";
    let answer = survived(&nasty(tests), 30.0);
    assert_ne!(answer["status"], "passed", "{answer:#}");
    assert!(answer.to_string().contains("kills its parent"), "{answer:#}");
    assert_eq!(outcome(&answer, "test_nasty.py::test_before"), Some("passed"));
}

/// In a container the shell that began the session may be outside: there the kernel has no number for the session.
#[test]
fn a_supervisor_is_missed_also_where_the_session_began_outside_the_pid_namespace() {
    let project = nasty(
        "def test_nasty():\n    child(in_session)\n    os.kill(os.getppid(), signal.SIGKILL)\n    hang()\n",
    );
    let arguments = json!({"selector": "test_nasty.py", "timeout_s": 30}).to_string();
    let qaas = project.command(&["call", "run_suite", "--args", &arguments]);
    // Under a shell, so that qaas is not the namespace's first process, which nobody can kill.
    #[expect(clippy::disallowed_methods, reason = "tests start processes")]
    let mut command = std::process::Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"])
        .args(["sh", "-c", "\"$@\"; exit $?", "sh"])
        .arg(qaas.get_program())
        .args(qaas.get_args())
        .current_dir(project.root())
        .env_clear()
        .envs(qaas.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let Ok(output) = command.output() else {
        test_skip::skip!(test_skip::Need::Namespaces, "`unshare` cannot be started");
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("unshare") {
        test_skip::skip!(test_skip::Need::Namespaces, &errors);
    }
    assert!(!errors.contains("panicked"), "{errors}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect(&errors);
    assert!(answer.to_string().contains("kills its parent"), "{answer:#}");
    assert_ne!(answer["status"], "passed", "{answer:#}");
}

#[test]
fn a_test_that_kills_its_group_ends_its_own_run_only() {
    fatal("os.killpg(os.getpgrp(), signal.SIGKILL)");
}

#[test]
fn a_test_that_exits_with_zero_is_never_green() {
    fatal("os._exit(0)");
}

#[test]
fn a_test_that_is_killed_keeps_what_finished_and_names_the_signal() {
    let answer = fatal("os.kill(os.getpid(), signal.SIGKILL)");
    assert!(answer.to_string().contains("SIGKILL"), "{answer:#}");
}

#[test]
fn a_test_that_crashes_keeps_what_finished_and_names_the_signal() {
    let answer = fatal("import ctypes; ctypes.string_at(0)");
    assert!(answer.to_string().contains("SIGSEGV"), "{answer:#}");
}

#[test]
fn runs_that_were_lost_never_count_as_passed() {
    let project = nasty("def test_nasty(): os._exit(0)\n");
    let arguments = json!({"test_id": "test_nasty.py::test_nasty", "n": 3, "timeout_s": 60});
    let answer = survived_call(&project, "run_n_times", &arguments);
    assert_eq!(answer["passed"], 0, "{answer:#}");
    assert_eq!(answer["majority_outcome"], "crashed", "{answer:#}");
}
