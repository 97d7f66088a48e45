//! How the tests run a job.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use process::{Cancel, Job, JobExit, Limits, ProcessError, Supervisor};
use runner_core::plan::Stream;
use tokio::time::Instant;

pub(crate) fn supervisor() -> Supervisor {
    Supervisor {
        program: env!("CARGO_BIN_EXE_qaas-test-supervisor").into(),
        args: vec!["__supervise".into()],
    }
}

/// A shell or Python program as a job without a deadline.
pub(crate) fn job(argv: &[&str]) -> Job {
    #[expect(
        clippy::disallowed_methods,
        reason = "where the shell and Python are is the caller's business"
    )]
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    Job {
        name: "nasty".to_owned(),
        argv: argv.iter().map(OsString::from).collect(),
        env: BTreeMap::from([("PATH".into(), path)]),
        cwd: "/".into(),
        channel: false,
        stdout_file: None,
        deadline: None,
        grace: Duration::from_millis(500),
        interrupt: false,
        cancel_grace: Duration::from_millis(300),
        on_deadline: None,
        limits: Limits::default(),
        view: None,
    }
}

pub(crate) fn sh(script: &str) -> Job {
    job(&["/bin/sh", "-c", script])
}

pub(crate) fn python(script: &str) -> Job {
    job(&["python3", "-c", script])
}

pub(crate) fn within(mut job: Job, limit: Duration) -> Job {
    job.deadline = Some(Instant::now() + limit);
    job
}

/// Everything that a run gave.
pub(crate) struct Outcome {
    pub(crate) exited: JobExit,
    pub(crate) lines: Vec<(Stream, String)>,
    pub(crate) took: Duration,
}

impl Outcome {
    pub(crate) fn of(&self, stream: Stream) -> Vec<&str> {
        self.lines
            .iter()
            .filter(|(from, _)| *from == stream)
            .map(|(_, line)| line.as_str())
            .collect()
    }
}

pub(crate) async fn run_with(job: Job, cancel: &Cancel) -> Result<Outcome, ProcessError> {
    let mut lines = Vec::new();
    let began = std::time::Instant::now();
    let mut sink = |stream, new: Vec<String>| lines.extend(new.into_iter().map(|line| (stream, line)));
    let exited = supervisor().run(job, cancel, &mut sink).await?;
    Ok(Outcome {
        exited,
        lines,
        took: began.elapsed(),
    })
}

/// Runs a job that is asked to end as soon as it has printed a line: then it has come as far as the test needs.
pub(crate) async fn run_until_a_line(
    job: Job,
    cancel: &Cancel,
    mut ask: impl FnMut(&Cancel) + Send,
) -> JobExit {
    let mut sink = |stream, _: Vec<String>| {
        if stream == Stream::Stdout {
            ask(cancel);
        }
    };
    let exited = supervisor().run(job, cancel, &mut sink).await;
    exited.expect("the program starts")
}

pub(crate) async fn run(job: Job) -> Outcome {
    run_with(job, &Cancel::new()).await.expect("the program starts")
}
