//! `get_run`: what a run came to, or has come to so far; pages through all that is kept of it.

mod page;

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::arguments::Reader;
use super::definition::shared::RUN_ID;
use super::definition::{Action, Argument, Called, DefaultValue, Definition, Hints, Kind, Needs};
use super::{OpError, Tool, Workspace, stored};
use process::Cancel;
use runner_core::backend::Capability;
use runner_core::model::Outcome;
use runner_core::report::Report;

pub use page::{Page, Progress};

/// Rows of a page that names no `limit`.
const PAGE_ROWS: u32 = 500;

/// The tool.
pub static DEFINITION: Definition = Definition {
    tool: Tool::GetRun,
    title: "Read a run",
    description: "Read a run: wait for its end, page through its rows, get a test's text or the output.",
    hints: Hints::READS,
    needs: Needs::Backend(Capability::Run),
    own: &[
        RUN_ID,
        Argument::new(
            "wait_s",
            Kind::Seconds {
                least: 0.0,
                most: 600.0,
            },
            "Wait for its end",
        ),
        Argument::new(
            "part",
            Kind::Choice(|| Part::ALL.map(Part::as_str).to_vec()),
            "What to read",
        )
        .default(DefaultValue::Word("tests")),
        Argument::new("nodeid", Kind::String, "Only this test, with its text"),
        Argument::new(
            "outcome",
            Kind::Choice(|| Outcome::ALL.map(Outcome::as_str).to_vec()),
            "Only this outcome",
        ),
        Argument::new(
            "limit",
            Kind::Count {
                least: 1,
                most: 100_000,
            },
            "Rows a page",
        )
        .default(DefaultValue::Number(PAGE_ROWS as u64)),
        Argument::new("cursor", Kind::String, "From the page before"),
        Argument::new("search", Kind::String, "Only output lines with this"),
        Argument::new(
            "tail",
            Kind::Count {
                least: 1,
                most: 100_000,
            },
            "Only the last output lines",
        ),
    ],
    action: Action::Read {
        call: |call| {
            Box::pin(async move {
                let arguments = Arguments::from_json(call.arguments)?;
                run(call.workspace, arguments, call.cancel).await
            })
        },
    },
};

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
    /// Lines of the output: those that hold this.
    pub search: Option<String>,
    /// Of them, so many last ones.
    pub tail: Option<u32>,
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

impl Part {
    const ALL: [Self; 3] = [Self::Tests, Self::Failures, Self::Output];

    fn as_str(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Failures => "failures",
            Self::Output => "output",
        }
    }
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new(&DEFINITION, map);
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
        let outcome = reader.choice("outcome", &Outcome::ALL, Outcome::as_str)?;
        let part = reader.choice("part", &Part::ALL, Part::as_str)?;
        let wait = reader.seconds("wait_s")?.unwrap_or_default();
        let limit = reader.count("limit")?;
        let search = reader.string("search")?;
        let tail = reader.count("tail")?;
        reader.finish()?;
        // Whoever looks for lines looks at the output.
        let lines = search.is_some() || tail.is_some();
        let part = match part {
            None if lines => Some(Part::Output),
            Some(Part::Output) | None => part,
            Some(_) if lines => {
                return Err(OpError::bad_argument(
                    "`search` and `tail` are about lines of the output: they go with `part` = `output`",
                ));
            }
            part => part,
        };
        Ok(Self {
            run_id,
            cursor,
            nodeid,
            outcome,
            part,
            wait,
            limit,
            search,
            tail,
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

/// Looks a run up: whole if it has ended and nothing else is asked for, else a page.
pub(crate) async fn run(
    workspace: &Workspace,
    arguments: Arguments,
    cancel: Cancel,
) -> Result<Called, OpError> {
    let run_id = stored::known_id(workspace, &arguments.run_id)?;
    let wait = stored::wait_for(workspace, &run_id, arguments.wait);
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
            return Ok(Called::answer(page));
        }
        // The last of it is being stored.
        live.ended().await;
    }
    let report = stored::load_once(workspace, &run_id)?;
    if report.cause.is_none() {
        return Ok(Called::answer(page::going_on(
            workspace, &report, &arguments, None,
        )));
    }
    if !arguments.wants_a_page() {
        return Ok(Called::WholeRun(report));
    }
    let output = match arguments.part {
        Some(Part::Output) => workspace
            .engine
            .store
            .as_ref()
            .and_then(|store| store.output(&workspace.root, &run_id).ok()),
        _ => None,
    };
    page::page(workspace, &report, &arguments, output).map(Called::answer)
}
