//! What a name means in a file: a definition or a module, through imports and through packages that hand it on.

use foldhash::{HashMap, HashMapExt};
use std::cell::RefCell;
use std::rc::Rc;

use source::names::python::{Facts, From};

use super::{Definitions, Node};
use crate::modules::{File, Modules};
use crate::tree::Tree;

/// How often a name may be handed on from module to module.
const MOST_HANDS: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Definition(Node),
    Module(File),
    /// Imported, but not from this repository.
    Foreign,
}

type Targets = Rc<[Target]>;

/// Where an import binds a name from.
#[derive(Clone, Copy)]
enum Binding<'a> {
    /// `import a.b as c`, `import a.b`.
    Module(&'a str),
    /// `from a import b as c`: the import, and `b`.
    From(&'a From, &'a str),
}

pub(super) struct Resolver<'a> {
    modules: &'a Modules,
    definitions: &'a Definitions<'a>,
    bindings: HashMap<(File, &'a str), Vec<Binding<'a>>>,
    /// `from a import *` of each file.
    stars: HashMap<File, Vec<&'a From>>,
    known: RefCell<HashMap<(File, &'a str), Targets>>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(tree: &'a Tree, modules: &'a Modules, definitions: &'a Definitions<'a>) -> Self {
        let mut resolver = Self {
            modules,
            definitions,
            bindings: HashMap::new(),
            stars: HashMap::new(),
            known: RefCell::default(),
        };
        for (file, source) in tree.sources.iter().enumerate() {
            if !definitions.nodes(file).is_empty() {
                resolver.bind(file, &source.facts);
            }
        }
        resolver
    }

    fn bind(&mut self, file: File, facts: &'a Facts) {
        for (path, used) in &facts.imports {
            let is_whole = path.split('.').next() == Some(used);
            let bound = if is_whole { used } else { path };
            let bindings = self.bindings.entry((file, used)).or_default();
            bindings.push(Binding::Module(bound));
        }
        for from in &facts.froms {
            for (name, used) in &from.names {
                if name == "*" {
                    self.stars.entry(file).or_default().push(from);
                } else {
                    let bindings = self.bindings.entry((file, used)).or_default();
                    bindings.push(Binding::From(from, name));
                }
            }
        }
    }

    /// What a bare name means at the top of a file.
    pub(super) fn name(&self, file: File, name: &'a str) -> Targets {
        self.look_up(file, name, MOST_HANDS)
    }

    fn look_up(&self, file: File, name: &'a str, hands: usize) -> Targets {
        let key = (file, name);
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        // What leads back to itself leads nowhere.
        self.known.borrow_mut().insert(key, Rc::from([]));
        let found: Targets = Rc::from(self.find(file, name, hands));
        self.known.borrow_mut().insert(key, Rc::clone(&found));
        found
    }

    fn find(&self, file: File, name: &'a str, hands: usize) -> Vec<Target> {
        let own = self.definitions.top(file, name);
        let mut found: Vec<Target> = own.iter().map(|node| Target::Definition(*node)).collect();
        if hands == 0 {
            return found;
        }
        for binding in self.bindings.get(&(file, name)).into_iter().flatten() {
            found.extend_from_slice(&self.bound(file, *binding, hands - 1));
        }
        if found.is_empty() {
            for from in self.stars.get(&file).into_iter().flatten() {
                let package = self.modules.package(file, from);
                if let Some(module) = package.and_then(|package| package.file) {
                    found.extend_from_slice(&self.look_up(module, name, hands - 1));
                }
            }
        }
        found.dedup();
        found
    }

    fn bound(&self, file: File, binding: Binding<'a>, hands: usize) -> Vec<Target> {
        match binding {
            Binding::Module(path) => match self.modules.find(file, path) {
                Some(module) => vec![Target::Module(module)],
                None => vec![Target::Foreign],
            },
            Binding::From(from, name) => {
                let Some(package) = self.modules.package(file, from) else {
                    return vec![Target::Foreign];
                };
                let part = package.part(self.modules, file, name).map(Target::Module);
                let own = package.file.filter(|module| *module != file || part.is_none());
                let handed = own.map(|module| self.look_up(module, name, hands));
                let mut found: Vec<Target> = handed.iter().flat_map(|found| found.iter().copied()).collect();
                if found.is_empty() {
                    found.extend(part);
                }
                if let (true, Some(module)) = (found.is_empty(), own) {
                    found.extend(self.lazily(module, name));
                }
                if found.is_empty() && package.file.is_none() {
                    found.push(Target::Foreign);
                }
                found
            }
        }
    }

    /// A name that a package hands on when somebody asks for it (`__getattr__`): the part that defines it.
    fn lazily(&self, file: File, name: &'a str) -> Vec<Target> {
        let own = self.definitions.top(file, "__getattr__").iter();
        if own.len() == 0 {
            return Vec::new();
        }
        let parts = self.modules.parts(file).into_iter();
        parts
            .flat_map(|part| self.definitions.top(part, name))
            .chain(own)
            .map(|node| Target::Definition(*node))
            .collect()
    }

    /// What `a.b.c` means in a file: the definitions on the way, and how many parts led to the last of them.
    pub(super) fn chain(&self, file: File, chain: &'a str) -> (Vec<Target>, usize) {
        let mut parts = chain.split('.');
        let first = parts.next().unwrap_or_default();
        let mut targets = self.name(file, first).to_vec();
        let mut used = 1;
        // A namespace package has no file of its own.
        if targets.iter().all(|target| *target == Target::Foreign) && !targets.is_empty() {
            let whole = self.text(file, chain);
            if !whole.is_empty() {
                return (whole, chain.split('.').count());
            }
        }
        for part in parts {
            let next: Vec<Target> = targets
                .iter()
                .flat_map(|target| self.attribute(*target, part))
                .collect();
            if next.is_empty() {
                break;
            }
            targets = next;
            used += 1;
        }
        (targets, used)
    }

    fn attribute(&self, target: Target, name: &'a str) -> Vec<Target> {
        let Target::Module(module) = target else {
            return Vec::new();
        };
        let found = self.name(module, name);
        if !found.is_empty() {
            return found.to_vec();
        }
        match self.modules.part(module, name) {
            Some(part) => vec![Target::Module(part)],
            None => self.lazily(module, name),
        }
    }

    /// What a dotted name in a string means, as imports from this file would find it.
    pub(super) fn text(&self, file: File, text: &'a str) -> Vec<Target> {
        let mut path = text;
        while let Some((shorter, _)) = path.rsplit_once('.') {
            if let Some(module) = self.modules.find(file, path) {
                let rest = text.get(path.len() + 1..).unwrap_or_default();
                let mut targets = vec![Target::Module(module)];
                for part in rest.split('.').filter(|part| !part.is_empty()) {
                    let next: Vec<Target> = targets
                        .iter()
                        .flat_map(|target| self.attribute(*target, part))
                        .collect();
                    if next.is_empty() {
                        break;
                    }
                    targets = next;
                }
                return targets;
            }
            path = shorter;
        }
        Vec::new()
    }
}
