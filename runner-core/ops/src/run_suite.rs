//! `run_suite`: many tests, their rows, totals and the run's status.

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::{Sums, ToolAnswer};
use super::arguments::Reader;
use super::asked::RunArguments;
use super::definition::shared::{CWD, SELECTOR, SELECTORS, SUITE, TIMEOUT};
use super::definition::{Action, Argument, Called, Definition, Hints, Kind, Needs, Pending};
use super::ids::Ids;
use super::rows::{self, round};
use super::several::{EachSuite, Runs, each, specs};
use super::spread::spread;
use super::unanswered::{cwd_argument, unanswered};
use super::{
    Changes, EnvironmentFacts, NextCall, OpError, Row, Scope, Tool, Totals, Workspace, changes, failed, words,
};
use engine::run::{EventSink, RunSpec};
use process::Cancel;
use runner_core::backend::{Capability, Filters, Mode};
use runner_core::model::{CollectionError, Outcome, Status, Unfinished};
use runner_core::report::{Iteration, Report};

/// The tool.
pub static DEFINITION: Definition = Definition {
    tool: Tool::RunSuite,
    title: "Run tests",
    description: "Run all tests or a selection. Returns status, exact totals, a row per test, failures first. \
        Use it instead of a test runner's terminal output.",
    hints: Hints::RUNS,
    needs: Needs::Backend(Capability::Run),
    own: &[
        SELECTOR,
        SELECTORS,
        Argument::new(
            "failed_of",
            Kind::String,
            "`last`: what failed and was not green since; or a run_id",
        ),
        Argument::new(
            "max_failures",
            Kind::Count {
                least: 1,
                most: u32::MAX,
            },
            "Stop after so many failures",
        ),
        CWD,
        TIMEOUT,
        SUITE,
    ],
    action: Action::Run {
        specs: |workspace, arguments| {
            Box::pin(async move { specs(workspace, &Arguments::from_json(arguments)?).await })
        },
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
    /// Paths, nodeids or keyword expressions. Empty: everything.
    pub selectors: Vec<String>,
    /// A run id, or `last`: run again what failed there.
    pub failed_of: Option<String>,
    /// A client may set `max_failures`; the others are typed by a person.
    pub filters: Filters,
    /// Words of pytest that a person may type as options of ours. They mean nothing to any other framework.
    pub pytest_words: Vec<String>,
    pub scope: Scope,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new(&DEFINITION, map);
        let arguments = Self {
            selectors: reader.selectors()?,
            failed_of: reader.string("failed_of")?,
            filters: Filters {
                max_failures: reader.count("max_failures")?,
                ..Filters::default()
            },
            pytest_words: Vec::new(),
            scope: Scope::read(&mut reader)?,
        };
        reader.finish()?;
        if arguments.failed_of.is_some() && !arguments.selectors.is_empty() {
            return Err(OpError::bad_argument(
                "`failed_of` is a selection of its own and goes without `selector` and `selectors`",
            ));
        }
        Ok(arguments)
    }
}

/// The rows of a run and what they come to.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    pub run_id: String,
    pub status: Status,
    /// Why, in words, unless the status says it all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Stopped early as it was told to (`-x`, `--maxfail`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    pub totals: Totals,
    /// Tests that passed only when they were run again.
    #[serde(skip_serializing_if = "Ids::is_empty")]
    pub flaky: Ids,
    /// One for each test that finished and each collector that failed, in the framework's order.
    pub tests: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collection_errors: Vec<CollectionError>,
    /// Tests that began and did not end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Unfinished>,
    /// Tests that the framework meant to run and never began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub never_started: Option<u64>,
    /// Collected, then set aside by the framework's own filters.
    #[serde(skip_serializing_if = "rows::is_zero")]
    pub deselected: u64,
    /// Warnings that the framework itself counted: its output has them.
    #[serde(skip_serializing_if = "rows::is_zero")]
    pub framework_warnings: u64,
    /// Null where qaas ended the run: what the framework says then is not its verdict.
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    pub timed_out: bool,
    /// Wall time, 3 digits.
    pub duration_s: f64,
    /// The backend that read the rows.
    pub parser: String,
    pub cwd: String,
    /// Null for everything.
    pub selector: Option<String>,
    /// Where more than one was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selectors: Vec<String>,
    /// Only where the run did not go through to its end, or has no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tail: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_since: Option<Changes>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
    pub environment: EnvironmentFacts,
}

/// Runs in each suite that the call is about, and waits for the end.
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

    fn shares(&self, workspace: &Workspace) -> Result<Vec<RunArguments>, OpError> {
        match &self.failed_of {
            Some(run) => failed::shares(workspace, run, &self.asked()),
            None => spread(workspace, &self.asked()),
        }
    }

    fn spec<'a>(
        &'a self,
        workspace: &'a Workspace,
        share: RunArguments,
        allowed: Option<u32>,
    ) -> Pending<'a, Result<RunSpec, OpError>> {
        Box::pin(spec(workspace, self, share, allowed))
    }

    fn answer(&self, workspace: &Workspace, report: &Report, _: &Filters) -> Result<Answer, OpError> {
        let answer = answer(workspace, report)?;
        Ok(Answer {
            changed_since: changes::since(workspace, report),
            ..answer
        })
    }

    fn most_failures(&self) -> Option<u32> {
        self.filters.max_failures
    }

    fn is_narrowed(&self) -> bool {
        let filters = &self.filters;
        !self.selectors.is_empty() || filters.keyword.is_some() || filters.markers.is_some()
    }
}

/// What the engine is to do in one suite.
pub(super) async fn spec(
    workspace: &Workspace,
    arguments: &Arguments,
    share: RunArguments,
    allowed: Option<u32>,
) -> Result<RunSpec, OpError> {
    let is_one_of_several = share.is_one_of_several;
    let mut spec = share.spec(workspace, Tool::RunSuite, Mode::Run).await?;
    let info = spec.backend.info();
    let mut filters = Filters {
        max_failures: allowed,
        ..arguments.filters.clone()
    };
    if filters.max_failures.is_some() && !info.can(Capability::MaxFailures) {
        if !is_one_of_several {
            return Err(OpError::bad_argument(format!(
                "backend `{}` cannot stop after a number of failures",
                info.name
            ))
            .with_hint("Leave `max_failures` out."));
        }
        // Among several it is what comes after it that is not begun.
        filters.max_failures = None;
        let name = &info.name;
        spec.warnings.push(format!(
            "backend `{name}` cannot stop after a number of failures: it went through to its end"
        ));
    }
    if let Some(word) = arguments.pytest_words.first() {
        if info.framework != "pytest" {
            return Err(OpError::bad_argument(format!(
                "`{word}` is pytest's, and suite `{}` is run by {}",
                spec.suite.name, info.framework
            ))
            .with_hint("Words for another framework go behind `--`."));
        }
        filters
            .extra_args
            .splice(0..0, arguments.pytest_words.iter().cloned());
    }
    spec.shows = spec.backend.shows(&filters.extra_args);
    // For the record, as it was typed: two runs with the same words asked the same question.
    let typed = [("-k", &filters.keyword), ("-m", &filters.markers)];
    spec.asked.extend(
        typed
            .iter()
            .filter_map(|(flag, word)| Some(format!("{flag} {}", word.as_ref()?))),
    );
    spec.asked.extend(filters.extra_args.iter().cloned());
    spec.filters = filters;
    Ok(spec)
}

/// The answer that a report comes to.
pub(super) fn answer(workspace: &Workspace, report: &Report) -> Result<Answer, OpError> {
    let verdict = report.verdict();
    let iteration = report.first();
    let rows = rows::rows_of(iteration);
    if let Some(error) = unanswered(workspace, report) {
        return Err(error);
    }
    let facts = &report.facts;
    let exit = iteration.exits.first();
    let whole = verdict.status.is_complete() && !rows.is_empty();
    let never_started = iteration
        .never_started()
        .filter(|&count| count > 0 && !whole | verdict.stopped);
    let many = facts.asked.len() > 1;
    let environment = EnvironmentFacts::of(report, &workspace.registry);
    let mut answer = Answer {
        run_id: facts.run_id.clone(),
        status: verdict.status,
        reason: verdict.reason,
        hint: verdict.hint.or_else(|| environment.hint()),
        stopped: verdict.stopped,
        totals: Totals(iteration.totals()),
        flaky: rows::flaky(&rows),
        tests: rows,
        collection_errors: iteration.collection_errors.clone(),
        unfinished: iteration.unfinished().to_vec(),
        never_started,
        deselected: iteration.deselected,
        framework_warnings: iteration.warned(),
        exit_code: exit.filter(|exit| !exit.was_ended()).and_then(|exit| exit.code),
        signal: exit.and_then(|exit| exit.signal),
        timed_out: verdict.status == Status::TimedOut,
        duration_s: round(report.duration_s, 3),
        parser: facts.backend.clone(),
        cwd: facts.cwd.to_string_lossy().into_owned(),
        selector: facts.asked.first().filter(|_| !many).cloned(),
        selectors: if many { facts.asked.clone() } else { Vec::new() },
        output_tail: Some(iteration.output_tail.clone())
            .filter(|text| !whole && !is_told(iteration) && !text.trim().is_empty()),
        warnings: rows::warnings(report, iteration),
        changed_since: None,
        next: Vec::new(),
        environment,
    };
    answer.next = next(workspace, report, &answer);
    Ok(answer)
}

/// Whether it is said why no test ran, or where every test was that did not end: then the framework's own account says the
/// same at length.
fn is_told(iteration: &Iteration) -> bool {
    let unfinished = iteration.unfinished();
    if unfinished.is_empty() {
        return !iteration.collection_errors.is_empty();
    }
    unfinished.iter().all(|test| test.stack.is_some())
}

fn next(workspace: &Workspace, report: &Report, answer: &Answer) -> Vec<NextCall> {
    let several = workspace
        .settings
        .as_ref()
        .is_ok_and(|settings| settings.suites.len() > 1);
    let suite = Some(answer.environment.suite.clone()).filter(|_| several);
    let bad: Vec<&Row> = answer.tests.iter().filter(|row| row.is_bad()).collect();
    let mut next = Vec::new();
    let one = bad.iter().find(|row| row.phase.is_none()).map(|row| {
        (
            &row.nodeid,
            "repeat the first failure alone, with its full output",
        )
    });
    let hung = || {
        answer
            .unfinished
            .first()
            .map(|test| (&test.nodeid, "run alone the test that did not end"))
    };
    if let Some((nodeid, why)) = one.or_else(hung) {
        next.push(
            NextCall::new(Tool::RunSingle, why)
                .with("test_id", nodeid.as_str())
                .maybe("cwd", cwd_argument(workspace, report))
                .maybe("suite", suite),
        );
    }
    if bad.len() > 1 {
        let why = format!(
            "run the {} that failed again, once the cause is mended",
            bad.len()
        );
        next.push(NextCall::new(Tool::RunSuite, why).with("failed_of", answer.run_id.as_str()));
    }
    next
}

impl ToolAnswer for Answer {
    /// `3 tests: 2 passed, 1 failed in 0.4 s.` and what else has to be known.
    fn headline(&self) -> String {
        let tests = words::count(self.totals.total(), "test");
        let mut sentences = vec![format!(
            "{tests}: {} in {:.1} s.",
            self.totals.words(),
            self.duration_s
        )];
        sentences.extend(rows::flaky_words(&self.flaky));
        if self.framework_warnings > 0 {
            sentences.push(format!("{}.", words::count(self.framework_warnings, "warning")));
        }
        let because = words::aside(self.reason.as_ref());
        let bad = self.totals.of(Outcome::Failed) + self.totals.of(Outcome::Error);
        match self.status {
            Status::Passed => {}
            Status::AllSkipped => {
                sentences.push("All of them were skipped: nothing was shown to work.".to_owned());
            }
            Status::Failed if bad > 0 && !self.stopped && self.reason.is_none() => {}
            Status::TimedOut => sentences.push(format!("TIMED OUT: these are partial results{because}.")),
            status => sentences.push(format!("Status: {status}{because}.")),
        }
        let told = self
            .reason
            .as_ref()
            .is_some_and(|reason| reason.contains("never started"));
        if let Some(count) = self.never_started.filter(|_| !told) {
            sentences.push(format!("{count} never started."));
        }
        sentences.join(" ")
    }

    fn status(&self) -> Option<Status> {
        Some(self.status)
    }

    fn sums(&self) -> Sums {
        Sums {
            totals: Some(self.totals.clone()),
            duration_s: self.duration_s,
            ..Sums::default()
        }
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
