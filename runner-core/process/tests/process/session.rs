//! Conversations over pipes.

use std::path::Path;
use std::time::{Duration, Instant};

use process::{Session, SessionExit};

use crate::common::sh;

fn start(script: &str) -> Session {
    let job = sh(script);
    Session::start(Path::new(&job.argv[0]), &job.argv[1..], &job.env, Path::new("/")).unwrap()
}

#[tokio::test]
async fn lines_go_both_ways_and_closing_the_input_ends_it() {
    let mut session = start("while read line; do echo \"got $line\"; done; echo bye >&2; exit 3");
    for word in ["one", "two"] {
        session.send(word).await.unwrap();
        assert_eq!(session.line().await.unwrap(), Some(format!("got {word}")));
    }
    let parting = session.part(Duration::from_secs(10)).await;
    let expected = SessionExit {
        code: Some(3),
        stderr: "bye\n".to_owned(),
    };
    assert_eq!(parting, expected);
}

#[tokio::test]
async fn what_does_not_end_in_time_is_killed() {
    let begun = Instant::now();
    let parting = start("exec sleep 60").part(Duration::from_millis(100)).await;
    assert_eq!(parting.code, None);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn much_on_standard_error_blocks_nobody_and_only_its_beginning_is_kept() {
    let session = start("head -c 1000000 /dev/zero | tr '\\0' x >&2");
    let parting = session.part(Duration::from_secs(30)).await;
    assert_eq!((parting.code, parting.stderr.len()), (Some(0), 4_096));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let error = Session::start(
        Path::new("/nonexistent/program"),
        &[],
        &std::collections::BTreeMap::new(),
        Path::new("/"),
    );
    assert!(error.unwrap_err().to_string().contains("/nonexistent/program"));
}
