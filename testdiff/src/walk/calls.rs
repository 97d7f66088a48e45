//! Calls that mean something for a test: of pytest, unittest, mock, warnings, and of what looks like a check.

use source::python::{Expr, Keyword, Stmt};

use super::blocks::catches_assertions;
use super::{Walker, argument};
use crate::claim::Claim;
use crate::unittest;

/// Words that begin the names of functions that check something and cannot be looked into.
const CHECKING: [&str; 8] = [
    "assert", "check", "verify", "expect", "ensure", "should", "validate", "compare",
];

impl<'a> Walker<'_, 'a> {
    /// A call (or another expression) that stands alone.
    pub(super) fn lone(&mut self, expr: &'a Expr) {
        let inner = match expr {
            Expr::Other(kind, parts) if kind == "await" && parts.len() == 1 => &parts[0],
            expr => expr,
        };
        let Expr::Call { callee, args, .. } = inner else {
            self.eval(expr);
            return;
        };
        self.calls += 1;
        if self.pytest(inner, callee, args) {
            return;
        }
        let known = self.checks.len();
        let is_helper = self.helper(callee).is_some();
        let value = self.eval(inner);
        if is_helper && (self.checks.len() > known || !looks_like_a_check(callee)) {
            return;
        }
        let Expr::Call {
            callee: said,
            args,
            keywords,
        } = &value
        else {
            return;
        };
        match unittest::claims(said, args, keywords) {
            Some(claims) => claims.into_iter().for_each(|claim| self.claim(claim)),
            None if looks_like_a_check(callee) => self.claim(Claim::Opaque(value)),
            None => {}
        }
    }

    /// A value that is assigned: it may be a patch, or `pytest.raises` called as a function.
    pub(super) fn watched(&mut self, value: &'a Expr) -> Expr {
        if let Expr::Call { callee, args, .. } = value {
            self.pytest(value, callee, args);
        }
        self.eval(value)
    }

    /// Whether the call is one of those that change how a test is judged.
    fn pytest(&mut self, call: &'a Expr, callee: &'a Expr, args: &'a [Expr]) -> bool {
        let said = self.eval(callee).dotted().unwrap_or_default();
        match said.as_str() {
            "pytest.skip" | "pytest.xfail" | "pytest.importorskip" | "self.skipTest" => self.mute(&said),
            "pytest.fail" | "self.fail" => self.fails(),
            "sys.exit" | "os._exit" | "pytest.exit" | "exit" => self.ends_here(),
            "warnings.simplefilter" | "warnings.filterwarnings" => {
                match args.first().and_then(Expr::as_text) {
                    Some("error") => self.fails_on_warnings = Some(true),
                    Some("ignore") => self.fails_on_warnings = Some(false),
                    _ => {}
                }
            }
            "pytest.raises" | "pytest.warns" | "self.assertRaises" if args.len() > 1 => {
                let what = self.exceptions(args.first());
                let body = vec![self.eval(&args[1])];
                self.claim(Claim::Raises {
                    what,
                    pattern: None,
                    body,
                    warning: said.ends_with("warns"),
                });
            }
            _ => match self.patch_target(call) {
                Some(target) => self.patched.push(target),
                None => return false,
            },
        }
        true
    }

    fn ends_here(&mut self) {
        if self.guards.is_empty() {
            self.void
                .get_or_insert_with(|| "exits before the assertion".to_owned());
        }
    }

    /// What a call of mock, pytest-mock or monkeypatch puts something else in the place of; dotted.
    pub(super) fn patch_target(&mut self, call: &Expr) -> Option<String> {
        let Expr::Call { callee, args, .. } = call else {
            return None;
        };
        // A spy: the real thing still runs.
        if argument(call, "wraps").is_some() {
            return None;
        }
        let said = self.eval(callee).dotted()?;
        let (owner, method) = said.rsplit_once('.').unwrap_or(("", &said));
        let is_patch = |name: &str| name.rsplit('.').next() == Some("patch");
        let first = args.first().map(|first| self.eval(first));
        let second = args.get(1).and_then(Expr::as_text).map(str::to_owned);
        if method == "patch" && (owner.is_empty() || owner.ends_with("mock") || owner.starts_with("mock")) {
            return first?.as_text().map(str::to_owned);
        }
        if method == "object" && is_patch(owner) {
            return Some(format!("{}.{}", first?.dotted()?, second?));
        }
        if owner.ends_with("monkeypatch") || owner == "mp" || owner == "m" {
            return match (method, first?, second) {
                ("setattr", Expr::Constant(target), _) => Expr::Constant(target).as_text().map(str::to_owned),
                ("setattr", target, Some(name)) => Some(format!("{}.{name}", target.dotted()?)),
                _ => None,
            };
        }
        None
    }

    pub(super) fn with(&mut self, items: &'a [(Expr, Option<Expr>)], body: &'a [Stmt]) {
        let Some(((context, target), rest)) = items.split_first() else {
            return self.block(body);
        };
        let callee = if let Expr::Call { callee, .. } = context {
            callee
        } else {
            context
        };
        let said = self.eval(callee).dotted().unwrap_or_default();
        let name = said.rsplit('.').next().unwrap_or_default();
        match name {
            "raises" | "warns" | "deprecated_call" | "assertRaises" | "assertRaisesRegex" | "assertWarns"
            | "assertWarnsRegex" => self.expected(name, context, target.as_ref(), rest, body),
            "suppress" => {
                let Expr::Call { args, .. } = context else {
                    return self.with(rest, body);
                };
                let names: Vec<String> = args.iter().flat_map(|arg| self.exceptions(Some(arg))).collect();
                if names.iter().any(|name| catches_assertions(name)) {
                    self.voided("the exception of the assertion is suppressed", |walker| {
                        walker.with(rest, body);
                    });
                } else {
                    self.with(rest, body);
                }
            }
            _ => {
                if let Some(patched) = self.patch_target(context) {
                    self.patched.push(patched);
                }
                let value = self.eval(context);
                if let Some(target) = target {
                    self.assign(target, Expr::Other("with".to_owned(), vec![value]));
                }
                self.with(rest, body);
            }
        }
    }

    fn expected(
        &mut self,
        name: &str,
        context: &'a Expr,
        target: Option<&'a Expr>,
        rest: &'a [(Expr, Option<Expr>)],
        body: &'a [Stmt],
    ) {
        let (args, default) = match context {
            Expr::Call { args, .. } => (&args[..], "Exception"),
            _ => (&[][..], "Exception"),
        };
        let what = if name == "deprecated_call" {
            vec!["DeprecationWarning".to_owned()]
        } else if args.is_empty() && argument(context, "match").is_none() {
            vec![if name == "warns" { "Warning" } else { default }.to_owned()]
        } else {
            self.exceptions(args.first())
        };
        let pattern =
            argument(context, "match").or_else(|| name.ends_with("Regex").then(|| args.get(1)).flatten());
        let pattern = pattern.map(|pattern| self.eval(pattern));
        let calls = self.calls_of(body);
        let warning = name.to_ascii_lowercase().contains("warn") || name == "deprecated_call";
        if let Some(target) = target {
            self.assign(target, Expr::name("the exception"));
        }
        let before = self.checks.len();
        self.with(rest, body);
        let inner = self.checks.split_off(before);
        self.claim(Claim::Raises {
            what,
            pattern,
            body: calls,
            warning,
        });
        self.checks.extend(inner);
    }

    /// The names in `except …` or `raises(…)`, without their modules.
    pub(super) fn exceptions(&mut self, types: Option<&Expr>) -> Vec<String> {
        let Some(types) = types else {
            return vec!["BaseException".to_owned()];
        };
        let types = self.eval(types);
        let all = types
            .as_row()
            .map_or_else(|| vec![types.clone()], <[Expr]>::to_vec);
        let mut names: Vec<String> = all.iter().map(last_name).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The expressions of a body's own statements.
    pub(super) fn calls_of(&mut self, body: &'a [Stmt]) -> Vec<Expr> {
        let mut values = Vec::new();
        for statement in body {
            match statement {
                Stmt::Expr(value) | Stmt::Assign { value, .. } => {
                    let checks = self.checks.len();
                    values.push(self.eval(value));
                    self.checks.truncate(checks);
                }
                Stmt::With { body, .. } => values.extend(self.calls_of(body)),
                _ => {}
            }
        }
        values
    }
}

fn last_name(expr: &Expr) -> String {
    let dotted = expr.dotted().unwrap_or_else(|| crate::render::render(expr));
    dotted.rsplit('.').next().unwrap_or(&dotted).to_owned()
}

/// Whether a callee's name begins like that of a check: `assert_order`, `checkOrder`, `verify`.
fn looks_like_a_check(callee: &Expr) -> bool {
    let name = match callee {
        Expr::Name(name) | Expr::Attribute(_, name) => name.trim_start_matches('_'),
        _ => return false,
    };
    CHECKING.iter().any(|word| {
        name.strip_prefix(word).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with('_') || rest.starts_with(char::is_uppercase)
        })
    })
}

pub(super) fn keyword<'k>(keywords: &'k [Keyword], name: &str) -> Option<&'k Expr> {
    keywords
        .iter()
        .find(|keyword| keyword.name.as_deref() == Some(name))
        .map(|keyword| &keyword.value)
}
