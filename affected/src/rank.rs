//! All signals together: which tests, in which order, for which reasons.

use std::collections::{BTreeMap, BTreeSet};

use runner_core::affected::{AffectedTest, AffectedTests};

use crate::graph::{Graph, Reach};
use crate::modules::{File, Modules, is_below};
use crate::signals::{Signal, Subject};
use crate::tree::{Tree, has_extension};

/// The changed test itself: before everything else.
const ITSELF: u32 = 200;
/// A test that imports the changed module; less the longer the way.
const IMPORTS: u32 = 40;
/// How many modules of a chain of imports are named.
const MOST_NAMED: usize = 3;

/// Scores every test file against every changed path.
pub(crate) fn rank(tree: &Tree, changed: &[String]) -> AffectedTests {
    let changed = Changed::new(tree, changed);
    let modules = Modules::new(tree, &changed.gone);
    let graph = Graph::new(tree, &modules);
    let mut scores: BTreeMap<File, (u32, Vec<String>)> = BTreeMap::new();
    for path in &changed.paths {
        let subject = Subject::new(path);
        let file = modules.file(path);
        let reach = file.map(|file| graph.reach(file)).unwrap_or_default();
        let changed_test = file
            .and_then(|file| tree.sources.get(file))
            .is_some_and(|source| source.is_test);
        for (test, source) in tree
            .sources
            .iter()
            .enumerate()
            .filter(|(_, source)| source.is_test)
        {
            let mut signals = Vec::new();
            if file == Some(test) {
                signals.push((ITSELF, "is changed itself".to_owned()));
            } else {
                // A changed test says nothing about its neighbours but by imports.
                if !changed_test {
                    signals.extend(subject.signals(&source.path));
                }
                let imports = reach.get(&test).zip(file);
                signals.extend(imports.map(|(reach, file)| import_signal(&modules, file, reach)));
            }
            if !signals.is_empty() {
                add(scores.entry(test).or_default(), signals);
            }
        }
    }
    let mut affected: Vec<AffectedTest> = scores
        .into_iter()
        .map(|(test, (score, why))| AffectedTest {
            test_file: tree.sources[test].path.clone(),
            score,
            why,
        })
        .collect();
    affected.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.test_file.cmp(&b.test_file)));
    AffectedTests {
        affected,
        searched: tree.sources.iter().filter(|source| source.is_test).count(),
        notes: tree.notes.iter().cloned().chain(changed.notes).collect(),
    }
}

fn add(entry: &mut (u32, Vec<String>), signals: Vec<Signal>) {
    for (weight, why) in signals {
        entry.0 = entry.0.saturating_add(weight);
        if !entry.1.contains(&why) {
            entry.1.push(why);
        }
    }
}

/// `imports shop.money through shop.cart`, weighing less the longer the way.
fn import_signal(modules: &Modules, changed: File, reach: &Reach) -> Signal {
    let weight = (2 * IMPORTS / reach.cost.max(2)).max(1);
    let between = reach.through.split_last().map_or(&[][..], |(_, between)| between);
    let name = |file: &File| match modules.path(*file) {
        path if path.ends_with("conftest.py") => path.to_owned(),
        _ => modules.name(*file),
    };
    let changed = name(&changed);
    if changed.ends_with("conftest.py") && between.is_empty() {
        return (weight, format!("{changed} applies to it"));
    }
    let named: Vec<String> = between.iter().take(MOST_NAMED).map(name).collect();
    let why = match (named.join(", "), between.len() - named.len()) {
        (named, _) if named.is_empty() => format!("imports {changed}"),
        (named, 0) => format!("imports {changed} through {named}"),
        (named, more) => format!("imports {changed} through {named} and {more} more"),
    };
    (weight, why)
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
