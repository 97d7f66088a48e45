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
    pub run_id: String,
    pub status: Status,
    pub next: Vec<NextCall>,
}

impl ToolAnswer for Started {
    fn headline(&self) -> String {
        format!("Run {} goes on in the background.", self.run_id)
    }

    fn status(&self) -> Option<Status> {
        Some(self.status)
    }

    fn take_next(&mut self) -> Vec<NextCall> {
        std::mem::take(&mut self.next)
    }
}

/// Carries out a spec in the background and says where to ask for it.
pub(super) fn start(workspace: &Workspace, spec: RunSpec) -> Started {
    let (run_id, cancel) = (new_run_id(), Cancel::new());
    // Entered before the task first runs, so that the id is known as soon as it is handed out.
    let recording = workspace.live.begin(&run_id, spec.tool, cancel.clone());
    let (workspace, id) = (workspace.clone(), run_id.clone());
    tokio::spawn(async move {
        carry_out(&workspace, id, spec, cancel, recording, &mut |_, _| {}).await;
    });
    let next = NextCall::new(Tool::GetRun, "wait for its end, or see how far it is")
        .with("run_id", run_id.as_str())
        .with("wait_s", 60);
    Started {
        run_id,
        status: Status::Queued,
        next: vec![next],
    }
}
