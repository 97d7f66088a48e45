//! A run by its id: here, on disk, or going on in another process.

use std::sync::Arc;
use std::time::Duration;

use super::locate::AskedTest;
use super::{ErrorKind, NextCall, OpError, Tool, Workspace, cut};
use engine::run_id::is_run_id;
use engine::store::{StoreError, Summary};
use runner_core::report::Report;

/// How often the record of another process's run is looked at while waiting.
const GLANCE: Duration = Duration::from_millis(250);

/// The stored runs of this repository, newest first.
pub fn list(workspace: &Workspace) -> Vec<Summary> {
    workspace
        .engine
        .store
        .as_ref()
        .map(|store| store.list(&workspace.root))
        .unwrap_or_default()
}

/// The record of a run, by id or `last`; of one that goes on, so far.
pub fn stored(workspace: &Workspace, run: &str) -> Result<Arc<Report>, OpError> {
    let run_id = known_id(workspace, run)?;
    match workspace.live.get(&run_id) {
        Some(live) => Ok(live.so_far()),
        None => load_once(workspace, &run_id),
    }
}

/// The id that a test of a run has, however a person writes it from where they stand. As it was typed if there is none.
pub fn id_in(workspace: &Workspace, report: &Report, typed: &str) -> String {
    let ids = || {
        let rows = report.iterations.iter().flat_map(|iteration| &iteration.rows);
        rows.map(|row| row.nodeid.as_str())
    };
    if ids().any(|id| id == typed) {
        return typed.to_owned();
    }
    let asked = AskedTest {
        id: &workspace.as_seen(typed),
        root: &workspace.root,
        cwd: &report.facts.cwd,
    };
    let picked = asked.pick(ids());
    match picked.iter().next() {
        Some(only) if picked.len() == 1 => (*only).to_owned(),
        _ => typed.to_owned(),
    }
}

fn load(workspace: &Workspace, run_id: &str) -> Result<Report, OpError> {
    let store = workspace
        .engine
        .store
        .as_ref()
        .ok_or_else(|| no_such_run(run_id))?;
    store.load(&workspace.root, run_id).map_err(|error| match error {
        StoreError::NoSuchRun { .. } => no_such_run(run_id),
        other => other.into(),
    })
}

/// The same for somebody who is likely to ask again: a run that has ended is read from disk only once in a row.
pub(super) fn load_once(workspace: &Workspace, run_id: &str) -> Result<Arc<Report>, OpError> {
    if let Some(report) = workspace.live.at_hand(run_id) {
        return Ok(report);
    }
    let report = Arc::new(load(workspace, run_id)?);
    workspace.live.keep(&report);
    Ok(report)
}

fn no_such_run(run_id: &str) -> OpError {
    OpError::new(
        ErrorKind::BadRequest,
        "no_such_run",
        format!(
            "there is no run `{}` of this repository",
            cut::quote_truncated(run_id)
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
pub(super) fn known_id(workspace: &Workspace, run: &str) -> Result<String, OpError> {
    if run != "last" {
        check_id(run)?;
        return Ok(run.to_owned());
    }
    let listing = Tool::ListTests.name();
    let last = list(workspace)
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

pub(super) async fn wait_for(workspace: &Workspace, run_id: &str, limit: Duration) {
    if limit.is_zero() {
        return;
    }
    let ended = async {
        if let Some(live) = workspace.live.get(run_id) {
            live.ended().await;
            return;
        }
        while load(workspace, run_id).is_ok_and(|report| report.cause.is_none()) {
            tokio::time::sleep(GLANCE).await;
        }
    };
    // Waiting in vain is no error: the answer says how far the run is.
    let _ = tokio::time::timeout(limit, ended).await;
}
