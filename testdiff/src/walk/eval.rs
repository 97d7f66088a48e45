//! Expressions with their names replaced by what they stand for.

use std::collections::HashMap;

use source::python::{Expr, Function, Keyword, Stmt};

use super::{LARGEST, Walker, any_statement};
use crate::collect::is_fixture;
use crate::fold::fold;
use crate::module::Module;
use crate::snapshot::Definition;

impl<'v, 'a> Walker<'v, 'a> {
    pub(super) fn bind(&mut self, name: &str, value: Expr) {
        let value = if value.size() > LARGEST {
            Expr::name(name)
        } else {
            value
        };
        self.locals.insert(name.to_owned(), value);
    }

    /// Binds each name of a target: of a tuple, to the parts of the value.
    pub(super) fn assign(&mut self, target: &Expr, value: Expr) {
        match target {
            Expr::Name(name) => self.bind(name, value),
            Expr::Attribute(..) => match target.dotted() {
                Some(dotted) if dotted.starts_with("self.") || dotted.starts_with("cls.") => {
                    self.bind(&dotted.replacen("cls.", "self.", 1), value);
                }
                _ => {
                    let patched = self.eval(target).dotted();
                    self.patched.extend(patched);
                }
            },
            Expr::Row(_, targets) => {
                for (place, target) in targets.iter().enumerate() {
                    let index = Expr::number(&place.to_string());
                    self.assign(
                        target,
                        fold(Expr::Subscript(Box::new(value.clone()), Box::new(index))),
                    );
                }
            }
            _ => {}
        }
    }

    pub(super) fn eval(&mut self, expr: &Expr) -> Expr {
        if let Expr::Call {
            callee,
            args,
            keywords,
        } = expr
        {
            let args: Vec<Expr> = args.iter().map(|arg| self.eval(arg)).collect();
            let keyword = |keyword: &Keyword| (keyword.name.clone(), keyword.value.clone());
            let named: Vec<_> = keywords.iter().map(keyword).collect();
            let keywords: Vec<Keyword> = named
                .into_iter()
                .map(|(name, value)| Keyword {
                    name,
                    value: self.eval(&value),
                })
                .collect();
            return match self.inlined(callee, &args, &keywords) {
                Some(value) => value,
                None => fold(Expr::Call {
                    callee: Box::new(self.eval(callee)),
                    args,
                    keywords,
                }),
            };
        }
        match expr {
            Expr::Name(name) => self.named(name),
            Expr::Attribute(value, name) => self.attribute(expr, value, name),
            expr => fold(expr.map(&mut |part| self.eval(part))),
        }
    }

    fn attribute(&mut self, whole: &Expr, value: &Expr, name: &str) -> Expr {
        if let Some(dotted) = whole.dotted()
            && (dotted.starts_with("self.") || dotted.starts_with("cls."))
            && let Some(value) = self.locals.get(&dotted.replacen("cls.", "self.", 1))
        {
            return value.clone();
        }
        // A name of a module is one name, however the module was imported.
        match self.eval(value) {
            Expr::Name(module) if self.is_module(value) => Expr::Name(format!("{module}.{name}")),
            value => Expr::Attribute(Box::new(value), name.to_owned()),
        }
    }

    fn is_module(&self, value: &Expr) -> bool {
        value.dotted().is_some_and(|dotted| {
            let first = dotted.split('.').next().unwrap_or_default();
            !self.locals.contains_key(first) && self.module.names.imports.contains_key(first)
        })
    }

    fn named(&mut self, name: &str) -> Expr {
        if let Some(value) = self.locals.get(name) {
            return value.clone();
        }
        if let Some(Definition::Value(home, value)) = self.view.definition(self.module, name) {
            return self.constant(home, value).unwrap_or_else(|| Expr::name(name));
        }
        match self.module.names.imports.get(name) {
            Some(import) => match &import.name {
                Some(inner) => Expr::Name(format!("{}.{inner}", import.module)),
                // `import a.b` binds `a`.
                None if import.alias == import.module => {
                    Expr::name(import.module.split('.').next().unwrap_or(&import.module))
                }
                None => Expr::name(&import.module),
            },
            None => Expr::name(name),
        }
    }

    /// The value of a module's name, seen from that module.
    fn constant(&mut self, home: &'v Module<'a>, value: &'a Expr) -> Option<Expr> {
        if self.stack.len() > super::DEEPEST || value.size() > LARGEST {
            return None;
        }
        let locals = std::mem::take(&mut self.locals);
        let module = std::mem::replace(&mut self.module, home);
        self.stack.push(std::ptr::null());
        let value = self.eval(value);
        self.stack.pop();
        self.module = module;
        self.locals = locals;
        (value.size() <= LARGEST).then_some(value)
    }

    /// The function that a callee means, if it is one of the tests' own.
    pub(super) fn helper(&self, callee: &Expr) -> Option<(&'v Module<'a>, &'a Function, bool)> {
        match callee {
            Expr::Name(name) => {
                // A fixture may hand out a function of its own.
                let handed = match self.locals.get(name) {
                    Some(Expr::Name(inner)) => inner.as_str(),
                    _ => name.as_str(),
                };
                if let Some(local) = self.functions.get(handed) {
                    return Some((self.module, local, false));
                }
                match self.view.definition(self.module, name) {
                    Some(Definition::Function(home, function)) if home.is_support => {
                        Some((home, function, false))
                    }
                    _ => None,
                }
            }
            Expr::Attribute(value, method) => {
                let owner = value.dotted()?;
                if owner == "self" || owner == "cls" {
                    let mut methods = self.lineage.iter().filter_map(|(home, class)| {
                        let names = crate::module::Names::of(&class.body);
                        Some((*home, *names.functions.get(method.as_str())?, true))
                    });
                    return methods.next();
                }
                let import = self.module.names.imports.get(owner.as_str())?;
                let dotted = match &import.name {
                    Some(name) => format!("{}.{name}", import.module),
                    None => import.module.clone(),
                };
                let home = self.view.imported(self.module, &dotted)?;
                Some((home, *home.names.functions.get(method.as_str())?, false))
            }
            _ => None,
        }
    }

    /// Goes through a helper in place of its call; its value, if it has one that can be said.
    pub(super) fn inlined(&mut self, callee: &Expr, args: &[Expr], keywords: &[Keyword]) -> Option<Expr> {
        let (home, function, is_method) = self.helper(callee)?;
        let is_plain = keywords.iter().all(|keyword| keyword.name.is_some())
            && !args
                .iter()
                .any(|arg| matches!(arg, Expr::Other(kind, _) if kind == "*"));
        if self.is_open(function) || is_fixture(function) || !is_plain {
            return None;
        }
        let is_static = function
            .decorators
            .iter()
            .any(|d| d.dotted().as_deref() == Some("staticmethod"));
        let skipped = usize::from(is_method && !is_static);
        let mut values = HashMap::new();
        for (place, parameter) in function.parameters.iter().skip(skipped).enumerate() {
            let named = keywords
                .iter()
                .find(|keyword| keyword.name.as_deref() == Some(&parameter.name));
            let value = named
                .map(|keyword| &keyword.value)
                .or_else(|| args.get(place))
                .or(parameter.default.as_ref());
            values.insert(
                parameter.name.clone(),
                value.cloned().unwrap_or_else(|| Expr::name(&parameter.name)),
            );
        }
        self.stack.push(function);
        let value = self.call_body(home, function, values);
        self.stack.pop();
        value
    }

    /// Goes through a function's body with these values; what it returns or yields, if that is one thing.
    pub(super) fn call_body(
        &mut self,
        home: &'v Module<'a>,
        function: &'a Function,
        mut values: HashMap<String, Expr>,
    ) -> Option<Expr> {
        let own = |(name, value): (&String, &Expr)| {
            name.starts_with("self.").then(|| (name.clone(), value.clone()))
        };
        values.extend(self.locals.iter().filter_map(own));
        let locals = std::mem::replace(&mut self.locals, values);
        let module = std::mem::replace(&mut self.module, home);
        let void = self.void.clone();
        let guards = self.guards.clone();
        self.block(&function.body);
        let value = self.returned(&function.body);
        self.void = void;
        self.guards = guards;
        self.module = module;
        self.locals = locals;
        value.filter(|value| value.size() <= LARGEST)
    }

    /// What the one `return` or `yield` at the end of a body gives.
    fn returned(&mut self, body: &'a [Stmt]) -> Option<Expr> {
        let mut returns = 0;
        any_statement(body, &mut |statement| {
            returns += usize::from(matches!(statement, Stmt::Return(Some(_))));
            false
        });
        let yields = body.iter().find_map(|statement| match statement {
            Stmt::Expr(Expr::Other(kind, parts)) if kind == "yield" => parts.first(),
            _ => None,
        });
        if let (0, Some(value)) = (returns, yields) {
            return Some(self.eval(value));
        }
        match body.last()? {
            Stmt::Return(Some(value)) if returns == 1 => Some(self.eval(value)),
            _ => None,
        }
    }
}
