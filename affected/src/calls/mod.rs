//! What calls what: which definitions a test file may run, by names.
//!
//! Python says little about types, so a method counts as called where its class is in use and its name is spoken, in one
//! test's own reach: what is used elsewhere lends nothing to it.

mod changed;
mod fixtures;
mod flow;
mod link;
mod resolve;
mod usage;

use foldhash::{HashMap, HashMapExt};

use source::names::python::symbols::{Kind, Symbol, symbols};

use crate::modules::File;
use crate::tree::{Tree, read_text};

pub(crate) use flow::Reached;
pub(crate) use link::Calls;
pub(crate) use usage::{Bearing, Near, Usage};

/// Index into [`Calls::nodes`]'s nodes: a definition.
pub(crate) type Node = usize;

/// The texts of files that are read for a question; `files` in ascending order.
pub(crate) fn read(tree: &Tree, files: &[File]) -> Vec<(File, String)> {
    let read = |file: &File| Some((*file, read_text(&tree.root, &tree.sources.get(*file)?.path)?));
    files.iter().filter_map(read).collect()
}

/// The definitions of the files that were read for this question.
pub(crate) struct Definitions<'a> {
    texts: &'a [(File, String)],
    pub(crate) symbols: Vec<(File, Symbol<'a>)>,
    /// The nodes of a file: a range, as they are read file by file.
    of_file: HashMap<File, std::ops::Range<Node>>,
    /// By file and name, the definitions at the top of the file.
    top: HashMap<(File, &'a str), Vec<Node>>,
}

impl<'a> Definitions<'a> {
    pub(crate) fn new(texts: &'a [(File, String)]) -> Self {
        let mut all = Self {
            texts,
            symbols: Vec::new(),
            of_file: HashMap::new(),
            top: HashMap::new(),
        };
        for (file, text) in texts {
            let (file, mut symbols) = (*file, symbols(text));
            let first = all.symbols.len();
            for (index, symbol) in symbols.iter_mut().enumerate() {
                symbol.class = symbol.class.map(|class| class + first);
                if symbol.class.is_none() && symbol.kind != Kind::Module {
                    all.top
                        .entry((file, symbol.name))
                        .or_default()
                        .push(first + index);
                }
            }
            all.of_file.insert(file, first..first + symbols.len());
            all.symbols
                .extend(symbols.into_iter().map(|symbol| (file, symbol)));
        }
        all
    }

    /// The nodes of a file; the first is the module itself.
    pub(crate) fn nodes(&self, file: File) -> std::ops::Range<Node> {
        self.of_file.get(&file).cloned().unwrap_or(0..0)
    }

    fn top<'s>(&'s self, file: File, name: &'s str) -> &'s [Node] {
        self.top.get(&(file, name)).map_or(&[], Vec::as_slice)
    }

    /// The definitions of a file that `old`, its former text, has otherwise; `None` if all of it may behave otherwise.
    pub(crate) fn changed(&self, file: File, old: &str) -> Option<Vec<Node>> {
        let new = self.text(file);
        let found = changed::changed(old, new, &symbols(new))?;
        let first = self.nodes(file).start;
        Some(found.into_iter().map(|index| index + first).collect())
    }

    /// The definitions that some lines of a file belong to; none if they are the module's own statements.
    pub(crate) fn at_lines(&self, file: File, ranges: &[(u32, u32)]) -> Vec<Node> {
        let text = self.text(file);
        let found = changed::at_lines(text, &symbols(text), ranges);
        let first = self.nodes(file).start;
        found.into_iter().map(|index| index + first).collect()
    }

    /// The text of a file; empty if it was not read.
    pub(crate) fn text(&self, file: File) -> &'a str {
        let at = self.texts.binary_search_by_key(&file, |(file, _)| *file);
        at.map_or("", |at| &self.texts[at].1)
    }

    pub(crate) fn file(&self, node: Node) -> File {
        self.symbols[node].0
    }

    pub(crate) fn symbol(&self, node: Node) -> &Symbol<'a> {
        &self.symbols[node].1
    }
}
