//! Goes through a test as Python would, as far as it can be read: locals, helpers and fixtures are put in place of their
//! names, loops over written rows are written out, and each claim is noted with what stands around it.
//!
//! It does not follow what the code under test does; a change of what goes in is no change of what is checked.

mod blocks;
mod calls;
mod eval;
mod marks;

use std::collections::{BTreeMap, HashMap};

use source::python::{Class, Expr, Function, Stmt};

use crate::claim::Claim;
use crate::collect::{Test, fixture_call};
use crate::evidence::{Case, Check, Evidence};
use crate::module::{Module, Names};
use crate::snapshot::{Definition, View};

/// Helpers that call helpers are followed so far.
const DEEPEST: usize = 6;
/// Statements looked at for one test; what comes after is not seen on either side.
const MOST_STATEMENTS: usize = 20_000;
/// Expressions that grow beyond this keep their names.
const LARGEST: usize = 300;

/// What `test` checks.
pub(crate) fn evidence<'a>(test: &Test<'_, 'a>, view: &View<'a>) -> Evidence {
    let mut evidence = Evidence::default();
    let mut walker = Walker::new(test, view);
    let cases = walker.prepare(test, &mut evidence);
    for case in cases {
        let mut walker = walker.clone();
        walker.many |= case.open;
        walker.locals.extend(case.values);
        let arguments: Vec<&str> = test
            .function
            .parameters
            .iter()
            .map(|parameter| parameter.name.as_str())
            .collect();
        walker.fixtures(&arguments);
        walker.block(&test.function.body);
        walker.finish(case.key, &mut evidence);
    }
    evidence
}

#[derive(Clone)]
struct Walker<'v, 'a> {
    view: &'v View<'a>,
    /// Where names are looked up now.
    module: &'v Module<'a>,
    lineage: Vec<(&'v Module<'a>, &'a Class)>,
    /// Values of local names, and of attributes of `self` under their dotted names.
    locals: HashMap<String, Expr>,
    functions: HashMap<&'a str, &'a Function>,
    /// The helpers and fixtures that are being gone through.
    stack: Vec<*const Function>,
    checks: Vec<Check>,
    patched: Vec<String>,
    muted: Option<String>,
    retried: bool,
    fails_on_warnings: Option<bool>,
    calls: usize,
    /// Why a claim made here cannot make the test fail.
    void: Option<String>,
    guards: Vec<Expr>,
    many: bool,
    in_loop: bool,
    left: usize,
}

impl<'v, 'a> Walker<'v, 'a> {
    fn new(test: &Test<'v, 'a>, view: &'v View<'a>) -> Self {
        Self {
            view,
            module: test.home,
            lineage: test.lineage.clone(),
            locals: HashMap::new(),
            functions: HashMap::new(),
            stack: vec![std::ptr::from_ref(test.function)],
            checks: Vec::new(),
            patched: Vec::new(),
            muted: None,
            retried: false,
            fails_on_warnings: None,
            calls: 0,
            void: None,
            guards: Vec::new(),
            many: false,
            in_loop: false,
            left: MOST_STATEMENTS,
        }
    }

    fn claim(&mut self, claim: Claim) {
        let void = if claim.is_always_true() {
            Some(format!(
                "assertion is always true: {}",
                crate::text::claim(&claim)
            ))
        } else {
            self.void.clone()
        };
        let check = Check {
            claim,
            void,
            guards: self.guards.clone(),
            many: self.many,
        };
        // The same thing said twice with nothing between is said once.
        if self.checks.last() != Some(&check) {
            self.checks.push(check);
        }
    }

    fn finish(self, key: String, evidence: &mut Evidence) {
        evidence.cases.push(Case {
            key,
            checks: self.checks,
        });
        evidence.patched.extend(self.patched);
        evidence.retries = evidence.retries.max(u32::from(self.retried));
        evidence.muted = evidence.muted.take().or(self.muted);
        evidence.fails_on_warnings = self.fails_on_warnings.unwrap_or(evidence.fails_on_warnings);
        evidence.calls += self.calls;
    }

    /// Marks, set-up and fixtures that every case shares, and the cases.
    fn prepare(&mut self, test: &Test<'v, 'a>, evidence: &mut Evidence) -> Vec<marks::Parameters> {
        let marks = marks::read(&test.marks, self);
        evidence.muted = marks.muted;
        evidence.retries = marks.retries;
        evidence.fails_on_warnings = marks.fails_on_warnings;
        evidence.patched = marks.patched;
        evidence.patched.extend(
            test.module
                .names
                .foreign
                .iter()
                .filter_map(|target| target.dotted()),
        );
        self.set_up();
        let automatic = self.automatic_fixtures();
        for (home, fixture) in automatic {
            self.fixture(home, fixture);
        }
        let used: Vec<&str> = marks.used_fixtures.iter().map(String::as_str).collect();
        self.fixtures(&used);
        if let Some(call) = test
            .module
            .names
            .calls
            .iter()
            .find(|call| self.mutes_module(call))
        {
            evidence.muted = Some(crate::render::render(call));
        }
        marks.cases
    }

    fn mutes_module(&mut self, call: &Expr) -> bool {
        let Expr::Call { callee, .. } = call else {
            return false;
        };
        let name = self.eval(callee).dotted().unwrap_or_default();
        name == "pytest.skip" || name == "pytest.importorskip"
    }

    fn set_up(&mut self) {
        for (home, class) in self.lineage.clone().into_iter().rev() {
            let names = Names::of(&class.body);
            for (name, value) in &names.values {
                let value = self.eval(value);
                self.bind(&format!("self.{name}"), value);
            }
            for name in ["setUpClass", "setup_class", "setUp", "setup_method", "asyncSetUp"] {
                if let Some(function) = names.functions.get(name) {
                    self.inside(home, |walker| walker.block(&function.body));
                }
            }
        }
    }

    /// Goes on in another module, and comes back.
    fn inside(&mut self, home: &'v Module<'a>, go: impl FnOnce(&mut Self)) {
        let module = std::mem::replace(&mut self.module, home);
        go(self);
        self.module = module;
    }

    /// Puts the values of fixtures in place of their names.
    fn fixtures(&mut self, names: &[&str]) {
        for name in names {
            if !self.locals.contains_key(*name)
                && let Some((home, fixture)) = self.find_fixture(name)
                && let Some(value) = self.fixture(home, fixture)
            {
                self.bind(name, value);
            }
        }
    }

    fn fixture(&mut self, home: &'v Module<'a>, fixture: &'a Function) -> Option<Expr> {
        let parameters: Vec<&str> = fixture
            .parameters
            .iter()
            .map(|parameter| parameter.name.as_str())
            .collect();
        if self.is_open(fixture) {
            return None;
        }
        self.stack.push(fixture);
        self.fixtures(&parameters);
        let mut inner = BTreeMap::new();
        for name in parameters {
            if let Some(value) = self.locals.get(name) {
                inner.insert(name.to_owned(), value.clone());
            }
        }
        let value = self.call_body(home, fixture, inner.into_iter().collect());
        self.stack.pop();
        value
    }

    fn is_open(&self, function: &Function) -> bool {
        self.stack.len() > DEEPEST || self.stack.contains(&std::ptr::from_ref(function))
    }

    fn find_fixture(&self, name: &str) -> Option<(&'v Module<'a>, &'a Function)> {
        for (home, class) in &self.lineage {
            let names = Names::of(&class.body);
            if let Some(found) = fixture_in(&names, name) {
                return Some((home, found));
            }
        }
        if let Some(found) = fixture_in(&self.module.names, name) {
            return Some((self.module, found));
        }
        if let Some(Definition::Function(home, function)) = self.view.definition(self.module, name)
            && crate::collect::is_fixture(function)
        {
            return Some((home, function));
        }
        let conftests = self.view.conftests(self.module);
        conftests
            .into_iter()
            .find_map(|conftest| Some((conftest, fixture_in(&conftest.names, name)?)))
    }

    fn automatic_fixtures(&self) -> Vec<(&'v Module<'a>, &'a Function)> {
        let mut found = Vec::new();
        for module in self
            .view
            .conftests(self.module)
            .into_iter()
            .rev()
            .chain([self.module])
        {
            let functions = module
                .names
                .functions
                .values()
                .filter(|function| is_automatic(function));
            found.extend(functions.map(|function| (module, *function)));
        }
        for (home, class) in &self.lineage {
            let names = Names::of(&class.body);
            found.extend(
                names
                    .functions
                    .values()
                    .filter(|function| is_automatic(function))
                    .map(|f| (*home, *f)),
            );
        }
        found
    }
}

/// The fixture that a scope knows by this name: its own, or the one given with `name=`.
fn fixture_in<'a>(names: &Names<'a>, wanted: &str) -> Option<&'a Function> {
    let is_called = |function: &Function| {
        let given = function
            .decorators
            .iter()
            .filter_map(fixture_call)
            .find_map(|call| argument(call, "name").cloned());
        given.map_or(function.name == wanted, |given| given.as_text() == Some(wanted))
    };
    names
        .functions
        .values()
        .copied()
        .find(|function| crate::collect::is_fixture(function) && is_called(function))
}

fn is_automatic(function: &Function) -> bool {
    let mut calls = function.decorators.iter().filter_map(fixture_call);
    calls.any(|call| argument(call, "autouse") == Some(&Expr::truth(true)))
}

/// The value of a keyword of a call.
fn argument<'e>(call: &'e Expr, name: &str) -> Option<&'e Expr> {
    let Expr::Call { keywords, .. } = call else {
        return None;
    };
    keywords
        .iter()
        .find(|keyword| keyword.name.as_deref() == Some(name))
        .map(|keyword| &keyword.value)
}

/// Whether `test` holds for a statement or one in it, functions and classes apart.
fn any_statement(body: &[Stmt], test: &mut dyn FnMut(&Stmt) -> bool) -> bool {
    body.iter().any(|statement| {
        test(statement)
            || match statement {
                Stmt::If { body, orelse, .. }
                | Stmt::For { body, orelse, .. }
                | Stmt::While { body, orelse, .. } => {
                    any_statement(body, test) || any_statement(orelse, test)
                }
                Stmt::With { body, .. } => any_statement(body, test),
                Stmt::Try {
                    body,
                    handlers,
                    orelse,
                    finally,
                } => {
                    [body, orelse, finally]
                        .into_iter()
                        .any(|part| any_statement(part, test))
                        || handlers.iter().any(|handler| any_statement(&handler.body, test))
                }
                _ => false,
            }
    })
}
