//! From an order to something that can be started: scratch, request, plan, environment, facts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::environment::{ChildEnvironment, child_environment};
use super::patience::Until;
use super::reading::StepOwners;
use super::{Engine, Order};
use crate::clock;
use crate::run_id;
use crate::store::{Scratch, StoreError};
use runner_core::backend::{BackendError, Mode, RunRequest};
use runner_core::event::EndCause;
use runner_core::facts::RunFacts;
use runner_core::panic::panic_text;
use runner_core::plan::Plan;

/// An order, ready to be started.
pub(super) struct Prepared {
    /// Gone with this value.
    pub(super) scratch: Scratch,
    pub(super) request: RunRequest,
    pub(super) plan: Plan,
    pub(super) owners: StepOwners,
    pub(super) environment: ChildEnvironment,
}

impl Prepared {
    /// The folder of an agent's temporary files.
    pub(super) fn tmp(&self) -> PathBuf {
        tmp_in(self.scratch.path())
    }
}

fn tmp_in(scratch: &Path) -> PathBuf {
    scratch.join("t")
}

impl Engine {
    /// The facts of a run as far as they are known before its plan is made.
    pub(super) fn facts(&self, run_id: &str, order: &Order) -> RunFacts {
        RunFacts {
            run_id: run_id.to_owned(),
            suite: order.suite.name.clone(),
            backend: order.backend.info().name,
            coverage_backend: order.coverage.as_ref().map(|backend| backend.info().name),
            tool: order.tool.to_owned(),
            listing: order.mode == Mode::List,
            selection: order.asked.clone(),
            iterations: order.iterations.max(1),
            root: order.project.root.clone(),
            cwd: order.cwd.clone(),
            interpreter: order.project.interpreter.clone().filter(|_| uses_python(order)),
            started_at: run_id::label(clock::now()),
            timeout_s: order.timeout.map(|limit| limit.as_secs_f64()),
            passed_over: order.passed_over.clone(),
            confinement: self.supervisor.confinement(&order.suite.limits),
            ..RunFacts::default()
        }
    }

    /// Makes scratch and plan. Fills in what `facts` could not know.
    pub(super) fn prepare(
        &self,
        order: &Order,
        facts: &mut RunFacts,
        until: &Until,
    ) -> Result<Prepared, EndCause> {
        let scratch = self.scratch().map_err(|error| no_scratch(&error))?;
        let private = order.policy.private_folders.then(|| tmp_in(scratch.path()));
        if let Some(tmp) = &private {
            std::fs::create_dir(tmp).map_err(|source| no_scratch(&StoreError::unusable(tmp, &source)))?;
        }
        let own_name = order.project.name.as_deref();
        let environment = child_environment(
            &order.policy,
            &self.environment,
            &order.env,
            own_name,
            private.as_deref(),
        );
        facts.dropped_variables.clone_from(&environment.dropped);
        let request = self.request(order, &scratch, until);
        let (plan, owners) = make_plan(order, &request).map_err(|error| EndCause::Failed {
            code: error.code,
            message: error.message,
            hint: error.hint,
        })?;
        if facts.interpreter.is_none() {
            let python = order.project.interpreter.as_ref();
            let starts = |path: &Path| plan.steps.iter().any(|step| step.program == path);
            facts.interpreter = python.filter(|python| starts(&python.path)).cloned();
        }
        facts.argv = plan
            .steps
            .first()
            .map(runner_core::plan::Step::argv)
            .unwrap_or_default();
        Ok(Prepared {
            scratch,
            request,
            plan,
            owners,
            environment,
        })
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

    fn request(&self, order: &Order, scratch: &Scratch, until: &Until) -> RunRequest {
        let own_cache = || {
            let stored = self.store.as_ref()?.cache_dir(&order.project.root);
            stored.ok()
        };
        let cache_dir = order
            .policy
            .private_folders
            .then(|| own_cache().unwrap_or_else(|| scratch.path().join("c")));
        RunRequest {
            selection: order.selection.clone(),
            options: order.suite.options.clone(),
            paths: order.suite.paths.clone(),
            extra_args: order.extra_args.clone(),
            keyword: order.keyword.clone(),
            markers: order.markers.clone(),
            max_failures: order.max_failures,
            workers: order.workers.clone(),
            cache_dir,
            coverage_paths: order.coverage_paths.clone(),
            nonce: run_id::random_word(16),
            waits: until.waits(),
            // The plan's own folder, emptied before each iteration.
            ..RunRequest::new(order.mode, &order.cwd, scratch.path().join("w"))
        }
    }
}

fn make_plan(order: &Order, request: &RunRequest) -> Result<(Plan, StepOwners), BackendError> {
    let plan = || {
        let inner = order.backend.plan(request, &order.project)?;
        let names =
            |plan: &Plan| -> Vec<String> { plan.steps.iter().map(|step| step.name.clone()).collect() };
        let tests = names(&inner);
        let plan = match &order.coverage {
            Some(coverage) => coverage.wrap(request, &order.project, inner)?,
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
fn uses_python(order: &Order) -> bool {
    let backends = [Some(&order.backend), order.coverage.as_ref()];
    backends
        .into_iter()
        .flatten()
        .any(|backend| backend.info().uses_python())
}

fn no_scratch(error: &StoreError) -> EndCause {
    EndCause::Failed {
        code: "no_scratch".to_owned(),
        message: format!("no private folder could be made for this run: {error}"),
        hint: Some("free some disk space, or set QAAS_STATE_DIR to a folder that can be written".to_owned()),
    }
}
