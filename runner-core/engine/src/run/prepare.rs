//! From an order to something that can be started: scratch, request, plan, environment, facts.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Component, Path};
use std::time::Duration;

use tokio::time::Instant;

use super::environment::{ChildEnvironment, child_environment};
use super::reading::StepOwners;
use super::seat::Seat;
use super::{Engine, RunSpec};
use crate::clock;
use crate::policy::Caller;
use crate::run_id;
use crate::store::{Scratch, StoreError, remove_tree};
use process::{Job, View};
use runner_core::backend::{BackendError, Mode, RunRequest};
use runner_core::event::StopReason;
use runner_core::facts::RunFacts;
use runner_core::panic::panic_text;
use runner_core::plan::{Plan, StdoutUse, Step};

/// From the interrupt to SIGKILL when a time limit has passed and the suite says nothing.
const GRACE: Duration = Duration::from_secs(2);
/// The same after a cancel, a client that went away, or a signal.
const CANCEL_GRACE: Duration = Duration::from_millis(500);
/// For the fixtures of a person's run, after Ctrl-C; a second one ends it at once.
const PERSONS_GRACE: Duration = Duration::from_secs(5);

/// An order, ready to be started.
pub(super) struct Prepared {
    pub(super) seat: Seat,
    pub(super) request: RunRequest,
    pub(super) plan: Plan,
    pub(super) owners: StepOwners,
    pub(super) environment: ChildEnvironment,
}

impl Prepared {
    /// Empties the plan's folder and lays its files.
    pub(super) fn lay_files(&self) -> Result<(), StopReason> {
        let folder = &self.seat.folder;
        let lay = || -> io::Result<()> {
            remove_tree(folder)?;
            fs::create_dir(folder)?;
            for file in &self.plan.files {
                let inside = file
                    .path
                    .components()
                    .all(|part| matches!(part, Component::Normal(_)));
                if !inside {
                    return Err(io::Error::other(format!(
                        "{} is outside the scratch",
                        file.path.display()
                    )));
                }
                let path = folder.join(&file.path);
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(&path, &file.contents)?;
            }
            Ok(())
        };
        lay().map_err(|error| StopReason::Failed {
            code: "no_scratch".to_owned(),
            message: format!("the run's own files could not be written: {error}"),
            hint: None,
        })
    }

    /// What `process` is to do for a step of the plan.
    pub(super) fn job(
        &self,
        spec: &RunSpec,
        step: &Step,
        deadline: Option<Instant>,
        view: Option<&View>,
    ) -> Job {
        Job {
            name: step.name.clone(),
            argv: step.argv().into_iter().map(Into::into).collect(),
            env: self.environment.for_step(step),
            cwd: step.cwd.clone(),
            channel: step.channel,
            stdout_file: self.stdout_file(step).map(Path::to_owned),
            deadline,
            grace: spec.suite.grace.unwrap_or(GRACE),
            interrupt: true,
            cancel_grace: cancel_grace(spec),
            on_deadline: step.on_deadline.clone(),
            limits: spec.suite.limits,
            view: view.cloned(),
        }
    }

    fn stdout_file(&self, step: &Step) -> Option<&Path> {
        let StdoutUse::File(name) = &step.stdout else {
            return None;
        };
        let planned = self.plan.artifacts.iter();
        planned
            .filter(|artifact| artifact.name == *name)
            .map(|artifact| artifact.path.as_path())
            .next()
    }
}

impl Engine {
    /// The facts of a run as far as they are known before its plan is made.
    pub(super) fn facts(&self, run_id: &str, spec: &RunSpec) -> RunFacts {
        RunFacts {
            run_id: run_id.to_owned(),
            suite: spec.suite.name.clone(),
            backend: spec.backend.info().name,
            coverage_backend: spec.coverage.as_ref().map(|backend| backend.info().name),
            tool: spec.tool.to_owned(),
            caller: Some(spec.policy.caller),
            listing: spec.mode == Mode::List,
            asked: spec.asked.clone(),
            iterations: spec.iterations.max(1),
            root: spec.project.root.clone(),
            cwd: spec.cwd.clone(),
            interpreter: spec.project.interpreter.clone().filter(|_| uses_python(spec)),
            started_at: run_id::label(clock::now()),
            timeout_s: spec.timeout.map(|limit| limit.as_secs_f64()),
            passed_over: spec.passed_over.clone(),
            confinement: self.supervisor.confinement(&spec.suite.limits),
            ..RunFacts::default()
        }
    }

    /// Makes a plan in a seat that is there already, else in a new one. Fills in what `facts` could not know.
    pub(super) fn prepare(
        &self,
        spec: &RunSpec,
        facts: &mut RunFacts,
        seat: Option<Seat>,
    ) -> Result<Prepared, StopReason> {
        let seat = match seat {
            Some(seat) => seat,
            None => self.new_seat(spec).map_err(|error| no_scratch(&error))?,
        };
        let prepared = self.prepare_in(seat, spec)?;
        let (plan, dropped) = (&prepared.plan, &prepared.environment.dropped);
        facts.dropped_variables.clone_from(dropped);
        if facts.interpreter.is_none() {
            let python = spec.project.interpreter.as_ref();
            let starts = |path: &Path| plan.steps.iter().any(|step| step.program == path);
            facts.interpreter = python.filter(|python| starts(&python.path)).cloned();
        }
        facts.argv = plan.steps.first().map(Step::argv).unwrap_or_default();
        Ok(prepared)
    }

    /// Makes the environment and the plan of a run that works there.
    pub(super) fn prepare_in(&self, seat: Seat, spec: &RunSpec) -> Result<Prepared, StopReason> {
        let private = spec.policy.private_folders.then(|| seat.tmp());
        let own_name = spec.project.name.as_deref();
        let environment = child_environment(
            &spec.policy,
            &self.environment,
            &spec.env,
            own_name,
            private.as_deref(),
        );
        let request = self.request(spec, &seat);
        let (plan, owners) = make_plan(spec, &request).map_err(|error| StopReason::Failed {
            code: error.code,
            message: error.message,
            hint: error.hint,
        })?;
        Ok(Prepared {
            seat,
            request,
            plan,
            owners,
            environment,
        })
    }

    /// A place for a run, with the folders that its policy wants.
    pub(super) fn new_seat(&self, spec: &RunSpec) -> Result<Seat, StoreError> {
        let seat = Seat::new(self.scratch()?);
        if spec.policy.private_folders {
            let tmp = seat.tmp();
            fs::create_dir(&tmp).map_err(|source| StoreError::unusable(&tmp, &source))?;
        }
        Ok(seat)
    }

    /// In the state folder if there is a usable one, else in the system's temporary folder.
    fn scratch(&self) -> Result<Scratch, StoreError> {
        if let Some(Ok(scratch)) = self.store.as_ref().map(crate::store::Store::scratch) {
            return Ok(scratch);
        }
        let named = self
            .environment
            .get("TMPDIR")
            .map(Path::new)
            .filter(|path| path.is_dir());
        Scratch::temporary(named.unwrap_or(Path::new("/tmp")))
    }

    fn request(&self, spec: &RunSpec, seat: &Seat) -> RunRequest {
        let own_cache = || {
            let stored = self.store.as_ref()?.cache_dir(&spec.project.root);
            stored.ok()
        };
        let cache_dir = spec
            .policy
            .private_folders
            .then(|| own_cache().unwrap_or_else(|| seat.scratch().join("c")));
        RunRequest {
            selection: spec.selection.clone(),
            options: spec.suite.options.clone(),
            paths: spec.suite.paths.clone(),
            filters: spec.filters.clone(),
            cache_dir,
            nonce: seat.nonce.clone(),
            terminal: spec.onlooker.as_ref().and_then(|onlooker| onlooker.terminal()),
            // The plan's own folder, emptied before each iteration.
            ..RunRequest::new(spec.mode, &spec.cwd, &seat.folder)
        }
    }
}

/// A person who interrupts is there to see fixtures torn down, and to interrupt again; others wait for the answer.
fn cancel_grace(spec: &RunSpec) -> Duration {
    match spec.policy.caller {
        Caller::Person => spec.suite.grace.unwrap_or(PERSONS_GRACE),
        Caller::Agent => CANCEL_GRACE,
    }
}

fn make_plan(spec: &RunSpec, request: &RunRequest) -> Result<(Plan, StepOwners), BackendError> {
    let plan = || {
        let inner = spec.backend.plan(request, &spec.project)?;
        let names =
            |plan: &Plan| -> Vec<String> { plan.steps.iter().map(|step| step.name.clone()).collect() };
        let tests = names(&inner);
        let plan = match &spec.coverage {
            Some(coverage) => coverage.wrap(request, &spec.project, inner)?,
            None => inner,
        };
        if plan.steps.is_empty() {
            return Err(BackendError::new(
                "bad_plan",
                "the backend's plan has no step to run",
            ));
        }
        let owners = StepOwners::new(&names(&plan), &tests);
        Ok((plan, owners))
    };
    catch_unwind(AssertUnwindSafe(plan)).unwrap_or_else(|panic| {
        let message = format!(
            "the backend crashed while planning: {}",
            panic_text(panic.as_ref())
        );
        Err(BackendError::new("crashed", message))
    })
}

/// Whether the backends themselves say that they have to do with Python. What a plan starts is seen later.
fn uses_python(spec: &RunSpec) -> bool {
    let backends = [Some(&spec.backend), spec.coverage.as_ref()];
    backends
        .into_iter()
        .flatten()
        .any(|backend| backend.info().uses_python())
}

fn no_scratch(error: &StoreError) -> StopReason {
    StopReason::Failed {
        code: "no_scratch".to_owned(),
        message: format!("no private folder could be made for this run: {error}"),
        hint: Some("free some disk space, or set QAAS_STATE_DIR to a folder that can be written".to_owned()),
    }
}
