//! What the files of one state define, by name.

use std::collections::{BTreeMap, HashMap, HashSet};

use source::python::{Class, Expr, Function, Import, Stmt};

use crate::fold::truth;

/// The names that a module or a class defines. Where one is defined twice, the later holds, as in Python.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    pub(crate) functions: BTreeMap<&'a str, &'a Function>,
    pub(crate) classes: BTreeMap<&'a str, &'a Class>,
    pub(crate) values: HashMap<&'a str, &'a Expr>,
    pub(crate) imports: HashMap<&'a str, &'a Import>,
    /// Assignments to something else's attribute, such as `orders.receipt = Mock()`.
    pub(crate) foreign: Vec<&'a Expr>,
    /// `from module import *`.
    pub(crate) stars: Vec<&'a str>,
    /// Names with more than one definition.
    pub(crate) shadowed: HashSet<&'a str>,
    /// Functions under a condition that never holds.
    pub(crate) hidden: Vec<&'a Function>,
    /// Calls that stand alone, such as `pytest.skip(allow_module_level=True)`.
    pub(crate) calls: Vec<&'a Expr>,
}

impl<'a> Names<'a> {
    pub(crate) fn of(body: &'a [Stmt]) -> Self {
        let mut names = Self::default();
        names.read(body, false, false);
        names
    }

    fn read(&mut self, body: &'a [Stmt], hidden: bool, conditional: bool) {
        for statement in body {
            match statement {
                Stmt::Function(function) if hidden => self.hidden.push(function),
                Stmt::Function(function) => self.function(function, conditional),
                Stmt::If { test, body, orelse } => {
                    let holds = truth(test);
                    self.read(body, hidden || holds == Some(false), true);
                    self.read(orelse, hidden || holds == Some(true), true);
                }
                Stmt::Try {
                    body,
                    handlers,
                    orelse,
                    finally,
                } => {
                    for handler in handlers {
                        self.read(&handler.body, hidden, true);
                    }
                    for part in [body, orelse, finally] {
                        self.read(part, hidden, true);
                    }
                }
                Stmt::With { body, .. } => self.read(body, hidden, conditional),
                _ if hidden => {}
                Stmt::Class(class) if self.classes.insert(&class.name, class).is_some() && !conditional => {
                    self.shadowed.insert(&class.name);
                }
                Stmt::Assign { targets, value } => self.assigned(targets, value),
                Stmt::Expr(call @ Expr::Call { .. }) => self.calls.push(call),
                Stmt::Import(import) if import.name.as_deref() == Some("*") => {
                    self.stars.push(&import.module);
                }
                Stmt::Import(import) => {
                    self.imports.insert(&import.alias, import);
                }
                _ => {}
            }
        }
    }

    fn function(&mut self, function: &'a Function, conditional: bool) {
        let name = function.name.as_str();
        // A property and its setter have one name and are one thing; so have the branches of an `if`.
        let decorated = !function.decorators.is_empty();
        if self.functions.insert(name, function).is_some() && !conditional && !decorated {
            self.shadowed.insert(name);
        }
        self.values.remove(name);
    }

    fn assigned(&mut self, targets: &'a [Expr], value: &'a Expr) {
        for target in targets {
            match target {
                Expr::Name(name) => {
                    self.functions.remove(name.as_str());
                    self.values.insert(name, value);
                }
                Expr::Attribute(..) => self.foreign.push(target),
                _ => {}
            }
        }
    }
}

/// A Python file.
#[derive(Debug)]
pub(crate) struct Module<'a> {
    /// From the root of the repository, with `/`.
    pub(crate) path: &'a str,
    pub(crate) names: Names<'a>,
    /// Whether it is there for the tests: what it defines is part of them, and not what they are about.
    pub(crate) is_support: bool,
}

impl<'a> Module<'a> {
    pub(crate) fn new(path: &'a str, body: &'a [Stmt]) -> Self {
        let names = Names::of(body);
        let is_support = is_support(path, &names);
        Self {
            path,
            names,
            is_support,
        }
    }

    pub(crate) fn file_name(&self) -> &'a str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    pub(crate) fn folder(&self) -> &'a str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }
}

fn is_support(path: &str, names: &Names<'_>) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let of_tests = |name: &str| matches!(name, "test" | "tests" | "testing" | "checks" | "specs");
    file == "conftest.py"
        || file.starts_with("test_")
        || file.ends_with("_test.py")
        || folder.split('/').any(of_tests)
        || names
            .imports
            .values()
            .any(|import| matches!(import.module.as_str(), "pytest" | "unittest"))
}
