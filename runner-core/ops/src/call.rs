//! The one door through which both faces call a tool.

use serde_json::{Map, Value};

use super::arguments::Reader;
use super::definition::{Action, BACKGROUND, Call, Called, Definition};
use super::{
    Answer, OpError, Tool, Workspace, affected_tests, cancel_run, compare_with_base, get_coverage, get_run,
    list_tests, perform, run_n_times, run_single, run_suite,
};
use engine::run::EventSink;
use process::Cancel;
use runner_core::report::Report;

impl Tool {
    /// What the tool is.
    pub fn definition(self) -> &'static Definition {
        match self {
            Self::RunSuite => &run_suite::DEFINITION,
            Self::RunSingle => &run_single::DEFINITION,
            Self::RunNTimes => &run_n_times::DEFINITION,
            Self::AffectedTests => &affected_tests::DEFINITION,
            Self::CompareWithBase => &compare_with_base::DEFINITION,
            Self::GetCoverage => &get_coverage::DEFINITION,
            Self::ListTests => &list_tests::DEFINITION,
            Self::GetRun => &get_run::DEFINITION,
            Self::CancelRun => &cancel_run::DEFINITION,
        }
    }
}

/// Calls a tool by its arguments as a client sent them.
///
/// # Errors
/// Whatever the tool cannot answer. See [`OpError`].
pub async fn call(
    workspace: &Workspace,
    tool: Tool,
    arguments: &Map<String, Value>,
    cancel: Cancel,
    sink: EventSink<'_>,
) -> Result<Answer, OpError> {
    let definition = tool.definition();
    if let Action::Run { specs, .. } = definition.action
        && Reader::new(definition, arguments).flag(BACKGROUND.name)?
    {
        let specs = specs(workspace, arguments).await?;
        return Ok(Box::new(perform::start(workspace, specs)));
    }
    let called = match definition.action {
        Action::Run { call, .. } | Action::Foreground { call, .. } | Action::Read { call } => call(Call {
            workspace,
            arguments,
            cancel,
            sink,
        }),
    };
    match called.await? {
        Called::Answer(answer) => Ok(answer),
        Called::WholeRun(report) => answer_of(workspace, &report),
    }
}

/// The answer to a whole run, as the tool that ran it gives it. Another's (an older qaas's) is a run of tests.
pub fn answer_of(workspace: &Workspace, report: &Report) -> Result<Answer, OpError> {
    let tool = Tool::named(&report.facts.tool).unwrap_or(Tool::RunSuite);
    match tool.definition().action {
        Action::Run { answer, .. } | Action::Foreground { answer, .. } => answer(workspace, report),
        Action::Read { .. } => run_suite::answer(workspace, report).map(|answer| Box::new(answer) as Answer),
    }
}
