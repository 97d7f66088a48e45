//! Programs that are talked to.

use std::time::{Duration, Instant};

use process::{Job, Peer, PeerExit, PeerOutput};

use crate::common::{job, python, sh, supervisor};

const SOON: Duration = Duration::from_secs(20);

fn start(job: Job) -> Peer {
    Peer::start(&supervisor(), job, 1 << 20).unwrap()
}

fn line(text: &str) -> PeerOutput {
    PeerOutput::Line(text.as_bytes().to_vec())
}

#[test]
fn lines_go_both_ways_and_the_end_of_input_ends_it() {
    let mut peer = start(sh(
        "while read line; do echo \"<$line>\"; done; echo bye >&2; exit 3",
    ));
    assert!(peer.send("a b", SOON, &mut |_| true));
    assert_eq!(peer.hear(SOON), line("<a b>"));
    assert_eq!(peer.hear(Duration::from_millis(50)), PeerOutput::Silence);
    assert!(peer.send("c", SOON, &mut |_| true));
    assert_eq!(peer.hear(SOON), line("<c>"));
    let end = peer.end(SOON);
    let expected = PeerExit {
        code: Some(3),
        stderr: vec!["bye".to_owned()],
        ..PeerExit::default()
    };
    assert_eq!(end, expected);
}

#[test]
fn large_messages_do_not_wait_for_each_other() {
    let mut peer = start(sh("cat"));
    let long = "x".repeat(900_000);
    for _ in 0..4 {
        assert!(peer.send(&long, SOON, &mut |_| true));
    }
    for _ in 0..4 {
        assert_eq!(peer.hear(SOON), line(&long));
    }
    assert_eq!(peer.end(SOON).code, Some(0));
}

#[test]
fn a_program_that_does_not_read_is_not_waited_for() {
    let mut peer = start(sh("sleep 60"));
    let long = "x".repeat(4 << 20);
    let begun = Instant::now();
    assert!(!peer.send(&long, Duration::from_millis(300), &mut |_| true));
    let end = peer.kill(Duration::ZERO);
    // SIGTERM comes first, and may do.
    assert!(end.forced && matches!(end.signal, Some(9 | 15)), "{end:?}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_sender_may_give_up_before_its_time() {
    let mut peer = start(sh("sleep 60"));
    let long = "x".repeat(4 << 20);
    let (begun, mut waited) = (Instant::now(), Duration::ZERO);
    let mut goes_on = |more| {
        waited += more;
        waited < Duration::from_millis(200)
    };
    assert!(!peer.send(&long, Duration::from_secs(600), &mut goes_on));
    assert!(begun.elapsed() < Duration::from_secs(60));
    peer.kill(Duration::ZERO);
}

#[test]
fn a_signal_of_its_own_is_told_with_the_last_lines_of_standard_error() {
    let mut peer = start(sh(
        "i=0; while [ $i -lt 20000 ]; do echo line $i >&2; i=$((i+1)); done; kill -SEGV $$",
    ));
    assert_eq!(peer.hear(SOON), PeerOutput::End);
    let end = peer.kill(SOON);
    assert_eq!((end.signal, end.forced), (Some(11), false));
    assert_eq!(end.stderr.last().map(String::as_str), Some("line 19999"));
    let bytes: usize = end.stderr.iter().map(|line| line.len() + 1).sum();
    assert!((32 << 10..=64 << 10).contains(&bytes), "{bytes}");
}

#[test]
fn a_line_over_the_limit_is_given_up() {
    let mut peer = start(python("print('x' * 3_000_000)"));
    assert!(matches!(peer.hear(SOON), PeerOutput::TooLong(head) if head.starts_with(b"xxx")));
    assert_eq!(peer.hear(SOON), PeerOutput::End);
    peer.kill(SOON);
}

#[test]
fn what_ignores_the_end_of_its_input_and_sigterm_is_killed_with_its_children() {
    let mark = format!("peer{}", std::process::id());
    let script = format!("trap '' TERM; sh -c 'trap \"\" TERM; sleep 61; : {mark}' & sleep 62; sleep 63");
    let peer = start(sh(&script));
    let end = peer.end(Duration::from_millis(200));
    assert!(end.forced && end.signal == Some(9), "{end:?}");
    assert!(!is_running(&mark));
}

#[test]
fn a_child_that_is_left_behind_goes_with_it() {
    let mark = format!("left{}", std::process::id());
    let mut peer = start(sh(&format!("setsid sh -c 'sleep 61; : {mark}' & echo ready")));
    assert_eq!(peer.hear(SOON), line("ready"));
    assert_eq!(peer.hear(SOON), PeerOutput::End);
    assert_eq!(peer.end(SOON).code, Some(0));
    assert!(!is_running(&mark));
}

#[test]
fn a_program_that_is_not_there_is_said_at_the_end() {
    let mut peer = start(job(&["/no/such/program"]));
    assert_eq!(peer.hear(SOON), PeerOutput::End);
    let failed = peer.kill(SOON).failed.unwrap();
    assert!(failed.contains("could not start /no/such/program"), "{failed}");
}

fn is_running(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(mark))
}
