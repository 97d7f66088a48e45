//! `run_single`: one test by its exact id, with its whole failure text.

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::ToolAnswer;
use super::arguments::Reader;
use super::asked::RunArguments;
use super::definition::shared::{CWD, SUITE, TEST_ID, TIMEOUT};
use super::definition::{Action, Called, Definition, Hints, Needs};
use super::locate::{AskedTest, worst};
use super::near::{self, Listing};
use super::perform::perform;
use super::rows::{self, round};
use super::unanswered::{cwd_argument, unanswered};
use super::{EnvironmentFacts, ErrorKind, NextCall, OpError, Row, Scope, Tool, Workspace, cut, words};
use engine::run::{EventSink, RunSpec};
use engine::run_id::new_run_id;
use process::Cancel;
use runner_core::backend::{Capability, Mode};
use runner_core::model::{Attempt, CollectionError, Outcome, Status, Unfinished};
use runner_core::report::{Iteration, Report};

/// The tool.
pub static DEFINITION: Definition = Definition {
    tool: Tool::RunSingle,
    title: "Run one test",
    description: "Run one test by nodeid and get its whole failure output. Use it to look into a failure.",
    hints: Hints::RUNS,
    needs: Needs::Backend(Capability::Single),
    own: &[TEST_ID, CWD, TIMEOUT, SUITE],
    action: Action::Run {
        specs: |workspace, arguments| {
            Box::pin(async move { Ok(vec![spec(workspace, &Arguments::from_json(arguments)?).await?]) })
        },
        call: |call| {
            Box::pin(async move {
                let arguments = Arguments::from_json(call.arguments)?;
                let answer = run(call.workspace, arguments, call.cancel, call.sink).await?;
                Ok(Called::answer(answer))
            })
        },
        answer: |workspace, report| Ok(Box::new(answer(workspace, report)?)),
    },
};

/// What may be asked.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    pub test_id: String,
    pub scope: Scope,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new(&DEFINITION, map);
        let arguments = Self {
            test_id: reader.required_id("test_id")?,
            scope: Scope::read(&mut reader)?,
        };
        reader.finish()?;
        Ok(arguments)
    }
}

/// One test's result. An id that stands for several (a parametrised function, a class) answers with the worst, and
/// has them all in `tests`.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    pub run_id: String,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// As the framework names it, or as it was asked for if it stands for several.
    pub nodeid: String,
    pub outcome: SingleOutcome,
    /// It passed only when it was run again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
    /// Its earlier tries in this run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    pub duration_s: Option<f64>,
    pub message: Option<String>,
    /// Failure sections in full, and what it printed, also where it passed.
    pub output: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collection_errors: Vec<CollectionError>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Unfinished>,
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    pub timed_out: bool,
    pub parser: String,
    pub cwd: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
    pub environment: EnvironmentFacts,
}

/// An outcome, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleOutcome {
    Finished(Outcome),
    /// It was running when the time limit came.
    Timeout,
    /// It was running when the framework's process died.
    Crashed,
    /// The framework never came to it.
    NotCollected,
}

impl Serialize for SingleOutcome {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl SingleOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Finished(outcome) => outcome.as_str(),
            Self::Timeout => "timeout",
            Self::Crashed => "crashed",
            Self::NotCollected => "not_collected",
        }
    }

    /// Whether it says that something is wrong with the test.
    pub fn is_bad(self) -> bool {
        match self {
            Self::Finished(outcome) => outcome.is_bad(),
            Self::Timeout | Self::Crashed => true,
            Self::NotCollected => false,
        }
    }

    /// Whether the test began.
    pub fn reached(self) -> bool {
        self != Self::NotCollected
    }
}

/// Runs and waits for the end.
pub async fn run(
    workspace: &Workspace,
    arguments: Arguments,
    cancel: Cancel,
    sink: EventSink<'_>,
) -> Result<Answer, OpError> {
    let spec = spec(workspace, &arguments).await?;
    let listing = Listing::beside(&spec);
    let report = perform(workspace, new_run_id(), spec, cancel.clone(), sink).await;
    match answer(workspace, &report) {
        Err(error) if error.kind == ErrorKind::NoTests => {
            Err(name_near(workspace, error, listing, &arguments.test_id, cancel).await)
        }
        other => other,
    }
}

/// What the engine is to do.
pub(super) async fn spec(workspace: &Workspace, arguments: &Arguments) -> Result<RunSpec, OpError> {
    let common = RunArguments::of_test(&arguments.scope, &arguments.test_id);
    let mut spec = common.spec(workspace, Tool::RunSingle, Mode::Run).await?;
    // Whoever asks for one test wants to see what is the matter with it.
    spec.filters.full_texts = true;
    Ok(spec)
}

/// Adds the ids that may have been meant.
pub(super) async fn name_near(
    workspace: &Workspace,
    mut error: OpError,
    listing: Option<Listing>,
    id: &str,
    cancel: Cancel,
) -> OpError {
    let near = match listing {
        Some(listing) if error.known.deselected == 0 => listing.nearest(workspace, id, cancel).await,
        _ => Vec::new(),
    };
    if let Some(hint) = near::hint(id, &near) {
        error.error.hint = Some(hint);
    }
    error
}

/// What one iteration says about the asked test: its rows, and the outcome they come to.
pub(super) struct Reading {
    pub(super) outcome: SingleOutcome,
    pub(super) rows: Vec<Row>,
    /// The asked test, or one of those that the id stands for, began and did not end.
    pub(super) unfinished: Vec<Unfinished>,
    /// Tests that finished although they were not asked for, and how many of them were not good.
    beside: (usize, usize),
}

impl Reading {
    /// That other tests ran too, in words: they are part of the run and of its status, and not of the asked test's outcome.
    pub(super) fn beside(&self, report: &Report) -> Option<String> {
        let (others, bad) = self.beside;
        if others == 0 || !self.outcome.reached() {
            return None;
        }
        let bad = match bad {
            0 => String::new(),
            bad => format!(" ({bad} of them did not pass)"),
        };
        let backend = &report.facts.backend;
        Some(format!(
            "backend `{backend}` also ran {others} tests that were not asked for{bad}: they count in `status`, not in `outcome`"
        ))
    }
}

/// Reads an iteration for the asked test.
pub(super) fn read(report: &Report, iteration: &Iteration, id: &str) -> Reading {
    let facts = &report.facts;
    let asked = AskedTest {
        id,
        root: &facts.root,
        cwd: &facts.cwd,
    };
    let all = rows::rows_of(iteration);
    let tests = all.iter().filter(|row| row.phase.is_none() || row.nodeid == id);
    let names = tests.map(|row| row.nodeid.as_str());
    let running = iteration.unfinished().iter().map(|test| test.nodeid.as_str());
    let picked = asked.pick(names.chain(running));
    let mut unfinished = iteration.unfinished().to_vec();
    unfinished.retain(|test| picked.contains(test.nodeid.as_str()));
    let mut rows: Vec<Row> = all
        .iter()
        .filter(|row| picked.contains(row.nodeid.as_str()))
        .cloned()
        .collect();
    let others = all
        .iter()
        .filter(|row| row.phase.is_none() && !picked.contains(row.nodeid.as_str()));
    let beside = (others.clone().count(), others.filter(|row| row.is_bad()).count());
    // A file that does not import is the row of no test, even where its id is the asked one.
    let failed_collector = rows.iter().all(|row| row.phase.is_some()) && rows.iter().any(Row::is_bad);
    if failed_collector {
        rows.clear();
    }
    let timed_out = report.status() == Status::TimedOut && iteration.exits.iter().any(|exit| exit.timed_out);
    let outcome = match (unfinished.is_empty(), worst(&rows)) {
        (true, Some(row)) => SingleOutcome::Finished(row.outcome),
        (false, _) if timed_out => SingleOutcome::Timeout,
        (false, _) => SingleOutcome::Crashed,
        (true, None) if timed_out && all.is_empty() => SingleOutcome::Timeout,
        (true, None) => SingleOutcome::NotCollected,
    };
    Reading {
        outcome,
        rows,
        unfinished,
        beside,
    }
}

/// The answer that a report comes to.
pub(super) fn answer(workspace: &Workspace, report: &Report) -> Result<Answer, OpError> {
    if let Some(error) = unanswered(workspace, report) {
        return Err(error);
    }
    let facts = &report.facts;
    let id = facts.asked.first().map(String::as_str).unwrap_or_default();
    let iteration = report.first();
    let reading = read(report, iteration, id);
    if reading.outcome == SingleOutcome::NotCollected && iteration.collection_errors.is_empty() {
        return Err(not_among(workspace, report, id));
    }
    let verdict = report.verdict();
    let exit = iteration.exits.first();
    let shown = worst(&reading.rows);
    let environment = EnvironmentFacts::of(report, &workspace.registry);
    let collector = iteration
        .collection_errors
        .first()
        .filter(|_| !reading.outcome.reached());
    let durations: Option<Vec<f64>> = reading.rows.iter().map(|row| row.duration_s).collect();
    let duration = durations
        .filter(|all| !all.is_empty())
        .map(|all| round(all.iter().sum(), 4));
    let nodeid = match (reading.rows.as_slice(), reading.unfinished.as_slice()) {
        ([row], []) => row.nodeid.clone(),
        _ => id.to_owned(),
    };
    Ok(Answer {
        run_id: facts.run_id.clone(),
        status: verdict.status,
        reason: verdict.reason,
        hint: verdict.hint.or_else(|| environment.hint()),
        outcome: reading.outcome,
        flaky: reading.rows.iter().any(|row| row.flaky),
        attempts: match reading.rows.as_slice() {
            [row] => row.attempts.clone(),
            _ => Vec::new(),
        },
        duration_s: duration,
        message: shown
            .and_then(|row| row.message.clone())
            .or_else(|| collector.map(|error| error.message.clone())),
        output: output(&reading, iteration),
        collection_errors: iteration.collection_errors.clone(),
        exit_code: exit.and_then(|exit| exit.code),
        signal: exit.and_then(|exit| exit.signal),
        timed_out: verdict.status == Status::TimedOut,
        parser: facts.backend.clone(),
        cwd: facts.cwd.to_string_lossy().into_owned(),
        warnings: rows::warnings(report, iteration)
            .into_iter()
            .chain(reading.beside(report))
            .collect(),
        next: next(workspace, report, &nodeid, reading.outcome),
        environment,
        unfinished: reading.unfinished,
        tests: if reading.rows.len() > 1 {
            reading.rows
        } else {
            Vec::new()
        },
        nodeid,
    })
}

/// The run had tests, but not this one.
fn not_among(workspace: &Workspace, report: &Report, id: &str) -> OpError {
    let iteration = report.first();
    let others = iteration.finished_tests();
    let message = if others > 0 {
        format!(
            "`{}` is not among the {others} tests that ran",
            cut::quote_truncated(id)
        )
    } else {
        format!("`{}` was not collected", cut::quote_truncated(id))
    };
    OpError::new(ErrorKind::NoTests, "no_such_test", message).with_report(&workspace.registry, report)
}

/// The failure sections of all bad rows; where there is no row, the last output.
fn output(reading: &Reading, iteration: &Iteration) -> Option<String> {
    let tail = || Some(iteration.output_tail.clone());
    let text = match reading.outcome {
        SingleOutcome::Finished(Outcome::Passed) => {
            let printed = reading.rows.iter().filter_map(|row| row.output.as_deref());
            Some(printed.collect::<Vec<_>>().join("\n\n"))
        }
        SingleOutcome::Finished(outcome) => {
            let rows: Vec<&Row> = reading.rows.iter().filter(|row| row.outcome == outcome).collect();
            let many = rows.len() > 1;
            let sections: Vec<String> = rows.iter().filter_map(|row| section(row, many)).collect();
            if sections.is_empty() && outcome.is_bad() {
                tail()
            } else {
                Some(sections.join("\n\n"))
            }
        }
        SingleOutcome::Timeout | SingleOutcome::Crashed => {
            let stacks: Vec<&str> = reading
                .unfinished
                .iter()
                .filter_map(|test| test.stack.as_deref())
                .collect();
            // Where they say it, the framework's own account of the same is the longer one.
            if stacks.is_empty() {
                tail()
            } else {
                Some(stacks.join("\n\n"))
            }
        }
        SingleOutcome::NotCollected => tail(),
    };
    text.filter(|text| !text.trim().is_empty())
        .map(|text| text.trim_matches('\n').to_owned())
}

fn section(row: &Row, named: bool) -> Option<String> {
    let message = row.message.as_deref().unwrap_or_default();
    let mut text = message.to_owned();
    if let Some(output) = row
        .output
        .as_deref()
        .filter(|output| !message.contains(output.trim()))
    {
        text.push_str("\n\n");
        text.push_str(output);
    }
    let text = text.trim();
    match (text.is_empty(), named) {
        (true, _) => None,
        (false, true) => Some(format!("=== {} ===\n{text}", row.nodeid)),
        (false, false) => Some(text.to_owned()),
    }
}

fn next(workspace: &Workspace, report: &Report, nodeid: &str, outcome: SingleOutcome) -> Vec<NextCall> {
    match outcome {
        SingleOutcome::Finished(outcome) if outcome.is_bad() => {
            let call = NextCall::new(Tool::RunNTimes, "see whether it fails every time")
                .with("test_id", nodeid)
                .with("n", 5)
                .maybe("cwd", cwd_argument(workspace, report));
            vec![call]
        }
        _ => Vec::new(),
    }
}

impl ToolAnswer for Answer {
    /// `tests/test_a.py::test_x: failed in 0.4 s.`
    fn headline(&self) -> String {
        let time = self
            .duration_s
            .map(|seconds| format!(" in {seconds:.1} s"))
            .unwrap_or_default();
        let of = self.tests.len();
        let of = if of > 1 {
            format!(" (the worst of {of})")
        } else {
            String::new()
        };
        let mut sentences = vec![format!("{}: {}{time}{of}.", self.nodeid, self.outcome.as_str())];
        if self.flaky {
            sentences.push("FLAKY: it failed at first and passed when run again.".to_owned());
        }
        let expected = match self.outcome {
            SingleOutcome::Finished(outcome) if outcome.is_bad() => Status::Failed,
            SingleOutcome::Finished(Outcome::Skipped) => Status::AllSkipped,
            SingleOutcome::Finished(_) => Status::Passed,
            _ => Status::Queued,
        };
        if self.status != expected {
            let because = words::aside(self.reason.as_ref());
            sentences.push(format!("The run's status: {}{because}.", self.status));
        }
        sentences.join(" ")
    }

    fn status(&self) -> Option<Status> {
        Some(self.status)
    }

    fn is_green(&self) -> bool {
        self.status.is_green()
    }

    fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.tests)
    }

    fn take_next(&mut self) -> Vec<NextCall> {
        std::mem::take(&mut self.next)
    }
}
