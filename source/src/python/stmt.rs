//! Statements.

use super::Expr;

/// `import a.b as c`, or one name of `from a.b import c as d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Dotted; leading dots are those of a relative import.
    pub module: String,
    /// The name taken from the module; none for `import module`; `*` for all of them.
    pub name: Option<String>,
    /// What it is called here.
    pub alias: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub default: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// Counted from 1.
    pub line: usize,
    pub decorators: Vec<Expr>,
    /// Those that take an argument by place or name; not `*args` and `**kwargs`.
    pub parameters: Vec<Parameter>,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    pub name: String,
    /// Counted from 1.
    pub line: usize,
    pub decorators: Vec<Expr>,
    pub bases: Vec<Expr>,
    pub body: Vec<Stmt>,
}

/// `except types as name: body`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    pub types: Option<Expr>,
    pub name: Option<String>,
    pub body: Vec<Stmt>,
}

/// A statement. Docstrings, `pass`, annotations without a value, `global` and `nonlocal` are left out: they say nothing
/// about what a test checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    Expr(Expr),
    Assert(Expr),
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    /// The operator without its `=`.
    AugAssign {
        target: Expr,
        operator: String,
        value: Expr,
    },
    Delete(Vec<Expr>),
    Return(Option<Expr>),
    Raise(Option<Expr>),
    Break,
    Continue,
    For {
        target: Expr,
        iter: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    While {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    /// `elif` is an `if` in `orelse`; so is each case of a `match`, with an opaque test.
    If {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    With {
        items: Vec<(Expr, Option<Expr>)>,
        body: Vec<Stmt>,
    },
    Try {
        body: Vec<Stmt>,
        handlers: Vec<Handler>,
        orelse: Vec<Stmt>,
        finally: Vec<Stmt>,
    },
    Function(Function),
    Class(Class),
    Import(Import),
}
