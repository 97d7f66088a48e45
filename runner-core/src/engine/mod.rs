//! Runs orders: owns order, limits, status and the cleaning of strings. One async function for every caller.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::{Mode, TestBackend};
use crate::config::{Env, Suite};
use crate::environment::Environment;
use crate::event::RunEvent;
use crate::facts::Project;
use crate::policy::Policy;
use crate::process::{Cancel, Supervisor};
use crate::report::Report;
use crate::selector::Selection;
use crate::store::Store;

/// Everything a run needs, resolved. Made by `ops`.
pub struct Order {
    /// The tool that asked.
    pub tool: &'static str,
    pub mode: Mode,
    pub suite: Suite,
    pub backend: Arc<dyn TestBackend>,
    /// Wraps the backend's plan to measure coverage.
    pub coverage: Option<Arc<dyn TestBackend>>,
    pub coverage_paths: Vec<String>,
    /// Preferred backends that could not be used.
    pub passed_over: Vec<String>,
    pub project: Project,
    pub selection: Selection,
    /// The selection as it was asked for, for the record.
    pub asked: Vec<String>,
    pub keyword: Option<String>,
    pub markers: Option<String>,
    pub max_failures: Option<u32>,
    pub workers: Option<String>,
    pub extra_args: Vec<String>,
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
}

/// Called with every event of a run, in order, strings already clean. Must be quick.
pub type EventSink<'a> = &'a mut (dyn FnMut(&RunEvent) + Send);

/// Runs orders, a bounded number at once, first come first served.
#[derive(Clone)]
pub struct Engine {
    pub supervisor: Supervisor,
    /// `None`: nothing is stored (no usable state folder); scratches then go to the system's temporary folder.
    pub store: Option<Store>,
    pub environment: Arc<Environment>,
    slots: Arc<tokio::sync::Semaphore>,
}

impl Engine {
    /// `slots`: how many runs go at once.
    pub fn new(supervisor: Supervisor, store: Option<Store>, environment: Environment, slots: usize) -> Self {
        Self {
            supervisor,
            store,
            environment: Arc::new(environment),
            slots: Arc::new(tokio::sync::Semaphore::new(slots.max(1))),
        }
    }

    /// Carries out an order. Always ends with one final event, and a report that is the fold of what the sink saw.
    /// `run_id` is made by [`new_run_id`].
    pub async fn run(&self, run_id: String, order: Order, cancel: Cancel, sink: EventSink<'_>) -> Report {
        let _ = (run_id, order, cancel, sink, &self.slots);
        todo!("engine room")
    }
}

/// A new run's id: unguessable (at least 64 random bits), short, lower-case.
pub fn new_run_id() -> String {
    todo!("engine room")
}
