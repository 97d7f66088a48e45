//! The backend as qaas sees it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use runner_core::backend::{
    BackendError, BackendInfo, Capability, OutputReader, RunRequest, StillWanted, TestBackend,
};
use runner_core::facts::Project;
use runner_core::plan::Plan;
use runner_core::wire::{Method, PlanParams, WrapParams};

use super::Launch;
use super::pool::Processes;
use super::reader::RemoteReader;
use super::spec::{Capabilities, Gate, Spec};

/// A backend in another process. Nothing is started until it is needed.
pub struct ExecBackend {
    processes: Arc<Processes>,
    /// Whether the run that it is asked for goes on.
    wanted: StillWanted,
}

/// What is taken for granted of a backend that was not asked yet: whoever uses it finds out, or hears why it cannot be
/// asked. That is a better answer than that it can do nothing.
const GUESS: [Capability; 4] = [
    Capability::Run,
    Capability::List,
    Capability::Single,
    Capability::Names,
];

impl ExecBackend {
    /// Starts nothing.
    pub fn new(spec: Spec, launch: Box<dyn Launch>, gate: Gate) -> Self {
        Self {
            processes: Processes::new(spec, launch, gate),
            wanted: StillWanted::default(),
        }
    }

    /// Starts it, if that was not done before, and says what it says of itself.
    pub fn probe(&self, waits: &StillWanted) -> Result<Capabilities, BackendError> {
        self.processes.probe(waits)
    }

    /// Words of it about itself that this qaas does not know, as far as it was asked.
    pub fn left_out(&self) -> Vec<String> {
        let learned = self.processes.learned().map(|learned| learned.left_out);
        let before = || {
            self.processes
                .spec
                .known
                .as_ref()
                .map(|(_, left_out)| left_out.clone())
        };
        learned.or_else(before).unwrap_or_default()
    }

    /// Whether it is known what it can do.
    pub fn is_known(&self) -> bool {
        self.processes.spec.known.is_some() || self.processes.learned().is_some()
    }
}

impl TestBackend for ExecBackend {
    fn info(&self) -> BackendInfo {
        let learned = self.processes.learned().map(|learned| learned.info);
        let spec = &self.processes.spec;
        learned
            .or_else(|| spec.known.as_ref().map(|(info, _)| info.clone()))
            .unwrap_or_else(|| BackendInfo {
                name: spec.name.clone(),
                framework: String::new(),
                language: String::new(),
                capabilities: BTreeSet::from(GUESS),
                needs: Vec::new(),
                options: Vec::new(),
            })
    }

    fn plan(&self, request: &RunRequest, project: &Project) -> Result<Plan, BackendError> {
        // Who does not say that it can is not asked. Why it could not say anything is told by the call below.
        if self.is_known() || self.probe(&self.wanted).is_ok() {
            self.info().check(request)?;
        }
        let params = PlanParams {
            request: Cow::Borrowed(request),
            project: Cow::Borrowed(project),
        };
        self.processes.ask(Method::Plan, &params, &self.wanted)
    }

    fn wrap(&self, request: &RunRequest, project: &Project, inner: Plan) -> Result<Plan, BackendError> {
        if self.is_known() && !self.info().can(Capability::Coverage) {
            return Err(BackendError::unsupported(
                &self.processes.spec.name,
                Capability::Coverage,
            ));
        }
        let params = WrapParams {
            request: Cow::Borrowed(request),
            project: Cow::Borrowed(project),
            plan: Cow::Owned(inner),
        };
        self.processes.ask(Method::Wrap, &params, &self.wanted)
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        Box::new(RemoteReader::new(
            self.processes.clone(),
            request.clone(),
            self.wanted.clone(),
        ))
    }

    fn for_run(&self, wanted: &StillWanted) -> Option<Arc<dyn TestBackend>> {
        Some(Arc::new(Self {
            processes: Arc::clone(&self.processes),
            wanted: wanted.clone(),
        }))
    }
}
