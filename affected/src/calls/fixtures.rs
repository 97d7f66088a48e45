//! pytest's fixtures: whom a requested name means, and what runs for every test.

use foldhash::HashSet;

use source::names::python::symbols::{Kind, Symbol};

use super::resolve::{Resolver, Target};
use super::{Definitions, Node};
use crate::modules::{File, Modules, folder};
use crate::tree::Tree;

pub(super) struct Fixtures<'a> {
    modules: &'a Modules,
    definitions: &'a Definitions<'a>,
    resolver: &'a Resolver<'a>,
    /// Files that `pytest_plugins` names: they count for every test.
    plugins: Vec<File>,
    /// Fixtures that are asked for by another name than their function's.
    renamed: Vec<(&'a str, Node)>,
    /// All names that some fixture goes by.
    names: HashSet<&'a str>,
}

pub(super) fn is_fixture(symbol: &Symbol<'_>) -> bool {
    let is_marked = |decorator: &&str| decorator.rsplit('.').next() == Some("fixture");
    matches!(symbol.kind, Kind::Function | Kind::Method) && symbol.decorators.iter().any(is_marked)
}

impl<'a> Fixtures<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        modules: &'a Modules,
        definitions: &'a Definitions<'a>,
        resolver: &'a Resolver<'a>,
    ) -> Self {
        let plugins = tree.sources.iter().enumerate().flat_map(|(file, source)| {
            let names = source.facts.plugins.iter();
            names.filter_map(move |name| modules.find(file, name))
        });
        let all = definitions.symbols.iter().enumerate();
        let fixtures: Vec<_> = all.filter(|(_, (_, symbol))| is_fixture(symbol)).collect();
        let names = fixtures
            .iter()
            .map(|(_, (_, symbol))| symbol.given_name.unwrap_or(symbol.name));
        Self {
            names: names.collect(),
            modules,
            definitions,
            resolver,
            plugins: plugins.collect(),
            renamed: fixtures
                .iter()
                .filter_map(|(node, (_, symbol))| Some((symbol.given_name?, *node)))
                .collect(),
        }
    }

    /// The conftests on the way up from a file, the nearest first, then the plug-ins.
    fn around(&self, file: File) -> Vec<File> {
        let mut files = Vec::new();
        let mut at = folder(self.modules.path(file));
        loop {
            let path = if at.is_empty() {
                "conftest.py".to_owned()
            } else {
                format!("{at}/conftest.py")
            };
            files.extend(self.modules.file(&path));
            if at.is_empty() {
                break;
            }
            at = folder(at);
        }
        files.extend(&self.plugins);
        files
    }

    /// The fixtures that a name means for whoever asks in this file.
    pub(super) fn requested(&self, file: File, name: &'a str) -> Vec<Node> {
        if !self.names.contains(name) {
            return Vec::new();
        }
        let places = std::iter::once(file).chain(self.around(file));
        for place in places {
            let found: Vec<Node> = self.in_file(place, name);
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    fn in_file(&self, file: File, name: &'a str) -> Vec<Node> {
        let definitions = self.definitions;
        let renamed = self.renamed.iter().filter(|(given, _)| *given == name);
        let renamed = renamed
            .map(|(_, node)| *node)
            .filter(|node| definitions.file(*node) == file);
        let named = self.resolver.name(file, name);
        let named = named.iter().filter_map(|target| match target {
            Target::Definition(node) => Some(*node),
            Target::Module(_) | Target::Foreign => None,
        });
        let methods = definitions
            .nodes(file)
            .filter(|node| definitions.symbol(*node).kind == Kind::Method)
            .filter(|node| definitions.symbol(*node).name == name);
        named
            .chain(methods)
            .filter(|node| is_fixture(definitions.symbol(*node)))
            .chain(renamed)
            .collect()
    }

    /// What runs for each test of a file, asked or not: hooks, fixtures that are used by themselves, module code.
    pub(super) fn unasked(&self, test: File) -> Vec<Node> {
        let mut nodes = Vec::new();
        for file in self.around(test) {
            for node in self.definitions.nodes(file) {
                let symbol = self.definitions.symbol(node);
                let is_hook = symbol.kind == Kind::Function && symbol.name.starts_with("pytest_");
                if is_hook || symbol.kind == Kind::Module || (is_fixture(symbol) && symbol.is_autouse) {
                    nodes.push(node);
                }
            }
        }
        nodes
    }
}
