//! What changed since the last run of the same tests.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Workspace;
use super::facts;
use super::ids::Ids;
use runner_core::facts::RunFacts;
use runner_core::model::Status;
use runner_core::report::{Iteration, Report};

/// A comparison with an older run of the same suite and selection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// The older run.
    pub run_id: String,
    /// Variables that the older run had, this one did not, and what fails speaks of: the change may be theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_variables: Vec<String>,
    #[serde(skip_serializing_if = "Ids::is_empty")]
    pub newly_failing: Ids,
    #[serde(skip_serializing_if = "Ids::is_empty")]
    pub fixed: Ids,
    #[serde(skip_serializing_if = "Ids::is_empty")]
    pub still_failing: Ids,
}

/// Compares with the last stored run of the same question. `None` if there is none, or nothing failed in either.
pub(super) fn since(workspace: &Workspace, report: &Report) -> Option<Changes> {
    let store = workspace.engine.store.as_ref()?;
    // The newest run of the same question is this one itself, if it was stored.
    let wanted =
        |facts: &RunFacts| facts.run_id != report.facts.run_id && same_question(facts, &report.facts);
    let older = store
        .latest(&workspace.root, wanted)
        .filter(|summary| is_whole(summary.status))?;
    let older = store.load(&workspace.root, &older.facts.run_id).ok()?;
    compare(&older, report)
}

fn same_question(one: &RunFacts, other: &RunFacts) -> bool {
    one.tool == other.tool && one.suite == other.suite && one.cwd == other.cwd && one.asked == other.asked
}

/// Whether what did not fail in such a run can be said to have been well.
fn is_whole(status: Status) -> bool {
    status.is_complete()
}

fn compare(older: &Report, newer: &Report) -> Option<Changes> {
    let (was, is) = (bad(older.first()), bad(newer.first()));
    let well: BTreeSet<&str> = newer
        .first()
        .rows
        .iter()
        .filter(|row| !row.outcome.is_bad())
        .map(|row| row.nodeid.as_str())
        .collect();
    let changes = Changes {
        run_id: older.facts.run_id.clone(),
        without_variables: without_variables(older, newer),
        newly_failing: Ids::of(is.difference(&was).copied()),
        fixed: Ids::of(was.intersection(&well).copied()),
        still_failing: Ids::of(was.intersection(&is).copied()),
    };
    let any =
        !(changes.newly_failing.is_empty() && changes.fixed.is_empty() && changes.still_failing.is_empty());
    any.then_some(changes)
}

/// The dropped variables that the failing tests speak of, as far as the older run had them.
fn without_variables(older: &Report, newer: &Report) -> Vec<String> {
    let mut mentioned = facts::mentioned_variables(newer);
    mentioned.retain(|name| !older.facts.dropped_variables.contains(name));
    mentioned
}

fn bad(iteration: &Iteration) -> BTreeSet<&str> {
    let rows = iteration
        .rows
        .iter()
        .filter(|row| row.outcome.is_bad())
        .map(|row| row.nodeid.as_str());
    rows.chain(
        iteration
            .collection_errors
            .iter()
            .map(|error| error.nodeid.as_str()),
    )
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use runner_core::event::{RunEvent, TestEvent};
    use runner_core::model::{Outcome, TestResult};

    fn report(run_id: &str, rows: &[(&str, Outcome)]) -> Report {
        let facts = RunFacts {
            run_id: run_id.into(),
            ..RunFacts::default()
        };
        let finished = rows.iter().map(|(nodeid, outcome)| RunEvent::Test {
            iteration: 1,
            test: TestEvent::Finished(Box::new(TestResult::new(*nodeid, *outcome))),
        });
        let events: Vec<RunEvent> = std::iter::once(RunEvent::Started(Box::new(facts)))
            .chain(finished)
            .collect();
        Report::fold(&events)
    }

    #[test]
    fn failures_are_sorted_into_new_fixed_and_old() {
        use Outcome::{Error, Failed, Passed, Skipped};
        let older = report(
            "old",
            &[
                ("a", Failed),
                ("b", Failed),
                ("c", Passed),
                ("d", Error),
                ("e", Failed),
            ],
        );
        let newer = report(
            "new",
            &[
                ("a", Passed),
                ("b", Error),
                ("c", Failed),
                ("d", Skipped),
                ("f", Passed),
            ],
        );
        let changes = compare(&older, &newer).unwrap();
        assert_eq!(changes.run_id, "old");
        assert_eq!(changes.newly_failing.ids, ["c"]);
        assert_eq!(changes.fixed.ids, ["a", "d"]);
        assert_eq!(changes.still_failing.ids, ["b"]);
    }

    #[test]
    fn two_green_runs_have_nothing_to_tell() {
        let green = report("x", &[("a", Outcome::Passed)]);
        assert_eq!(compare(&green, &green), None);
    }
}
