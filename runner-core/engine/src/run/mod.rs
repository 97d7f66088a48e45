//! Runs orders: owns order, limits, status and the cleaning of strings. One async function for every caller.

mod advice;
mod artifacts;
pub mod clean;
mod deadline;
mod environment;
mod iteration;
mod mark;
mod onlooker;
mod output;
mod prepare;
mod reading;
mod record;
mod seat;
mod spare;
mod spares;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::time::Instant;

pub use self::iteration::NO_VIEW;
pub use self::onlooker::Onlooker;

pub use self::environment::{ChildEnvironment, child_environment};

use self::clean::{Cleaner, Redactor};
use self::deadline::RunDeadline;
use self::iteration::{Deadline, IterationRun};
use self::prepare::Prepared;
use self::record::Record;
use self::spare::{IN_A_VIEW, Spare};
use self::spares::{Ahead, Spares};
use crate::config::{Env, Suite};
use crate::environment::Environment;
use crate::policy::Policy;
use crate::store::Store;
use process::{Cancel, Supervisor, ViewContents};
use runner_core::backend::{Filters, Mode, Shows, TestBackend, UNANSWERED, UNSUPPORTED};
use runner_core::event::{RunEvent, StopReason};
use runner_core::facts::Project;
use runner_core::panic::panic_text;
use runner_core::report::{Iteration, Report, SharedReport};
use runner_core::selector::Selection;

/// Everything a run needs, resolved. Made by `ops`.
#[derive(Clone)]
pub struct RunSpec {
    /// The tool that asked.
    pub tool: &'static str,
    pub mode: Mode,
    pub suite: Suite,
    pub backend: Arc<dyn TestBackend>,
    /// Wraps the backend's plan to measure coverage.
    pub coverage: Option<Arc<dyn TestBackend>>,
    /// Preferred backends that could not be used.
    pub passed_over: Vec<String>,
    pub project: Project,
    pub selection: Selection,
    /// The selection as it was asked for, for the record.
    pub asked: Vec<String>,
    pub filters: Filters,
    /// Real path inside the root.
    pub cwd: PathBuf,
    /// At least 1.
    pub iterations: u32,
    /// For one iteration.
    pub timeout: Option<Duration>,
    /// For all of them.
    pub total_timeout: Option<Duration>,
    pub policy: Policy,
    pub env: Env,
    /// What the tests see of the repository instead of what is there. None of what they write to it stays then.
    pub view: Option<Arc<ViewContents>>,
    /// What of the framework somebody wants to see.
    pub shows: Shows,
    /// Who looks on.
    pub onlooker: Option<Arc<dyn Onlooker>>,
    /// What the record says first: something that was left out of this run, and why.
    pub warnings: Vec<String>,
}

impl RunSpec {
    /// Everything in the project's directory, once, without limits; callers change what they need.
    pub fn new(
        tool: &'static str,
        mode: Mode,
        suite: Suite,
        backend: Arc<dyn TestBackend>,
        project: Project,
        policy: Policy,
    ) -> Self {
        Self {
            tool,
            mode,
            suite,
            backend,
            coverage: None,
            passed_over: Vec::new(),
            cwd: project.dir.clone(),
            project,
            selection: Selection::default(),
            asked: Vec::new(),
            filters: Filters::default(),
            iterations: 1,
            timeout: None,
            total_timeout: None,
            policy,
            env: Env::default(),
            view: None,
            shows: Shows::Results,
            onlooker: None,
            warnings: Vec::new(),
        }
    }
}

/// Why no process waits.
const NOT_AHEAD: &str = "nothing is started ahead of time here";

/// Called with every event of a run, in order, strings already clean, and with the run's report, that event included:
/// whoever looks on has nothing to fold. Must be quick: it is called between reading and storing, and nobody else can
/// look at the report meanwhile.
pub type EventSink<'a> = &'a mut (dyn FnMut(&RunEvent, &Report) + Send);

/// Runs orders, a bounded number at once, first come first served.
#[derive(Clone)]
pub struct Engine {
    pub supervisor: Supervisor,
    /// `None`: nothing is stored (no usable state folder); scratches then go to the system's temporary folder.
    pub store: Option<Store>,
    pub environment: Arc<Environment>,
    slots: Arc<tokio::sync::Semaphore>,
    ahead: Ahead,
}

/// How many processes are on their way for the next iterations while one runs, at most.
const MOST_AHEAD: usize = 4;

/// One iteration to come: what to run, and a process that may be waiting for it, or why there is none.
struct Turn {
    prepared: Arc<Prepared>,
    spare: Result<Spare, String>,
}

impl Engine {
    /// From now on, while one iteration of a run works, the processes of the next ones are started and wait.
    #[must_use]
    pub fn starting_ahead(mut self) -> Self {
        self.ahead = Ahead::SameRun;
        self
    }

    /// From now on a process is kept waiting for the next run of the same kind too. For servers.
    #[must_use]
    pub fn keeping_spares(mut self) -> Self {
        self.ahead = Ahead::Kept(Spares::default());
        self
    }

    /// `slots`: how many runs go at once.
    pub fn new(supervisor: Supervisor, store: Option<Store>, environment: Environment, slots: usize) -> Self {
        Self {
            supervisor,
            store,
            environment: Arc::new(environment),
            slots: Arc::new(tokio::sync::Semaphore::new(slots.max(1))),
            ahead: Ahead::Never,
        }
    }

    /// Carries out an order. Always ends with one final event, and a report that is the fold of what the sink saw; it
    /// grows in `report`, which must be new.
    /// `run_id` is made by [`new_run_id`]. The first event comes before the run waits for its slot, so a report without
    /// an iteration is a queued run.
    pub async fn run(
        &self,
        run_id: String,
        spec: RunSpec,
        cancel: Cancel,
        report: SharedReport,
        sink: EventSink<'_>,
    ) -> Arc<Report> {
        let mut record = Record::new(report, sink, Cleaner::new(self.redactor(&spec)));
        let cause = guarded(self.carry_out(&run_id, &spec, &cancel, &mut record)).await;
        blocking(|| {
            let report = record.finish(cause);
            // A memory that cannot be kept costs the memory, not the run; the next run meets the same folder and says so.
            let _ = self.store.as_ref().map(|store| store.learn_failures(&report));
            report
        })
    }

    async fn carry_out(
        &self,
        run_id: &str,
        spec: &RunSpec,
        cancel: &Cancel,
        record: &mut Record<'_>,
    ) -> StopReason {
        let mut facts = self.facts(run_id, spec);
        if let Some(onlooker) = &spec.onlooker {
            onlooker.begins(spec.shows);
        }
        let until = RunDeadline::new(cancel);
        let begun = Instant::now();
        let whole = |limit: Option<Duration>| limit.and_then(|limit| Deadline::after(limit, Duration::ZERO));
        let limit = sooner(whole(spec.timeout), whole(spec.total_timeout));
        until.deadline(limit.map(|limit| limit.at));
        let (order, spec) = (spec, &until.bind(spec));
        let spare = self.spare(spec).await;
        let seat = spare.as_ref().ok().map(|spare| spare.seat.clone());
        let prepared = blocking(|| {
            let prepared = self.prepare(spec, &mut facts, seat);
            // What was refused is no run: the last one stays the last one.
            let refused = matches!(&prepared, Err(StopReason::Failed { code, .. }) if code == UNSUPPORTED);
            record.begin(facts, self.store.as_ref().filter(|_| !refused));
            prepared
        });
        for warning in &spec.warnings {
            record.warn(warning.clone());
        }
        let cancelled = || StopReason::Cancelled {
            by: cancel.by().to_owned(),
        };
        let prepared = match prepared {
            Ok(prepared) => Arc::new(prepared),
            Err(_) if cancel.is_asked() => return cancelled(),
            Err(cause) => return overdue(cause, limit),
        };
        let used = begun.elapsed();
        let _slot = tokio::select! {
            biased;
            () = cancel.asked() => return cancelled(),
            slot = self.slots.acquire() => slot.expect("the slots are never closed"),
        };
        let first = Turn {
            spare: spare.and_then(|spare| spare.fits(spec, &prepared)),
            prepared: Arc::clone(&prepared),
        };
        let cause = self.iterate(spec, first, cancel, (&until, used), record).await;
        blocking(|| {
            let failed = |report: &Report| report.iterations.iter().any(Iteration::has_failures);
            if spec.policy.private_folders && record.report().look(failed) {
                record.keep_temporary_files(&prepared.seat.tmp());
            }
            drop(prepared);
            if let Ahead::Kept(spares) = &self.ahead
                && !cancel.is_asked()
            {
                spares.refill(self, order);
            }
        });
        cause
    }

    /// All iterations. One that runs into its own limit does not stop the others: how often that happens is what
    /// a repeated run is for. `used`: how much of the time limits the plan has taken.
    async fn iterate(
        &self,
        spec: &RunSpec,
        first: Turn,
        cancel: &Cancel,
        (until, used): (&RunDeadline, Duration),
        record: &mut Record<'_>,
    ) -> StopReason {
        let base = Arc::clone(&first.prepared);
        let mut turns = VecDeque::from([first]);
        let mut planned = 1;
        let last = spec.iterations.max(1);
        let total = spec.total_timeout.and_then(|limit| Deadline::after(limit, used));
        let mut end = StopReason::Done;
        for number in 1..=last {
            if cancel.is_asked() {
                return StopReason::Cancelled {
                    by: cancel.by().to_owned(),
                };
            }
            if let Some(total) = total.filter(|total| total.at <= Instant::now()) {
                return total.cause();
            }
            let used = if number == 1 { used } else { Duration::ZERO };
            let own = spec.timeout.and_then(|limit| Deadline::after(limit, used));
            let deadline = sooner(own, total);
            until.deadline(deadline.map(|deadline| deadline.at));
            let turn = turns.pop_front();
            while planned < last && turns.len() < self.ahead() {
                planned += 1;
                turns.push_back(self.turn(spec, &base, planned));
            }
            let turn = turn.expect("a turn was planned for each iteration");
            let going = IterationRun {
                engine: self,
                spec,
                prepared: &turn.prepared,
                cancel,
                number,
                deadline,
            };
            match going.run(turn.spare, record).await {
                StopReason::Done => {}
                timed_out @ StopReason::TimedOut { .. } => end = timed_out,
                stopped => return stopped,
            }
        }
        end
    }

    /// How many iterations are planned while one works: one where nothing is started ahead of time.
    fn ahead(&self) -> usize {
        if !self.ahead.within_runs() {
            return 1;
        }
        std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_AHEAD))
    }

    /// A later iteration: in a seat of its own with a process on its way, or as the first one.
    fn turn(&self, spec: &RunSpec, base: &Arc<Prepared>, number: u32) -> Turn {
        let spare = if self.ahead.within_runs() {
            blocking(|| self.spare_for(spec, base.seat.beside(number)))
        } else {
            Err(NOT_AHEAD.to_owned())
        };
        match spare {
            Ok((prepared, spare)) => Turn {
                prepared: Arc::new(prepared),
                spare: Ok(spare),
            },
            Err(why) => Turn {
                prepared: Arc::clone(base),
                spare: Err(why),
            },
        }
    }

    /// The process that a server kept waiting for such an order, or why there is none.
    async fn spare(&self, spec: &RunSpec) -> Result<Spare, String> {
        match &self.ahead {
            // What waits for other runs is left to them.
            _ if spec.view.is_some() => Err(IN_A_VIEW.to_owned()),
            Ahead::Kept(spares) => spares.take(spec).await,
            Ahead::SameRun => Err("the first of its run".to_owned()),
            Ahead::Never => Err(NOT_AHEAD.to_owned()),
        }
    }

    fn redactor(&self, spec: &RunSpec) -> Option<Redactor> {
        let caller = self.environment.vars.iter().chain(&spec.env.set);
        spec.policy
            .redact
            .then(|| Redactor::new(caller.map(|(name, value)| (name.as_str(), value.as_str()))))
    }
}

/// The end of a run whose plan was not made: by its time limit, if a backend had not answered by then.
fn overdue(cause: StopReason, limit: Option<Deadline>) -> StopReason {
    match (cause, limit) {
        (StopReason::Failed { code, message, .. }, Some(limit)) if code == UNANSWERED => {
            limit.passed_without(Some(message))
        }
        (cause, _) => cause,
    }
}

fn sooner(own: Option<Deadline>, total: Option<Deadline>) -> Option<Deadline> {
    [own, total]
        .into_iter()
        .flatten()
        .min_by_key(|deadline| deadline.at)
}

/// Runs a future to its end, or to its panic: a fault of qaas ends the run with a word, not the server.
async fn guarded(work: impl Future<Output = StopReason>) -> StopReason {
    let mut work = pin!(work);
    let ended = poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(cause)) => Poll::Ready(Ok(cause)),
            Err(panic) => Poll::Ready(Err(panic)),
        },
    );
    ended.await.unwrap_or_else(|panic| StopReason::Failed {
        code: "internal".to_owned(),
        message: format!("qaas itself failed: {}", panic_text(panic.as_ref())),
        hint: Some("this is a fault of qaas; what was read before it is in the report".to_owned()),
    })
}

/// Does something that takes time without keeping other tasks of this thread from going on.
pub fn blocking<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(work)
        }
        _ => work(),
    }
}
