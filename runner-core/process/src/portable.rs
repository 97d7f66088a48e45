//! Everywhere but on Linux: the job's main process leads a process group, and the group is what is ended.
//!
//! This is less than what Linux gets, and said plainly: a process that leaves the group (`setsid`, a daemon) escapes;
//! what outlives the main process is ended but not named; nothing ends the job when the server is killed by SIGKILL;
//! no stacks are asked for at the deadline, and limits are not set.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::output::{self, ChildEnds, Output};
use super::{Cancel, Job, JobExit, Limits, LineSink, ProcessError};
use runner_core::plan::StepExit;

/// How long the output may stay open after the main process is gone.
const LINGER: Duration = Duration::from_millis(150);
/// For a killed main process to be gone.
const KILLING: Duration = Duration::from_secs(1);

pub(super) async fn run(job: Job, cancel: &Cancel, sink: LineSink<'_>) -> Result<JobExit, ProcessError> {
    if cancel.is_asked() {
        return Ok(JobExit::never_started(job));
    }
    let opened = output::open(&job)?;
    run_opened(job, opened, cancel, sink).await
}

pub(super) async fn run_opened(
    job: Job,
    (output, ends): (Output, ChildEnds),
    cancel: &Cancel,
    sink: LineSink<'_>,
) -> Result<JobExit, ProcessError> {
    if let Some(view) = &job.view {
        return Err(ProcessError::View {
            root: view.root.clone(),
            source: std::io::ErrorKind::Unsupported.into(),
        });
    }
    let usable = std::fs::read_dir(&job.cwd).map(drop);
    usable.map_err(|source| ProcessError::WorkingFolder {
        cwd: job.cwd.clone(),
        source,
    })?;
    let started = Instant::now();
    let group = spawn(&job, ends).map_err(|source| ProcessError::Start {
        program: job
            .argv
            .first()
            .map(|program| program.to_string_lossy().into_owned())
            .unwrap_or_default(),
        source,
    })?;
    let mut watch = Watch {
        gone: group.watch(),
        group,
        output,
        exit: StepExit {
            step: job.name.clone(),
            ..StepExit::default()
        },
        kill_at: None,
    };
    watch.until_gone(&job, cancel, sink).await;
    watch.exit.duration_s = started.elapsed().as_secs_f64();
    watch.leftovers(sink).await;
    Ok(watch.close(sink))
}

/// Tier and limits in words.
pub(super) fn describe(limits: &Limits) -> BTreeMap<String, String> {
    let mut words = BTreeMap::from([(
        "tier".to_owned(),
        "process group: a process that leaves it escapes".to_owned(),
    )]);
    if *limits != Limits::default() {
        words.insert("limits".to_owned(), "not set on this system".to_owned());
    }
    words
}

#[expect(clippy::disallowed_methods, reason = "the room that starts processes")]
fn spawn(job: &Job, ends: ChildEnds) -> io::Result<Group> {
    let no_program = || io::Error::new(io::ErrorKind::InvalidInput, "there is no program to start");
    let (program, args) = job.argv.split_first().ok_or_else(no_program)?;
    let child = Command::new(program)
        .args(args)
        .env_clear()
        .envs(&job.env)
        .current_dir(&job.cwd)
        .process_group(0)
        .stdin(ends.stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(ends.stdout)
        .stderr(ends.stderr)
        .spawn()?;
    Ok(Group { child, reaped: false })
}

/// The main process and its group. The leader is reaped last, so that its number, which is the group's too, cannot
/// pass to a stranger while there is still something to signal.
struct Group {
    child: Child,
    reaped: bool,
}

impl Group {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Ends when the main process has ended; leaves it to be reaped.
    fn watch(&self) -> JoinHandle<()> {
        let pid = self.pid();
        tokio::task::spawn_blocking(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
        })
    }

    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.pid(), signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

struct Watch {
    group: Group,
    gone: JoinHandle<()>,
    output: Output,
    exit: StepExit,
    kill_at: Option<Instant>,
}

impl Watch {
    async fn until_gone(&mut self, job: &Job, cancel: &Cancel, sink: LineSink<'_>) {
        let never = Instant::now();
        loop {
            let deadline = job
                .deadline
                .filter(|_| !self.exit.timed_out && !cancel.is_limit_lifted());
            tokio::select! {
                (stream, lines) = self.output.next() => if !lines.is_empty() { sink(stream, lines) },
                _ = &mut self.gone => return,
                () = sleep_until(deadline.unwrap_or(never)), if deadline.is_some() => {
                    self.exit.timed_out = true;
                    self.end_within(job, job.grace);
                }
                () = cancel.limit_lifted(), if deadline.is_some() => {}
                () = cancel.asked(), if !self.exit.cancelled => {
                    self.exit.cancelled = true;
                    self.end_within(job, job.cancel_grace);
                }
                () = cancel.asked_at_once(), if self.kill_at != Some(never) => {
                    self.exit.cancelled = true;
                    self.kill_at = Some(never);
                }
                () = sleep_until(self.kill_at.unwrap_or(never)), if self.kill_at.is_some() => {
                    self.group.signal(Signal::KILL);
                    let _ = tokio::time::timeout(KILLING, &mut self.gone).await;
                    return;
                }
            }
        }
    }

    /// Without a process that supervises there is one signal and then the end: the one that lets it clean up, if asked.
    fn end_within(&mut self, job: &Job, grace: Duration) {
        self.group
            .signal(if job.interrupt { Signal::INT } else { Signal::TERM });
        self.group.signal(Signal::CONT);
        let until = Instant::now() + grace;
        self.kill_at = Some(self.kill_at.map_or(until, |before| before.min(until)));
    }

    /// Gives the rest of the group a moment to go, then ends it.
    async fn leftovers(&mut self, sink: LineSink<'_>) {
        let until = Instant::now() + LINGER;
        while !self.output.is_closed() {
            tokio::select! {
                (stream, lines) = self.output.next() => if !lines.is_empty() { sink(stream, lines) },
                () = sleep_until(until) => {
                    self.exit.note = Some(
                        "a process that this step had started held its output open and was ended, if it was still \
                         in the step's process group"
                            .to_owned(),
                    );
                    break;
                }
            }
        }
        self.group.signal(Signal::KILL);
    }

    fn close(mut self, sink: LineSink<'_>) -> JobExit {
        if let Ok(status) = self.group.child.wait() {
            self.exit.code = status.code();
            self.exit.signal = status.signal();
        }
        self.group.reaped = true;
        self.output.drain(sink);
        JobExit {
            exit: self.exit,
            dropped_bytes: self.output.dropped(),
            ..JobExit::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use tokio::time::Instant;

    use crate::{Cancel, Job, JobExit, Limits, ProcessError};

    fn sh(script: &str) -> Job {
        Job {
            name: "sh".to_owned(),
            argv: ["/bin/sh", "-c", script].map(Into::into).to_vec(),
            env: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
            cwd: "/".into(),
            channel: false,
            stdout_file: None,
            deadline: None,
            grace: Duration::from_millis(200),
            interrupt: false,
            cancel_grace: Duration::from_millis(200),
            on_deadline: None,
            limits: Limits::default(),
            view: None,
        }
    }

    async fn run(job: Job, cancel: &Cancel) -> (JobExit, Vec<String>) {
        let mut all = Vec::new();
        let exited = super::run(job, cancel, &mut |_, lines| all.extend(lines))
            .await
            .unwrap();
        (exited, all)
    }

    #[test]
    fn what_is_not_set_is_said() {
        let none = super::describe(&Limits::default());
        assert!(none["tier"].contains("escapes") && !none.contains_key("limits"));
        let some = Limits {
            cpu_seconds: Some(1),
            ..Limits::default()
        };
        assert!(super::describe(&some)["limits"].starts_with("not set"));
    }

    #[tokio::test]
    async fn output_and_exit_code_arrive() {
        let (exited, lines) = run(sh("echo out; printf last; exit 7"), &Cancel::new()).await;
        assert_eq!((exited.exit.code, exited.exit.note), (Some(7), None));
        assert_eq!(lines, ["out", "last"]);
    }

    #[tokio::test]
    async fn the_group_is_ended_at_the_deadline() {
        let mut job = sh("trap '' TERM; sleep 60 & sleep 60");
        job.deadline = Some(Instant::now() + Duration::from_millis(300));
        let (exited, _) = run(job, &Cancel::new()).await;
        assert!(exited.exit.timed_out);
        assert_eq!((exited.exit.code, exited.exit.signal), (None, Some(9)));
    }

    #[tokio::test]
    async fn a_held_pipe_does_not_hold_the_answer() {
        let (exited, lines) = run(sh("sleep 60 & echo done"), &Cancel::new()).await;
        assert_eq!((exited.exit.code, exited.exit.note.is_some()), (Some(0), true));
        assert_eq!(lines, ["done"]);
        assert!(exited.exit.duration_s < 30.0);
    }

    #[tokio::test]
    async fn a_cancel_ends_the_group() {
        let cancel = Cancel::new();
        let asking = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            cancel.ask("a test");
        };
        let ((exited, _), ()) = tokio::join!(run(sh("sleep 60"), &cancel), asking);
        assert!(exited.exit.cancelled);
        assert_eq!(exited.exit.signal, Some(15));
    }

    #[tokio::test]
    async fn what_cannot_be_started_is_an_error() {
        let mut program = sh("");
        program.argv = vec!["/no/such/program".into()];
        let error = super::run(program, &Cancel::new(), &mut |_, _| {})
            .await
            .unwrap_err();
        assert!(matches!(error, ProcessError::Start { .. }), "{error}");
        let mut folder = sh("");
        folder.cwd = "/no/such/folder".into();
        let error = super::run(folder, &Cancel::new(), &mut |_, _| {})
            .await
            .unwrap_err();
        assert!(matches!(error, ProcessError::WorkingFolder { .. }), "{error}");
    }
}
