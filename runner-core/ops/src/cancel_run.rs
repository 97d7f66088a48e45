//! `cancel_run`: ends a run that goes on.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::ToolAnswer;
use super::arguments::Reader;
use super::definition::shared::RUN_ID;
use super::definition::{Action, Called, Definition, Hints, Needs};
use super::stored::{check_id, stored};
use super::{ErrorKind, ExitCode, NextCall, OpError, Tool, Workspace};
use runner_core::backend::Capability;
use runner_core::model::Status;
use runner_core::report::Report;

/// How long a run may take to end before the answer says that it is still ending.
const PATIENCE: Duration = Duration::from_secs(5);

/// The tool.
pub static DEFINITION: Definition = Definition {
    tool: Tool::CancelRun,
    title: "Cancel a run",
    description: "Stop a run that goes on. What finished is kept: read it with get_run.",
    hints: Hints::RUNS,
    needs: Needs::Backend(Capability::Run),
    own: &[RUN_ID],
    action: Action::Read {
        call: |call| {
            Box::pin(async move {
                let arguments = Arguments::from_json(call.arguments)?;
                Ok(Called::answer(run(call.workspace, arguments).await?))
            })
        },
    },
};

/// What may be asked.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    pub run_id: String,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new(&DEFINITION, map);
        let arguments = Self {
            run_id: reader.required_string("run_id")?,
        };
        reader.finish()?;
        Ok(arguments)
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    pub run_id: String,
    /// What the run has come to.
    pub status: Status,
    /// Whether this call ended it.
    pub cancelled: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
}

/// Asks the run to end and waits for it.
pub async fn run(workspace: &Workspace, arguments: Arguments) -> Result<Answer, OpError> {
    let run_id = arguments.run_id;
    check_id(&run_id)?;
    let Some(live) = workspace.live.get(&run_id) else {
        let report = stored(workspace, &run_id)?;
        if report.cause.is_none() {
            let message =
                format!("run {run_id} was begun by another qaas process and can only be ended there");
            return Err(OpError::new(ErrorKind::BadRequest, "not_ours", message));
        }
        return Ok(Answer {
            run_id,
            status: report.status(),
            cancelled: false,
            next: Vec::new(),
        });
    };
    live.cancel.ask("cancel_run");
    // In vain only if the system is slow to end the processes; the answer says so.
    let _ = tokio::time::timeout(PATIENCE, live.ended()).await;
    let status = live.look(Report::status);
    let next = NextCall::new(Tool::GetRun, "see what had finished by then").with("run_id", run_id.as_str());
    Ok(Answer {
        run_id,
        status,
        cancelled: status == Status::Cancelled,
        next: vec![next],
    })
}

impl ToolAnswer for Answer {
    fn headline(&self) -> String {
        let Self { run_id, status, .. } = self;
        match (self.cancelled, status.is_final()) {
            (true, _) => format!("Run {run_id} is cancelled."),
            (false, true) => format!("Run {run_id} had ended already: {status}."),
            (false, false) => format!("Run {run_id} was asked to end and is still ending."),
        }
    }

    fn status(&self) -> Option<Status> {
        Some(self.status)
    }

    fn exit(&self) -> ExitCode {
        ExitCode::Passed
    }

    fn take_next(&mut self) -> Vec<NextCall> {
        std::mem::take(&mut self.next)
    }
}
