//! From a spec to something that can be started: scratch, request, plan, environment, facts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::deadline::RunDeadline;
use super::environment::{ChildEnvironment, child_environment};
use super::reading::StepOwners;
use super::{Engine, RunSpec};
use crate::clock;
use crate::run_id;
use crate::store::{Scratch, StoreError};
use runner_core::backend::{BackendError, Mode, RunRequest};
use runner_core::event::StopReason;
use runner_core::facts::RunFacts;
use runner_core::panic::panic_text;
use runner_core::plan::Plan;

/// A spec, ready to be started.
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

    /// Makes scratch and plan. Fills in what `facts` could not know.
    pub(super) fn prepare(
        &self,
        spec: &RunSpec,
        facts: &mut RunFacts,
        until: &RunDeadline,
    ) -> Result<Prepared, StopReason> {
        let scratch = self.scratch().map_err(|error| no_scratch(&error))?;
        let private = spec.policy.private_folders.then(|| tmp_in(scratch.path()));
        if let Some(tmp) = &private {
            std::fs::create_dir(tmp).map_err(|source| no_scratch(&StoreError::unusable(tmp, &source)))?;
        }
        let own_name = spec.project.name.as_deref();
        let environment = child_environment(
            &spec.policy,
            &self.environment,
            &spec.env,
            own_name,
            private.as_deref(),
        );
        facts.dropped_variables.clone_from(&environment.dropped);
        let request = self.request(spec, &scratch, until);
        let (plan, owners) = make_plan(spec, &request).map_err(|error| StopReason::Failed {
            code: error.code,
            message: error.message,
            hint: error.hint,
        })?;
        if facts.interpreter.is_none() {
            let python = spec.project.interpreter.as_ref();
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

    fn request(&self, spec: &RunSpec, scratch: &Scratch, until: &RunDeadline) -> RunRequest {
        let own_cache = || {
            let stored = self.store.as_ref()?.cache_dir(&spec.project.root);
            stored.ok()
        };
        let cache_dir = spec
            .policy
            .private_folders
            .then(|| own_cache().unwrap_or_else(|| scratch.path().join("c")));
        RunRequest {
            selection: spec.selection.clone(),
            options: spec.suite.options.clone(),
            paths: spec.suite.paths.clone(),
            filters: spec.filters.clone(),
            cache_dir,
            nonce: run_id::random_word(16),
            waits: until.waits(),
            // The plan's own folder, emptied before each iteration.
            ..RunRequest::new(spec.mode, &spec.cwd, scratch.path().join("w"))
        }
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
