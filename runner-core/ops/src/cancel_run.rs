//! `cancel_run`: ends a run that goes on.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::arguments::Reader;
use super::{ErrorKind, NextCall, OpError, Tool, Workspace, get_run};
use runner_core::model::Status;
use runner_core::report::Report;

/// How long a run may take to end before the answer says that it is still ending.
const PATIENCE: Duration = Duration::from_secs(5);

/// What may be asked.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    pub run_id: String,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new("cancel_run", map);
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
    get_run::check_id(&run_id)?;
    let Some(live) = workspace.live.get(&run_id) else {
        let report = get_run::stored(workspace, &run_id)?;
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

impl Answer {
    pub fn headline(&self) -> String {
        let Self { run_id, status, .. } = self;
        match (self.cancelled, status.is_final()) {
            (true, _) => format!("Run {run_id} is cancelled."),
            (false, true) => format!("Run {run_id} had ended already: {status}."),
            (false, false) => format!("Run {run_id} was asked to end and is still ending."),
        }
    }
}
