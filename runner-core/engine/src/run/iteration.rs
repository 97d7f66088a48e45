//! One execution of a plan: files laid, steps in order, lines read as they come, the books closed.

use std::time::Duration;

use tokio::time::Instant;

use super::advice;
use super::artifacts::Before;
use super::output::Output;
use super::prepare::Prepared;
use super::reading::Reading;
use super::record::Record;
use super::spare::{Ready, Spare};
use super::{Engine, RunSpec, blocking};
use process::{Cancel, JobExit, ProcessError, Resume, Resumed, View};
use runner_core::backend::Shows;
use runner_core::event::{Ending, EndingKind, ExitMeaning, RunEvent, StopReason, TestEvent};
use runner_core::plan::{Artifacts, Start, Step, StepExit, Stream};
use runner_core::report::{Iteration, Report};

/// A point in time, and the limit that led to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    pub(super) limit: Duration,
}

impl Deadline {
    /// The end of this limit, of which some was used up already.
    pub(super) fn after(limit: Duration, used: Duration) -> Option<Self> {
        // A limit beyond the clock's range is none.
        let at = Instant::now().checked_add(limit.saturating_sub(used))?;
        Some(Self { at, limit })
    }

    pub(super) fn cause(self) -> StopReason {
        self.passed_without(None)
    }

    /// It passed before a backend had answered, as is said in these words.
    pub(super) fn passed_without(self, unanswered: Option<String>) -> StopReason {
        StopReason::TimedOut {
            limit_ms: self.limit.as_millis() as u64,
            unanswered,
        }
    }
}

/// One iteration while it goes on.
pub(super) struct IterationRun<'a> {
    pub(super) engine: &'a Engine,
    pub(super) spec: &'a RunSpec,
    pub(super) prepared: &'a Prepared,
    pub(super) cancel: &'a Cancel,
    pub(super) number: u32,
    pub(super) deadline: Option<Deadline>,
}

/// What the steps left.
#[derive(Default)]
struct Steps {
    exits: Vec<(usize, StepExit)>,
    dumps: std::collections::BTreeMap<u32, String>,
    /// `None`: all went their way.
    ended: Option<StopReason>,
}

/// Why a step was started as it was.
const WAITED: &str = "a process was waiting in its start-up";
const LATER: &str = "a later step of the same run";

/// What [`JobExit`] says of steps that were ended since their reader was lost.
const NOBODY_READS: &str = "it was ended: its output could not be understood any more";

impl IterationRun<'_> {
    /// Runs it to its end. `Done` if nothing but the tests themselves decided how it went.
    /// `spare`: a process that may be waiting for just this, or why there is none.
    pub(super) async fn run(&self, spare: Result<Spare, String>, record: &mut Record<'_>) -> StopReason {
        let started = Instant::now();
        let plan = &self.prepared.plan;
        record.emit(RunEvent::IterationStarted {
            iteration: self.number,
        });
        let spare = self.ready(spare).await;
        if spare.is_err()
            && let Err(cause) = blocking(|| self.prepared.lay_files())
        {
            return cause;
        }
        let view = match blocking(|| self.lay_view()) {
            Ok(view) => view,
            Err(cause) => return cause,
        };
        let before = blocking(|| Before::look(&plan.artifacts));
        let mut reading = Reading::new(self.spec, &self.prepared.request, self.prepared.owners.clone());
        let mut output = Output::default();
        let steps = self
            .steps((spare, view.as_ref()), &mut reading, &mut output, record)
            .await;
        let ended = steps.ended;
        let given_up = blocking(|| {
            let mut files = before.collect(&plan.artifacts);
            files.dumps = steps.dumps;
            let (mut ending, unanswered) = self.read_rest(reading, &steps.exits, &files, record);
            let output_tail = record.output_tail(output);
            self.advise(&mut ending, &output_tail, record);
            let given_up = self.given_up(&ending, unanswered);
            record.emit(RunEvent::IterationEnded {
                iteration: self.number,
                ending: Some(ending),
                duration_s: started.elapsed().as_secs_f64(),
                output_tail,
            });
            given_up
        });
        match (ended, given_up) {
            // Both passed: the tests' time, and the backend's that reads them. The one with more words.
            (Some(StopReason::TimedOut { .. }), Some(given_up @ StopReason::TimedOut { .. })) => given_up,
            (ended, given_up) => ended.or(given_up).unwrap_or(StopReason::Done),
        }
    }

    /// Says what surrounds the tests and their framework does not know of.
    fn advise(&self, ending: &mut Ending, output_tail: &str, record: &mut Record<'_>) {
        let spec = self.spec;
        let advice = record.report().look(|report| {
            let seen = report.iterations.get(self.number as usize - 1)?;
            Some(advice::of(
                seen,
                output_tail,
                ending,
                &spec.suite.limits,
                &spec.project,
            ))
        });
        for advice in advice.into_iter().flatten() {
            record.warn(advice);
        }
    }

    /// Why nobody waited for the whole of the reading, if so: a backend in another process may hang while the steps
    /// themselves are over.
    fn given_up(&self, ending: &Ending, unanswered: Option<String>) -> Option<StopReason> {
        if !matches!(ending.kind, EndingKind::Cut | EndingKind::Broken) {
            return None;
        }
        let overdue = self.deadline.filter(|deadline| Instant::now() >= deadline.at);
        if self.cancel.is_asked() {
            let by = self.cancel.by().to_owned();
            return Some(StopReason::Cancelled { by });
        }
        overdue.map(|deadline| deadline.passed_without(unanswered))
    }

    /// How the framework ended, and, if a backend had not answered when nobody waited any more, that in words.
    fn read_rest(
        &self,
        reading: Reading,
        exits: &[(usize, StepExit)],
        files: &Artifacts,
        record: &mut Record<'_>,
    ) -> (Ending, Option<String>) {
        let (events, ending, unanswered) = reading.finish(exits, files);
        record.tests(self.number, events);
        let green_exit = ending.kind == EndingKind::Completed && ending.exit == ExitMeaning::Ok;
        let failed = |report: &Report| {
            let seen = report.iterations.get(self.number as usize - 1);
            seen.is_some_and(Iteration::has_failures)
        };
        if green_exit && record.report().look(failed) {
            record
                .warn("the exit code says that all is well, but tests failed; the failures count".to_owned());
        }
        (ending, unanswered)
    }

    /// Lays what the view of this iteration shows. All its steps see what the earlier ones wrote.
    fn lay_view(&self) -> Result<Option<View>, StopReason> {
        let Some(contents) = &self.spec.view else {
            return Ok(None);
        };
        let folder = self.prepared.seat.scratch().join(format!("v{}", self.number));
        let view = View::lay(contents, &folder);
        view.map(Some)
            .map_err(|error| no_view(&format!("its files could not be laid: {error}")))
    }

    /// All steps in order. A later one runs only after exits of 0, or if it is to run always; none after a time
    /// limit or a cancel.
    async fn steps(
        &self,
        (spare, view): (Result<Ready, String>, Option<&View>),
        reading: &mut Reading,
        output: &mut Output,
        record: &mut Record<'_>,
    ) -> Steps {
        let mut steps = Steps::default();
        let mut spare = Some(spare);
        for (index, step) in self.prepared.plan.steps.iter().enumerate() {
            let all_well = steps.exits.iter().all(|(_, exit)| exit.code == Some(0));
            if !all_well && !step.always {
                continue;
            }
            if self.cancel.is_asked() {
                steps.ended = Some(StopReason::Cancelled {
                    by: self.cancel.by().to_owned(),
                });
                break;
            }
            let first = spare.take().unwrap_or_else(|| Err(LATER.to_owned()));
            let resumed = match self.start(step, first, record).await {
                Ok(resumed) => resumed,
                Err(cause) => {
                    steps.ended = Some(cause);
                    break;
                }
            };
            let ran = self
                .step((index, step, view), resumed, reading, output, record)
                .await;
            if let Some(onlooker) = &self.spec.onlooker {
                record.output(output, &onlooker.said());
            }
            let lost = reading.is_lost();
            let (exit, ended) = match ran {
                Ok(mut exited) => {
                    if lost && exited.exit.cancelled && !self.cancel.is_asked() {
                        exited.exit.cancelled = false;
                        exited.exit.note = Some(format!("{}: {NOBODY_READS}", step.name));
                    }
                    if exited.dropped_bytes > 0 {
                        let bytes = exited.dropped_bytes;
                        record.warn(format!(
                            "{bytes} bytes of overlong output lines of {} were left out",
                            step.name
                        ));
                    }
                    steps.dumps.extend(exited.dumps);
                    let ended = self.ended_by_us(&exited.exit);
                    (exited.exit, ended)
                }
                Err(error) => not_run(index, step, &error, record),
            };
            record.emit(RunEvent::StepExited {
                iteration: self.number,
                exit: exit.clone(),
            });
            steps.exits.push((index, exit));
            steps.ended = ended;
            if lost || steps.ended.is_some() {
                break;
            }
        }
        steps
    }

    /// The spare if its process waits for exactly the first step, and nothing that it is made of has changed.
    async fn ready(&self, spare: Result<Spare, String>) -> Result<Ready, String> {
        let spare = spare?;
        tokio::select! {
            ready = spare.ready() => ready,
            // The run ends before anything starts.
            () = self.cancel.asked() => Err("it was cancelled".to_owned()),
        }
    }

    /// Has a waiting process go on, if there is one that does. Says how the step was started.
    async fn start(
        &self,
        step: &Step,
        spare: Result<Ready, String>,
        record: &mut Record<'_>,
    ) -> Result<Option<Resumed>, StopReason> {
        let resume = Resume {
            args: step.args.clone(),
            deadline: self.deadline.map(|deadline| deadline.at),
        };
        let (resumed, why) = match spare {
            Err(why) => (None, why),
            Ok(ready) => match ready.resume(&resume).await {
                Ok(resumed) => (Some(resumed), WAITED.to_owned()),
                Err(why) => {
                    blocking(|| self.prepared.lay_files())?;
                    (None, why)
                }
            },
        };
        record.emit(RunEvent::StepStarted {
            iteration: self.number,
            step: step.name.clone(),
            start: if resumed.is_some() {
                Start::Warm
            } else {
                Start::Cold
            },
            why,
        });
        Ok(resumed)
    }

    async fn step(
        &self,
        (index, step, view): (usize, &Step, Option<&View>),
        resumed: Option<Resumed>,
        reading: &mut Reading,
        output: &mut Output,
        record: &mut Record<'_>,
    ) -> Result<JobExit, ProcessError> {
        let number = self.number;
        let own = Cancel::new();
        let mut sink = |stream: Stream, lines: Vec<String>| {
            if stream != Stream::Channel {
                record.output(output, &lines);
                if let Some(onlooker) = self
                    .spec
                    .onlooker
                    .as_ref()
                    .filter(|_| self.spec.shows != Shows::Results)
                {
                    onlooker.lines(&lines);
                }
            }
            let events = reading.lines(index, stream, lines);
            if events
                .iter()
                .any(|event| matches!(event, TestEvent::Terminal { taken: true, .. }))
            {
                own.lift_limit();
            }
            record.tests(number, events);
            if reading.is_lost() {
                own.ask("qaas");
            }
        };
        let work = async {
            if let Some(resumed) = resumed {
                return resumed.run(&own, &mut sink).await;
            }
            let deadline = self.deadline.map(|deadline| deadline.at);
            let job = self.prepared.job(self.spec, step, deadline, view);
            self.engine.supervisor.run(job, &own, &mut sink).await
        };
        tokio::select! {
            exited = work => exited,
            never = self.cancel.pass_on(&own) => match never {},
        }
    }

    fn ended_by_us(&self, exit: &StepExit) -> Option<StopReason> {
        if exit.cancelled {
            return Some(StopReason::Cancelled {
                by: self.cancel.by().to_owned(),
            });
        }
        if !exit.timed_out {
            return None;
        }
        self.deadline.map(Deadline::cause)
    }
}

/// The code of a run whose view could not be shown.
pub const NO_VIEW: &str = "no_view";

fn no_view(why: &str) -> StopReason {
    StopReason::Failed {
        code: NO_VIEW.to_owned(),
        message: why.to_owned(),
        hint: None,
    }
}

/// A step that could not be started or watched. The first one ends the run; a later one costs its own result.
fn not_run(
    index: usize,
    step: &Step,
    error: &ProcessError,
    record: &mut Record<'_>,
) -> (StepExit, Option<StopReason>) {
    let exit = StepExit {
        step: step.name.clone(),
        note: Some(error.to_string()),
        ..StepExit::default()
    };
    if index > 0 {
        record.warn(format!("{}: {error}", step.name));
        return (exit, None);
    }
    let (code, hint) = match error {
        ProcessError::Start { .. } => ("no_program", None),
        ProcessError::WorkingFolder { .. } => ("bad_cwd", None),
        ProcessError::View { .. } => (NO_VIEW, None),
        ProcessError::Supervisor { .. } | ProcessError::NotParked { .. } => (
            "supervision",
            Some("run it again; `qaas doctor` checks the supervision"),
        ),
    };
    let cause = StopReason::Failed {
        code: code.to_owned(),
        message: error.to_string(),
        hint: hint.map(str::to_owned),
    };
    (exit, Some(cause))
}
