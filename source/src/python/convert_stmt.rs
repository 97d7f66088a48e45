//! From the parser's statements to ours.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::convert_expr::expr;
use super::{Class, Constant, Expr, Function, Handler, Import, Parameter, Stmt};

pub(super) fn body(nodes: &[ast::Stmt], source: &str) -> Vec<Stmt> {
    let mut statements = Vec::new();
    for node in nodes {
        statement(node, source, &mut statements);
    }
    statements
}

fn statement(node: &ast::Stmt, source: &str, into: &mut Vec<Stmt>) {
    let of = |node: &ast::Expr| expr(node, source);
    let all = |nodes: &[ast::Expr]| nodes.iter().map(of).collect::<Vec<_>>();
    into.push(match node {
        ast::Stmt::Expr(node) => match of(&node.value) {
            Expr::Constant(Constant::Text(_) | Constant::Ellipsis) => return,
            value => Stmt::Expr(value),
        },
        ast::Stmt::Assert(node) => Stmt::Assert(of(&node.test)),
        ast::Stmt::Assign(node) => Stmt::Assign {
            targets: all(&node.targets),
            value: of(&node.value),
        },
        ast::Stmt::AnnAssign(node) => match &node.value {
            Some(value) => Stmt::Assign {
                targets: vec![of(&node.target)],
                value: of(value),
            },
            None => return,
        },
        ast::Stmt::AugAssign(node) => Stmt::AugAssign {
            target: of(&node.target),
            operator: node.op.as_str().to_owned(),
            value: of(&node.value),
        },
        ast::Stmt::Delete(node) => Stmt::Delete(all(&node.targets)),
        ast::Stmt::Return(node) => Stmt::Return(node.value.as_deref().map(of)),
        ast::Stmt::Raise(node) => Stmt::Raise(node.exc.as_deref().map(of)),
        ast::Stmt::Break(_) => Stmt::Break,
        ast::Stmt::Continue(_) => Stmt::Continue,
        ast::Stmt::Import(node) => return into.extend(node.names.iter().map(plain_import)),
        ast::Stmt::ImportFrom(node) => return into.extend(from_imports(node)),
        ast::Stmt::FunctionDef(node) => Stmt::Function(function(node, source)),
        ast::Stmt::ClassDef(node) => Stmt::Class(class(node, source)),
        ast::Stmt::Pass(_)
        | ast::Stmt::Global(_)
        | ast::Stmt::Nonlocal(_)
        | ast::Stmt::TypeAlias(_)
        | ast::Stmt::IpyEscapeCommand(_) => return,
        node => return compound(node, source, into),
    });
}

fn compound(node: &ast::Stmt, source: &str, into: &mut Vec<Stmt>) {
    let of = |node: &ast::Expr| expr(node, source);
    into.push(match node {
        ast::Stmt::For(node) => Stmt::For {
            target: of(&node.target),
            iter: of(&node.iter),
            body: body(&node.body, source),
            orelse: body(&node.orelse, source),
        },
        ast::Stmt::While(node) => Stmt::While {
            test: of(&node.test),
            body: body(&node.body, source),
            orelse: body(&node.orelse, source),
        },
        ast::Stmt::If(node) => conditional(node, source),
        ast::Stmt::With(node) => Stmt::With {
            items: node
                .items
                .iter()
                .map(|item| (of(&item.context_expr), item.optional_vars.as_deref().map(of)))
                .collect(),
            body: body(&node.body, source),
        },
        ast::Stmt::Try(node) => Stmt::Try {
            body: body(&node.body, source),
            handlers: node
                .handlers
                .iter()
                .map(|handler| handled(handler, source))
                .collect(),
            orelse: body(&node.orelse, source),
            finally: body(&node.finalbody, source),
        },
        ast::Stmt::Match(node) => return into.extend(cases(node, source)),
        _ => return,
    });
}

fn conditional(node: &ast::StmtIf, source: &str) -> Stmt {
    let mut orelse = Vec::new();
    for clause in node.elif_else_clauses.iter().rev() {
        let inner = body(&clause.body, source);
        orelse = match &clause.test {
            Some(test) => vec![Stmt::If {
                test: expr(test, source),
                body: inner,
                orelse,
            }],
            None => inner,
        };
    }
    Stmt::If {
        test: expr(&node.test, source),
        body: body(&node.body, source),
        orelse,
    }
}

fn cases(node: &ast::StmtMatch, source: &str) -> Option<Stmt> {
    let subject = expr(&node.subject, source);
    let mut orelse = Vec::new();
    for case in node.cases.iter().rev() {
        let pattern = Expr::Constant(Constant::Text(source[case.pattern.range()].to_owned()));
        let test = Expr::Other("case".to_owned(), vec![subject.clone(), pattern]);
        orelse = vec![Stmt::If {
            test,
            body: body(&case.body, source),
            orelse,
        }];
    }
    orelse.pop()
}

fn handled(handler: &ast::ExceptHandler, source: &str) -> Handler {
    let ast::ExceptHandler::ExceptHandler(handler) = handler;
    Handler {
        types: handler.type_.as_deref().map(|types| expr(types, source)),
        name: handler.name.as_ref().map(ToString::to_string),
        body: body(&handler.body, source),
    }
}

fn function(node: &ast::StmtFunctionDef, source: &str) -> Function {
    let parameters = &node.parameters;
    let ordered = parameters
        .posonlyargs
        .iter()
        .chain(&parameters.args)
        .chain(&parameters.kwonlyargs);
    Function {
        name: node.name.to_string(),
        line: line(node.name.start().to_usize(), source),
        decorators: decorators(&node.decorator_list, source),
        parameters: ordered
            .map(|parameter| Parameter {
                name: parameter.name().to_string(),
                default: parameter.default().map(|default| expr(default, source)),
            })
            .collect(),
        body: body(&node.body, source),
    }
}

fn class(node: &ast::StmtClassDef, source: &str) -> Class {
    let bases = node.arguments.iter().flat_map(|arguments| arguments.args.iter());
    Class {
        name: node.name.to_string(),
        line: line(node.name.start().to_usize(), source),
        decorators: decorators(&node.decorator_list, source),
        bases: bases.map(|base| expr(base, source)).collect(),
        body: body(&node.body, source),
    }
}

fn decorators(nodes: &[ast::Decorator], source: &str) -> Vec<Expr> {
    nodes
        .iter()
        .map(|decorator| expr(&decorator.expression, source))
        .collect()
}

fn line(offset: usize, source: &str) -> usize {
    1 + source[..offset].matches('\n').count()
}

fn plain_import(alias: &ast::Alias) -> Stmt {
    let module = alias.name.to_string();
    let here = alias.asname.as_ref().unwrap_or(&alias.name).to_string();
    Stmt::Import(Import {
        module,
        name: None,
        alias: here,
    })
}

fn from_imports(node: &ast::StmtImportFrom) -> impl Iterator<Item = Stmt> + '_ {
    let dots = ".".repeat(node.level as usize);
    let module = node.module.as_ref().map_or("", |module| module.as_str());
    let module = format!("{dots}{module}");
    node.names.iter().map(move |alias| {
        let here = alias.asname.as_ref().unwrap_or(&alias.name).to_string();
        Stmt::Import(Import {
            module: module.clone(),
            name: Some(alias.name.to_string()),
            alias: here,
        })
    })
}
