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
    let store = workspace.engine.store.as_ref()?;
    let runs = store.list(&workspace.root).into_iter();
    let mut runs = runs.filter(|run| run.facts.suite == suite.name).take(RUNS);
    let has = |run_id: &str| {
        let report = store.load(&workspace.root, run_id).ok()?;
        let mut rows = report.iterations.iter().flat_map(rows::rows_of);
        rows.any(|row| row.nodeid == id.trim()).then_some(())
    };
    runs.find_map(|run| has(&run.facts.run_id)).map(|()| name)
}
