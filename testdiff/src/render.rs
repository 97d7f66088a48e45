//! An expression as text, for people: near to how it was written, and short.

use source::python::{Bracket, Constant, Expr};

/// Longer ones are cut.
const LONGEST: usize = 80;

/// One line of Python that says what `expr` is.
pub(crate) fn render(expr: &Expr) -> String {
    let text = whole(expr);
    if text.chars().count() <= LONGEST {
        return text;
    }
    let kept: String = text.chars().take(LONGEST - 1).collect();
    format!("{kept}…")
}

fn whole(expr: &Expr) -> String {
    match expr {
        Expr::Constant(constant) => value(constant),
        Expr::Name(name) => name.clone(),
        Expr::Attribute(value, name) => format!("{}.{name}", whole(value)),
        Expr::Subscript(value, index) => format!("{}[{}]", whole(value), whole(index)),
        Expr::Call {
            callee,
            args,
            keywords,
        } => {
            let named = keywords.iter().map(|keyword| match &keyword.name {
                Some(name) => format!("{name}={}", whole(&keyword.value)),
                None => format!("**{}", whole(&keyword.value)),
            });
            let all: Vec<String> = args.iter().map(whole).chain(named).collect();
            format!("{}({})", whole(callee), all.join(", "))
        }
        Expr::Compare(left, operator, right) => {
            format!("{} {} {}", whole(left), operator.as_str(), whole(right))
        }
        Expr::Not(value) => format!("not {}", whole(value)),
        Expr::And(parts) => joined(parts, " and "),
        Expr::Or(parts) => joined(parts, " or "),
        Expr::Row(Bracket::List, parts) => format!("[{}]", joined(parts, ", ")),
        Expr::Row(Bracket::Tuple, parts) if parts.len() == 1 => format!("({},)", whole(&parts[0])),
        Expr::Row(Bracket::Tuple, parts) => format!("({})", joined(parts, ", ")),
        Expr::Row(Bracket::Set, parts) => format!("{{{}}}", joined(parts, ", ")),
        Expr::Dict(items) => {
            let item = |(key, value): &(Option<Expr>, Expr)| match key {
                Some(key) => format!("{}: {}", whole(key), whole(value)),
                None => format!("**{}", whole(value)),
            };
            format!("{{{}}}", items.iter().map(item).collect::<Vec<_>>().join(", "))
        }
        Expr::Other(kind, parts) if parts.len() == 2 && !kind.contains("for") => {
            format!("{} {kind} {}", whole(&parts[0]), whole(&parts[1]))
        }
        Expr::Other(kind, parts) if parts.is_empty() => kind.clone(),
        Expr::Other(kind, parts) => format!("{kind} {}", joined(parts, ", ")),
    }
}

fn joined(parts: &[Expr], between: &str) -> String {
    parts.iter().map(whole).collect::<Vec<_>>().join(between)
}

fn value(constant: &Constant) -> String {
    match constant {
        Constant::None => "None".to_owned(),
        Constant::Ellipsis => "...".to_owned(),
        Constant::Bool(true) => "True".to_owned(),
        Constant::Bool(false) => "False".to_owned(),
        Constant::Number(number) => number.clone(),
        Constant::Text(text) => format!("{text:?}"),
        Constant::Bytes(bytes) => format!("b{:?}", String::from_utf8_lossy(bytes)),
    }
}
