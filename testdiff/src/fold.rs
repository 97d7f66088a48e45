//! What an expression comes to, as far as that can be read off it: arithmetic of numbers, parts of rows, `not` of a
//! comparison. Two spellings of one value become one.

use source::python::{Bracket, Constant, Expr, Operator};

/// Rows longer than this are not written out.
const LONGEST_RANGE: i64 = 100;

/// `expr` with everything in it that can be worked out, worked out. Its parts must be so already.
pub(crate) fn fold(expr: Expr) -> Expr {
    match &expr {
        Expr::Subscript(value, index) => part(value, index),
        Expr::Call {
            callee,
            args,
            keywords,
        } if keywords.is_empty() => match &**callee {
            Expr::Name(name) => builtin(name, args),
            Expr::Attribute(value, method) => of_method(value, method, args),
            _ => None,
        },
        Expr::Call {
            callee,
            args,
            keywords,
        } if args.is_empty() && **callee == Expr::name("dict") => {
            let item = |(name, value): (Option<&str>, &Expr)| Some((Some(text(name?)), value.clone()));
            let named = keywords
                .iter()
                .map(|keyword| (keyword.name.as_deref(), &keyword.value));
            named.map(item).collect::<Option<Vec<_>>>().map(Expr::Dict)
        }
        Expr::Other(operator, operands) => match &operands[..] {
            [left, right] => arithmetic(operator, left, right),
            [test, body, orelse] if operator == "if" => {
                truth(test).map(|holds| if holds { body.clone() } else { orelse.clone() })
            }
            parts if operator == "f-string" => all_text(parts),
            _ => None,
        },
        Expr::Row(bracket, parts) => starred(*bracket, parts),
        Expr::Not(value) => negated(value),
        _ => None,
    }
    .unwrap_or(expr)
}

/// What `not value` is, where it can be said without `not`.
pub(crate) fn negated(value: &Expr) -> Option<Expr> {
    match value {
        Expr::Compare(left, operator, right) => {
            Some(Expr::Compare(left.clone(), operator.negated(), right.clone()))
        }
        value => truth(value).map(|holds| Expr::truth(!holds)),
    }
}

/// Whether Python takes the value for true; none where that depends on the run.
pub(crate) fn truth(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Constant(constant) => Some(match constant {
            Constant::None => false,
            Constant::Ellipsis => true,
            Constant::Bool(value) => *value,
            Constant::Number(number) => number.parse::<f64>() != Ok(0.0),
            Constant::Text(text) => !text.is_empty(),
            Constant::Bytes(bytes) => !bytes.is_empty(),
        }),
        Expr::Row(_, parts) => Some(!parts.is_empty()),
        Expr::Dict(items) if items.is_empty() || items.iter().any(|(key, _)| key.is_some()) => {
            Some(!items.is_empty())
        }
        Expr::Other(kind, _) if kind == "lambda" => Some(true),
        Expr::Not(value) => truth(value).map(|holds| !holds),
        Expr::Or(parts) if parts.iter().any(|part| truth(part) == Some(true)) => Some(true),
        Expr::And(parts) if parts.iter().any(|part| truth(part) == Some(false)) => Some(false),
        Expr::Or(parts) | Expr::And(parts) => {
            let all: Option<Vec<bool>> = parts.iter().map(truth).collect();
            Some(all?.first() == Some(&true))
        }
        Expr::Compare(left, operator, right) => compared(left, *operator, right),
        _ => None,
    }
}

fn compared(left: &Expr, operator: Operator, right: &Expr) -> Option<bool> {
    if left == right {
        return match operator {
            Operator::Equal | Operator::Is | Operator::LessOrEqual | Operator::GreaterOrEqual => Some(true),
            _ => None,
        };
    }
    if let Expr::Call { callee, .. } = left
        && **callee == Expr::name("len")
        && matches!((operator, number(right)), (Operator::GreaterOrEqual, Some(n)) if n <= 0.0)
    {
        return Some(true);
    }
    if !is_literal(left) || !is_literal(right) {
        return None;
    }
    match (operator, number(left), number(right)) {
        (Operator::Equal, ..) => Some(false),
        (Operator::NotEqual, ..) => Some(true),
        (Operator::Less, Some(left), Some(right)) => Some(left < right),
        (Operator::LessOrEqual, Some(left), Some(right)) => Some(left <= right),
        (Operator::Greater, Some(left), Some(right)) => Some(left > right),
        (Operator::GreaterOrEqual, Some(left), Some(right)) => Some(left >= right),
        (Operator::In, ..) => right.as_row().map(|row| row.contains(left)),
        (Operator::NotIn, ..) => right.as_row().map(|row| !row.contains(left)),
        _ => None,
    }
}

/// Whether it is made of written values alone.
pub(crate) fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(_) => true,
        Expr::Row(..) | Expr::Dict(_) => expr.parts().into_iter().all(is_literal),
        _ => false,
    }
}

pub(crate) fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Constant(Constant::Number(number)) => number.parse().ok(),
        _ => None,
    }
}

pub(crate) fn text(text: &str) -> Expr {
    Expr::Constant(Constant::Text(text.to_owned()))
}

fn index_of(index: &Expr, length: usize) -> Option<usize> {
    let index = number(index)? as i64;
    let from_start = if index < 0 {
        index + i64::try_from(length).ok()?
    } else {
        index
    };
    usize::try_from(from_start).ok().filter(|index| *index < length)
}

fn part(value: &Expr, index: &Expr) -> Option<Expr> {
    if let Expr::Other(kind, bounds) = index
        && kind == "slice"
        && matches!(&bounds[..], [Expr::Constant(Constant::None), upper, _] if number(upper) == Some(0.0))
    {
        return Some(Expr::Row(Bracket::List, Vec::new()));
    }
    match value {
        Expr::Row(bracket @ (Bracket::List | Bracket::Tuple), parts) if matches!(index, Expr::Other(..)) => {
            slice(*bracket, parts, index)
        }
        Expr::Row(Bracket::List | Bracket::Tuple, parts) => {
            index_of(index, parts.len()).map(|index| parts[index].clone())
        }
        Expr::Dict(items) => {
            let found = items.iter().find(|(key, _)| key.as_ref() == Some(index));
            found.map(|(_, value)| value.clone())
        }
        _ => None,
    }
}

/// `[a, b, c][:2]`, without a step.
fn slice(bracket: Bracket, parts: &[Expr], index: &Expr) -> Option<Expr> {
    let Expr::Other(kind, bounds) = index else {
        return None;
    };
    let (Some([lower, upper, Expr::Constant(Constant::None)]), "slice") = (bounds.get(..3), kind.as_str())
    else {
        return None;
    };
    let bound = |bound: &Expr, usual: usize| match bound {
        Expr::Constant(Constant::None) => Some(usual),
        bound => {
            let length = i64::try_from(parts.len()).ok()?;
            let place = number(bound)? as i64;
            let from_start = if place < 0 { place + length } else { place };
            usize::try_from(from_start.clamp(0, length)).ok()
        }
    };
    let (lower, upper) = (bound(lower, 0)?, bound(upper, parts.len())?);
    Some(Expr::Row(
        bracket,
        parts.get(lower..upper).unwrap_or_default().to_vec(),
    ))
}

fn builtin(name: &str, args: &[Expr]) -> Option<Expr> {
    let row = |parts: Vec<Expr>| Some(Expr::Row(Bracket::List, parts));
    match (name, args) {
        ("len", [Expr::Row(Bracket::List | Bracket::Tuple, parts)]) => {
            Some(Expr::number(&parts.len().to_string()))
        }
        ("list" | "reversed" | "iter", [Expr::Row(_, parts)]) => row(parts.clone()),
        ("tuple", [Expr::Row(_, parts)]) => Some(Expr::Row(Bracket::Tuple, parts.clone())),
        ("set" | "frozenset", [Expr::Row(_, parts)]) => Some(Expr::Row(Bracket::Set, parts.clone())),
        ("list" | "tuple", []) => row(Vec::new()),
        ("dict", [Expr::Dict(items)]) => Some(Expr::Dict(items.clone())),
        ("sorted", [Expr::Row(_, parts)]) if parts.iter().all(|part| part.as_text().is_some()) => {
            let mut parts = parts.clone();
            parts.sort();
            row(parts)
        }
        ("enumerate", [Expr::Row(_, parts)]) => row(parts
            .iter()
            .enumerate()
            .map(|(place, part)| pair(Expr::number(&place.to_string()), part.clone()))
            .collect()),
        ("zip", [Expr::Row(_, left), Expr::Row(_, right)]) => row(left
            .iter()
            .zip(right)
            .map(|(left, right)| pair(left.clone(), right.clone()))
            .collect()),
        ("range", bounds) => range(bounds),
        _ => None,
    }
}

fn pair(left: Expr, right: Expr) -> Expr {
    Expr::Row(Bracket::Tuple, vec![left, right])
}

fn range(bounds: &[Expr]) -> Option<Expr> {
    let bounds: Option<Vec<i64>> = bounds
        .iter()
        .map(|bound| number(bound).map(|bound| bound as i64))
        .collect();
    let (start, end) = match bounds?[..] {
        [end] => (0, end),
        [start, end] => (start, end),
        _ => return None,
    };
    let numbers = (start..end).map(|number| Expr::number(&number.to_string()));
    (end - start <= LONGEST_RANGE).then(|| Expr::Row(Bracket::List, numbers.collect()))
}

fn of_method(value: &Expr, method: &str, args: &[Expr]) -> Option<Expr> {
    match (value, method, args) {
        (Expr::Dict(items), "items", []) => {
            let item = |(key, value): &(Option<Expr>, Expr)| Some(pair(key.clone()?, value.clone()));
            items
                .iter()
                .map(item)
                .collect::<Option<_>>()
                .map(|items| Expr::Row(Bracket::List, items))
        }
        (Expr::Dict(items), "keys", []) => {
            let keys = items.iter().map(|(key, _)| key.clone());
            keys.collect::<Option<_>>()
                .map(|keys| Expr::Row(Bracket::List, keys))
        }
        (Expr::Dict(items), "values", []) => Some(Expr::Row(
            Bracket::List,
            items.iter().map(|(_, value)| value.clone()).collect(),
        )),
        (Expr::Constant(Constant::Text(joint)), "join", [Expr::Row(_, parts)]) => {
            let parts: Option<Vec<&str>> = parts.iter().map(Expr::as_text).collect();
            Some(text(&parts?.join(joint)))
        }
        _ => None,
    }
}

fn arithmetic(operator: &str, left: &Expr, right: &Expr) -> Option<Expr> {
    if let (Some(left), Some(right)) = (left.as_text(), right.as_text()) {
        return (operator == "+").then(|| text(&format!("{left}{right}")));
    }
    if let (Expr::Row(bracket, left), Expr::Row(_, right)) = (left, right) {
        return (operator == "+").then(|| Expr::Row(*bracket, left.iter().chain(right).cloned().collect()));
    }
    let (left, right) = (number(left)?, number(right)?);
    let value = match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" if right != 0.0 => left / right,
        "**" => left.powf(right),
        _ => return None,
    };
    // Beyond this a float is no longer exact, and two different sums could come to one.
    (value.is_finite() && value.abs() < 9e15).then(|| Expr::number(&value.to_string()))
}

fn all_text(parts: &[Expr]) -> Option<Expr> {
    let part = |part: &Expr| match part {
        Expr::Constant(Constant::Text(text)) => Some(text.clone()),
        Expr::Other(kind, inner) if kind == "{}" => match &inner[..] {
            [Expr::Constant(Constant::Text(text)), spec, conversion]
                if spec.as_text() == Some("") && conversion.as_text() == Some("None") =>
            {
                Some(text.clone())
            }
            _ => None,
        },
        _ => None,
    };
    parts
        .iter()
        .map(part)
        .collect::<Option<String>>()
        .map(|whole| text(&whole))
}

/// `[*row, last]` with the row written out.
fn starred(bracket: Bracket, parts: &[Expr]) -> Option<Expr> {
    let inner = |part: &Expr| match part {
        Expr::Other(kind, inner) if kind == "*" => inner[0].as_row().map(<[Expr]>::to_vec),
        _ => None,
    };
    parts.iter().any(|part| inner(part).is_some()).then(|| {
        let written = parts
            .iter()
            .flat_map(|part| inner(part).unwrap_or_else(|| vec![part.clone()]));
        Expr::Row(bracket, written.collect())
    })
}
