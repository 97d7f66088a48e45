//! From uses of names to edges between definitions.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashMapExt};

use source::names::python::symbols::{Kind, Symbol, Use};

use super::fixtures::{Fixtures, is_fixture};
use super::resolve::{Resolver, Target};
use super::{Definitions, Node};
use crate::modules::{File, Modules};
use crate::tree::Tree;

/// Bases from elsewhere that call nothing of the class by themselves.
const PASSIVE_BASES: [&str; 12] = [
    "ABC",
    "Enum",
    "Flag",
    "Generic",
    "IntEnum",
    "IntFlag",
    "NamedTuple",
    "Protocol",
    "StrEnum",
    "TypedDict",
    "object",
    "type",
];

/// Which definition may run which.
#[derive(Default)]
pub(crate) struct Calls {
    /// What runs, or is in use, when the node is.
    pub(super) edges: Vec<Vec<Node>>,
    /// Names of methods that the node speaks of: indexes into `methods`.
    pub(super) mentions: Vec<Vec<usize>>,
    /// By name, the methods that have it and are called by name alone, each with its class.
    pub(super) methods: Vec<Vec<(Node, Node)>>,
    /// By class, the same, each with the index of its name.
    pub(super) of_class: Vec<Vec<(usize, Node)>>,
    /// By test file, what runs though nobody asks.
    pub(super) unasked: Vec<(File, Vec<Node>)>,
}

impl Calls {
    pub(crate) fn new(tree: &Tree, modules: &Modules, definitions: &Definitions<'_>) -> Self {
        let resolver = Resolver::new(tree, modules, definitions);
        let fixtures = Fixtures::new(tree, modules, definitions, &resolver);
        let mut linker = Linker {
            tree,
            definitions,
            resolver: &resolver,
            fixtures: &fixtures,
            names: HashMap::new(),
            foreign: vec![None; definitions.symbols.len()],
            calls: Self::with(definitions.symbols.len()),
        };
        linker.classes();
        for node in 0..definitions.symbols.len() {
            linker.uses(node);
            linker.belongs(node);
        }
        let mut calls = linker.calls;
        let tests = tree.sources.iter().enumerate();
        let tests = tests.filter(|(file, source)| source.is_test && !definitions.nodes(*file).is_empty());
        calls.unasked = tests.map(|(file, _)| (file, fixtures.unasked(file))).collect();
        calls
    }

    /// The index of a method's name, if it is called by name alone.
    pub(super) fn name_of(&self, class: Node, method: Node) -> Option<usize> {
        let of_class = self.of_class[class].iter();
        of_class
            .filter(|(_, node)| *node == method)
            .map(|(name, _)| *name)
            .next()
    }

    fn with(nodes: usize) -> Self {
        Self {
            edges: vec![Vec::new(); nodes],
            mentions: vec![Vec::new(); nodes],
            of_class: vec![Vec::new(); nodes],
            ..Self::default()
        }
    }
}

struct Linker<'a> {
    tree: &'a Tree,
    definitions: &'a Definitions<'a>,
    resolver: &'a Resolver<'a>,
    fixtures: &'a Fixtures<'a>,
    /// Names of methods, by their index.
    names: HashMap<&'a str, usize>,
    /// Whether a class comes from one of another project, as far as that was asked.
    foreign: Vec<Option<bool>>,
    calls: Calls,
}

impl<'a> Linker<'a> {
    fn symbol(&self, node: Node) -> &'a Symbol<'a> {
        self.definitions.symbol(node)
    }

    /// Methods: those that Python or a foreign base calls go with their class, all others by their names.
    fn classes(&mut self) {
        for node in 0..self.definitions.symbols.len() {
            let symbol = self.symbol(node);
            let Some(class) = symbol.class else {
                continue;
            };
            let is_special = symbol.name.starts_with("__") && symbol.name.ends_with("__");
            if symbol.kind == Kind::Class
                || is_special
                || self.is_foreign(class)
                || self.is_tests(class, symbol)
            {
                self.calls.edges[class].push(node);
                continue;
            }
            let next = self.calls.methods.len();
            let name = *self.names.entry(symbol.name).or_insert(next);
            if name == next {
                self.calls.methods.push(Vec::new());
            }
            self.calls.methods[name].push((node, class));
            self.calls.of_class[class].push((name, node));
        }
    }

    /// Whether test runners call the method: of classes in test files and of those that tests come from.
    fn is_tests(&self, class: Node, method: &Symbol<'_>) -> bool {
        let source = &self.tree.sources[self.definitions.file(class)];
        let is_helper = || {
            source
                .path
                .split('/')
                .any(|part| part.starts_with("test") || part == "conftest.py")
        };
        source.is_test
            || (["test_", "setUp", "tearDown", "setup_", "teardown_"]
                .iter()
                .any(|start| method.name.starts_with(start))
                && is_helper())
    }

    fn is_foreign(&mut self, class: Node) -> bool {
        if let Some(known) = self.foreign[class] {
            return known;
        }
        self.foreign[class] = Some(false);
        let file = self.definitions.file(class);
        let bases = &self.symbol(class).bases;
        let is_foreign = bases.iter().any(|base| {
            let (targets, _) = self.resolver.chain(file, base);
            targets.iter().any(|target| match target {
                Target::Definition(base) => self.is_foreign(*base),
                Target::Foreign => {
                    let name = base.rsplit('.').next().unwrap_or(base);
                    !PASSIVE_BASES.contains(&name)
                }
                Target::Module(_) => false,
            })
        });
        self.foreign[class] = Some(is_foreign);
        is_foreign
    }

    fn uses(&mut self, node: Node) {
        let definitions = self.definitions;
        let (file, symbol) = &definitions.symbols[node];
        let mut edges = BTreeSet::new();
        let mut mentions = BTreeSet::new();
        for used in &symbol.uses {
            match used {
                Use::Name(chain) => self.chain(*file, chain, &mut edges, &mut mentions),
                Use::Member(name) => mentions.extend(self.names.get(name).copied()),
                Use::Text(text) => self.text(*file, text, &mut edges, &mut mentions),
                Use::Annotation(chain) => self.annotation(*file, chain, &mut edges),
            }
        }
        if is_fixture(symbol) || self.tree.sources[*file].is_test {
            for parameter in &symbol.parameters {
                edges.extend(self.fixtures.requested(*file, parameter));
            }
        }
        edges.remove(&node);
        self.calls.edges[node].extend(edges);
        self.calls.mentions[node].extend(mentions);
    }

    fn chain(&self, file: File, chain: &'a str, edges: &mut BTreeSet<Node>, mentions: &mut BTreeSet<usize>) {
        let (targets, used) = self.resolver.chain(file, chain);
        let mut is_ours = targets.is_empty();
        for target in targets {
            match target {
                Target::Definition(node) => {
                    edges.insert(node);
                    is_ours = true;
                }
                Target::Module(_) => is_ours = true,
                Target::Foreign => {}
            }
        }
        if is_ours {
            let rest = chain.split('.').skip(used.max(1));
            mentions.extend(rest.filter_map(|name| self.names.get(name).copied()));
        }
    }

    fn text(&self, file: File, text: &'a str, edges: &mut BTreeSet<Node>, mentions: &mut BTreeSet<usize>) {
        if text.contains('.') {
            for target in self.resolver.text(file, text) {
                match target {
                    Target::Definition(node) => {
                        edges.insert(node);
                    }
                    Target::Module(module) => edges.extend(self.whole(module)),
                    Target::Foreign => {}
                }
            }
        } else if text.len() > 3 && text.ends_with('_') {
            let begun = self.names.iter().filter(|(name, _)| name.starts_with(text));
            mentions.extend(begun.map(|(_, index)| *index));
        } else {
            mentions.extend(self.names.get(text).copied());
            if self.tree.sources[file].is_test {
                edges.extend(self.fixtures.requested(file, text));
            }
        }
    }

    /// A module that somebody loads by its name: its code and its variables.
    fn whole(&self, module: File) -> impl Iterator<Item = Node> {
        let nodes = self.definitions.nodes(module);
        nodes.filter(|node| matches!(self.symbol(*node).kind, Kind::Module | Kind::Variable))
    }

    /// A class in an annotation is used by whoever makes it; one of a foreign base may be made from the annotation.
    fn annotation(&mut self, file: File, chain: &'a str, edges: &mut BTreeSet<Node>) {
        let (targets, _) = self.resolver.chain(file, chain);
        for target in targets {
            if let Target::Definition(node) = target
                && self.symbol(node).kind == Kind::Class
                && self.is_foreign(node)
            {
                edges.insert(node);
            }
        }
    }

    /// What comes with a definition, and what it comes with.
    fn belongs(&mut self, node: Node) {
        let symbol = self.symbol(node);
        let file = self.definitions.file(node);
        let module = self.definitions.nodes(file).start;
        if symbol.class.is_some() || node == module {
            return;
        }
        // Its module's code has run before it is used.
        self.calls.edges[node].push(module);
        if self.is_registered(file, symbol) {
            self.calls.edges[module].push(node);
        }
    }

    /// Whether the module's own code hands the definition to something: `@app.route(…)`, `@registry.register`.
    fn is_registered(&self, file: File, symbol: &Symbol<'a>) -> bool {
        symbol.decorators.iter().any(|decorator| {
            let Some((root, _)) = decorator.split_once('.') else {
                return false;
            };
            let targets = self.resolver.name(file, root);
            targets.iter().any(|target| match target {
                Target::Definition(node) => self.symbol(*node).kind == Kind::Variable,
                Target::Module(_) | Target::Foreign => false,
            })
        })
    }
}
