//! `get_run`: what a run came to, or has come to so far; pages through all that is kept of it.

mod find;
mod page;

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::arguments::Reader;
use super::{Answer, OpError, Tool, Workspace, get_coverage, list_tests, run_n_times, run_single, run_suite};
use process::Cancel;
use runner_core::model::Outcome;
use runner_core::report::Report;

pub(super) use find::check_id;
pub use find::list;
pub use find::stored;
pub use page::{Page, Progress};

/// The longest that a call may wait, in seconds.
const LONGEST_WAIT: f64 = 600.0;

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

/// Answers about a run: as its own tool answers if it has ended and nothing else is asked for, else with a page.
pub async fn run(workspace: &Workspace, arguments: Arguments, cancel: Cancel) -> Result<Answer, OpError> {
    let run_id = find::known_id(workspace, &arguments.run_id)?;
    let wait = find::wait_for(workspace, &run_id, arguments.wait);
    tokio::select! {
        () = wait => {}
        () = cancel.asked() => {}
    }
    if let Some(live) = workspace.live.get(&run_id) {
        let so_far = |report: &Report| {
            let goes_on = report.cause.is_none();
            goes_on.then(|| page::going_on(workspace, report, &arguments, Some(&live)))
        };
        if let Some(page) = live.look(so_far) {
            return Ok(page);
        }
        // The last of it is being stored.
        live.ended().await;
    }
    let report = find::load_once(workspace, &run_id)?;
    if report.cause.is_none() {
        return Ok(page::going_on(workspace, &report, &arguments, None));
    }
    let output = match arguments.part {
        Some(Part::Output) => workspace
            .engine
            .store
            .as_ref()
            .and_then(|store| store.output(&workspace.root, &run_id).ok()),
        _ => None,
    };
    ended(workspace, &report, &arguments, output)
}

fn ended(
    workspace: &Workspace,
    report: &Report,
    arguments: &Arguments,
    output: Option<String>,
) -> Result<Answer, OpError> {
    if arguments.wants_a_page() {
        return page::page(workspace, report, arguments, output).map(|page| Answer::GetRun(Box::new(page)));
    }
    match Tool::from_name(&report.facts.tool) {
        Some(Tool::RunSingle) => {
            run_single::answer(workspace, report).map(|answer| Answer::RunSingle(Box::new(answer)))
        }
        Some(Tool::RunNTimes) => {
            run_n_times::answer(workspace, report).map(|answer| Answer::RunNTimes(Box::new(answer)))
        }
        Some(Tool::GetCoverage) => {
            get_coverage::answer(workspace, report).map(|answer| Answer::GetCoverage(Box::new(answer)))
        }
        Some(Tool::ListTests) => {
            list_tests::answer(workspace, report).map(|answer| Answer::ListTests(Box::new(answer)))
        }
        _ => run_suite::answer(workspace, report).map(|answer| Answer::RunSuite(Box::new(answer))),
    }
}
