//! All signals together: which tests, in which order, for which reasons.

use std::collections::{BTreeMap, BTreeSet};

use runner_core::affected::{AffectedTest, AffectedTests, Confidence};

use crate::calls::{self, Calls, Definitions, Reached, Usage};
use crate::change::Changed;
use crate::graph::Graph;
use crate::modules::{File, Modules};
use crate::past::History;
use crate::settings;
use crate::signals::Subject;
use crate::tree::Tree;
use crate::weigh::{Evidence, Weigher};

/// A repository of more files is followed only as far as imports lead to the change.
const MOST_FOLLOWED: usize = 1500;

/// Scores every test file against every changed path.
pub(crate) fn rank(tree: &Tree, changed: &[String]) -> AffectedTests {
    let changed = Changed::new(tree, changed);
    let modules = Modules::new(tree, &changed.gone);
    let graph = Graph::new(tree, &modules);
    let texts = calls::read(tree, &within(tree, &modules, &graph, &changed));
    let definitions = Definitions::new(&texts);
    let calls = Calls::new(tree, &modules, &definitions);
    let reached = Reached::new(&calls, &definitions);
    let weigher = Weigher {
        tree,
        modules: &modules,
        graph,
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
        searched: tree.sources.iter().filter(|source| source.is_test).count(),
        notes: notes.chain(weigher.history.note.clone()).collect(),
    }
}

/// The files whose definitions are followed: all of a small repository, else those that import what changed.
fn within(tree: &Tree, modules: &Modules, graph: &Graph, changed: &Changed) -> Vec<File> {
    if tree.sources.len() <= MOST_FOLLOWED {
        return (0..tree.sources.len()).collect();
    }
    let mut files: BTreeSet<File> = BTreeSet::new();
    for path in &changed.paths {
        if let Some(file) = modules.file(path) {
            files.insert(file);
            files.extend(graph.reach(file).into_keys());
        }
        let subject = Subject::new(path);
        let all = settings::reaches_all(path).is_some();
        let tests = tree
            .sources
            .iter()
            .enumerate()
            .filter(|(_, source)| source.is_test);
        let told = tests.filter(|(_, source)| all || subject.is_named_after_by(&source.path));
        files.extend(told.map(|(file, _)| file));
    }
    files
        .into_iter()
        .filter(|file| *file < tree.sources.len())
        .collect()
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
