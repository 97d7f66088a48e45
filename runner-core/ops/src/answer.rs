//! One answer type over all tools, and the one door through which both faces call them.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    ExitCode, NextCall, OpError, Workspace, affected_tests, cancel_run, get_coverage, get_run, list_tests,
    resolve, run_n_times, run_single, run_suite,
};
use engine::run::EventSink;
use process::Cancel;
use runner_core::model::Status;

/// The tools, by the names that agents know them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    RunSuite,
    RunSingle,
    RunNTimes,
    AffectedTests,
    GetCoverage,
    ListTests,
    GetRun,
    CancelRun,
}

impl Tool {
    pub const ALL: [Self; 8] = [
        Self::RunSuite,
        Self::RunSingle,
        Self::RunNTimes,
        Self::AffectedTests,
        Self::GetCoverage,
        Self::ListTests,
        Self::GetRun,
        Self::CancelRun,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::RunSuite => "run_suite",
            Self::RunSingle => "run_single",
            Self::RunNTimes => "run_n_times",
            Self::AffectedTests => "affected_tests",
            Self::GetCoverage => "get_coverage",
            Self::ListTests => "list_tests",
            Self::GetRun => "get_run",
            Self::CancelRun => "cancel_run",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

/// What a tool answered.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    RunSuite(Box<run_suite::Answer>),
    RunSingle(Box<run_single::Answer>),
    RunNTimes(Box<run_n_times::Answer>),
    AffectedTests(Box<affected_tests::Answer>),
    GetCoverage(Box<get_coverage::Answer>),
    ListTests(Box<list_tests::Answer>),
    /// A page of a stored run, or a run that goes on. A whole stored run is answered as its own tool answers.
    GetRun(Box<get_run::Page>),
    CancelRun(Box<cancel_run::Answer>),
    /// A run that goes on in the background.
    Started(Box<Started>),
}

/// The answer to `background: true`.
#[derive(Clone, Debug, Serialize)]
pub struct Started {
    pub run_id: String,
    pub status: Status,
    pub next: Vec<NextCall>,
}

impl Answer {
    /// First line of the text block: the whole answer in a sentence.
    pub fn headline(&self) -> String {
        match self {
            Self::RunSuite(answer) => answer.headline(),
            Self::RunSingle(answer) => answer.headline(),
            Self::RunNTimes(answer) => answer.headline(),
            Self::AffectedTests(answer) => answer.headline(),
            Self::GetCoverage(answer) => answer.headline(),
            Self::ListTests(answer) => answer.headline(),
            Self::GetRun(page) => page.headline(),
            Self::CancelRun(answer) => answer.headline(),
            Self::Started(started) => format!("Run {} goes on in the background.", started.run_id),
        }
    }

    /// The status of the run that the answer is about. `None` for tools that run no test.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::RunSuite(answer) => Some(answer.status),
            Self::RunSingle(answer) => Some(answer.status),
            Self::RunNTimes(answer) => Some(answer.status),
            Self::GetCoverage(answer) => Some(answer.status),
            Self::GetRun(page) => Some(page.status),
            Self::CancelRun(answer) => Some(answer.status),
            Self::Started(started) => Some(started.status),
            Self::AffectedTests(_) | Self::ListTests(_) => None,
        }
    }

    /// What the command line exits with when it asked this question itself (`qaas call` exits 0 once answered).
    pub fn exit(&self) -> ExitCode {
        match self {
            Self::ListTests(answer) => answer.exit(),
            Self::CancelRun(_) | Self::Started(_) => ExitCode::Passed,
            _ => self.status().map_or(ExitCode::Passed, ExitCode::from),
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
    match tool {
        Tool::RunSuite => {
            let arguments = run_suite::Arguments::from_json(arguments)?;
            if arguments.background {
                return Ok(resolve::start(
                    workspace,
                    run_suite::spec(workspace, &arguments).await?,
                ));
            }
            let answer = run_suite::run(workspace, arguments, cancel, sink).await?;
            Ok(Answer::RunSuite(Box::new(answer)))
        }
        Tool::RunSingle => {
            let arguments = run_single::Arguments::from_json(arguments)?;
            if arguments.background {
                return Ok(resolve::start(
                    workspace,
                    run_single::spec(workspace, &arguments).await?,
                ));
            }
            let answer = run_single::run(workspace, arguments, cancel, sink).await?;
            Ok(Answer::RunSingle(Box::new(answer)))
        }
        Tool::RunNTimes => {
            let arguments = run_n_times::Arguments::from_json(arguments)?;
            if arguments.background {
                return Ok(resolve::start(
                    workspace,
                    run_n_times::spec(workspace, &arguments).await?,
                ));
            }
            let answer = run_n_times::run(workspace, arguments, cancel, sink).await?;
            Ok(Answer::RunNTimes(Box::new(answer)))
        }
        Tool::GetCoverage => {
            let arguments = get_coverage::Arguments::from_json(arguments)?;
            if arguments.background {
                return Ok(resolve::start(
                    workspace,
                    get_coverage::spec(workspace, &arguments).await?,
                ));
            }
            let answer = get_coverage::run(workspace, arguments, cancel, sink).await?;
            Ok(Answer::GetCoverage(Box::new(answer)))
        }
        Tool::AffectedTests => {
            let arguments = affected_tests::Arguments::from_json(arguments)?;
            let answer = affected_tests::run(workspace, arguments).await?;
            Ok(Answer::AffectedTests(Box::new(answer)))
        }
        Tool::ListTests => {
            let arguments = list_tests::Arguments::from_json(arguments)?;
            let answer = list_tests::run(workspace, arguments, cancel, sink).await?;
            Ok(Answer::ListTests(Box::new(answer)))
        }
        Tool::GetRun => get_run::run(workspace, get_run::Arguments::from_json(arguments)?, cancel).await,
        Tool::CancelRun => {
            let answer = cancel_run::run(workspace, cancel_run::Arguments::from_json(arguments)?).await?;
            Ok(Answer::CancelRun(Box::new(answer)))
        }
    }
}
