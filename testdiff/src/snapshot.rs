//! The files of one state, and where a name in one of them leads.

use std::collections::BTreeMap;

use source::python::{Class, Expr, Function, Stmt};

use crate::module::Module;
use crate::rules::Rules;

/// The Python files of one state of a repository, as far as they matter, and the rules by which tests are found.
#[derive(Debug, Default)]
pub struct Snapshot {
    files: BTreeMap<String, Vec<Stmt>>,
    unread: Vec<String>,
    pub(crate) rules: Rules,
}

impl Snapshot {
    /// Adds a file: its path from the root with `/`, and its text. Python and pytest's configuration are read, others
    /// are passed over.
    pub fn add(&mut self, path: &str, text: &str) {
        // Python imports what ends so, and nothing that ends in .PY.
        if path.strip_suffix(".py").is_none() {
            return self.rules.read(path, text);
        }
        match source::python::parse(text) {
            Ok(body) => {
                self.files.insert(path.to_owned(), body);
            }
            Err(_) => self.unread.push(path.to_owned()),
        }
    }

    /// The files that are no Python.
    #[must_use]
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    pub(crate) fn view(&self) -> View<'_> {
        let modules = self
            .files
            .iter()
            .map(|(path, body)| Module::new(path, body))
            .collect();
        View {
            modules,
            rules: &self.rules,
        }
    }
}

/// A snapshot with the names of its files sorted out.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) modules: Vec<Module<'a>>,
    pub(crate) rules: &'a Rules,
}

/// What a name stands for, with the module that defines it.
#[derive(Clone, Copy)]
pub(crate) enum Definition<'v, 'a> {
    Function(&'v Module<'a>, &'a Function),
    Class(&'v Module<'a>, &'a Class),
    Value(&'v Module<'a>, &'a Expr),
}

/// Names that lead to names are followed so far.
const MOST_HOPS: usize = 6;

impl<'a> View<'a> {
    /// What `name` stands for in `module`, if that is part of the tests.
    pub(crate) fn definition<'v>(&'v self, module: &'v Module<'a>, name: &str) -> Option<Definition<'v, 'a>> {
        self.follow(module, name, MOST_HOPS)
    }

    fn follow<'v>(&'v self, module: &'v Module<'a>, name: &str, hops: usize) -> Option<Definition<'v, 'a>> {
        let names = &module.names;
        if let Some(function) = names.functions.get(name) {
            return Some(Definition::Function(module, function));
        }
        if let Some(class) = names.classes.get(name) {
            return Some(Definition::Class(module, class));
        }
        if let Some(value) = names.values.get(name) {
            return Some(Definition::Value(module, value));
        }
        let hops = hops.checked_sub(1)?;
        if let Some(import) = names.imports.get(name) {
            let target = self.imported(module, &import.module)?;
            return self.follow(target, import.name.as_deref()?, hops);
        }
        let mut starred = names.stars.iter().filter_map(|star| self.imported(module, star));
        starred.find_map(|target| self.follow(target, name, hops))
    }

    /// The file that `import dotted` in `module` means, if it is one of the tests' own.
    pub(crate) fn imported(&self, module: &Module<'a>, dotted: &str) -> Option<&Module<'a>> {
        let path = dotted.trim_start_matches('.').replace('.', "/");
        let fits = |candidate: &&Module<'a>| {
            let stem = candidate
                .path
                .trim_end_matches(".py")
                .trim_end_matches("/__init__");
            candidate.is_support
                && candidate.path != module.path
                && (stem == path
                    || stem
                        .strip_suffix(path.as_str())
                        .is_some_and(|rest| rest.ends_with('/')))
        };
        let near = |candidate: &&Module<'a>| shared(candidate.folder(), module.folder());
        self.modules.iter().filter(fits).max_by_key(near)
    }

    /// A class and those it inherits from, nearest first.
    pub(crate) fn lineage<'v>(
        &'v self,
        module: &'v Module<'a>,
        class: &'a Class,
    ) -> Vec<(&'v Module<'a>, &'a Class)> {
        let mut found = vec![(module, class)];
        let mut next = 0;
        while let Some(&(home, class)) = found.get(next)
            && next < MOST_HOPS
        {
            next += 1;
            for base in class.bases.iter().filter_map(Expr::dotted) {
                let last = base.rsplit('.').next().unwrap_or(&base);
                if let Some(Definition::Class(home, base)) = self.definition(home, last)
                    && !found.iter().any(|(_, known)| std::ptr::eq(*known, base))
                {
                    found.push((home, base));
                }
            }
        }
        found
    }

    /// The conftest files that hold for `module`, nearest first.
    pub(crate) fn conftests(&self, module: &Module<'a>) -> Vec<&Module<'a>> {
        let holds = |candidate: &&Module<'a>| {
            let folder = candidate.folder();
            candidate.file_name() == "conftest.py"
                && (folder.is_empty()
                    || module
                        .path
                        .strip_prefix(folder)
                        .is_some_and(|rest| rest.starts_with('/')))
        };
        let mut found: Vec<_> = self.modules.iter().filter(holds).collect();
        found.sort_by_key(|conftest| std::cmp::Reverse(conftest.folder().len()));
        found
    }
}

fn shared(left: &str, right: &str) -> usize {
    left.split('/')
        .zip(right.split('/'))
        .take_while(|(left, right)| left == right)
        .count()
}
