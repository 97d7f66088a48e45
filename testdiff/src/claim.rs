//! What a test holds to be true: the comparisons, exceptions and calls that make it fail.

use source::python::{Bracket, Constant, Expr, Keyword, Operator};

use crate::fold::{fold, is_literal, negated, number, truth};

/// How near is near enough; each as it is given, none where it is not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Tolerance {
    pub(crate) relative: Option<Expr>,
    pub(crate) absolute: Option<Expr>,
}

/// How the subject of a claim stands to what is expected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Relation {
    /// `==` and `is`, and the orders.
    Compares(Operator),
    /// Equal but for a tolerance.
    Close(Tolerance),
    /// The subject holds the expected (true) or does not (false).
    Contains(bool),
    /// The subject is one of the expected (true) or none of them (false).
    OneOf(bool),
    /// The subject is taken for true or false; nothing is expected but that.
    Truth(bool),
    Instance,
    Matches,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Claim {
    Value {
        subject: Expr,
        relation: Relation,
        expected: Expr,
    },
    /// The calls raise (or warn of) one of these exceptions, with a message that matches.
    Raises {
        what: Vec<String>,
        pattern: Option<Expr>,
        body: Vec<Expr>,
        warning: bool,
    },
    /// A call whose name says that it checks, and that cannot be looked into.
    Opaque(Expr),
}

impl Claim {
    pub(crate) fn value(subject: Expr, relation: Relation, expected: Expr) -> Self {
        Self::Value {
            subject,
            relation,
            expected,
        }
    }

    pub(crate) fn truth(subject: Expr, holds: bool) -> Self {
        Self::value(subject, Relation::Truth(holds), Expr::truth(holds))
    }

    pub(crate) fn equal(left: Expr, right: Expr) -> Self {
        compared(left, Operator::Equal, right)
    }

    /// Whether it holds whatever the code under test does.
    pub(crate) fn is_always_true(&self) -> bool {
        match self {
            Self::Value {
                subject,
                relation: Relation::Truth(holds),
                ..
            } => truth(subject) == Some(*holds),
            Self::Value {
                subject,
                relation: Relation::Compares(operator),
                expected,
            } => {
                let whole = Expr::Compare(Box::new(subject.clone()), *operator, Box::new(expected.clone()));
                truth(&whole) == Some(true)
            }
            Self::Value {
                subject,
                relation: Relation::Close(_),
                expected,
            } => subject == expected,
            Self::Value {
                subject,
                relation: Relation::Instance,
                expected,
            } => *expected == Expr::name("object") || is_literal(subject),
            Self::Value {
                subject,
                relation: Relation::OneOf(holds) | Relation::Contains(holds),
                expected,
            } => *holds && subject == expected,
            _ => false,
        }
    }
}

/// The claims that `assert test` makes, one for each part of an `and`.
pub(crate) fn asserted(test: &Expr) -> Vec<Claim> {
    match test {
        Expr::And(parts) => parts.iter().flat_map(asserted).collect(),
        Expr::Not(inner) => denied(inner),
        Expr::Compare(left, Operator::Equal, right) if pairs(left, right).is_some() => {
            let pairs = pairs(left, right).unwrap_or_default();
            pairs.into_iter().flat_map(|pair| asserted(&pair)).collect()
        }
        Expr::Call { callee, args, .. }
            if **callee == Expr::name("all") && args.iter().any(|arg| arg.as_row().is_some()) =>
        {
            args.iter()
                .filter_map(Expr::as_row)
                .flatten()
                .flat_map(asserted)
                .collect()
        }
        Expr::Compare(left, operator, right) => {
            vec![compared((**left).clone(), *operator, (**right).clone())]
        }
        Expr::Call {
            callee,
            args,
            keywords,
        } => vec![called(test, callee, args, keywords)],
        test => vec![Claim::truth(test.clone(), true)],
    }
}

/// Two rows that are equal part by part: `(a, b) == (1, 2)`.
fn pairs(left: &Expr, right: &Expr) -> Option<Vec<Expr>> {
    let (Expr::Row(kind, left), Expr::Row(other, right)) = (left, right) else {
        return None;
    };
    let is_plain = |part: &Expr| !matches!(part, Expr::Other(kind, _) if kind == "*");
    let whole = left.iter().chain(right).all(is_plain) && left.len() == right.len() && !left.is_empty();
    let equal = |(left, right): (&Expr, &Expr)| {
        Expr::Compare(Box::new(left.clone()), Operator::Equal, Box::new(right.clone()))
    };
    (whole && kind == other && *kind != Bracket::Set).then(|| left.iter().zip(right).map(equal).collect())
}

/// The claims that `assert not test` makes.
fn denied(test: &Expr) -> Vec<Claim> {
    match test {
        Expr::Or(parts) => parts.iter().flat_map(denied).collect(),
        Expr::Not(inner) => asserted(inner),
        test => match negated(test) {
            Some(turned @ Expr::Compare(..)) => asserted(&turned),
            _ => vec![Claim::truth(test.clone(), false)],
        },
    }
}

/// A claim of a call: some say what a comparison says.
fn called(whole: &Expr, callee: &Expr, args: &[Expr], keywords: &[Keyword]) -> Claim {
    let given = |name: &str| {
        keywords
            .iter()
            .find(|keyword| keyword.name.as_deref() == Some(name))
            .map(|keyword| keyword.value.clone())
    };
    let name = callee.dotted().unwrap_or_default();
    match (name.rsplit('.').next().unwrap_or_default(), args) {
        ("bool", [value]) => asserted(value)
            .pop()
            .unwrap_or_else(|| Claim::truth(whole.clone(), true)),
        ("isinstance", [value, class]) => Claim::value(value.clone(), Relation::Instance, class.clone()),
        ("isclose", [left, right]) => near(
            left,
            right,
            given("rel_tol").or(given("rtol")),
            given("abs_tol").or(given("atol")),
        ),
        ("allclose", [left, right]) => near(left, right, given("rtol"), given("atol")),
        ("match" | "search" | "fullmatch", [pattern, value]) if name.starts_with("re.") => {
            Claim::value(value.clone(), Relation::Matches, pattern.clone())
        }
        _ => Claim::truth(whole.clone(), true),
    }
}

pub(crate) fn near(left: &Expr, right: &Expr, relative: Option<Expr>, absolute: Option<Expr>) -> Claim {
    let (subject, expected) = sides(left.clone(), right.clone());
    Claim::value(
        subject,
        Relation::Close(Tolerance { relative, absolute }),
        expected,
    )
}

/// The side that is tested first, the expected second: a written value is what is expected.
fn sides(left: Expr, right: Expr) -> (Expr, Expr) {
    let weight = |expr: &Expr| {
        (
            !is_literal(expr) && approx(expr).is_none(),
            calls(expr),
            expr.size(),
        )
    };
    if weight(&left) < weight(&right) || (weight(&left) == weight(&right) && left > right) {
        (right, left)
    } else {
        (left, right)
    }
}

fn calls(expr: &Expr) -> usize {
    usize::from(matches!(expr, Expr::Call { .. })) + expr.parts().into_iter().map(calls).sum::<usize>()
}

/// A comparison in one of its spellings.
pub(crate) fn compared(left: Expr, operator: Operator, right: Expr) -> Claim {
    match operator {
        Operator::In | Operator::NotIn => {
            let holds = operator == Operator::In;
            if is_literal(&right) && !is_literal(&left) {
                let values = right.as_row().map(|row| Expr::Row(Bracket::List, row.to_vec()));
                Claim::value(left, Relation::OneOf(holds), values.unwrap_or(right))
            } else {
                Claim::value(right, Relation::Contains(holds), left)
            }
        }
        _ => {
            let (subject, expected) = sides(left.clone(), right);
            let turned = subject != left;
            let operator = if turned {
                operator.mirrored().unwrap_or(operator)
            } else {
                operator
            };
            ordered(subject, operator, expected)
        }
    }
}

fn ordered(subject: Expr, operator: Operator, expected: Expr) -> Claim {
    if let Some((value, tolerance)) = approx(&expected)
        && operator == Operator::Equal
    {
        return Claim::value(subject, Relation::Close(tolerance), value);
    }
    // `a - b == 0` is `a == b`.
    if let (Operator::Equal, Some(0.0), Expr::Other(minus, sides)) = (operator, number(&expected), &subject)
        && let ("-", [left, right]) = (minus.as_str(), &sides[..])
    {
        return compared(left.clone(), Operator::Equal, right.clone());
    }
    if let Some(inner) = length_of(&subject)
        && let Some(holds) = emptiness(operator, &expected)
    {
        return Claim::truth(inner, holds);
    }
    // `== None` and `is None`, `is True` and the value itself: one meaning each.
    match (operator, &expected) {
        (Operator::Is, Expr::Constant(_)) if !matches!(expected, Expr::Constant(Constant::Bool(_))) => {
            Claim::value(subject, Relation::Compares(Operator::Equal), expected)
        }
        (Operator::IsNot, Expr::Constant(_)) => {
            Claim::value(subject, Relation::Compares(Operator::NotEqual), expected)
        }
        (Operator::Is | Operator::Equal, Expr::Constant(Constant::Bool(true))) => asserted(&subject)
            .pop()
            .filter(|_| !matches!(subject, Expr::And(_)))
            .unwrap_or_else(|| Claim::truth(subject, true)),
        (Operator::Is | Operator::Equal, Expr::Constant(Constant::Bool(false))) => denied(&subject)
            .pop()
            .filter(|_| !matches!(subject, Expr::Or(_)))
            .unwrap_or_else(|| Claim::truth(subject, false)),
        _ => Claim::value(subject, Relation::Compares(operator), expected),
    }
}

/// `approx(value, rel=…, abs=…)`.
pub(crate) fn approx(expr: &Expr) -> Option<(Expr, Tolerance)> {
    let Expr::Call {
        callee,
        args,
        keywords,
    } = expr
    else {
        return None;
    };
    let name = callee.dotted()?;
    if name != "approx" && !name.ends_with(".approx") {
        return None;
    }
    let given = |name: &str, place: usize| {
        let named = keywords
            .iter()
            .find(|keyword| keyword.name.as_deref() == Some(name));
        named
            .map(|keyword| keyword.value.clone())
            .or_else(|| args.get(place).cloned())
    };
    Some((
        args.first()?.clone(),
        Tolerance {
            relative: given("rel", 1),
            absolute: given("abs", 2),
        },
    ))
}

fn length_of(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Call { callee, args, .. } if **callee == Expr::name("len") => args.first().cloned(),
        _ => None,
    }
}

/// Whether a length compared so says that there is something (true) or nothing (false).
fn emptiness(operator: Operator, expected: &Expr) -> Option<bool> {
    match (operator, number(expected)?) {
        (Operator::Equal | Operator::LessOrEqual, 0.0) | (Operator::Less, 1.0) => Some(false),
        (Operator::NotEqual | Operator::Greater, 0.0) | (Operator::GreaterOrEqual, 1.0) => Some(true),
        _ => None,
    }
}

/// The claims that together say what a claim of a whole says: each part of a row, each key of a dict.
pub(crate) fn parts(claim: &Claim) -> Vec<Claim> {
    let Claim::Value {
        subject,
        relation: Relation::Compares(Operator::Equal),
        expected,
    } = claim
    else {
        return Vec::new();
    };
    let at = |index: Expr| fold(Expr::Subscript(Box::new(subject.clone()), Box::new(index)));
    match expected {
        Expr::Row(Bracket::List | Bracket::Tuple, parts) => {
            let part = |(place, part): (usize, &Expr)| {
                Claim::equal(at(Expr::number(&place.to_string())), part.clone())
            };
            parts.iter().enumerate().map(part).collect()
        }
        Expr::Dict(items) => {
            let item =
                |(key, value): &(Option<Expr>, Expr)| Some(Claim::equal(at(key.clone()?), value.clone()));
            items.iter().filter_map(item).collect()
        }
        _ => Vec::new(),
    }
}

/// What else holds where `claim` holds: of a whole that is equal, its parts, its length and its kind.
pub(crate) fn implied(claim: &Claim) -> Vec<Claim> {
    let Claim::Value {
        subject,
        relation: Relation::Compares(Operator::Equal),
        expected,
    } = claim
    else {
        return Vec::new();
    };
    let mut found = vec![compared(
        subject.clone(),
        Operator::IsNot,
        Expr::Constant(Constant::None),
    )];
    if let Some(holds) = truth(expected) {
        found.push(Claim::truth(subject.clone(), holds));
    }
    let at = |index: Expr| fold(Expr::Subscript(Box::new(subject.clone()), Box::new(index)));
    let holds = |part: &Expr| Claim::value(subject.clone(), Relation::Contains(true), part.clone());
    match expected {
        Expr::Row(_, parts) => {
            let length = Expr::call(Expr::name("len"), vec![subject.clone()]);
            found.push(Claim::equal(length, Expr::number(&parts.len().to_string())));
            for (place, part) in parts.iter().enumerate() {
                found.push(Claim::equal(at(Expr::number(&place.to_string())), part.clone()));
                found.push(holds(part));
            }
        }
        Expr::Dict(items) => {
            for (key, value) in items
                .iter()
                .filter_map(|(key, value)| Some((key.as_ref()?, value)))
            {
                found.push(Claim::equal(at(key.clone()), value.clone()));
                found.push(holds(key));
            }
        }
        _ => {}
    }
    found
}
