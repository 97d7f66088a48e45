//! Well-behaved programs.

use std::time::Duration;

use runner_core::plan::Stream;
use runner_core::process::{Cancel, ProcessError};

use crate::common::{job, python, run, run_with, sh, within};

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
    assert!(outcome.took < Duration::from_secs(3), "{:?}", outcome.took);
}
