//! Programs that turn against what supervises them, and servers that die.

use std::process::{Command, Stdio};
use std::time::Duration;

use process::{Cancel, ProcessError, Supervisor};

use crate::common::{job, run, run_until_a_line, run_with, supervisor, within};
use crate::mark::nasty;

#[tokio::test]
async fn a_program_that_kills_its_supervisor_is_ended_with_all_it_started_and_the_answer_says_so() {
    let (job, mark) = nasty(
        "
child(lambda: (os.setsid(), deaf(), hang()))
daemon(lambda: (deaf(), hang()))
print('begun', flush=True)
os.kill(os.getppid(), signal.SIGKILL)
hang()",
    );
    let outcome = run(job).await;
    mark.assert_nothing_left();
    let exit = &outcome.exited.exit;
    assert_eq!((exit.code, exit.signal), (None, Some(9)), "{exit:?}");
    assert!(
        exit.note
            .as_ref()
            .is_some_and(|note| note.contains("kills its parent")),
        "{exit:?}"
    );
    assert!(!exit.timed_out && !exit.cancelled);
    assert_eq!(outcome.lines.len(), 1);
}

#[tokio::test]
async fn the_verdict_is_kept_when_a_left_child_kills_the_supervisor() {
    let (job, mark) = nasty(
        "
above = os.getppid()
child(lambda: (time.sleep(0.05), os.kill(above, signal.SIGKILL), hang()))
os._exit(3)",
    );
    let outcome = run(job).await;
    mark.assert_nothing_left();
    assert_eq!(outcome.exited.exit.code, Some(3), "{:?}", outcome.exited);
    assert!(outcome.exited.exit.note.is_some());
}

#[tokio::test]
async fn a_lost_supervisor_does_no_harm_to_other_runs() {
    let (good, _) = nasty("child(lambda: time.sleep(1.5)); time.sleep(1.5); os.wait(); print('fine')");
    let (bad, mark) = nasty("daemon(hang); os.kill(os.getppid(), signal.SIGKILL); hang()");
    let (good, bad) = tokio::join!(run(good), run(bad));
    mark.assert_nothing_left();
    assert!(bad.exited.exit.note.is_some());
    assert_eq!(good.exited.exit.code, Some(0), "{:?}", good.exited);
    assert_eq!((good.exited.exit.note, good.lines.len()), (None, 1));
}

#[tokio::test]
async fn sigterm_does_not_end_the_supervisor() {
    let (job, _) =
        nasty("os.kill(os.getppid(), signal.SIGTERM); os.kill(os.getppid(), signal.SIGINT); print('fine')");
    let outcome = run(job).await;
    assert_eq!(
        (outcome.exited.exit.code, outcome.exited.exit.note),
        (Some(0), None)
    );
}

#[tokio::test]
async fn a_stopped_supervisor_is_woken() {
    let (job, mark) = nasty("os.kill(os.getppid(), signal.SIGSTOP); os._exit(3)");
    let outcome = run(job).await;
    mark.assert_nothing_left();
    assert_eq!(
        (outcome.exited.exit.code, outcome.exited.exit.note),
        (Some(3), None)
    );
}

#[tokio::test]
async fn a_supervisor_that_is_stopped_again_and_again_is_given_up_after_the_deadline() {
    let (job, mark) = nasty(
        "
above = os.getppid()
while True:
    os.kill(above, signal.SIGSTOP)",
    );
    let outcome = run(within(job, Duration::from_millis(500))).await;
    mark.assert_nothing_left();
    assert!(outcome.exited.exit.timed_out, "{:?}", outcome.exited);
    assert!(outcome.took < Duration::from_secs(12), "{:?}", outcome.took);
}

#[tokio::test]
async fn a_cancelled_run_ends_with_grace() {
    let (mut job, mark) = nasty(
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5)); daemon(hang); print('begun', flush=True); hang()",
    );
    // Long enough for a busy machine: who ends by itself needs none of it.
    job.cancel_grace = Duration::from_secs(20);
    let cancel = Cancel::new();
    let exit = run_until_a_line(job, &cancel, |cancel| cancel.ask("a test"))
        .await
        .exit;
    mark.assert_nothing_left();
    assert!(exit.cancelled && !exit.timed_out);
    assert_eq!(exit.code, Some(5));
}

#[tokio::test]
async fn a_run_cancelled_at_once_is_killed_without_grace() {
    let (mut job, mark) = nasty("deaf(); print('begun', flush=True); hang()");
    job.cancel_grace = Duration::from_secs(50);
    let cancel = Cancel::new();
    let began = std::time::Instant::now();
    let asking = |cancel: &Cancel| {
        cancel.ask("a test");
        cancel.at_once("a test");
    };
    let exit = run_until_a_line(job, &cancel, asking).await.exit;
    mark.assert_nothing_left();
    assert!(exit.cancelled);
    assert_eq!(exit.signal, Some(9));
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
}

#[tokio::test]
async fn what_is_cancelled_before_it_began_is_not_started() {
    let cancel = Cancel::new();
    cancel.ask("a test");
    let exit = run_with(job(&["/no/such/program"]), &cancel)
        .await
        .unwrap()
        .exited
        .exit;
    assert!(exit.cancelled);
    assert_eq!((exit.code, exit.signal), (None, None));
}

#[tokio::test]
async fn a_run_whose_future_is_dropped_ends() {
    let (job, mark) = nasty("daemon(lambda: (deaf(), hang())); deaf(); hang()");
    let running = tokio::spawn(async move { run(job).await.took });
    tokio::task::spawn_blocking({
        let mark = mark.clone();
        move || mark.wait_for(2)
    })
    .await
    .unwrap();
    running.abort();
    let _ = running.await;
    mark.wait_until_gone();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the server that is killed")]
fn everything_ends_when_the_server_is_killed() {
    let (job, mark) = nasty(
        "daemon(lambda: (deaf(), hang())); child(lambda: (os.setsid(), deaf(), hang())); deaf(); hang()",
    );
    let mut server = Command::new(supervisor().program)
        .arg("serve")
        .args(&job.argv)
        .envs(&job.env)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    mark.wait_for(4);
    server.kill().unwrap();
    server.wait().unwrap();
    mark.wait_until_gone();
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a server of its own, with an environment to be kept from tests"
)]
fn a_test_of_the_same_user_cannot_read_the_servers_environment() {
    // Root may read everything; in a namespace where nobody is root, it may not.
    let other_user = ["--user", "--map-user=65534", "--map-group=65534"];
    let mut server = Command::new(supervisor().program);
    if rustix::process::geteuid().is_root() {
        let tried = Command::new("unshare").args(other_user).arg("true").status();
        if !tried.is_ok_and(|status| status.success()) {
            test_skip::skip!(test_skip::Need::Namespaces, "root may read every process");
        }
        server = Command::new("unshare");
        server.args(other_user).arg(supervisor().program);
    }
    let script = "server=$(awk '$1 == \"PPid:\" { print $2 }' /proc/$PPID/status)
        test -e /proc/$server/stat || exit 8
        cat /proc/$server/environ && exit 9
        exit 3";
    let output = server.args(["serve", "/bin/sh", "-c", script]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("code Some(3)"), "{output:?}");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a server of its own, so that its memory can be measured"
)]
fn a_flood_does_not_grow_the_server() {
    for flood in [
        "head -c 400000000 /dev/zero",
        "yes 'a line of a test' | head -c 100000000",
    ] {
        let output = Command::new(supervisor().program)
            .args(["serve", "/bin/sh", "-c", flood])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let grown: u64 = text
            .lines()
            .find_map(|line| line.strip_prefix("grown_kb "))
            .unwrap()
            .parse()
            .unwrap();
        assert!(text.contains("code Some(0)"), "{text}");
        assert!(grown < 8 << 10, "{text}");
    }
}

#[tokio::test]
async fn another_program_in_place_of_the_supervisor_is_noticed() {
    let harness = std::fs::read_link("/proc/self/exe").unwrap();
    for (program, args) in [
        ("/bin/true".into(), vec![]),
        (harness, vec!["no_such_test".into()]),
    ] {
        let other = Supervisor { program, args };
        let error = other
            .run(job(&["/bin/true"]), &Cancel::new(), &mut |_, _| {})
            .await
            .unwrap_err();
        assert!(matches!(error, ProcessError::Supervisor { .. }), "{error}");
    }
}
