//! Who imports whom, and how far a change reaches.
//!
//! Python runs a whole package's `__init__` for any part of it, so by imports alone almost every test of a library
//! reaches almost every module. All of them are found; what is near is told from what is far by costs: a name that is
//! imported from a package leads straight to the module that defines it, while what the package imports besides is a
//! long way off.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use crate::modules::{File, Modules, folder, is_init};
use crate::tree::Tree;
use source::names::python::{Facts, From};

/// An import that is written down.
pub(crate) const DIRECT: u32 = 2;
/// A module that is named in a string.
const NAMED: u32 = 3;
/// A conftest, or a package that is imported on the way to a part of it.
const IMPLIED: u32 = 5;
/// Extra, for what an `__init__` imports besides what is asked of it.
const BESIDES: u32 = 6;

/// How often a name may be handed on from module to module.
const MOST_HANDS: usize = 8;

/// The edges of a tree, against the direction of the imports.
pub(crate) struct Graph {
    importers: Vec<Vec<(File, u32)>>,
}

/// How a change reaches a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// In units of half an import.
    pub(crate) cost: u32,
    /// The files from this one (left out) to the changed one.
    pub(crate) through: Vec<File>,
}

impl Graph {
    pub(crate) fn new(tree: &Tree, modules: &Modules) -> Self {
        let mut importers = vec![Vec::new(); modules.len()];
        let exports = Exports::new(tree);
        for file in 0..tree.sources.len() {
            for (imported, cost) in edges(file, tree, modules, &exports) {
                importers[imported].push((file, cost));
            }
        }
        Self { importers }
    }

    /// The nearest way from each file to `changed`, for files that have one.
    pub(crate) fn reach(&self, changed: File) -> HashMap<File, Reach> {
        let mut best: HashMap<File, (u32, File)> = std::iter::once((changed, (0, changed))).collect();
        let mut open = BinaryHeap::from([Reverse((0, changed))]);
        while let Some(Reverse((cost, file))) = open.pop() {
            if best[&file].0 < cost {
                continue;
            }
            for (importer, more) in &self.importers[file] {
                let cost = cost + more;
                if best.get(importer).is_none_or(|(known, _)| cost < *known) {
                    best.insert(*importer, (cost, file));
                    open.push(Reverse((cost, *importer)));
                }
            }
        }
        let way = |file: &File| {
            let mut through = Vec::new();
            let mut at = *file;
            while at != changed {
                at = best[&at].1;
                through.push(at);
            }
            through
        };
        let reach = |file: &File| Reach {
            cost: best[file].0,
            through: way(file),
        };
        best.keys()
            .filter(|file| **file != changed)
            .map(|file| (*file, reach(file)))
            .collect()
    }
}

/// Names that modules hand on: by file and name, the import that brings it in.
struct Exports<'a> {
    handed: HashMap<(File, &'a str), &'a From>,
}

impl<'a> Exports<'a> {
    fn new(tree: &'a Tree) -> Self {
        let mut handed = HashMap::new();
        for (file, source) in tree.sources.iter().enumerate() {
            for from in &source.facts.froms {
                for (_, used) in &from.names {
                    handed.insert((file, used.as_str()), from);
                }
            }
        }
        Self { handed }
    }

    /// The module that defines `name` as it is found in `file`, and those that hand it on.
    fn definition(&self, modules: &Modules, file: File, name: &str) -> Vec<File> {
        let mut way = vec![file];
        let mut name = name.to_owned();
        while way.len() <= MOST_HANDS {
            let here = way[way.len() - 1];
            let Some(from) = self.handed.get(&(here, name.as_str())) else {
                break;
            };
            let Some(package) = modules.package(here, from) else {
                break;
            };
            let there = from.names.iter().find(|(_, used)| *used == name);
            let Some((there, _)) = there else {
                break;
            };
            if let Some(part) = package.part(modules, here, there) {
                way.push(part);
                break;
            }
            let Some(next) = package.file.filter(|next| !way.contains(next)) else {
                break;
            };
            way.push(next);
            name.clone_from(there);
        }
        way
    }
}

/// The files that one file makes Python load, each with its cost.
fn edges(file: File, tree: &Tree, modules: &Modules, exports: &Exports<'_>) -> HashMap<File, u32> {
    let mut edges = Edges {
        file,
        modules,
        exports,
        found: HashMap::new(),
    };
    let facts = &tree.sources[file].facts;
    for from in &facts.froms {
        edges.from(from, facts);
    }
    for (path, used) in &facts.imports {
        edges.import(path, used, facts);
    }
    for name in &facts.named {
        edges.named(name, DIRECT);
    }
    for name in &facts.dotted {
        edges.named(name, NAMED);
    }
    edges.conftests(tree.sources[file].is_test);
    edges.found.remove(&file);
    edges.found
}

struct Edges<'a> {
    file: File,
    modules: &'a Modules,
    exports: &'a Exports<'a>,
    found: HashMap<File, u32>,
}

impl Edges<'_> {
    fn add(&mut self, imported: File, cost: u32) {
        let besides = if is_init(self.modules.path(self.file)) {
            BESIDES
        } else {
            0
        };
        let cost = cost + besides;
        let known = self.found.entry(imported).or_insert(cost);
        *known = cost.min(*known);
    }

    /// A module, and the packages around it, which Python loads on the way.
    fn module(&mut self, imported: File, cost: u32) {
        self.add(imported, cost);
        let mut around = folder(self.modules.path(imported));
        while let Some(init) = self.modules.file(&format!("{around}/__init__.py")) {
            if init != imported {
                self.add(init, IMPLIED);
            }
            if around.is_empty() {
                break;
            }
            around = folder(around);
        }
    }

    fn from(&mut self, from: &From, facts: &Facts) {
        let Some(package) = self.modules.package(self.file, from) else {
            return;
        };
        for (name, used) in &from.names {
            if let Some(part) = package.part(self.modules, self.file, name) {
                self.module(part, DIRECT);
                self.attributes(part, used, facts);
            } else if let Some(file) = package.file {
                self.module(file, DIRECT);
                self.name(file, name);
            }
        }
    }

    /// `name`, found in `module`: an edge to wherever it comes from.
    fn name(&mut self, module: File, name: &str) {
        for defined in self.exports.definition(self.modules, module, name) {
            self.add(defined, DIRECT);
        }
    }

    /// What is used of a module that is bound to a name.
    fn attributes(&mut self, module: File, bound: &str, facts: &Facts) {
        let from_bound = facts.attributes.range((bound.to_owned(), String::new())..);
        let of_bound = from_bound.take_while(|(name, _)| name == bound);
        for (_, attribute) in of_bound {
            self.name(module, attribute);
        }
    }

    fn import(&mut self, path: &str, used: &str, facts: &Facts) {
        let Some(module) = self.modules.find(self.file, path) else {
            return self.named(path, DIRECT);
        };
        self.module(module, DIRECT);
        let bound = if path.contains('.') && path.split('.').next() == Some(used) {
            self.modules.find(self.file, used)
        } else {
            Some(module)
        };
        if let Some(bound) = bound {
            self.attributes(bound, used, facts);
        }
    }

    /// A dotted name that may end in something within a module: the longest part that is one.
    fn named(&mut self, dotted: &str, cost: u32) {
        let mut path = dotted;
        loop {
            if let Some(module) = self.modules.find(self.file, path) {
                self.module(module, cost);
                if let Some(rest) = dotted.get(path.len() + 1..) {
                    let name = rest.split('.').next().unwrap_or(rest);
                    for defined in self.exports.definition(self.modules, module, name) {
                        self.add(defined, cost);
                    }
                }
                return;
            }
            match path.rsplit_once('.') {
                Some((shorter, _)) => path = shorter,
                None => return,
            }
        }
    }

    /// A test depends on every conftest on the way up to the root.
    fn conftests(&mut self, is_test: bool) {
        if !is_test {
            return;
        }
        let mut around = folder(self.modules.path(self.file));
        let mut seen = HashSet::new();
        while seen.insert(around) {
            let path = if around.is_empty() {
                "conftest.py".to_owned()
            } else {
                format!("{around}/conftest.py")
            };
            if let Some(conftest) = self.modules.file(&path) {
                self.add(conftest, IMPLIED);
            }
            around = folder(around);
        }
    }
}
