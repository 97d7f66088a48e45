//! Part of a run: a page of its rows, its output, or how far it is.

use std::sync::Arc;

use serde::Serialize;

use super::super::answer::ToolAnswer;
use super::super::ids::Ids;
use super::super::rows::{self, round};
use super::super::{
    EnvironmentFacts, ErrorKind, LiveRun, NextCall, OpError, Row, Tool, Totals, Workspace, cut, words,
};
use super::{Arguments, PAGE_ROWS, Part};
use runner_core::model::{CollectionError, Status, Unfinished};
use runner_core::registry::nearest;
use runner_core::report::{Iteration, Report};

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
    /// Tests that passed only when they were run again.
    #[serde(skip_serializing_if = "Ids::is_empty")]
    pub flaky: Ids,
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
    /// Of the lines of the output that were searched: how many were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
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

/// A run that goes on, here or in another process (a record whose process is gone has an end).
pub(super) fn going_on(
    workspace: &Workspace,
    report: &Report,
    arguments: &Arguments,
    live: Option<&Arc<LiveRun>>,
) -> Page {
    let mut page = bare(report);
    page.progress = Some(Progress::of(report));
    let bad = failures_first(report);
    page.matching = Some(bad.len());
    page.tests = bad
        .into_iter()
        .take(arguments.limit.unwrap_or(PAGE_ROWS) as usize)
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
        Some(EnvironmentFacts::of(report, &workspace.registry)).filter(|facts| !facts.backend.is_empty());
    page
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
    let all: Vec<Row> = report.iterations.iter().flat_map(rows::rows_of).collect();
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
        flaky: rows::flaky(&all),
        progress: None,
        tests: Vec::new(),
        nodeids: Vec::new(),
        matching: None,
        offset: 0,
        cursor: None,
        output: None,
        lines: None,
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
        selector: words::selection(&facts.asked),
        warnings: Vec::new(),
        next: Vec::new(),
        environment: None,
    }
}

pub(super) fn page(
    workspace: &Workspace,
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
        if let Some(output) = &mut page.output {
            let (lines, matching) = lines(output, arguments);
            *output = lines;
            page.lines = matching;
        }
        return Ok(page);
    }
    let limit = arguments.limit.unwrap_or(PAGE_ROWS) as usize;
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
            return Err(no_such_row(workspace, report, nodeid));
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

/// The lines that are asked for, each with its number where some are left out between; and how many were found.
fn lines(output: &str, arguments: &Arguments) -> (String, Option<usize>) {
    let (search, tail) = (arguments.search.as_deref(), arguments.tail);
    if search.is_none() && tail.is_none() {
        return (output.to_owned(), None);
    }
    let wanted = search.map(str::to_lowercase);
    let found = output.lines().zip(1..).filter(|(line, _)| {
        wanted
            .as_ref()
            .is_none_or(|wanted| line.to_lowercase().contains(wanted))
    });
    let mut found: Vec<(&str, u32)> = found.collect();
    let matching = found.len();
    let from = tail.map_or(0, |tail| matching.saturating_sub(tail as usize));
    let shown = found.drain(from..).map(|(line, number)| match search {
        Some(_) => format!("{number}: {line}"),
        None => line.to_owned(),
    });
    (shown.collect::<Vec<_>>().join("\n"), search.map(|_| matching))
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

fn no_such_row(workspace: &Workspace, report: &Report, nodeid: &str) -> OpError {
    let rows = report.iterations.iter().flat_map(|iteration| &iteration.rows);
    let near = nearest(nodeid, rows.map(|row| row.nodeid.as_str()));
    let message = format!(
        "run {} has no test `{}`",
        report.facts.run_id,
        cut::quote_truncated(nodeid)
    );
    let mut error = OpError::new(ErrorKind::BadRequest, "no_such_test", message);
    error.known.run_id = Some(report.facts.run_id.clone());
    error.known.environment = Some(EnvironmentFacts::of(report, &workspace.registry));
    match near {
        Some(near) => error.with_hint(format!("Did you mean `{near}`?")),
        None => error,
    }
}

fn one_output(rows: &[Row]) -> Option<String> {
    let texts: Vec<&str> = rows.iter().filter_map(|row| row.output.as_deref()).collect();
    Some(texts.join("\n\n")).filter(|text| !text.is_empty())
}

impl ToolAnswer for Page {
    fn headline(&self) -> String {
        let Self { run_id, status, .. } = self;
        let mut sentences = vec![format!("Run {run_id}: {status}.")];
        if let Some(progress) = &self.progress {
            let of = progress
                .selected
                .map_or_else(String::new, |selected| format!(" of {selected}"));
            sentences.push(format!(
                "{}{of} tests finished, {} failed so far.",
                progress.finished, progress.failures
            ));
            return sentences.join(" ");
        }
        let tests = words::count(self.totals.total(), "test");
        sentences.push(format!("{tests}: {}.", self.totals.words()));
        sentences.extend(rows::flaky_words(&self.flaky));
        if let Some(lines) = self.lines {
            let be = if lines == 1 { "holds" } else { "hold" };
            sentences.push(format!(
                "{} of the output {be} it.",
                words::count(lines as u64, "line")
            ));
        }
        let shown = self.tests.len() + self.nodeids.len();
        if let Some(matching) = self.matching
            && shown > 0
        {
            sentences.push(format!(
                "Showing {} to {} of {matching}.",
                self.offset + 1,
                self.offset + shown
            ));
        }
        sentences.join(" ")
    }

    fn status(&self) -> Option<Status> {
        Some(self.status)
    }

    fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.tests)
    }

    fn take_next(&mut self) -> Vec<NextCall> {
        std::mem::take(&mut self.next)
    }
}
