//! `compare_with_base`: what the change broke, what was broken before, and what it did to the tests.

mod judge;
mod sides;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::ToolAnswer;
use super::arguments::Reader;
use super::definition::shared::{CWD, SELECTOR, SELECTORS, SUITE, TIMEOUT};
use super::definition::{Action, Argument, Called, Definition, Hints, Kind, Needs};
use super::rows::round;
use super::unanswered::unanswered;
use super::{EnvironmentFacts, ErrorKind, NextCall, OpError, Scope, Tool, Workspace, run_suite, words};
use engine::run::EventSink;
use judge::Side;
pub use judge::{Broken, Changed, Lists, Muted, Named, Renamed, Unjudged};
use process::Cancel;
use runner_core::backend::Capability;
use runner_core::change::Change;
use runner_core::model::Status;
use runner_core::report::Report;
use sides::Comparison;

/// The tool.
pub static DEFINITION: Definition = Definition {
    tool: Tool::CompareWithBase,
    title: "Is it mine?",
    description: "Run the tests here and at the base commit: what this change broke, what failed before, what is flaky, \
        and which tests it removed, muted or weakened.",
    hints: Hints::RUNS,
    needs: Needs::Backend(Capability::Run),
    own: &[
        Argument::new("base", Kind::String, "Revision; else where the branch left main"),
        SELECTOR,
        SELECTORS,
        CWD,
        TIMEOUT,
        SUITE,
    ],
    action: Action::Foreground {
        call: |call| {
            Box::pin(async move {
                let arguments = Arguments::from_json(call.arguments)?;
                let answer = run(call.workspace, arguments, call.cancel, call.sink).await?;
                Ok(Called::answer(answer))
            })
        },
        // Each side's record is that of a run of tests.
        answer: |workspace, report| Ok(Box::new(run_suite::answer(workspace, report)?)),
    },
};

/// What may be asked.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// A revision; none: the merge base of HEAD with the default branch.
    pub base: Option<String>,
    /// Paths, nodeids or keyword expressions. Empty: everything.
    pub selectors: Vec<String>,
    /// The time limit is for each run.
    pub scope: Scope,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new(&DEFINITION, map);
        let arguments = Self {
            base: reader.string("base")?,
            selectors: reader.selectors()?,
            scope: Scope::read(&mut reader)?,
        };
        reader.finish()?;
        Ok(arguments)
    }
}

/// The commit that was compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Base {
    pub commit: String,
    pub why: String,
}

/// Whose each failure is, and what the change did to the tests.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Of the run at head.
    pub run_id: String,
    /// `failed` exactly if something is broken here.
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub base: Base,
    #[serde(flatten)]
    pub lists: Lists,
    /// How many tests ran at head.
    pub compared: usize,
    /// Wall time of all runs, 3 digits.
    pub duration_s: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
    pub environment: EnvironmentFacts,
}

/// Runs both sides and judges.
pub async fn run(
    workspace: &Workspace,
    arguments: Arguments,
    cancel: Cancel,
    sink: EventSink<'_>,
) -> Result<Answer, OpError> {
    workspace.settings()?;
    let begun = tokio::time::Instant::now();
    let change = read(workspace, arguments.base.as_deref()).await?;
    let asked = run_suite::Arguments {
        selectors: arguments.selectors,
        scope: arguments.scope,
        ..run_suite::Arguments::default()
    };
    let comparison = Comparison {
        workspace,
        arguments: &asked,
        change: &change,
        cancel: &cancel,
    };
    let (report, no_view) = comparison.head(&mut *sink).await?;
    if let Some(error) = unanswered(workspace, &report).filter(|error| error.kind != ErrorKind::NoTests) {
        return Err(error);
    }
    let mut head = sides::side(&report);
    let tests = sides::in_frame(&change.tests, &sides::frame(&change, &report, &head));
    let base = match no_view {
        Some(why) => Err(format!("the base cannot be shown here: {why}")),
        None => base(&comparison, &mut head, &tests, &mut *sink).await?,
    };
    if cancel.is_asked() {
        return Err(OpError::new(
            ErrorKind::Cancelled,
            "cancelled",
            "the comparison was cancelled",
        ));
    }
    let lists = judge::judge(&head, base.as_ref().map_err(String::as_str), &tests);
    let mut answer = answer(workspace, &report, &change, lists);
    answer.duration_s = round(begun.elapsed().as_secs_f64(), 3);
    Ok(answer)
}

async fn read(workspace: &Workspace, base: Option<&str>) -> Result<Change, OpError> {
    let (reader, root) = (Arc::clone(&workspace.changes), workspace.root.clone());
    let base = base.map(str::to_owned);
    let read = tokio::task::spawn_blocking(move || reader.read(&root, base.as_deref())).await;
    let read = read.map_err(|error| {
        OpError::new(
            ErrorKind::Broken,
            "crashed",
            format!("reading the change broke off: {error}"),
        )
    })?;
    Ok(read?)
}

/// Runs the base, and again on both sides what failed on one. Why not, in words, where it cannot be run.
async fn base(
    comparison: &Comparison<'_>,
    head: &mut Side,
    tests: &runner_core::change::TestChanges,
    sink: EventSink<'_>,
) -> Result<Result<Side, String>, OpError> {
    let (head_view, base_view) = (Arc::new(comparison.head_view()), Arc::new(comparison.base_view()));
    let Some(spec) = comparison.base_spec(&base_view).await? else {
        let failing = ids(head.failing());
        comparison.repeat(head, Some(&head_view), &failing, sink).await?;
        return Ok(Ok(Side::default()));
    };
    let key = comparison.key(&spec);
    let mut base = if let Some(base) = comparison.kept(&key) {
        base
    } else {
        let report = comparison.perform(spec, &mut *sink).await;
        if let Some(why) = sides::refused(&report) {
            return Ok(Err(format!("the base cannot be shown here: {why}")));
        }
        sides::side(&report)
    };
    let old = |id: &String| tests_before(tests, id);
    let again: BTreeSet<String> = head.failing().map(old).chain(base.failing().cloned()).collect();
    let again: Vec<String> = again.into_iter().collect();
    let now: Vec<String> = head
        .outcomes
        .keys()
        .filter(|id| again.contains(&old(id)))
        .cloned()
        .collect();
    comparison
        .repeat(head, Some(&head_view), &now, &mut *sink)
        .await?;
    comparison
        .repeat(&mut base, Some(&base_view), &again, sink)
        .await?;
    if !comparison.cancel.is_asked() {
        comparison.keep(&key, &base);
    }
    Ok(Ok(base))
}

fn ids<'i>(ids: impl Iterator<Item = &'i String>) -> Vec<String> {
    ids.cloned().collect()
}

/// The id that a test had at the base.
fn tests_before(tests: &runner_core::change::TestChanges, id: &str) -> String {
    let function = judge::bare(id);
    let renamed = tests.renamed.iter().find(|renamed| renamed.id == function);
    renamed.map_or_else(
        || id.to_owned(),
        |renamed| format!("{}{}", renamed.was, &id[function.len()..]),
    )
}

fn answer(workspace: &Workspace, report: &Report, change: &Change, lists: Lists) -> Answer {
    let verdict = report.verdict();
    let own = match verdict.status {
        Status::TimedOut | Status::Incomplete => verdict.status,
        _ => Status::Passed,
    };
    let is_broken = !lists.broken_here.is_empty();
    let mut warnings = change.notes.clone();
    warnings.extend(report.warnings.iter().cloned());
    let next = lists
        .broken_here
        .iter()
        .filter(|broken| broken.nodeid.contains("::"))
        .take(1);
    let next = next.map(|broken| {
        NextCall::new(
            Tool::RunSingle,
            "run the first that broke alone, with its full output",
        )
        .with("test_id", broken.nodeid.as_str())
        .maybe("cwd", super::unanswered::cwd_argument(workspace, report))
    });
    Answer {
        run_id: report.facts.run_id.clone(),
        status: if is_broken { Status::Failed } else { own },
        reason: verdict.reason.filter(|_| own != Status::Passed),
        base: Base {
            commit: change.commit.clone(),
            why: change.why.clone(),
        },
        compared: report.first().finished_tests(),
        duration_s: 0.0,
        warnings,
        next: next.collect(),
        environment: EnvironmentFacts::of(report, &workspace.registry),
        lists,
    }
}

/// Names are told so far in the headline.
const MOST_NAMED: usize = 5;

impl ToolAnswer for Answer {
    /// What broke here, and what the change did to the tests, by name.
    fn headline(&self) -> String {
        let lists = &self.lists;
        let tests = words::count(self.compared as u64, "test");
        let commit = &self.base.commit[..self.base.commit.len().min(10)];
        let mut sentences = vec![format!("{tests} compared with {commit} ({}).", self.base.why)];
        let mut say = |what: &str, ids: Vec<&str>| {
            if !ids.is_empty() {
                sentences.push(format!("{} {what}: {}.", ids.len(), named(&ids)));
            }
        };
        say(
            "broken here",
            lists
                .broken_here
                .iter()
                .map(|test| test.nodeid.as_str())
                .collect(),
        );
        say(
            "muted",
            lists.muted.iter().map(|test| test.nodeid.as_str()).collect(),
        );
        say(
            "weakened",
            lists.weakened.iter().map(|test| test.nodeid.as_str()).collect(),
        );
        say(
            "broken before",
            lists
                .broken_before
                .iter()
                .map(|test| test.nodeid.as_str())
                .collect(),
        );
        say(
            "flaky",
            lists.flaky.iter().map(|test| test.nodeid.as_str()).collect(),
        );
        say(
            "not judged",
            lists.unjudged.iter().map(|test| test.nodeid.as_str()).collect(),
        );
        if lists.broken_here.is_empty() {
            sentences.push("Nothing broke here.".to_owned());
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

fn named(ids: &[&str]) -> String {
    let shown = ids
        .iter()
        .take(MOST_NAMED)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    match ids.len().saturating_sub(MOST_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
