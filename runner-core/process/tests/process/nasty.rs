//! Programs that do not want to end, or to be found.

use std::time::Duration;

use process::{Cancel, Limits};
use runner_core::plan::Stream;

use crate::common::{Outcome, run, run_until_a_line, supervisor, within};
use crate::mark::nasty;

const LIMIT: Duration = Duration::from_millis(800);
/// Far above what a quiet machine needs, far below the minute after which the programs end themselves.
const SOON: Duration = Duration::from_secs(12);

/// Runs a program that has to be ended at its deadline.
async fn hanging(script: &str) -> Outcome {
    let (job, mark) = nasty(script);
    let outcome = run(within(job, LIMIT)).await;
    mark.assert_nothing_left();
    assert!(outcome.exited.exit.timed_out, "{:?}", outcome.exited);
    assert_eq!(outcome.exited.exit.note, None);
    assert!(outcome.took < SOON, "{:?}", outcome.took);
    outcome
}

/// Runs a program whose main process ends by itself with code 0.
async fn leaking(script: &str) -> Outcome {
    let (job, mark) = nasty(script);
    let outcome = run(job).await;
    mark.assert_nothing_left();
    assert_eq!(outcome.exited.exit.code, Some(0), "{:?}", outcome.exited);
    assert!(!outcome.exited.exit.timed_out);
    assert!(outcome.took < SOON, "{:?}", outcome.took);
    outcome
}

#[tokio::test]
async fn a_program_that_ignores_sigterm_is_killed() {
    let outcome = hanging("deaf(); hang()").await;
    assert_eq!(
        (outcome.exited.exit.code, outcome.exited.exit.signal),
        (None, Some(9))
    );
}

#[tokio::test]
async fn a_program_that_ends_orderly_on_sigterm_keeps_its_exit_code() {
    let outcome = hanging("signal.signal(signal.SIGTERM, lambda *_: sys.exit(4)); hang()").await;
    assert_eq!(
        (outcome.exited.exit.code, outcome.exited.exit.signal),
        (Some(4), None)
    );
}

/// The exit code of a program that is cancelled once it has printed a line, where the job says `interrupt`.
async fn interrupted(script: &str) -> Option<i32> {
    let (mut job, mark) = nasty(script);
    job.interrupt = true;
    job.cancel_grace = Duration::from_secs(4);
    let exited = run_until_a_line(job, &Cancel::new(), |cancel| cancel.ask("a test")).await;
    mark.assert_nothing_left();
    assert!(exited.exit.cancelled, "{exited:?}");
    exited.exit.code
}

#[tokio::test]
async fn an_interrupted_program_cleans_up_before_anything_else_is_sent() {
    let script = "
signal.signal(signal.SIGTERM, lambda *_: os._exit(9))
try:
    print('begun', flush=True)
    hang()
except KeyboardInterrupt:
    sys.exit(4)";
    assert_eq!(interrupted(script).await, Some(4));
}

#[tokio::test]
async fn a_program_that_ignores_an_interrupt_is_terminated_within_the_grace() {
    let script = "
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
print('begun', flush=True)
hang()";
    assert_eq!(interrupted(script).await, Some(5));
}

#[tokio::test]
async fn a_child_in_a_session_of_its_own_is_not_interrupted_but_ended() {
    // The child tells of an interrupt by its exit code, which the parent passes on.
    let script = "
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def alone():
    os.setsid()
    signal.signal(signal.SIGINT, lambda *_: os._exit(7))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(8))
    print('begun', flush=True)
    hang()
pid = child(alone)
while True:
    try:
        _, status = os.waitpid(pid, 0)
        sys.exit(os.waitstatus_to_exitcode(status))
    except KeyboardInterrupt:
        pass";
    assert_eq!(interrupted(script).await, Some(8));
}

#[tokio::test]
async fn a_stopped_program_is_ended() {
    hanging("os.kill(os.getpid(), signal.SIGSTOP)").await;
}

#[tokio::test]
async fn a_program_that_closed_its_output_is_ended() {
    hanging("print('once', flush=True); os.close(1); os.close(2); hang()").await;
}

#[tokio::test]
async fn a_child_in_another_session_is_ended_with_its_hanging_parent() {
    hanging("child(lambda: (os.setsid(), deaf(), hang())); hang()").await;
}

#[tokio::test]
async fn a_program_that_forks_when_it_is_asked_to_end_is_ended() {
    hanging(
        "
made = []
def more(*_):
    if len(made) < 20:
        made.append(child(lambda: (os.setsid(), deaf(), hang())))
signal.signal(signal.SIGTERM, more)
hang()",
    )
    .await;
}

#[tokio::test]
async fn a_burst_of_processes_that_all_hide_is_ended() {
    hanging(
        "
def burst(depth):
    deaf()
    os.setsid()
    if depth:
        child(lambda: burst(depth - 1))
        child(lambda: burst(depth - 1))
    hang()
child(lambda: burst(5))
hang()",
    )
    .await;
}

#[tokio::test]
async fn a_pair_that_restarts_each_other_is_ended() {
    hanging(
        "
def keep(budget):
    os.setsid()
    while budget > 0:
        budget -= 1
        other = child(lambda budget=budget: keep(budget // 2))
        os.waitpid(other, 0)
daemon(lambda: keep(64))
daemon(lambda: keep(64))
hang()",
    )
    .await;
}

#[tokio::test]
async fn a_child_that_holds_the_pipes_is_named_and_ended_and_the_verdict_kept() {
    let outcome = leaking("child(hang); print('done', flush=True); os._exit(0)").await;
    let leaked = &outcome.exited.exit.leaked;
    assert!(leaked.len() == 1 && leaked[0].starts_with("python"), "{leaked:?}");
    assert_eq!(outcome.of(Stream::Stdout), ["done"]);
}

#[tokio::test]
async fn a_daemon_that_ignores_sigterm_is_named_and_ended() {
    let outcome = leaking("daemon(lambda: (deaf(), os.closerange(0, 3), hang())); os._exit(0)").await;
    assert_eq!(outcome.exited.exit.leaked.len(), 1, "{:?}", outcome.exited);
}

#[tokio::test]
async fn a_child_that_ends_soon_after_its_parent_is_no_leak() {
    let outcome = leaking("child(lambda: (time.sleep(0.02), print('last', flush=True))); os._exit(0)").await;
    assert_eq!(outcome.exited.exit.leaked, Vec::<String>::new());
    assert_eq!(outcome.of(Stream::Stdout), ["last"]);
}

#[tokio::test]
async fn a_program_that_kills_its_group_ends_itself_only() {
    let (job, mark) = nasty("child(hang); os.killpg(0, signal.SIGKILL)");
    let outcome = run(job).await;
    mark.assert_nothing_left();
    assert_eq!(outcome.exited.exit.signal, Some(9));
    assert_eq!(outcome.exited.exit.note, None);
}

#[tokio::test]
async fn dead_daemons_are_reaped_while_the_program_runs() {
    let outcome = leaking(
        "
read, write = os.pipe()
for _ in range(30):
    daemon(lambda: os.write(write, b'%d ' % os.getpid()))
os.close(write)
pids = b''
while part := os.read(read, 4096):
    pids += part
until = time.monotonic() + 10
while any(os.path.exists('/proc/' + pid) for pid in pids.decode().split()):
    assert time.monotonic() < until
    time.sleep(0.01)
assert len(pids.split()) == 30",
    )
    .await;
    assert_eq!(outcome.exited.exit.leaked, Vec::<String>::new());
}

#[tokio::test]
async fn zombies_that_a_program_does_not_reap_go_with_it() {
    leaking("[child(lambda: None) for _ in range(30)]").await;
}

#[tokio::test]
async fn a_run_with_too_many_processes_does_not_get_away_with_it() {
    let (mut job, mark) = nasty("[child(hang) for _ in range(30)]; time.sleep(3); os._exit(0)");
    job.limits.processes = Some(12);
    let outcome = run(job).await;
    mark.assert_nothing_left();
    assert_ne!(outcome.exited.exit.code, Some(0), "{:?}", outcome.exited);
    let words = supervisor().confinement(&Limits {
        processes: Some(12),
        ..Limits::default()
    });
    assert!(words["processes"].starts_with("12 ("), "{words:?}");
}
