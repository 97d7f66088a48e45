//! `list_tests`: which tests there are. Collects, runs none.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::{Sums, ToolAnswer};
use super::arguments::Reader;
use super::asked::RunArguments;
use super::definition::shared::{CWD, SELECTOR, SELECTORS, SUITE, TIMEOUT};
use super::definition::{Action, Called, Definition, Hints, Needs, Pending};
use super::rows::{self, warnings};
use super::several::{EachSuite, Runs, each};
use super::unanswered::unanswered;
use super::{EnvironmentFacts, ErrorKind, ExitCode, OpError, Scope, Tool, Workspace, words};
use engine::run::{EventSink, RunSpec};
use process::Cancel;
use runner_core::backend::{Capability, Filters, Mode, UNSUPPORTED};
use runner_core::model::{CollectionError, Status};
use runner_core::nodeid::NodeId;
use runner_core::report::Report;

/// The tool.
pub static DEFINITION: Definition = Definition {
    tool: Tool::ListTests,
    title: "List tests",
    description: "List the nodeids there are, running none. Use it to find a test_id or selector.",
    hints: Hints::RUNS,
    needs: Needs::Backend(Capability::List),
    own: &[SELECTOR, SELECTORS, CWD, TIMEOUT, SUITE],
    action: Action::Foreground {
        call: |call| {
            Box::pin(async move {
                let arguments = Arguments::from_json(call.arguments)?;
                let runs = run(call.workspace, &arguments, call.cancel, call.sink).await?;
                Ok(Called::Answer(runs.answer()?))
            })
        },
        answer: |workspace, report| Ok(Box::new(answer(workspace, report)?)),
    },
};

/// What may be asked.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    pub selectors: Vec<String>,
    pub scope: Scope,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new(&DEFINITION, map);
        let arguments = Self {
            selectors: reader.selectors()?,
            scope: Scope::read(&mut reader)?,
        };
        reader.finish()?;
        Ok(arguments)
    }
}

/// The tests' ids, in the framework's order.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The rest of a long list can be had by it.
    pub run_id: String,
    /// `done`; `incomplete` where part of the tests could not be collected.
    pub status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub total: usize,
    pub nodeids: Vec<String>,
    /// How many tests each file has.
    pub files: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collection_errors: Vec<CollectionError>,
    #[serde(skip_serializing_if = "rows::is_zero")]
    pub deselected: u64,
    pub parser: String,
    pub cwd: String,
    pub selector: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    pub environment: EnvironmentFacts,
}

/// Lists each suite that the call is about, and waits for the end.
pub async fn run(
    workspace: &Workspace,
    arguments: &Arguments,
    cancel: Cancel,
    sink: EventSink<'_>,
) -> Result<Runs<Answer>, OpError> {
    each(workspace, arguments, cancel, sink).await
}

impl EachSuite for Arguments {
    type Answer = Answer;

    fn asked(&self) -> RunArguments {
        RunArguments::of(&self.scope, &self.selectors)
    }

    fn spec<'a>(
        &'a self,
        workspace: &'a Workspace,
        share: RunArguments,
        _: Option<u32>,
    ) -> Pending<'a, Result<RunSpec, OpError>> {
        Box::pin(spec(workspace, share))
    }

    fn answer(&self, workspace: &Workspace, report: &Report, _: &Filters) -> Result<Answer, OpError> {
        answer(workspace, report)
    }
}

async fn spec(workspace: &Workspace, share: RunArguments) -> Result<RunSpec, OpError> {
    let spec = share.spec(workspace, Tool::ListTests, Mode::List).await?;
    let info = spec.backend.info();
    if !info.can(Capability::List) {
        let message = format!("backend `{}` cannot list tests", info.name);
        return Err(OpError::new(ErrorKind::BadRequest, UNSUPPORTED, message));
    }
    Ok(spec)
}

/// The answer that a report comes to.
pub(super) fn answer(workspace: &Workspace, report: &Report) -> Result<Answer, OpError> {
    let iteration = report.first();
    let nothing = iteration.found.is_empty() && iteration.collection_errors.is_empty();
    if nothing {
        let fallback = || {
            let reason = report
                .verdict()
                .reason
                .unwrap_or_else(|| "nothing was collected".to_owned());
            OpError::new(ErrorKind::Broken, "broken", reason)
        };
        return Err(unanswered(workspace, report).unwrap_or_else(fallback));
    }
    let mut files: BTreeMap<String, usize> = BTreeMap::new();
    for found in &iteration.found {
        *files
            .entry(NodeId::of(&found.nodeid).file().to_owned())
            .or_default() += 1;
    }
    let ended_early = matches!(
        report.status(),
        Status::TimedOut | Status::Cancelled | Status::Incomplete
    );
    let whole = iteration.collection_errors.is_empty() && !ended_early;
    let facts = &report.facts;
    let reason = match (whole, iteration.collection_errors.len()) {
        (true, _) => None,
        (false, 0) => report.verdict().reason,
        (false, count) => Some(format!(
            "{count} collector{} failed",
            if count == 1 { "" } else { "s" }
        )),
    };
    Ok(Answer {
        run_id: facts.run_id.clone(),
        status: if whole { "done" } else { "incomplete" },
        reason,
        total: iteration.found.len(),
        nodeids: iteration.found.iter().map(|found| found.nodeid.clone()).collect(),
        files,
        collection_errors: iteration.collection_errors.clone(),
        deselected: iteration.deselected,
        parser: facts.backend.clone(),
        cwd: facts.cwd.to_string_lossy().into_owned(),
        selector: words::selection(&facts.asked),
        warnings: warnings(report, iteration),
        environment: EnvironmentFacts::of(report, &workspace.registry),
    })
}

impl ToolAnswer for Answer {
    fn headline(&self) -> String {
        let tests = words::count(self.total as u64, "test");
        let files = words::count(self.files.len() as u64, "file");
        let mut sentences = vec![format!("{tests} in {files}.")];
        if let Some(reason) = &self.reason {
            sentences.push(format!("The list is {}: {reason}.", self.status));
        }
        sentences.join(" ")
    }

    fn standing(&self) -> String {
        self.status.to_owned()
    }

    fn sums(&self) -> Sums {
        Sums {
            total: Some(self.total),
            ..Sums::default()
        }
    }

    fn exit(&self) -> ExitCode {
        if self.status == "done" {
            ExitCode::Passed
        } else {
            ExitCode::NotJudged
        }
    }
}
