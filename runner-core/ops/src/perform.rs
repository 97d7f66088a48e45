//! Carrying out a `RunSpec`: at once, or in the background.

use std::sync::Arc;

use serde::Serialize;

use super::answer::ToolAnswer;
use super::live::Recording;
use super::{NextCall, Tool, Workspace};
use engine::run::{EventSink, RunSpec};
use engine::run_id::new_run_id;
use process::Cancel;
use runner_core::facts::RunFacts;
use runner_core::model::Status;
use runner_core::report::Report;

/// Carries out a spec, and lets it be asked about and ended while it goes on.
pub(super) async fn perform(
    workspace: &Workspace,
    run_id: String,
    spec: RunSpec,
    cancel: Cancel,
    sink: EventSink<'_>,
) -> Arc<Report> {
    let recording = workspace.live.begin(&run_id, spec.tool, cancel.clone());
    carry_out(workspace, run_id, spec, cancel, recording, sink).await
}

async fn carry_out(
    workspace: &Workspace,
    run_id: String,
    spec: RunSpec,
    cancel: Cancel,
    mut recording: Recording,
    sink: EventSink<'_>,
) -> Arc<Report> {
    let growing = recording.report().clone();
    // Boxed: an engine's future is large, and every tool's contains one.
    let report = Box::pin(workspace.engine.run(run_id, spec, cancel, growing, sink)).await;
    let is_it = |facts: &RunFacts| facts.run_id == report.facts.run_id;
    let store = workspace.engine.store.as_ref();
    if store.is_some_and(|store| store.latest(&workspace.root, is_it).is_some()) {
        recording.is_stored();
    }
    report
}

/// The answer to `background: true`.
#[derive(Clone, Debug, Serialize)]
pub struct Started {
    /// The last of several suites' to begin.
    pub run_id: String,
    pub status: Status,
    /// Where the call is about several: they run one after another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suites: Vec<StartedSuite>,
    pub next: Vec<NextCall>,
}

/// The run of one of several suites.
#[derive(Clone, Debug, Serialize)]
pub struct StartedSuite {
    pub suite: String,
    pub run_id: String,
}

impl ToolAnswer for Started {
    fn headline(&self) -> String {
        if self.suites.is_empty() {
            return format!("Run {} goes on in the background.", self.run_id);
        }
        let runs = self
            .suites
            .iter()
            .map(|one| format!("{} {}", one.suite, one.run_id));
        let runs: Vec<String> = runs.collect();
        format!(
            "{} runs go on in the background, one after another: {}.",
            runs.len(),
            runs.join(", ")
        )
    }

    fn status(&self) -> Option<Status> {
        Some(self.status)
    }

    fn take_next(&mut self) -> Vec<NextCall> {
        std::mem::take(&mut self.next)
    }
}

/// Carries specs out in the background, one after another, and says where to ask for them.
pub(super) fn start(workspace: &Workspace, specs: Vec<RunSpec>) -> Started {
    let mut runs = Vec::with_capacity(specs.len());
    let mut suites = Vec::with_capacity(specs.len());
    for spec in specs {
        let (run_id, cancel) = (new_run_id(), Cancel::new());
        // Entered before the task first runs, so that the id is known as soon as it is handed out.
        let recording = workspace.live.begin(&run_id, spec.tool, cancel.clone());
        suites.push(StartedSuite {
            suite: spec.suite.name.clone(),
            run_id: run_id.clone(),
        });
        runs.push((run_id, spec, cancel, recording));
    }
    let last = suites.last().map(|one| one.run_id.clone()).unwrap_or_default();
    if suites.len() < 2 {
        suites.clear();
    }
    let why = match suites.len() {
        0 => "wait for its end, or see how far it is",
        _ => "wait for the last of them, or see how far it is",
    };
    let workspace = workspace.clone();
    tokio::spawn(async move {
        for (run_id, spec, cancel, recording) in runs {
            carry_out(&workspace, run_id, spec, cancel, recording, &mut |_, _| {}).await;
        }
    });
    let next = NextCall::new(Tool::GetRun, why)
        .with("run_id", last.as_str())
        .with("wait_s", 60);
    Started {
        run_id: last,
        status: Status::Queued,
        suites,
        next: vec![next],
    }
}
