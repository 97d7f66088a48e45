//! How like two pieces of a test are.

use std::collections::BTreeMap;

use source::python::{Expr, Stmt};

/// Counted labels of a piece of code.
pub(crate) type Labels = BTreeMap<String, usize>;

/// From 0 (nothing in common) to 1 (the same labels).
pub(crate) fn dice(left: &Labels, right: &Labels) -> f64 {
    let total: usize = left.values().sum::<usize>() + right.values().sum::<usize>();
    if total == 0 {
        return 1.0;
    }
    let shared: usize = left
        .iter()
        .map(|(label, count)| right.get(label).map_or(0, |other| *count.min(other)))
        .sum();
    2.0 * shared as f64 / total as f64
}

pub(crate) fn of_expr(expr: &Expr) -> Labels {
    let mut labels = Labels::new();
    add_expr(expr, &mut labels);
    labels
}

pub(crate) fn of_body(body: &[Stmt]) -> Labels {
    let mut labels = Labels::new();
    for statement in body {
        add_statement(statement, &mut labels);
    }
    labels
}

fn add(label: impl Into<String>, labels: &mut Labels) {
    *labels.entry(label.into()).or_default() += 1;
}

fn add_expr(expr: &Expr, labels: &mut Labels) {
    match expr {
        // The parts of a dotted name count alone: a renamed function keeps its module.
        Expr::Name(name) => name.split('.').for_each(|part| add(part, labels)),
        Expr::Constant(constant) => add(format!("{constant:?}"), labels),
        Expr::Attribute(_, name) => add(format!(".{name}"), labels),
        Expr::Subscript(..) => add("[]", labels),
        Expr::Call { keywords, .. } => {
            add("()", labels);
            for keyword in keywords {
                add(format!("{:?}=", keyword.name), labels);
            }
        }
        Expr::Compare(_, operator, _) => add(operator.as_str(), labels),
        Expr::Not(_) => add("not", labels),
        Expr::And(_) => add("and", labels),
        Expr::Or(_) => add("or", labels),
        Expr::Row(bracket, _) => add(format!("{bracket:?}"), labels),
        Expr::Dict(_) => add("{}", labels),
        Expr::Other(kind, _) => add(kind.clone(), labels),
    }
    for part in expr.parts() {
        add_expr(part, labels);
    }
}

fn add_statement(statement: &Stmt, labels: &mut Labels) {
    let (label, exprs, bodies): (&str, Vec<&Expr>, Vec<&[Stmt]>) = match statement {
        Stmt::Expr(value) => ("expression", vec![value], vec![]),
        Stmt::Assert(test) => ("assert", vec![test], vec![]),
        Stmt::Assign { targets, value } => ("=", targets.iter().chain([value]).collect(), vec![]),
        Stmt::AugAssign { target, value, .. } => ("+=", vec![target, value], vec![]),
        Stmt::Delete(targets) => ("del", targets.iter().collect(), vec![]),
        Stmt::Return(value) => ("return", value.iter().collect(), vec![]),
        Stmt::Raise(value) => ("raise", value.iter().collect(), vec![]),
        Stmt::Break => ("break", vec![], vec![]),
        Stmt::Continue => ("continue", vec![], vec![]),
        Stmt::For {
            target,
            iter,
            body,
            orelse,
        } => ("for", vec![target, iter], vec![body, orelse]),
        Stmt::While { test, body, orelse } => ("while", vec![test], vec![body, orelse]),
        Stmt::If { test, body, orelse } => ("if", vec![test], vec![body, orelse]),
        Stmt::With { items, body } => (
            "with",
            items
                .iter()
                .flat_map(|(context, target)| [context].into_iter().chain(target))
                .collect(),
            vec![body],
        ),
        Stmt::Try {
            body,
            handlers,
            orelse,
            finally,
        } => {
            let mut bodies: Vec<&[Stmt]> = vec![body, orelse, finally];
            bodies.extend(handlers.iter().map(|handler| &handler.body[..]));
            (
                "try",
                handlers
                    .iter()
                    .filter_map(|handler| handler.types.as_ref())
                    .collect(),
                bodies,
            )
        }
        Stmt::Function(function) => ("def", vec![], vec![&function.body]),
        Stmt::Class(class) => ("class", vec![], vec![&class.body]),
        Stmt::Import(_) => ("import", vec![], vec![]),
    };
    add(label, labels);
    for expr in exprs {
        add_expr(expr, labels);
    }
    for inner in bodies.into_iter().flatten() {
        add_statement(inner, labels);
    }
}
