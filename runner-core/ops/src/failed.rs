//! What failed, to be run again: in one run, or in all runs since it was last green.

use std::collections::HashSet;

use super::resolve::RunArguments;
use super::rows;
use super::stored::stored;
use super::{ErrorKind, NextCall, OpError, Row, Tool, Workspace};
use engine::store::Failures;
use runner_core::report::{Iteration, Report};

/// The word for all that failed and has not been green since.
pub(super) const LAST: &str = "last";

/// The suites in which something failed and has not been green since.
pub(super) fn suites(workspace: &Workspace) -> Vec<String> {
    remembered(workspace).suites.into_keys().collect()
}

/// What this caller's runs left failing.
fn remembered(workspace: &Workspace) -> Failures {
    let store = workspace.engine.store.as_ref();
    let failures = store.map(|store| store.failures(&workspace.root, workspace.policy.caller));
    failures.unwrap_or_default()
}

/// Turns `failed_of` into the ids that failed there, run from the same folder in the same suite; selectors beside it keep
/// those that lie below one of them.
pub(super) fn failed_of(workspace: &Workspace, run: &str, common: &mut RunArguments) -> Result<(), OpError> {
    if run == LAST {
        since_green(workspace, common)?;
    } else {
        of_run(&*stored(workspace, run)?, common)?;
    }
    let typed = std::mem::take(&mut common.selectors);
    // Ids are relative to where the run was, which is mostly the root.
    let selectors: Vec<String> = typed
        .iter()
        .flat_map(|typed| [workspace.as_seen(typed), typed.clone()])
        .collect();
    if !selectors.is_empty() {
        common
            .ids
            .retain(|id| selectors.iter().any(|selector| lies_below(id, selector)));
        if common.ids.is_empty() {
            return Err(nothing(format!(
                "nothing that failed lies below {}",
                typed.join(", ")
            )));
        }
    }
    // What was deleted since need not be run again.
    common.lenient = true;
    Ok(())
}

/// Whether an id is a selector, or one of the tests that it stands for.
fn lies_below(id: &str, selector: &str) -> bool {
    if selector == "." {
        return true;
    }
    let selector = selector.trim_end_matches('/');
    id.strip_prefix(selector)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':', '[']))
}

fn nothing(message: String) -> OpError {
    OpError::new(ErrorKind::NoTests, "nothing_failed", message)
}

fn since_green(workspace: &Workspace, common: &mut RunArguments) -> Result<(), OpError> {
    let mut failures = remembered(workspace);
    if let Some(suite) = &common.scope.suite {
        failures.suites.retain(|name, _| name == suite);
    }
    let mut suites = failures.suites.into_iter();
    let (Some((suite, known)), others) = (suites.next(), suites) else {
        return Err(nothing("nothing has failed that was not green since".to_owned()));
    };
    let others: Vec<String> = others.map(|(name, _)| name).collect();
    if !others.is_empty() {
        return Err(several(&suite, &others));
    }
    // An id is relative to where it ran; those of another folder stay remembered, for the next call.
    let Some(cwd) = known.values().next().map(|one| one.cwd.clone()) else {
        return Err(nothing("nothing has failed that was not green since".to_owned()));
    };
    let here = known.into_iter().filter(|(_, one)| one.cwd == cwd);
    common.ids = here.map(|(nodeid, _)| nodeid).collect();
    common.scope.suite = Some(suite);
    common.scope.cwd.get_or_insert(cwd.to_string_lossy().into_owned());
    Ok(())
}

/// One call runs one suite.
fn several(first: &str, others: &[String]) -> OpError {
    let names: Vec<&str> = std::iter::once(first)
        .chain(others.iter().map(String::as_str))
        .collect();
    let next = |suite: &str| {
        NextCall::new(Tool::RunSuite, "what failed in this suite")
            .with("failed_of", LAST)
            .with("suite", suite)
    };
    let message = format!("tests of several suites failed: {}", names.join(", "));
    OpError::new(ErrorKind::BadRequest, "suite_needed", message)
        .with_hint("Give `suite`, one call each.")
        .with_next(next(first))
}

fn of_run(report: &Report, common: &mut RunArguments) -> Result<(), OpError> {
    let run_id = &report.facts.run_id;
    if report.cause.is_none() {
        return Err(OpError::new(
            ErrorKind::BadRequest,
            "still_running",
            format!("run {run_id} has not ended"),
        ));
    }
    let rows = report
        .iterations
        .iter()
        .flat_map(rows::rows_of)
        .filter(Row::is_bad);
    let mut ids: Vec<String> = rows.map(|row| row.nodeid).collect();
    let unfinished = report.iterations.iter().flat_map(Iteration::unfinished);
    ids.extend(unfinished.map(|test| test.nodeid.clone()));
    let mut seen = HashSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    if ids.is_empty() {
        return Err(nothing(format!("no test failed in run {run_id}")));
    }
    let scope = &mut common.scope;
    scope.suite.get_or_insert_with(|| report.facts.suite.clone());
    scope
        .cwd
        .get_or_insert(report.facts.cwd.to_string_lossy().into_owned());
    common.ids = ids;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::lies_below;

    #[test]
    fn a_failure_lies_below_its_folder_its_file_and_its_base_id_only() {
        for selector in [
            "tests",
            "tests/",
            "tests/test_a.py",
            "tests/test_a.py::t",
            "tests/test_a.py::t[1]",
        ] {
            assert!(lies_below("tests/test_a.py::t[1]", selector), "{selector}");
        }
        for other in ["test", "tests/test_a", "tests/test_b.py", "t"] {
            assert!(!lies_below("tests/test_a.py::t[1]", other), "{other}");
        }
    }
}
