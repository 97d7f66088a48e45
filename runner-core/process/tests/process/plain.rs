//! Well-behaved programs.

use std::time::Duration;

use process::{Cancel, ProcessError};
use runner_core::plan::{Dump, Stream};

use crate::common::{job, python, run, run_with, sh, supervisor, within};

#[tokio::test]
async fn lines_of_both_streams_and_the_exit_code_arrive() {
    let outcome = run(sh("echo out; echo err >&2; printf last; exit 7")).await;
    assert_eq!(outcome.of(Stream::Stdout), ["out", "last"]);
    assert_eq!(outcome.of(Stream::Stderr), ["err"]);
    assert_eq!(outcome.exited.exit.code, Some(7));
    assert_eq!(outcome.exited.exit.signal, None);
    assert!(!outcome.exited.exit.timed_out && !outcome.exited.exit.cancelled);
    assert_eq!(outcome.exited.exit.note, None);
}

#[tokio::test]
async fn death_by_a_signal_of_its_own_is_told() {
    let outcome = run(sh("kill -SEGV $$")).await;
    assert_eq!(
        (outcome.exited.exit.code, outcome.exited.exit.signal),
        (None, Some(11))
    );
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error_with_the_systems_reason() {
    let error = run_with(job(&["/no/such/program"]), &Cancel::new())
        .await
        .err()
        .unwrap();
    let ProcessError::Start { program, source } = error else {
        panic!("{error}")
    };
    assert_eq!(program, "/no/such/program");
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
}

#[tokio::test]
async fn a_working_folder_that_is_not_there_is_an_error_of_its_own() {
    let mut nowhere = sh("true");
    nowhere.cwd = "/no/such/folder".into();
    let error = run_with(nowhere, &Cancel::new()).await.err().unwrap();
    assert!(matches!(error, ProcessError::WorkingFolder { .. }), "{error}");
}

#[tokio::test]
async fn the_channel_is_descriptor_0_and_reads_as_empty() {
    let mut job =
        python("import os\nassert os.read(0, 1) == b''\nos.write(0, b'event\\n')\nprint('printed')");
    job.channel = true;
    let outcome = run(job).await;
    assert_eq!(outcome.of(Stream::Channel), ["event"]);
    assert_eq!(outcome.of(Stream::Stdout), ["printed"]);
}

#[tokio::test]
async fn a_hanging_program_is_ended_at_the_deadline() {
    let outcome = run(within(sh("echo begun; sleep 60"), Duration::from_millis(300))).await;
    assert!(outcome.exited.exit.timed_out);
    assert_eq!(
        (outcome.exited.exit.code, outcome.exited.exit.signal),
        (None, Some(15))
    );
    assert_eq!(outcome.of(Stream::Stdout), ["begun"]);
    // Half of what the program would have taken.
    assert!(outcome.took < Duration::from_secs(30), "{:?}", outcome.took);
}

#[tokio::test]
async fn the_program_starts_clean() {
    let script = "
import os, resource, signal
seen = {int(n): os.path.realpath('/proc/self/fd/' + n) for n in os.listdir('/proc/self/fd')}
assert sorted(seen) == [0, 1, 2, 3], seen
assert os.read(0, 1) == b''
assert os.getsid(0) == os.getpid()
assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
fields = dict(line.split(':\\t') for line in open('/proc/self/status') if line.startswith('Sig'))
assert int(fields['SigBlk'], 16) == 0, fields
# Python itself ignores SIGPIPE and SIGXFSZ; 32 and 33 belong to the C library.
assert int(fields['SigIgn'], 16) & ~(1 << 12 | 1 << 24 | 3 << 31) == 0, fields
assert not any(name.startswith('CARGO') for name in os.environ)
assert os.getcwd() == '/'";
    let outcome = run(python(script)).await;
    assert_eq!(outcome.exited.exit.code, Some(0), "{:?}", outcome.lines);
}

#[tokio::test]
async fn a_relative_program_is_found_in_the_working_folder() {
    let mut here = job(&["./sh", "-c", "pwd"]);
    here.cwd = "/bin".into();
    assert_eq!(run(here).await.lines.len(), 1);
}

#[tokio::test]
async fn bytes_that_are_no_text_reach_the_program_as_they_are() {
    use std::os::unix::ffi::OsStringExt;
    let mut odd = python("import os, sys; print(os.fsencode(sys.argv[1]), os.environb[b'ODD'])");
    odd.argv.push(std::ffi::OsString::from_vec(b"a\xff\n b".to_vec()));
    odd.env
        .insert("ODD".into(), std::ffi::OsString::from_vec(b"\xfe=".to_vec()));
    assert_eq!(run(odd).await.of(Stream::Stdout), ["b'a\\xff\\n b' b'\\xfe='"]);
}

#[tokio::test]
async fn a_nul_byte_is_an_error_and_no_crash() {
    let error = run_with(job(&["/bin/echo", "a\0b"]), &Cancel::new())
        .await
        .err()
        .unwrap();
    assert!(matches!(error, ProcessError::Start { .. }), "{error}");
}

#[tokio::test]
async fn a_large_environment_is_handed_over_whole() {
    let mut large = sh("echo ${#LARGE_7}");
    for number in 0..8 {
        large
            .env
            .insert(format!("LARGE_{number}").into(), "x".repeat(100_000).into());
    }
    assert_eq!(run(large).await.of(Stream::Stdout), ["100000"]);
}

#[tokio::test]
async fn output_that_is_not_utf8_and_lines_without_end_are_survived() {
    let outcome = run(sh(
        "printf 'caf\\351\\r\\n'; head -c 3000000 /dev/zero | tr '\\0' a; echo; echo after",
    ))
    .await;
    let lines = outcome.of(Stream::Stdout);
    assert_eq!(lines.len(), 3);
    assert_eq!(
        (lines[0], lines[1].len(), lines[2]),
        ("caf\u{fffd}", 1 << 20, "after")
    );
    assert_eq!(outcome.exited.dropped_bytes, 3_000_000 - (1 << 20));
}

#[tokio::test]
async fn standard_output_can_go_to_a_file_but_never_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let mut report = sh("echo report");
    report.stdout_file = Some(folder.path().join("report"));
    let outcome = run(report.clone()).await;
    assert!(outcome.lines.is_empty());
    assert_eq!(
        std::fs::read_to_string(folder.path().join("report")).unwrap(),
        "report\n"
    );

    std::os::unix::fs::symlink("report", folder.path().join("link")).unwrap();
    report.stdout_file = Some(folder.path().join("link"));
    assert!(run_with(report, &Cancel::new()).await.is_err());
    assert_eq!(
        std::fs::read_to_string(folder.path().join("report")).unwrap(),
        "report\n"
    );
}

#[tokio::test]
async fn processes_with_a_handler_tell_their_stacks_at_the_deadline_and_others_are_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "
import faulthandler, os, signal, sys, time
def where(pid):
    return '{folder}/stack-%d' % pid
child = os.fork()
file = open(where(os.getpid()), 'w')
if child:
    faulthandler.register(signal.SIGRTMAX - 3, file=file, all_threads=True, chain=False)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(6 if child else 7))
if child:
    def reap_me():
        pid, status = os.waitpid(child, 0)
        print('child', os.waitstatus_to_exitcode(status), flush=True)
    import threading
    threading.Thread(target=reap_me, daemon=True).start()
def sleeping_test():
    time.sleep(60)
sleeping_test()",
        folder = folder.path().display()
    );
    let mut hanging = within(python(&script), Duration::from_millis(1500));
    hanging.grace = Duration::from_secs(5);
    hanging.on_deadline = Some(Dump {
        from_rtmax: 3,
        folder: folder.path().into(),
        prefix: "stack-".to_owned(),
    });
    let outcome = run(hanging).await;
    assert_eq!(
        outcome.exited.exit.code,
        Some(6),
        "{:?} {:?}",
        outcome.exited,
        outcome.lines
    );
    // The child has a file too, but no handler: asked, it would have died of the signal.
    let dumps: Vec<_> = outcome.exited.dumps.values().collect();
    assert_eq!(dumps.len(), 1);
    assert!(dumps[0].contains("sleeping_test"), "{dumps:?}");
    assert!(
        !outcome.of(Stream::Stdout).contains(&"child -61"),
        "{:?}",
        outcome.lines
    );
}

#[tokio::test]
async fn limits_of_file_size_and_processor_time_hold() {
    let folder = tempfile::tempdir().unwrap();
    let mut big = sh("exec head -c 200000 /dev/zero > big");
    big.cwd = folder.path().into();
    big.limits.file_bytes = Some(100_000);
    assert_eq!(run(big).await.exited.exit.signal, Some(25));
    assert_eq!(
        std::fs::metadata(folder.path().join("big")).unwrap().len(),
        100_000
    );

    let mut busy = sh("while :; do :; done");
    busy.limits.cpu_seconds = Some(1);
    assert_eq!(
        run(within(busy, Duration::from_secs(50)))
            .await
            .exited
            .exit
            .signal,
        Some(24)
    );
}

#[tokio::test]
async fn the_limit_of_memory_holds() {
    let mut hog = python("x = bytearray(2 << 30)");
    hog.limits.memory_bytes = Some(1 << 30);
    let outcome = run(hog).await;
    assert_ne!(outcome.exited.exit.code, Some(0));
}

#[tokio::test]
async fn a_short_program_is_captured_within_the_limit() {
    let captured = supervisor()
        .capture(sh("echo one; echo two; echo three; echo four >&2"), 6)
        .await
        .unwrap();
    assert_eq!(
        (captured.stdout.as_str(), captured.stderr.as_str()),
        ("one\ntw", "four")
    );
    assert!(captured.truncated && captured.succeeded());
    let failed = supervisor().capture(sh("echo why; exit 1"), 100).await.unwrap();
    assert_eq!(failed.stdout, "why");
    assert!(!failed.truncated && !failed.succeeded());
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a server of its own, as its standard streams change"
)]
fn a_protocol_on_the_standard_streams_stays_private() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let mut server = Command::new(supervisor().program)
        .arg("protocol")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    server.stdin.take().unwrap().write_all(b"question").unwrap();
    let output = server.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "answer to question");
    let noise = String::from_utf8(output.stderr).unwrap();
    assert_eq!(noise, "noise of the server\nnoise of a child\n");
}
