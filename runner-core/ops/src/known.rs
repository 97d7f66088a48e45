//! Ids that were handed out before. A report need not name files (plain TAP names none), so what stands in a row of an
//! earlier run is taken back as it is.

use super::{Workspace, locate, rows};
use engine::config::Suite;
use engine::project::looks_like_path;
use runner_core::nodeid::NodeId;
use runner_core::selector::Selector;

/// How many of the suite's last runs are looked at.
const RUNS: usize = 5;

/// The test of an id that names no file, if one of the suite's last runs has a row of it.
pub(super) fn handed_out(workspace: &Workspace, suite: &Suite, id: &str) -> Option<Selector> {
    if looks_like_path(NodeId::of(id).file()) {
        return None;
    }
    let name = locate::name(id)?;
    has_row(workspace, suite, id).then_some(name)
}

/// Whether one of the suite's last runs has a row of that id, or named it when it listed its tests.
pub(super) fn has_row(workspace: &Workspace, suite: &Suite, id: &str) -> bool {
    let Some(store) = &workspace.engine.store else {
        return false;
    };
    let runs = store.list(&workspace.root).into_iter();
    let mut runs = runs.filter(|run| run.facts.suite == suite.name).take(RUNS);
    runs.any(|run| {
        let Ok(report) = store.load(&workspace.root, &run.facts.run_id) else {
            return false;
        };
        let mut rows = report.iterations.iter().flat_map(rows::rows_of);
        let mut found = report.iterations.iter().flat_map(|iteration| &iteration.found);
        rows.any(|row| row.nodeid == id.trim()) || found.any(|found| found.nodeid == id.trim())
    })
}
