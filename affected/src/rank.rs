//! All signals together: which tests, in which order, for which reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use runner_core::affected::{AffectedTest, AffectedTests, Confidence, Question};
use runner_core::change::NoBase;
use runner_core::language::Language;
use source::git::Repository;

use crate::calls::{self, Calls, Definitions, Reached, Usage};
use crate::change::Changed;
use crate::graph::Graph;
use crate::modules::{File, Modules};
use crate::past::History;
use crate::settings;
use crate::signals::Subject;
use crate::since;
use crate::tree::{self, Tree};
use crate::weigh::{Evidence, Weigher};

/// A repository of more files is followed only as far as imports lead to the change.
const MOST_FOLLOWED: usize = 1500;

/// Reads what is needed, and answers one question.
pub(crate) fn answer(root: &Path, question: &Question) -> Result<AffectedTests, NoBase> {
    let repository = Repository::open(root);
    let mut changed = question.changed.clone();
    let (mut since, mut base, mut notes) = (None, None, Vec::new());
    if changed.is_empty() {
        let (found, more) = since::since(repository.as_ref(), question.base.as_deref())?;
        base = repository
            .as_ref()
            .ok()
            .and_then(|git| git.commit_of(&found.commit));
        changed = since::files(&found);
        (since, notes) = (Some(found), more);
    } else if let (Ok(git), Some(asked)) = (&repository, &question.base) {
        base = Some(since::began(git, Some(asked))?.commit);
    }
    let tree = tree::read(root);
    let changed = Changed::new(&tree, &changed);
    let history = History::read(repository, base, question.cache.as_deref());
    let mut found = rank(&tree, &changed, history);
    found.notes.splice(0..0, notes);
    found.since = since;
    Ok(found)
}

/// Scores every test file against every changed path.
fn rank(tree: &Tree, changed: &Changed, history: History) -> AffectedTests {
    let modules = Modules::new(tree, &changed.gone);
    let graph = Graph::new(tree, &modules);
    let texts = calls::read(tree, &within(tree, &modules, &graph, changed));
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
        history,
    };
    let mut sums: BTreeMap<File, Evidence> = BTreeMap::new();
    for (path, lines) in &changed.files {
        for (test, evidence) in weigher.weigh(path, lines) {
            sums.entry(test).or_default().add(evidence);
        }
    }
    let notes = tree.notes.iter().chain(&changed.notes).cloned();
    let searched = tree.sources.iter().filter(|source| source.is_test).count();
    AffectedTests {
        affected: sorted(tree, sums),
        searched,
        notes: notes.chain(weigher.history.note.clone()).collect(),
        unread: unread(changed, searched > 0),
        since: None,
    }
}

/// The changed files in other languages than Python, unless it is known that any test may depend on them.
fn unread(changed: &Changed, has_tests: bool) -> Vec<String> {
    let is_unread = |path: &&String| {
        let is_other = Language::of(Path::new(path)).is_some_and(|language| language.name != "python");
        is_other && !(has_tests && settings::reaches_all(path).is_some())
    };
    changed.files.keys().filter(is_unread).cloned().collect()
}

/// The files whose definitions are followed: all of a small repository, else those that import what changed.
fn within(tree: &Tree, modules: &Modules, graph: &Graph, changed: &Changed) -> Vec<File> {
    if tree.sources.len() <= MOST_FOLLOWED {
        return (0..tree.sources.len()).collect();
    }
    let mut files: BTreeSet<File> = BTreeSet::new();
    for path in changed.files.keys() {
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
