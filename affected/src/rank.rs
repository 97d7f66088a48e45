//! All signals together: which tests, in which order, for which reasons.

use std::collections::{BTreeMap, BTreeSet};

use runner_core::affected::{AffectedTest, AffectedTests};

use source::names::python::symbols::Kind;

use crate::calls::{self, Bearing, Calls, Definitions, Node, Reached, Usage};
use crate::graph::{Graph, Reach};
use crate::modules::{File, Modules, is_below};
use crate::past::History;
use crate::signals::Subject;
use crate::tree::{Tree, has_extension};

/// The changed test itself: before everything else.
const ITSELF: f32 = 1000.0;
/// A test file that is named after the changed one.
const NAMED_AFTER: u32 = 100;
/// Of what bears on the change, compared with the test that has most of it.
const SHARE: f32 = 50.0;
/// Of what the test uses, the part that bears on the change.
const FOCUS: f32 = 50.0;
/// Of the changed definitions, the part that the test reaches.
const REACH: f32 = 10.0;
/// Of what git's past says.
const PAST: f32 = 80.0;
/// Nothing that changed is reached, though the file is.
const BESIDE: f32 = 0.3;
/// How many modules of a chain of imports are named.
const MOST_NAMED: usize = 3;

/// Scores every test file against every changed path.
pub(crate) fn rank(tree: &Tree, changed: &[String]) -> AffectedTests {
    let changed = Changed::new(tree, changed);
    let modules = Modules::new(tree, &changed.gone);
    let graph = Graph::new(tree, &modules);
    let files: Vec<File> = (0..tree.sources.len()).collect();
    let texts = calls::read(tree, &files);
    let definitions = Definitions::new(&texts);
    let calls = Calls::new(tree, &modules, &definitions);
    let reached = Reached::new(&calls, &definitions);
    let ranker = Ranker {
        tree,
        modules: &modules,
        graph: &graph,
        definitions: &definitions,
        usage: Usage::new(&calls, &definitions, &reached),
        calls: &calls,
        reached: &reached,
        history: History::read(&tree.root),
    };
    ranker.all(changed)
}

struct Ranker<'a> {
    tree: &'a Tree,
    modules: &'a Modules,
    graph: &'a Graph,
    definitions: &'a Definitions<'a>,
    calls: &'a Calls,
    reached: &'a Reached,
    usage: Usage,
    history: History,
}

#[derive(Default)]
struct Score {
    points: f32,
    why: Vec<String>,
}

impl Ranker<'_> {
    fn all(&self, changed: Changed) -> AffectedTests {
        let mut scores: BTreeMap<File, Score> = BTreeMap::new();
        for path in &changed.paths {
            self.path(path, &mut scores);
        }
        let mut affected: Vec<(f32, AffectedTest)> = scores
            .into_iter()
            .map(|(test, score)| (score.points, AffectedTest {
                test_file: self.tree.sources[test].path.clone(),
                score: score.points.round().max(1.0) as u32,
                why: score.why,
            }))
            .collect();
        affected.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.test_file.cmp(&y.test_file)));
        let notes = self.tree.notes.iter().cloned().chain(changed.notes).chain(self.history.note.clone());
        AffectedTests {
            affected: affected.into_iter().map(|(_, test)| test).collect(),
            searched: self.reached.tests.len(),
            notes: notes.collect(),
        }
    }

    fn path(&self, path: &str, scores: &mut BTreeMap<File, Score>) {
        let subject = Subject::new(path);
        let file = self.modules.file(path);
        let imports = file.map(|file| self.graph.reach(file)).unwrap_or_default();
        let is_test = file.is_some_and(|file| self.tree.sources.get(file).is_some_and(|source| source.is_test));
        let whole = self.whole(file);
        let old = self.history.before(path);
        let changed = old.zip(file).and_then(|(old, file)| self.definitions.changed(file, &old));
        let changed = changed.filter(|changed| !changed.is_empty());
        let near = self.usage.near(self.calls, self.definitions, changed.as_ref().unwrap_or(&whole));
        let bearings: Vec<Bearing> =
            (0..self.reached.tests.len()).map(|test| self.usage.bearing(test, &near)).collect();
        let most = bearings.iter().map(|bearing| bearing.strength).fold(0.0, f32::max);
        let is_any = |path: &str| self.modules.file(path).is_some_and(|f| self.tree.sources.get(f).is_some_and(|s| s.is_test));
        let past = self.history.together(path, is_any);
        let reaches = |nodes: &[Node], test: usize| {
            let live = nodes.iter().filter(|node| self.reached.is_reached(**node, test)).count();
            live as f32 / nodes.len().max(1) as f32
        };
        let any = (0..self.reached.tests.len()).any(|test| reaches(&whole, test) > 0.0);
        for (test, test_file) in self.reached.tests.iter().enumerate() {
            let source = &self.tree.sources[*test_file];
            if file == Some(*test_file) {
                let score = scores.entry(*test_file).or_default();
                score.points += ITSELF;
                score.why.push("is changed itself".to_owned());
                continue;
            }
            let live = reaches(&whole, test);
            let hit = changed.as_ref().map_or(live, |changed| reaches(changed, test));
            let imports = imports.get(test_file).zip(file);
            let mut signals = if is_test { Vec::new() } else { subject.signals(&source.path) };
            if any && live == 0.0 {
                signals.retain(|(weight, _)| *weight >= NAMED_AFTER);
            }
            let is_in = live > 0.0 || !signals.is_empty() || (!any && imports.is_some());
            if !is_in {
                continue;
            }
            let bearing = bearings[test];
            let mut points = signals.iter().map(|(weight, _)| *weight as f32).sum::<f32>();
            let mut uses = SHARE * bearing.strength / most.max(f32::EPSILON) + FOCUS * bearing.focus + REACH * hit;
            if hit == 0.0 { uses *= BESIDE; }
            points += uses;
            if let Some((_, weight)) = past.get(source.path.as_str()) {
                points += PAST * weight;
            }
            let score = scores.entry(*test_file).or_default();
            score.points += points;
            score.why.extend(signals.into_iter().map(|(_, why)| why));
            if let Some(node) = bearing.strongest {
                score.why.push(self.chain(&near.way(node)));
            } else if let Some((reach, file)) = imports {
                score.why.push(import_reason(self.modules, file, reach));
            }
            if let Some((commits, _)) = past.get(source.path.as_str()) {
                score.why.push(format!("changed together in {commits} commits"));
            }
        }
    }

    /// The definitions that count as a file: what runs in it, or all if nothing does.
    fn whole(&self, file: Option<File>) -> Vec<Node> {
        let nodes = file.map_or(0..0, |file| self.definitions.nodes(file));
        let runs = |node: &Node| matches!(self.definitions.symbol(*node).kind, Kind::Function | Kind::Method);
        let run: Vec<Node> = nodes.clone().filter(runs).collect();
        if run.is_empty() { nodes.collect() } else { run }
    }

    fn chain(&self, way: &[Node]) -> String {
        let name = |node: &Node| {
            let symbol = self.definitions.symbol(*node);
            let class = symbol.class.map(|class| self.definitions.symbol(class).name);
            let module = self.modules.name(self.definitions.file(*node));
            match class {
                Some(class) => format!("{module}.{class}.{}", symbol.name),
                None if symbol.name.is_empty() => module,
                None => format!("{module}.{}", symbol.name),
            }
        };
        format!("uses {}", way.iter().map(name).collect::<Vec<_>>().join(" → "))
    }
}

/// `imports shop.money through shop.cart`.
fn import_reason(modules: &Modules, changed: File, reach: &Reach) -> String {
    let between = reach.through.split_last().map_or(&[][..], |(_, between)| between);
    let name = |file: &File| match modules.path(*file) {
        path if path.ends_with("conftest.py") => path.to_owned(),
        _ => modules.name(*file),
    };
    let changed = name(&changed);
    if changed.ends_with("conftest.py") && between.is_empty() {
        return format!("{changed} applies to it");
    }
    let named: Vec<String> = between.iter().take(MOST_NAMED).map(name).collect();
    match (named.join(", "), between.len() - named.len()) {
        (named, _) if named.is_empty() => format!("imports {changed}"),
        (named, 0) => format!("imports {changed} through {named}"),
        (named, more) => format!("imports {changed} through {named} and {more} more"),
    }
}

/// The changed paths, made plain.
struct Changed {
    paths: BTreeSet<String>,
    /// Python files that are no longer there.
    gone: Vec<String>,
    notes: Vec<String>,
}

impl Changed {
    fn new(tree: &Tree, asked: &[String]) -> Self {
        let known: BTreeSet<&str> = tree.sources.iter().map(|source| source.path.as_str()).collect();
        let mut changed = Self {
            paths: BTreeSet::new(),
            gone: Vec::new(),
            notes: Vec::new(),
        };
        for path in asked {
            let Some(path) = plain(path) else {
                changed
                    .notes
                    .push(format!("`{}` lies outside and was left out", cut(path)));
                continue;
            };
            // A folder stands for all that is in it.
            let inside: Vec<&&str> = known
                .iter()
                .filter(|known| **known != path && is_below(known, &path))
                .collect();
            if !inside.is_empty() {
                changed.paths.extend(inside.iter().map(ToString::to_string));
                continue;
            }
            if has_extension(&path, "py") && !known.contains(path.as_str()) && !changed.gone.contains(&path) {
                changed.gone.push(path.clone());
            }
            changed.paths.insert(path);
        }
        changed
    }
}

/// Without `.`, `..` and empty parts; `None` if that leaves the root or nothing.
fn plain(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    if path.starts_with('/') || path.contains('\0') {
        return None;
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/")).filter(|path| !path.is_empty())
}

fn cut(path: &str) -> String {
    const MOST: usize = 100;
    path.chars().take(MOST).collect()
}
