//! `get_run`: what a run came to, or has come to so far; pages through all that is kept of it.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::arguments::Reader;
use super::rows::{self, round};
use super::{
    Answer, Desk, EnvironmentFacts, ErrorKind, LiveRun, NextCall, OpError, Row, Tool, Totals, get_coverage,
    list_tests, run_n_times, run_single, run_suite,
};
use crate::engine::is_run_id;
use crate::model::{CollectionError, Outcome, Status, Unfinished};
use crate::process::Cancel;
use crate::report::{Iteration, Report};
use crate::store::{StoreError, Summary};

/// Rows of a page that names no `limit`.
const PAGE: u32 = 500;
/// The longest that a call may wait, in seconds.
const LONGEST_WAIT: f64 = 600.0;
/// How often the record of another process's run is looked at while waiting.
const GLANCE: Duration = Duration::from_millis(250);

/// What may be asked.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// A run id, or `last`.
    pub run_id: String,
    /// Where the page begins, as an earlier page gave it.
    pub cursor: Option<usize>,
    /// Only this test.
    pub nodeid: Option<String>,
    /// Only tests with this outcome.
    pub outcome: Option<Outcome>,
    pub part: Option<Part>,
    /// How long to wait for the run's end.
    pub wait: Duration,
    /// Rows in a page.
    pub limit: Option<u32>,
}

/// Which part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What the processes printed.
    Output,
    /// The rows that are not green.
    Failures,
    /// All rows.
    Tests,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new("get_run", map);
        let run_id = reader.required_string("run_id")?;
        let cursor = match reader.string("cursor")? {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| {
                OpError::bad_argument(
                    "`cursor` must be taken as it stands from an earlier page of the same run",
                )
            })?),
        };
        let nodeid = reader.string("nodeid")?;
        let outcome = match reader.string("outcome")? {
            None => None,
            Some(word) => Some(one_of(
                "outcome",
                &word,
                Outcome::ALL.map(|outcome| (outcome.as_str(), outcome)),
            )?),
        };
        let parts = [
            ("output", Part::Output),
            ("failures", Part::Failures),
            ("tests", Part::Tests),
        ];
        let part = match reader.string("part")? {
            None => None,
            Some(word) => Some(one_of("part", &word, parts)?),
        };
        let wait = reader.seconds("wait_s", 0.0)?.unwrap_or_default();
        if wait.as_secs_f64() > LONGEST_WAIT {
            return Err(OpError::bad_argument(format!(
                "`wait_s` may be at most {LONGEST_WAIT}"
            )));
        }
        let limit = reader.count("limit", 1, 100_000)?;
        reader.finish()?;
        Ok(Self {
            run_id,
            cursor,
            nodeid,
            outcome,
            part,
            wait,
            limit,
        })
    }

    fn wants_a_page(&self) -> bool {
        self.cursor.is_some()
            || self.nodeid.is_some()
            || self.outcome.is_some()
            || self.part.is_some()
            || self.limit.is_some()
    }
}

fn one_of<T: Copy, const N: usize>(name: &str, word: &str, choices: [(&str, T); N]) -> Result<T, OpError> {
    let found = choices.iter().find(|(choice, _)| *choice == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
        OpError::bad_argument(format!("`{name}` must be one of {}", words.join(", ")))
    })
}

/// A page of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    pub run_id: String,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tool that began the run.
    pub tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Of the whole run, whatever the page shows.
    pub totals: Totals,
    /// How far a run is that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Row>,
    /// The same for a list of tests that were not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodeids: Vec<String>,
    /// How many rows all pages together have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matching: Option<usize>,
    /// Where this page begins.
    #[serde(skip)]
    pub offset: usize,
    /// Where the next page begins: the number of the first row that is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collection_errors: Vec<CollectionError>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Unfinished>,
    pub exit_code: Option<i32>,
    pub timed_out: bool,
    pub duration_s: f64,
    pub parser: String,
    pub cwd: String,
    pub selector: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentFacts>,
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Progress {
    pub finished: usize,
    /// How many tests there are to run, where the framework said so.
    pub selected: Option<u64>,
    pub failures: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<String>,
    pub iteration: usize,
    pub iterations: u32,
}

impl Progress {
    /// Of the iteration that goes on.
    pub fn of(report: &Report) -> Self {
        let iteration = report.iterations.last().unwrap_or_else(|| report.first());
        Self {
            finished: iteration.finished_tests(),
            selected: iteration.selected,
            failures: iteration.rows.iter().filter(|row| row.outcome.is_bad()).count()
                + iteration.collection_errors.len(),
            running: iteration
                .unfinished()
                .iter()
                .map(|test| test.nodeid.clone())
                .collect(),
            iteration: report.iterations.len(),
            iterations: report.facts.iterations.max(1),
        }
    }
}

/// Answers about a run: as its own tool answers if it has ended and nothing else is asked for, else with a page.
pub async fn run(desk: &Desk, arguments: Arguments, cancel: Cancel) -> Result<Answer, OpError> {
    let run_id = known_id(desk, &arguments.run_id)?;
    let wait = wait_for(desk, &run_id, arguments.wait);
    tokio::select! {
        () = wait => {}
        () = cancel.asked() => {}
    }
    let live = desk.live.get(&run_id);
    if let Some(live) = live {
        return live.look(|report| match report.cause.is_some() {
            true => ended(desk, report, &arguments, None),
            false => Ok(going_on(desk, report, &arguments, Some(&live))),
        });
    }
    let report = load(desk, &run_id)?;
    if report.cause.is_none() {
        return Ok(going_on(desk, &report, &arguments, None));
    }
    let output = match arguments.part {
        Some(Part::Output) => desk
            .engine
            .store
            .as_ref()
            .and_then(|store| store.output(&desk.root, &run_id).ok()),
        _ => None,
    };
    ended(desk, &report, &arguments, output)
}

/// The stored runs of this repository, newest first.
pub fn list(desk: &Desk) -> Vec<Summary> {
    desk.engine
        .store
        .as_ref()
        .map(|store| store.list(&desk.root))
        .unwrap_or_default()
}

/// The record of a run, by id or `last`; of one that goes on, so far.
pub(super) fn stored(desk: &Desk, run: &str) -> Result<Report, OpError> {
    let run_id = known_id(desk, run)?;
    match desk.live.get(&run_id) {
        Some(live) => Ok(live.look(Report::clone)),
        None => load(desk, &run_id),
    }
}

fn load(desk: &Desk, run_id: &str) -> Result<Report, OpError> {
    let store = desk.engine.store.as_ref().ok_or_else(|| no_such_run(run_id))?;
    store.load(&desk.root, run_id).map_err(|error| match error {
        StoreError::NoSuchRun { .. } => no_such_run(run_id),
        other => other.into(),
    })
}

fn no_such_run(run_id: &str) -> OpError {
    OpError::new(
        ErrorKind::BadRequest,
        "no_such_run",
        format!(
            "there is no run `{}` of this repository",
            super::cut::echo(run_id)
        ),
    )
    .with_hint("Give the `run_id` of an answer, or `last`.")
}

/// Refuses what no run id looks like, before it comes near a path.
pub(super) fn check_id(run_id: &str) -> Result<(), OpError> {
    if !is_run_id(run_id) {
        return Err(no_such_run(run_id));
    }
    Ok(())
}

/// `last` as the id of the last run of tests; other ids checked for their shape.
fn known_id(desk: &Desk, run: &str) -> Result<String, OpError> {
    if run != "last" {
        check_id(run)?;
        return Ok(run.to_owned());
    }
    let listing = Tool::ListTests.name();
    let last = list(desk)
        .into_iter()
        .find(|summary| summary.facts.tool != listing);
    last.map(|summary| summary.facts.run_id).ok_or_else(|| {
        OpError::new(
            ErrorKind::BadRequest,
            "no_such_run",
            "no run of this repository is stored yet",
        )
        .with_next(NextCall::new(Tool::RunSuite, "run the tests"))
    })
}

async fn wait_for(desk: &Desk, run_id: &str, limit: Duration) {
    if limit.is_zero() {
        return;
    }
    let ended = async {
        if let Some(live) = desk.live.get(run_id) {
            live.ended().await;
            return;
        }
        while load(desk, run_id).is_ok_and(|report| report.cause.is_none()) {
            tokio::time::sleep(GLANCE).await;
        }
    };
    // Waiting in vain is no error: the answer says how far the run is.
    let _ = tokio::time::timeout(limit, ended).await;
}

fn ended(
    desk: &Desk,
    report: &Report,
    arguments: &Arguments,
    output: Option<String>,
) -> Result<Answer, OpError> {
    if arguments.wants_a_page() {
        return page(desk, report, arguments, output).map(|page| Answer::GetRun(Box::new(page)));
    }
    match Tool::from_name(&report.facts.tool) {
        Some(Tool::RunSingle) => {
            run_single::answer(desk, report).map(|answer| Answer::RunSingle(Box::new(answer)))
        }
        Some(Tool::RunNTimes) => {
            run_n_times::answer(desk, report).map(|answer| Answer::RunNTimes(Box::new(answer)))
        }
        Some(Tool::GetCoverage) => {
            get_coverage::answer(desk, report).map(|answer| Answer::GetCoverage(Box::new(answer)))
        }
        Some(Tool::ListTests) => {
            list_tests::answer(desk, report).map(|answer| Answer::ListTests(Box::new(answer)))
        }
        _ => run_suite::answer(desk, report).map(|answer| Answer::RunSuite(Box::new(answer))),
    }
}

/// A run that goes on, here or in another process (a record whose process is gone has an end).
fn going_on(desk: &Desk, report: &Report, arguments: &Arguments, live: Option<&Arc<LiveRun>>) -> Answer {
    let mut page = bare(report);
    page.progress = Some(Progress::of(report));
    let bad = failures_first(report);
    page.matching = Some(bad.len());
    page.tests = bad
        .into_iter()
        .take(arguments.limit.unwrap_or(PAGE) as usize)
        .collect();
    match live {
        Some(live) => {
            if page.run_id.is_empty() {
                live.tool.clone_into(&mut page.tool);
                page.run_id.clone_from(&live.run_id);
            }
            page.next = vec![
                NextCall::new(Tool::GetRun, "wait for its end")
                    .with("run_id", page.run_id.as_str())
                    .with("wait_s", 60),
                NextCall::new(Tool::CancelRun, "end it").with("run_id", page.run_id.as_str()),
            ];
        }
        None => page
            .warnings
            .push("this run goes on in another qaas process, and can only be ended there".to_owned()),
    }
    page.environment =
        Some(EnvironmentFacts::of(report, &desk.registry)).filter(|facts| !facts.backend.is_empty());
    Answer::GetRun(Box::new(page))
}

fn failures_first(report: &Report) -> Vec<Row> {
    report
        .iterations
        .iter()
        .flat_map(rows::rows_of)
        .filter(Row::is_bad)
        .collect()
}

/// What every page says.
fn bare(report: &Report) -> Page {
    let verdict = report.verdict();
    let facts = &report.facts;
    let iteration = report.first();
    let exit = iteration.exits.first();
    let mut totals = Totals::default();
    for iteration in &report.iterations {
        for (outcome, count) in iteration.totals() {
            *totals.0.entry(outcome).or_default() += count;
        }
    }
    Page {
        run_id: facts.run_id.clone(),
        status: verdict.status,
        reason: verdict.reason,
        tool: facts.tool.clone(),
        part: None,
        totals,
        progress: None,
        tests: Vec::new(),
        nodeids: Vec::new(),
        matching: None,
        offset: 0,
        cursor: None,
        output: None,
        collection_errors: Vec::new(),
        unfinished: report
            .iterations
            .iter()
            .flat_map(Iteration::unfinished)
            .cloned()
            .collect(),
        exit_code: exit.and_then(|exit| exit.code),
        timed_out: verdict.status == Status::TimedOut,
        duration_s: round(report.duration_s, 3),
        parser: facts.backend.clone(),
        cwd: facts.cwd.to_string_lossy().into_owned(),
        selector: Some(facts.selection.join(" ")).filter(|words| !words.is_empty()),
        warnings: Vec::new(),
        next: Vec::new(),
        environment: None,
    }
}

fn page(
    desk: &Desk,
    report: &Report,
    arguments: &Arguments,
    output: Option<String>,
) -> Result<Page, OpError> {
    let mut page = bare(report);
    page.part = arguments.part;
    if arguments.part == Some(Part::Output) {
        page.output = output.or_else(|| {
            report
                .iterations
                .last()
                .map(|iteration| iteration.output_tail.clone())
        });
        return Ok(page);
    }
    let limit = arguments.limit.unwrap_or(PAGE) as usize;
    page.offset = arguments.cursor.unwrap_or(0);
    let list = !report.first().found.is_empty();
    let matching = if list {
        let wanted = |nodeid: &&str| arguments.nodeid.as_deref().is_none_or(|asked| asked == *nodeid);
        let found = report
            .first()
            .found
            .iter()
            .map(|found| found.nodeid.as_str())
            .filter(wanted);
        page.nodeids = found
            .clone()
            .skip(page.offset)
            .take(limit)
            .map(str::to_owned)
            .collect();
        found.count()
    } else {
        let rows = matching_rows(report, arguments);
        if let (true, Some(nodeid)) = (rows.is_empty(), &arguments.nodeid) {
            return Err(no_such_row(desk, report, nodeid));
        }
        let count = rows.len();
        page.tests = rows.into_iter().skip(page.offset).take(limit).collect();
        count
    };
    if arguments.nodeid.is_some() {
        page.output = one_output(&page.tests);
    }
    page.matching = Some(matching);
    let shown = page.offset + page.tests.len() + page.nodeids.len();
    page.cursor = (shown < matching).then(|| shown.to_string());
    Ok(page)
}

fn matching_rows(report: &Report, arguments: &Arguments) -> Vec<Row> {
    let rows = report.iterations.iter().flat_map(rows::rows_of);
    rows.filter(|row| {
        arguments
            .nodeid
            .as_ref()
            .is_none_or(|nodeid| *nodeid == row.nodeid)
            && arguments.outcome.is_none_or(|outcome| outcome == row.outcome)
            && (arguments.part != Some(Part::Failures) || row.is_bad())
    })
    .collect()
}

fn no_such_row(desk: &Desk, report: &Report, nodeid: &str) -> OpError {
    let rows = report.iterations.iter().flat_map(|iteration| &iteration.rows);
    let near = crate::registry::nearest(nodeid, rows.map(|row| row.nodeid.as_str()));
    let message = format!(
        "run {} has no test `{}`",
        report.facts.run_id,
        super::cut::echo(nodeid)
    );
    let mut error = OpError::new(ErrorKind::BadRequest, "no_such_test", message);
    error.known.run_id = Some(report.facts.run_id.clone());
    error.known.environment = Some(EnvironmentFacts::of(report, &desk.registry));
    match near {
        Some(near) => error.with_hint(format!("Did you mean `{near}`?")),
        None => error,
    }
}

fn one_output(rows: &[Row]) -> Option<String> {
    let texts: Vec<&str> = rows.iter().filter_map(|row| row.output.as_deref()).collect();
    Some(texts.join("\n\n")).filter(|text| !text.is_empty())
}

impl Page {
    pub fn headline(&self) -> String {
        let Self { run_id, status, .. } = self;
        let mut text = format!("Run {run_id}: {status}.");
        if let Some(progress) = &self.progress {
            let of = progress
                .selected
                .map_or_else(String::new, |selected| format!(" of {selected}"));
            text.push_str(&format!(
                " {}{of} tests finished, {} failed so far.",
                progress.finished, progress.failures
            ));
            return text;
        }
        text.push_str(&format!(
            " {} tests: {}.",
            self.totals.total(),
            self.totals.words()
        ));
        let shown = self.tests.len() + self.nodeids.len();
        if let Some(matching) = self.matching
            && shown > 0
        {
            text.push_str(&format!(
                " Showing {} to {} of {matching}.",
                self.offset + 1,
                self.offset + shown
            ));
        }
        text
    }
}
