//! All signals together: which tests, in which order, for which reasons.

use std::collections::BTreeMap;

use runner_core::affected::{AffectedTest, AffectedTests, Confidence};

use crate::calls::{self, Calls, Definitions, Reached, Usage};
use crate::change::Changed;
use crate::graph::Graph;
use crate::modules::{File, Modules};
use crate::past::History;
use crate::tree::Tree;
use crate::weigh::{Evidence, Weigher};

/// Scores every test file against every changed path.
pub(crate) fn rank(tree: &Tree, changed: &[String]) -> AffectedTests {
    let changed = Changed::new(tree, changed);
    let modules = Modules::new(tree, &changed.gone);
    let files: Vec<File> = (0..tree.sources.len()).collect();
    let texts = calls::read(tree, &files);
    let definitions = Definitions::new(&texts);
    let calls = Calls::new(tree, &modules, &definitions);
    let reached = Reached::new(&calls, &definitions);
    let weigher = Weigher {
        tree,
        modules: &modules,
        graph: Graph::new(tree, &modules),
        definitions: &definitions,
        usage: Usage::new(&calls, &definitions, &reached),
        calls: &calls,
        reached: &reached,
        history: History::read(&tree.root),
    };
    let mut sums: BTreeMap<File, Evidence> = BTreeMap::new();
    for path in &changed.paths {
        for (test, evidence) in weigher.weigh(path) {
            sums.entry(test).or_default().add(evidence);
        }
    }
    let notes = tree.notes.iter().cloned().chain(changed.notes);
    AffectedTests {
        affected: sorted(tree, sums),
        searched: reached.tests.len(),
        notes: notes.chain(weigher.history.note.clone()).collect(),
    }
}

fn sorted(tree: &Tree, sums: BTreeMap<File, Evidence>) -> Vec<AffectedTest> {
    let mut affected: Vec<(File, Evidence)> = sums.into_iter().collect();
    let order = |evidence: &Evidence| (evidence.confidence == Some(Confidence::Certain), evidence.points);
    affected.sort_by(|(a, x), (b, y)| {
        let ((certain, points), (other_certain, other)) = (order(y), order(x));
        let by_points = certain.cmp(&other_certain).then(points.total_cmp(&other));
        by_points.then_with(|| tree.sources[*a].path.cmp(&tree.sources[*b].path))
    });
    affected
        .into_iter()
        .map(|(test, evidence)| AffectedTest {
            test_file: tree.sources[test].path.clone(),
            score: evidence.points.round().max(1.0) as u32,
            confidence: evidence.confidence.unwrap_or(Confidence::Possible),
            why: evidence.why,
        })
        .collect()
}
