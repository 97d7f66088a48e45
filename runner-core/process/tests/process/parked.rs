//! Jobs that wait in their own start-up.

use std::path::Path;
use std::time::Duration;

use process::{Cancel, Job, ProcessError, Resume};
use runner_core::plan::Stream;
use tokio::time::Instant;

use crate::common::{sh, supervisor};

/// Far above what any of this takes.
const LONG: Duration = Duration::from_secs(60);

/// Waits, goes on, prints its order and does what `then` says. `/proc/PID` is what it is made of.
fn waiting(then: &str) -> Job {
    let script = format!(
        r#"echo own-words >&0; echo '{{"parked":{{"files":["/proc/'$$'"]}}}}' >&0; read order; echo '"resumed"' >&0
read go; test "$go" = '"go"' || exit 99; echo "$order"; {then}"#
    );
    Job {
        channel: true,
        ..sh(&script)
    }
}

fn order(deadline: Option<Instant>) -> Resume {
    Resume {
        args: vec!["-x".to_owned(), "a b".to_owned()],
        deadline,
    }
}

#[tokio::test]
async fn a_waiting_job_goes_on_with_its_order_under_the_same_supervision() {
    let job = waiting("echo later >&0; sleep 60 & exit 3");
    let parked = supervisor().park(job, LONG).await.unwrap();
    let resumed = parked.resume(&order(None)).await.unwrap();
    let mut lines = Vec::new();
    let mut sink = |stream, new: Vec<String>| lines.extend(new.into_iter().map(|line| (stream, line)));
    let exited = resumed.run(&Cancel::new(), &mut sink).await.unwrap();
    assert_eq!(exited.exit.code, Some(3));
    assert_eq!(exited.exit.leaked.len(), 1, "{:?}", exited.exit.leaked);
    let of = |wanted| -> Vec<&str> {
        let lines = lines.iter().filter(|(stream, _)| *stream == wanted);
        lines.map(|(_, line)| line.as_str()).collect()
    };
    assert_eq!(of(Stream::Channel), ["own-words", "later"]);
    assert_eq!(of(Stream::Stdout), [r#"{"args":["-x","a b"]}"#]);
}

#[tokio::test]
async fn the_time_of_a_waiting_job_begins_when_it_goes_on() {
    let parked = supervisor().park(waiting("exec sleep 60"), LONG).await.unwrap();
    let deadline = Instant::now() + Duration::from_millis(500);
    let resumed = parked.resume(&order(Some(deadline))).await.unwrap();
    let exited = resumed.run(&Cancel::new(), &mut |_, _| {}).await.unwrap();
    assert!(exited.exit.timed_out, "{:?}", exited.exit);
}

#[tokio::test]
async fn a_job_that_refuses_or_ends_does_not_wait_and_says_why() {
    for (script, expected) in [
        (r#"echo '{"refused":"no wish"}' >&0; sleep 60"#, "no wish"),
        ("echo something >&0; exit 0", "it ended by itself"),
        (r#"echo '"resumed"' >&0; sleep 60"#, "it did not wait"),
    ] {
        let job = Job {
            channel: true,
            ..sh(script)
        };
        let error = supervisor().park(job, LONG).await.unwrap_err();
        assert!(
            matches!(&error, ProcessError::NotParked { why } if why == expected),
            "{script}: {error}"
        );
    }
}

#[tokio::test]
async fn a_waiting_job_that_does_not_go_on_says_why() {
    for (then, expected) in [
        (r#"echo '{"refused":"another rootdir"}' >&0"#, "another rootdir"),
        ("exit 1", "it ended by itself"),
    ] {
        let script = format!(r#"echo '{{"parked":{{"files":[]}}}}' >&0; read order; {then}"#);
        let job = Job {
            channel: true,
            ..sh(&script)
        };
        let parked = supervisor().park(job, LONG).await.unwrap();
        let why = parked.resume(&order(None)).await.err().unwrap();
        assert_eq!(why, expected);
    }
}

#[tokio::test]
async fn a_waiting_job_that_nobody_wants_any_more_is_ended() {
    let parked = supervisor().park(waiting("exit 0"), LONG).await.unwrap();
    let process = parked.files()[0].clone();
    assert!(process.exists());
    drop(parked);
    let until = Instant::now() + LONG;
    while Path::new(&process).exists() {
        assert!(Instant::now() < until, "{} is still there", process.display());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
