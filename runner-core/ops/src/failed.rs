//! What failed, to be run again: in one run, or in all runs since it was last green.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use super::asked::RunArguments;
use super::rows;
use super::stored::stored;
use super::{ErrorKind, NextCall, OpError, Row, Tool, Workspace};
use engine::store::Failures;
use runner_core::report::{Iteration, Report};

/// The word for all that failed and has not been green since.
pub(super) const LAST: &str = "last";

/// What this caller's runs left failing.
fn remembered(workspace: &Workspace) -> Failures {
    let store = workspace.engine.store.as_ref();
    let failures = store.map(|store| store.failures(&workspace.root, workspace.policy.caller));
    failures.unwrap_or_default()
}

/// The call that runs again all that failed, of however many suites.
pub(super) fn again(count: u64) -> NextCall {
    let why = format!("run the {count} that failed again, once the cause is mended");
    NextCall::new(Tool::RunSuite, why).with("failed_of", LAST)
}

/// Turns `failed_of` into the ids that failed there, run from the same folder in the same suite; selectors beside it keep
/// those that lie below one of them.
pub(super) fn shares(
    workspace: &Workspace,
    run: &str,
    common: &RunArguments,
) -> Result<Vec<RunArguments>, OpError> {
    let mut shares = if run == LAST {
        since_green(workspace, common)?
    } else {
        vec![of_run(&*stored(workspace, run)?, common)?]
    };
    // Ids are relative to where the run was, which is mostly the root.
    let selectors: Vec<String> = common
        .selectors
        .iter()
        .flat_map(|typed| [workspace.as_seen(typed), typed.clone()])
        .collect();
    if !selectors.is_empty() {
        for share in &mut shares {
            let wanted = |id: &String| selectors.iter().any(|selector| lies_below(id, selector));
            share.ids.retain(wanted);
        }
        shares.retain(|share| !share.ids.is_empty());
        if shares.is_empty() {
            return Err(nothing(format!(
                "nothing that failed lies below {}",
                common.selectors.join(", ")
            )));
        }
    }
    let several = shares.len() > 1;
    for share in &mut shares {
        // What was deleted since need not be run again.
        share.lenient = true;
        share.is_one_of_several = several;
    }
    Ok(shares)
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

/// What failed and has not been green since, for each suite and each folder that its ids are relative to.
fn since_green(workspace: &Workspace, common: &RunArguments) -> Result<Vec<RunArguments>, OpError> {
    let failures = remembered(workspace);
    let wanted = |name: &String| common.scope.suite.as_ref().is_none_or(|suite| suite == name);
    let suites = failures.suites.into_iter().filter(|(name, _)| wanted(name));
    let mut shares = Vec::new();
    for (suite, known) in suites {
        let mut places: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
        for (nodeid, one) in known {
            places.entry(one.cwd).or_default().push(nodeid);
        }
        for (cwd, ids) in places {
            let mut share = common.of_suite(&suite);
            share.ids = ids;
            share.scope.cwd.get_or_insert(cwd.to_string_lossy().into_owned());
            shares.push(share);
        }
    }
    if shares.is_empty() {
        return Err(nothing("nothing has failed that was not green since".to_owned()));
    }
    Ok(shares)
}

fn of_run(report: &Report, common: &RunArguments) -> Result<RunArguments, OpError> {
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
    let suite = common.scope.suite.as_ref().unwrap_or(&report.facts.suite);
    let mut share = common.of_suite(suite);
    let cwd = report.facts.cwd.to_string_lossy().into_owned();
    share.scope.cwd.get_or_insert(cwd);
    share.ids = ids;
    Ok(share)
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
