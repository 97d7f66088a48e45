//! `run_n_times`: one test again and again, and its flake rate: the share of runs whose outcome differs from the
//! majority's. A run that never reached the test says nothing about it and never enters the rate.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::ToolAnswer;
use super::arguments::Reader;
use super::asked::RunArguments;
use super::definition::shared::{CWD, SUITE, TEST_ID, TIMEOUT};
use super::definition::{Action, Argument, Called, Definition, Hints, Kind, Needs};
use super::near::Listing;
use super::perform::perform;
use super::rate::{Power, power, wilson};
use super::rows::{self, round, warnings};
use super::run_single::{self, Reading, SingleOutcome};
use super::unanswered::{cwd_argument, unanswered};

use super::{EnvironmentFacts, ErrorKind, NextCall, OpError, Scope, Tool, Workspace, cut, words};
use engine::policy::Caller;
use engine::run::{EventSink, RunSpec};
use engine::run_id::new_run_id;
use process::Cancel;
use runner_core::backend::{Capability, Mode};
use runner_core::event::RunEvent;
use runner_core::model::{CollectionError, Outcome, Status};
use runner_core::report::{Iteration, Report};
use runner_core::verdict;

/// Most repeats that one call may ask for.
const MAX_REPEATS: u32 = 20;
/// For all iterations together, unless a person's `--timeout` or none says otherwise.
const TOTAL_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The tool.
pub static DEFINITION: Definition = Definition {
    tool: Tool::RunNTimes,
    title: "Repeat one test",
    description: "Run one test n times and measure its flake rate. Use it when a test fails only sometimes.",
    hints: Hints::RUNS,
    needs: Needs::Backend(Capability::Single),
    own: &[
        TEST_ID,
        Argument::new(
            "n",
            Kind::Count {
                least: 1,
                most: MAX_REPEATS,
            },
            "Number of runs",
        )
        .required(),
        CWD,
        TIMEOUT,
        SUITE,
    ],
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
    /// At least 1; for agents at most [`MAX_REPEATS`].
    pub n: u32,
    pub scope: Scope,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new(&DEFINITION, map);
        let over_cap = |error: OpError| {
            error.or_hint("Twenty runs show a 5 % flake most of the time; more are a matter of budget, not of evidence.")
        };
        let arguments = Self {
            test_id: reader.required_id("test_id")?,
            n: {
                let n = reader.count("n").map_err(over_cap)?;
                reader.required("n", n)
            },
            scope: Scope::read(&mut reader)?,
        };
        reader.finish()?;
        Ok(arguments)
    }
}

/// How often a test passed, and how much its runs disagree.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    pub run_id: String,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub test_id: String,
    /// Asked for and done.
    pub runs: u32,
    /// Of them, those that reached the test.
    pub valid: u32,
    pub passed: u32,
    /// Reached the test, which failed, was in error, did not end or crashed. A skip or an expected failure is neither.
    pub failed: u32,
    /// Of those that passed: only when the framework ran the test again.
    #[serde(skip_serializing_if = "rows::is_zero")]
    pub flaky: u64,
    /// Share of the valid runs whose outcome differs from the majority's, 4 digits.
    pub flake_rate: f64,
    /// Where the true rate lies, at 95 % (Wilson's interval), 4 digits: a few runs leave it wide.
    pub flake_interval: [f64; 2],
    /// How likely so many runs are to show a flake at all, for a few rates of it.
    pub would_show: Vec<Power>,
    pub majority_outcome: SingleOutcome,
    /// One word for each run, in order.
    pub outcomes: Vec<SingleOutcome>,
    pub counts: BTreeMap<&'static str, u32>,
    /// As `run K: …`.
    pub messages: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collection_errors: Vec<CollectionError>,
    pub timed_out: bool,
    pub duration_s: f64,
    pub parser: String,
    pub cwd: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
    pub environment: EnvironmentFacts,
}

/// Runs and waits for the end. Stops after the first iteration if there is no such test.
pub async fn run(
    workspace: &Workspace,
    arguments: Arguments,
    cancel: Cancel,
    sink: EventSink<'_>,
) -> Result<Answer, OpError> {
    let spec = spec(workspace, &arguments).await?;
    let listing = Listing::beside(&spec);
    // Ended from within when the first iteration shows that the rest is of no use.
    let inner = Cancel::new();
    let mut watching = |event: &RunEvent, report: &Report| {
        let first_ended = matches!(event, RunEvent::IterationEnded { .. }) && report.iterations.len() == 1;
        if first_ended && is_hopeless(report) {
            inner.ask("run_n_times");
        }
        sink(event, report);
    };
    let work = perform(workspace, new_run_id(), spec, inner.clone(), &mut watching);
    let report = tokio::select! {
        report = work => report,
        never = pass_on(&cancel, &inner) => match never {},
    };
    match answer(workspace, &report) {
        Err(error) if error.kind == ErrorKind::NoTests => {
            Err(run_single::name_near(workspace, error, listing, &arguments.test_id, cancel).await)
        }
        other => other,
    }
}

/// Hands a request to end on, for ever.
async fn pass_on(from: &Cancel, to: &Cancel) -> std::convert::Infallible {
    from.asked().await;
    to.ask(from.by());
    from.asked_at_once().await;
    to.at_once(from.by());
    std::future::pending().await
}

/// Nothing collected, or the framework does not start: it will not be better the next time.
fn is_hopeless(report: &Report) -> bool {
    let iteration = report.first();
    let nothing = iteration.rows.is_empty() && iteration.unfinished().is_empty();
    let status = verdict::judge_iteration(iteration).status;
    nothing
        && matches!(status, Status::NoTests | Status::Broken)
        && iteration.exits.iter().all(|exit| !exit.timed_out)
}

/// What the engine is to do.
pub(super) async fn spec(workspace: &Workspace, arguments: &Arguments) -> Result<RunSpec, OpError> {
    let common = RunArguments::of_test(&arguments.scope, &arguments.test_id);
    let mut spec = common.spec(workspace, Tool::RunNTimes, Mode::Run).await?;
    spec.iterations = arguments.n.max(1);
    spec.total_timeout = (workspace.policy.caller == Caller::Agent).then_some(TOTAL_LIMIT);
    Ok(spec)
}

/// The answer that a report comes to.
pub(super) fn answer(workspace: &Workspace, report: &Report) -> Result<Answer, OpError> {
    let facts = &report.facts;
    let id = facts.asked.first().map(String::as_str).unwrap_or_default();
    let done: Vec<&Iteration> = report
        .iterations
        .iter()
        .filter(|iteration| is_done(report, iteration))
        .collect();
    let readings: Vec<Reading> = done
        .iter()
        .map(|iteration| run_single::read(report, iteration, id))
        .collect();
    let outcomes: Vec<SingleOutcome> = readings.iter().map(|reading| reading.outcome).collect();
    let tally = Tally::of(&outcomes);
    let Some((majority, most)) = tally.majority else {
        return Err(never_reached(workspace, report, id));
    };
    let verdict = report.verdict();
    let reran = |reading: &&Reading| reading.rows.iter().any(|row| row.flaky);
    let flaky = readings.iter().filter(reran).count() as u64;
    let disagree = f64::from(tally.valid - most) / f64::from(tally.valid);
    let collection_errors = done
        .iter()
        .find(|iteration| !iteration.collection_errors.is_empty());
    Ok(Answer {
        run_id: facts.run_id.clone(),
        status: verdict.status,
        reason: verdict.reason,
        test_id: id.to_owned(),
        runs: outcomes.len() as u32,
        valid: tally.valid,
        passed: tally.passed,
        failed: tally.failed,
        flaky,
        flake_rate: round(disagree, 4),
        flake_interval: wilson(tally.valid - most, tally.valid)
            .unwrap_or([0.0, 1.0])
            .map(|bound| round(bound, 4)),
        would_show: power(tally.valid),
        majority_outcome: majority,
        counts: tally.counts,
        outcomes,
        messages: messages(&readings),
        collection_errors: collection_errors
            .map(|iteration| iteration.collection_errors.clone())
            .unwrap_or_default(),
        timed_out: verdict.status == Status::TimedOut,
        duration_s: round(report.duration_s, 3),
        parser: facts.backend.clone(),
        cwd: facts.cwd.to_string_lossy().into_owned(),
        warnings: warnings(report, report.first()),
        next: next(
            workspace,
            report,
            id,
            disagree > 0.0 || tally.passed < tally.valid || flaky > 0,
        ),
        environment: EnvironmentFacts::of(report, &workspace.registry),
    })
}

/// Whether an iteration went to its own end: to the framework's, or to its own time limit. One that was cut by a
/// cancel or by the limit for all of them says nothing.
fn is_done(report: &Report, iteration: &Iteration) -> bool {
    if !iteration.ended || iteration.exits.iter().any(|exit| exit.cancelled) {
        return false;
    }
    let cut_short = iteration.exits.iter().any(|exit| exit.timed_out)
        && report
            .facts
            .timeout_s
            .is_none_or(|limit| iteration.duration_s < limit - 0.5);
    !cut_short
}

/// Counts over the outcomes of all runs.
struct Tally {
    valid: u32,
    passed: u32,
    failed: u32,
    counts: BTreeMap<&'static str, u32>,
    /// The most frequent outcome among the valid runs, the first one seen where several are; and how often.
    majority: Option<(SingleOutcome, u32)>,
}

impl Tally {
    fn of(outcomes: &[SingleOutcome]) -> Self {
        let mut counts = BTreeMap::new();
        for outcome in outcomes {
            *counts.entry(outcome.as_str()).or_insert(0) += 1;
        }
        let count = |outcome: SingleOutcome| counts.get(outcome.as_str()).copied().unwrap_or(0);
        let valid = outcomes.iter().filter(|outcome| outcome.reached());
        let majority = valid
            .clone()
            .map(|&outcome| (outcome, count(outcome)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        let failed = outcomes.iter().filter(|outcome| outcome.is_bad()).count() as u32;
        Self {
            failed,
            valid: valid.count() as u32,
            passed: count(SingleOutcome::Finished(Outcome::Passed)),
            majority,
            counts,
        }
    }
}

fn messages(readings: &[Reading]) -> Vec<String> {
    let all = readings.iter().zip(1..).filter_map(|(reading, run)| {
        let row = super::locate::worst(&reading.rows)?;
        let message = row.message.as_deref()?;
        Some(format!("run {run}: {message}"))
    });
    all.collect()
}

/// No run reached the test: the first iteration says why.
fn never_reached(workspace: &Workspace, report: &Report, id: &str) -> OpError {
    if let Some(error) = unanswered(workspace, &first_alone(report)) {
        return error;
    }
    let iteration = report.first();
    let verdict = report.verdict();
    let collector = iteration.collection_errors.first();
    let why = collector
        .map(|error| {
            format!(
                "collection failed in {}:\n{}",
                error.nodeid,
                cut::middle(&error.message, super::MESSAGE_CHARS)
            )
        })
        .or(verdict.reason.clone())
        .unwrap_or_else(|| "it is not among the tests that ran".to_owned());
    let kind = match (collector, verdict.status) {
        (_, Status::Cancelled) => ErrorKind::Cancelled,
        (None, Status::Passed | Status::AllSkipped | Status::Failed | Status::NoTests) => ErrorKind::NoTests,
        _ => ErrorKind::Broken,
    };
    let message = format!("no run reached `{}`: {why}", cut::quote_truncated(id));
    OpError::new(kind, "not_reached", message).with_report(&workspace.registry, report)
}

/// The report as it would be with the first iteration alone, so that ending the others early does not hide why.
fn first_alone(report: &Report) -> Report {
    let mut first = report.clone();
    first.iterations.truncate(1);
    let by_us =
        matches!(&first.cause, Some(runner_core::event::StopReason::Cancelled { by }) if by == "run_n_times");
    if by_us {
        first.cause = Some(runner_core::event::StopReason::Done);
    }
    first
}

fn next(workspace: &Workspace, report: &Report, id: &str, trouble: bool) -> Vec<NextCall> {
    if !trouble {
        return Vec::new();
    }
    let call = NextCall::new(Tool::RunSingle, "see its full output")
        .with("test_id", id)
        .maybe("cwd", cwd_argument(workspace, report));
    vec![call]
}

impl ToolAnswer for Answer {
    /// `… over 4 runs: 2 passed, 2 not. FLAKY: …` or `… Stable (passed).`
    fn headline(&self) -> String {
        let runs = words::count(self.runs, "run");
        let mut sentences = vec![format!(
            "{} over {runs}: {} passed, {} did not.",
            self.test_id,
            self.passed,
            self.valid - self.passed
        )];
        let majority = self.majority_outcome.as_str();
        if self.flake_rate == 0.0 && self.flaky > 0 {
            sentences.push(format!(
                "FLAKY: in {} of the runs it failed at first and passed only when the framework ran it again.",
                self.flaky
            ));
        } else if self.flake_rate == 0.0 {
            let most = self.flake_interval[1] * 100.0;
            sentences.push(format!(
                "Stable ({majority}): the true flake rate is below {most:.0} % with 95 % confidence."
            ));
        } else {
            let percent = self.flake_rate * 100.0;
            sentences.push(format!(
                "FLAKY: {percent:.0} % of the runs disagree with the majority ({majority}); 95 % interval {:.0} to {:.0} %.",
                self.flake_interval[0] * 100.0,
                self.flake_interval[1] * 100.0,
            ));
        }
        if self.valid < self.runs {
            sentences.push(format!(
                "{} never reached the test and do not count.",
                self.runs - self.valid
            ));
        }
        if matches!(self.status, Status::TimedOut | Status::Cancelled) {
            let reason = self.reason.as_deref().unwrap_or(self.status.as_str());
            sentences.push(format!("Ended early: {reason}."));
        }
        sentences.join(" ")
    }

    fn status(&self) -> Option<Status> {
        Some(self.status)
    }

    fn take_next(&mut self) -> Vec<NextCall> {
        std::mem::take(&mut self.next)
    }
}
