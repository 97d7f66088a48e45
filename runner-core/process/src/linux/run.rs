//! The server's side of one run.

use std::io;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

use super::control::{FromSupervisor, MainExit, Refused, SupervisorState, Task, ToSupervisor, monotonic};
use super::link::Link;
use super::lost;
use super::supervise::{LEAK_GRACE, LINGER};
use crate::output::{self, ChildEnds, Output};
use crate::{Cancel, Job, JobExit, LineSink, ProcessError, Supervisor};
use runner_core::plan::StepExit;

/// After the grace: what the supervising process may take for asking for stacks, killing and answering. Then the
/// server acts itself.
const BACKSTOP: Duration = Duration::from_millis(950);
/// What the supervising process may take for those that outlived the main process.
const LEFTOVERS: Duration = LINGER.saturating_add(LEAK_GRACE);
/// How often the server looks whether a test has stopped the supervising process.
const WAKE: Duration = Duration::from_secs(1);
/// For the supervising process to be gone after its last word.
const REAP: Duration = Duration::from_millis(500);

pub(crate) async fn run(
    supervisor: &Supervisor,
    job: Job,
    cancel: &Cancel,
    sink: LineSink<'_>,
) -> Result<JobExit, ProcessError> {
    if cancel.is_asked() {
        return Ok(JobExit::never_started(job));
    }
    let opened = output::open(&job)?;
    run_opened(supervisor, job, opened, cancel, sink).await
}

pub(crate) async fn run_opened(
    supervisor: &Supervisor,
    job: Job,
    opened: (Output, ChildEnds),
    cancel: &Cancel,
    sink: LineSink<'_>,
) -> Result<JobExit, ProcessError> {
    let mut watch = Watch::begin(supervisor, job, opened).await?;
    watch.listen(cancel, sink).await;
    watch.close(sink).await
}

fn task(job: &Job) -> Task {
    Task {
        argv: job.argv.clone(),
        env: job
            .env
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        cwd: job.cwd.clone().into_os_string(),
        channel: job.channel,
        deadline: job
            .deadline
            .map(|deadline| monotonic() + deadline.saturating_duration_since(Instant::now())),
        grace: job.grace,
        interrupt: job.interrupt,
        cancel_grace: job.cancel_grace,
        on_deadline: job.on_deadline.clone(),
        limits: job.limits,
        view: job.view.clone(),
    }
}

/// One job being supervised.
pub(super) struct Watch {
    pub(super) job: Job,
    pub(super) link: Link,
    pub(super) output: Output,
    pub(super) started: Instant,
    pub(super) heard: SupervisorState,
    /// When the server gives the supervising process up.
    pub(super) backstop: Option<Instant>,
}

impl Watch {
    /// Starts the job.
    pub(super) async fn begin(
        supervisor: &Supervisor,
        job: Job,
        (output, ends): (Output, ChildEnds),
    ) -> Result<Self, ProcessError> {
        let started = Instant::now();
        let link = Link::start(supervisor, &ToSupervisor::Run(Box::new(task(&job))), ends).await?;
        let mut watch = Self {
            job,
            link,
            output,
            started,
            heard: SupervisorState::default(),
            backstop: None,
        };
        watch.backstop = watch.latest();
        Ok(watch)
    }

    /// When the supervising process must have ended the job for its deadline.
    pub(super) fn latest(&self) -> Option<Instant> {
        let deadline = self.job.deadline;
        deadline.map(|deadline| deadline + self.job.grace + BACKSTOP)
    }

    /// Until the supervising process has said its last word, is gone, or is given up.
    pub(super) async fn listen(&mut self, cancel: &Cancel, sink: LineSink<'_>) {
        let mut wake = interval_at(Instant::now() + WAKE, WAKE);
        wake.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut asked_at_once = false;
        let mut lifted = self.job.deadline.is_none();
        loop {
            let backstop = self.backstop.unwrap_or(self.started);
            tokio::select! {
                (stream, lines) = self.output.next() => if !lines.is_empty() { sink(stream, lines) },
                message = self.link.next() => match message {
                    Some(message) => if self.hear(message) { return },
                    None => return,
                },
                () = cancel.asked(), if !self.heard.asked_to_stop => {
                    self.heard.asked_to_stop = true;
                    self.ask(&ToSupervisor::Stop, self.job.cancel_grace);
                }
                () = cancel.asked_at_once(), if !asked_at_once => {
                    asked_at_once = true;
                    self.ask(&ToSupervisor::Kill, Duration::ZERO);
                }
                () = cancel.limit_lifted(), if !lifted => {
                    lifted = true;
                    self.job.deadline = None;
                    self.backstop = self.backstop.filter(|_| self.heard.asked_to_stop || self.heard.main.is_some());
                    self.link.tell(&ToSupervisor::NoLimit);
                }
                () = sleep_until(backstop), if self.backstop.is_some() => {
                    self.heard.gave_up = true;
                    return;
                }
                _ = wake.tick() => self.link.wake(),
            }
        }
    }

    fn ask(&mut self, message: &ToSupervisor, grace: Duration) {
        self.link.wake();
        self.link.tell(message);
        let latest = Instant::now() + grace + BACKSTOP;
        self.backstop = Some(self.backstop.map_or(latest, |backstop| backstop.min(latest)));
    }

    /// `true` after the last word.
    pub(super) fn hear(&mut self, message: FromSupervisor) -> bool {
        match message {
            FromSupervisor::Started { pid } => self.heard.pid = Some(pid),
            FromSupervisor::MainGone(exit) => {
                self.heard.main = Some(exit);
                let latest = Instant::now() + LEFTOVERS + BACKSTOP;
                self.backstop = Some(self.backstop.map_or(latest, |backstop| backstop.max(latest)));
            }
            FromSupervisor::NotStarted { what, errno } => {
                self.heard.refused = Some((what, errno));
                return true;
            }
            FromSupervisor::Done(ended) => {
                self.heard.ended = Some(ended);
                return true;
            }
        }
        false
    }

    /// The account of it all. Sweeps if the supervising process cannot answer for its job.
    pub(super) async fn close(mut self, sink: LineSink<'_>) -> Result<JobExit, ProcessError> {
        if let Some((what, errno)) = self.heard.refused {
            self.link.reap(REAP).await;
            return Err(refusal(&self.job, what, io::Error::from_raw_os_error(errno)));
        }
        let (ended, note) = if let Some(ended) = self.heard.ended.take() {
            self.link.reap(REAP).await;
            let survivors = format!(
                "these processes could not be ended: {}",
                ended.survivors.join(", ")
            );
            let note = ended
                .note
                .clone()
                .or((!ended.survivors.is_empty()).then_some(survivors));
            (ended, note)
        } else {
            let supervisor = self.link.supervisor();
            self.link.kill();
            self.link.reap(REAP).await;
            let (ended, note) = lost::account(&self.job, &mut self.heard, supervisor, self.started).await;
            (ended, Some(note))
        };
        self.output.drain(sink);
        let main = self.heard.main.unwrap_or_default();
        let exit = StepExit {
            step: self.job.name,
            code: main.code,
            signal: main.signal,
            timed_out: ended.timed_out,
            cancelled: ended.cancelled,
            duration_s: if main == MainExit::default() {
                self.started.elapsed().as_secs_f64()
            } else {
                main.duration_s
            },
            leaked: ended.leaked,
            note,
        };
        Ok(JobExit {
            exit,
            dumps: ended.dumps,
            dropped_bytes: self.output.dropped(),
        })
    }
}

fn refusal(job: &Job, what: Refused, source: io::Error) -> ProcessError {
    match what {
        Refused::View => ProcessError::View {
            root: job
                .view
                .as_ref()
                .map(|view| view.root.clone())
                .unwrap_or_default(),
            source,
        },
        Refused::WorkingFolder => ProcessError::WorkingFolder {
            cwd: job.cwd.clone(),
            source,
        },
        Refused::Program => ProcessError::Start {
            program: job
                .argv
                .first()
                .map(|program| program.to_string_lossy().into_owned())
                .unwrap_or_default(),
            source,
        },
    }
}
