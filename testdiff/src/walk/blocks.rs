//! Statements, and what those that hold others do to the claims in them.

use source::python::{Expr, Handler, Stmt};

use super::{Walker, any_statement};
use crate::claim::{Claim, asserted};
use crate::fold::{fold, truth};

/// Rows longer than this are not written out.
const LONGEST_LOOP: usize = 100;

impl<'a> Walker<'_, 'a> {
    pub(super) fn block(&mut self, body: &'a [Stmt]) {
        for statement in body {
            let Some(left) = self.left.checked_sub(1) else {
                return;
            };
            self.left = left;
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Expr(expr) => self.lone(expr),
            Stmt::Assert(test) => {
                let test = self.eval(test);
                for claim in asserted(&test) {
                    self.claim(claim);
                }
            }
            Stmt::Assign { targets, value } => self.assignment(targets, value),
            Stmt::AugAssign {
                target,
                operator,
                value,
            } => {
                let operands = vec![self.eval(target), self.eval(value)];
                self.assign(target, fold(Expr::Other(operator.clone(), operands)));
            }
            Stmt::Return(value) => {
                if let Some(value) = value {
                    self.eval(value);
                }
                self.ends("returns before the assertion");
            }
            Stmt::Raise(raised) => self.raise(raised.as_ref()),
            Stmt::Break | Stmt::Continue | Stmt::Delete(_) => {}
            Stmt::For {
                target,
                iter,
                body,
                orelse,
            } => {
                self.each(target, iter, body);
                self.block(orelse);
            }
            Stmt::While { test, body, orelse } => self.repeated(test, body, orelse),
            Stmt::If { test, body, orelse } => self.conditional(test, body, orelse),
            Stmt::With { items, body } => self.with(items, body),
            Stmt::Try {
                body,
                handlers,
                orelse,
                finally,
            } => {
                self.attempt(body, handlers, orelse);
                self.block(finally);
            }
            Stmt::Function(function) => {
                self.functions.insert(&function.name, function);
                self.locals.remove(&function.name);
            }
            Stmt::Class(class) => {
                self.locals.remove(&class.name);
            }
            Stmt::Import(import) => {
                let module = &import.module;
                let value = import
                    .name
                    .as_ref()
                    .map_or(module.clone(), |name| format!("{module}.{name}"));
                self.bind(&import.alias, Expr::Name(value));
            }
        }
    }

    fn assignment(&mut self, targets: &'a [Expr], value: &'a Expr) {
        let value = self.watched(value);
        for target in targets {
            self.assign(target, value.clone());
        }
    }

    /// What follows is not reached, whenever what led here is.
    fn ends(&mut self, why: &str) {
        if self.guards.is_empty() || self.in_loop {
            self.void.get_or_insert_with(|| why.to_owned());
        }
    }

    fn raise(&mut self, raised: Option<&'a Expr>) {
        let raised = raised.map(|raised| self.eval(raised));
        let callee = match &raised {
            Some(Expr::Call { callee, .. }) => callee.dotted(),
            Some(raised) => raised.dotted(),
            None => None,
        };
        match callee.as_deref() {
            Some("AssertionError") => self.fails(),
            Some(name) if name.ends_with("SkipTest") => self.mute("raise SkipTest"),
            _ => self.ends("raises before the assertion"),
        }
    }

    /// A failure that is written down: the last condition on the way to it must not hold.
    pub(super) fn fails(&mut self) {
        if let Some(guard) = self.guards.pop() {
            let claims = asserted(&fold(Expr::Not(Box::new(guard.clone()))));
            for claim in claims {
                self.claim(claim);
            }
            self.guards.push(guard);
        }
    }

    pub(super) fn mute(&mut self, how: &str) {
        if self.guards.is_empty() && self.void.is_none() {
            self.muted.get_or_insert_with(|| how.to_owned());
            self.ends(how);
        }
    }

    fn each(&mut self, target: &'a Expr, iter: &'a Expr, body: &'a [Stmt]) {
        let iter = self.eval(iter);
        let in_loop = std::mem::replace(&mut self.in_loop, true);
        match iter.as_row() {
            Some([]) => self.voided("the loop goes over nothing", |walker| walker.block(body)),
            Some(row) if row.len() <= LONGEST_LOOP && !retries(body) => {
                for value in row {
                    self.assign(target, value.clone());
                    self.scoped(|walker| walker.block(body));
                }
            }
            _ => {
                let many = std::mem::replace(&mut self.many, true);
                let value = Expr::Other("each".to_owned(), vec![iter.clone()]);
                self.assign(target, value);
                self.scoped(|walker| walker.block(body));
                self.many = many;
            }
        }
        self.in_loop = in_loop;
    }

    /// What is said inside stays inside: an early end of one round of a loop, a condition.
    fn scoped(&mut self, go: impl FnOnce(&mut Self)) {
        let void = self.void.clone();
        let guards = self.guards.clone();
        go(self);
        self.void = void;
        self.guards = guards;
    }

    pub(super) fn voided(&mut self, why: &str, go: impl FnOnce(&mut Self)) {
        self.scoped(|walker| {
            walker.void.get_or_insert_with(|| why.to_owned());
            go(walker);
        });
    }

    fn repeated(&mut self, test: &'a Expr, body: &'a [Stmt], orelse: &'a [Stmt]) {
        let test = self.eval(test);
        let many = std::mem::replace(&mut self.many, true);
        let in_loop = std::mem::replace(&mut self.in_loop, true);
        if truth(&test) == Some(false) {
            self.voided("the loop is never entered", |walker| walker.block(body));
        } else {
            self.scoped(|walker| walker.block(body));
        }
        self.in_loop = in_loop;
        self.many = many;
        self.block(orelse);
    }

    fn conditional(&mut self, test: &'a Expr, body: &'a [Stmt], orelse: &'a [Stmt]) {
        let test = self.eval(test);
        match truth(&test) {
            Some(true) => self.block(body),
            Some(false) => {
                self.voided("it stands under a condition that never holds", |walker| {
                    walker.block(body);
                });
                self.block(orelse);
            }
            None => {
                let negated = fold(Expr::Not(Box::new(test.clone())));
                self.guarded(test.clone(), |walker| walker.block(body));
                self.guarded(negated.clone(), |walker| walker.block(orelse));
                // `if condition: return` is a condition for all that follows.
                if leaves(body) {
                    self.guard(negated);
                } else if leaves(orelse) {
                    self.guard(test);
                }
            }
        }
    }

    fn guarded(&mut self, guard: Expr, go: impl FnOnce(&mut Self)) {
        let before = self.guards.len();
        let void = self.void.clone();
        self.guards.push(guard);
        go(self);
        self.guards.truncate(before);
        self.void = void;
    }

    fn guard(&mut self, guard: Expr) {
        if !self.guards.contains(&guard) {
            self.guards.push(guard);
        }
    }

    fn attempt(&mut self, body: &'a [Stmt], handlers: &'a [Handler], orelse: &'a [Stmt]) {
        if let Some(expected) = handlers.iter().find(|_| self.must_raise(body, orelse)) {
            return self.expected_exception(body, expected);
        }
        let swallowing = handlers.iter().find(|handler| self.swallows(handler));
        match swallowing {
            Some(handler) if self.in_loop && raises_sometimes(&handler.body) => {
                self.retried = true;
                self.block(body);
            }
            Some(handler) if skips(&handler.body) => {
                self.voided("a failure of the assertion skips the test", |walker| {
                    walker.block(body);
                });
            }
            Some(_) => {
                let retried =
                    self.in_loop && any_statement(body, &mut |s| matches!(s, Stmt::Break | Stmt::Return(_)));
                self.retried |= retried;
                self.voided("the exception of the assertion is swallowed", |walker| {
                    walker.block(body);
                });
            }
            None => self.block(body),
        }
        for handler in handlers {
            if let Some(name) = &handler.name {
                self.bind(name, Expr::name("the exception"));
            }
            let caught = handler
                .types
                .clone()
                .unwrap_or_else(|| Expr::name("BaseException"));
            self.guarded(Expr::Other("caught".to_owned(), vec![caught]), |walker| {
                walker.block(&handler.body);
            });
        }
        self.block(orelse);
    }

    /// Whether a failure is written down for the case that nothing is raised.
    fn must_raise(&mut self, body: &'a [Stmt], orelse: &'a [Stmt]) -> bool {
        [body.last(), orelse.last()]
            .into_iter()
            .flatten()
            .any(|last| match last {
                Stmt::Assert(test) => truth(test) == Some(false),
                Stmt::Raise(Some(Expr::Call { callee, .. })) => {
                    callee.dotted().as_deref() == Some("AssertionError")
                }
                Stmt::Expr(Expr::Call { callee, .. }) => {
                    let name = self.eval(callee).dotted().unwrap_or_default();
                    name == "pytest.fail" || name == "self.fail"
                }
                _ => false,
            })
    }

    fn expected_exception(&mut self, body: &'a [Stmt], handler: &'a Handler) {
        let what = self.exceptions(handler.types.as_ref());
        let calls = self.calls_of(body);
        self.claim(Claim::Raises {
            what,
            pattern: None,
            body: calls,
            warning: false,
        });
        if let Some(name) = &handler.name {
            self.bind(name, Expr::name("the exception"));
        }
        self.block(&handler.body);
    }

    /// Whether a failed assertion ends in this handler, and the test goes on as if nothing were.
    fn swallows(&mut self, handler: &'a Handler) -> bool {
        let caught = self.exceptions(handler.types.as_ref());
        let catches = caught.iter().any(|name| catches_assertions(name));
        catches && !raises_always(&handler.body) && !self.ends_in_failure(&handler.body)
    }

    fn ends_in_failure(&mut self, body: &'a [Stmt]) -> bool {
        body.iter().any(|statement| match statement {
            Stmt::Expr(Expr::Call { callee, .. }) => {
                let name = self.eval(callee).dotted().unwrap_or_default();
                matches!(name.as_str(), "pytest.fail" | "self.fail" | "pytest.exit")
            }
            Stmt::Assert(_) => true,
            _ => false,
        })
    }
}

pub(super) fn catches_assertions(name: &str) -> bool {
    matches!(name, "AssertionError" | "Exception" | "BaseException")
}

fn raises_always(body: &[Stmt]) -> bool {
    body.iter().any(|statement| matches!(statement, Stmt::Raise(_)))
}

fn raises_sometimes(body: &[Stmt]) -> bool {
    any_statement(body, &mut |statement| matches!(statement, Stmt::Raise(_)))
}

fn skips(body: &[Stmt]) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::Expr(Expr::Call { callee, .. }) => callee.dotted().is_some_and(|name| {
            name.ends_with("skip") || name.ends_with("xfail") || name.ends_with("skipTest")
        }),
        _ => false,
    })
}

/// Whether a block leaves the test (not its skip: that is said by its outcome).
fn leaves(body: &[Stmt]) -> bool {
    matches!(body.last(), Some(Stmt::Return(_) | Stmt::Continue))
}

/// Whether a loop tries the same thing again.
fn retries(body: &[Stmt]) -> bool {
    body.iter().any(|statement| {
        matches!(statement, Stmt::Try { body, .. }
        if any_statement(body, &mut |inner| matches!(inner, Stmt::Break | Stmt::Return(_))))
    }) || matches!(body, [.., Stmt::Try { orelse, .. }] if orelse.iter().any(|inner| matches!(inner, Stmt::Break)))
}
