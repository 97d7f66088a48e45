//! Whether one claim in the place of another asks less, or asks something else.

mod exceptions;
mod numbers;

use source::python::{Constant, Expr, Operator};

use crate::claim::{Claim, Relation, Tolerance};
use crate::fold::{is_literal, truth};
use crate::likeness::{dice, of_expr};
use crate::text;
use exceptions::{bodies_like, exceptions, is_less_of_a_pattern};
use numbers::{bounds, digits, is_order, looser};

/// Subjects at least this like are taken for one and the same, under another name or with another input.
const SAME: f64 = 0.6;

/// What has become of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It asks less; how.
    Weaker(String),
    /// It expects something else.
    Rewritten,
    /// It asks as much, or cannot be compared.
    Kept,
}

/// Calls that lose something of what they are given.
const LOSSY: [&str; 15] = [
    "sorted",
    "set",
    "frozenset",
    "len",
    "bool",
    "type",
    "int",
    "round",
    "abs",
    "str",
    "repr",
    "sum",
    "min",
    "max",
    "any",
];

pub(crate) fn turn(base: &Claim, head: &Claim) -> Turn {
    match (base, head) {
        (
            Claim::Value {
                subject: old,
                relation: was,
                expected: wanted,
            },
            Claim::Value {
                subject: new,
                relation: is,
                expected: wants,
            },
        ) => values(
            &Side {
                subject: old,
                relation: was,
                expected: wanted,
            },
            &Side {
                subject: new,
                relation: is,
                expected: wants,
            },
        ),
        (
            Claim::Raises {
                what: old,
                pattern: was,
                body: old_body,
                warning,
            },
            Claim::Raises {
                what: new,
                pattern: is,
                body: new_body,
                warning: still,
            },
        ) if warning == still && bodies_like(old_body, new_body) => {
            exceptions(old, was.as_ref(), new, is.as_ref())
        }
        (Claim::Opaque(old), Claim::Opaque(new)) => calls(old, new),
        (
            Claim::Raises { body, .. },
            Claim::Value {
                subject,
                relation: Relation::Compares(Operator::Equal),
                ..
            },
        ) if body.iter().any(|call| alike(call, subject)) => Turn::Rewritten,
        (
            Claim::Value { subject, .. },
            Claim::Raises {
                body, warning: false, ..
            },
        ) if body.iter().any(|call| alike(call, subject)) => Turn::Rewritten,
        _ => Turn::Kept,
    }
}

struct Side<'c> {
    subject: &'c Expr,
    relation: &'c Relation,
    expected: &'c Expr,
}

impl Side<'_> {
    fn text(&self) -> String {
        text::claim(&Claim::value(
            self.subject.clone(),
            self.relation.clone(),
            self.expected.clone(),
        ))
    }
}

fn values(base: &Side<'_>, head: &Side<'_>) -> Turn {
    let weaker = |what: &str| Turn::Weaker(format!("{what}: {} became {}", base.text(), head.text()));
    if base.subject != head.subject && loses(base.subject, head.subject) && rank(head) >= 3 && rank(base) >= 3
    {
        return weaker("equality loosened");
    }
    let same = base.subject == head.subject || alike(base.subject, head.subject);
    if rank(head) < rank(base)
        && (same || is_part(base.subject, head))
        && !says_the_same(base, head)
        && !is_judged_apart(base, head)
    {
        return weaker("assertion loosened");
    }
    if let Expr::Or(parts) = head.subject
        && *head.relation == Relation::Truth(true)
        && parts.iter().any(|part| {
            crate::claim::asserted(part)
                .iter()
                .any(|claim| is_claim(claim, base))
        })
    {
        return weaker("an alternative was added");
    }
    if is_mock(head.subject) && !is_mock(base.subject) {
        return weaker("what is tested is replaced by a mock");
    }
    if !same || says_the_same(base, head) || asks_more(base, head) {
        return Turn::Kept;
    }
    if let (Some(was), Some(is)) = (digits(base.subject), digits(head.subject))
        && is < was
    {
        return weaker("rounded to fewer digits");
    }
    related(base, head).unwrap_or(Turn::Kept)
}

fn is_claim(claim: &Claim, side: &Side<'_>) -> bool {
    *claim == Claim::value(side.subject.clone(), side.relation.clone(), side.expected.clone())
}

/// Two claims about one subject, of like rank.
fn related(base: &Side<'_>, head: &Side<'_>) -> Option<Turn> {
    let weaker = |what: &str| {
        Some(Turn::Weaker(format!(
            "{what}: {} became {}",
            base.text(),
            head.text()
        )))
    };
    let changed = differs(base.expected, head.expected);
    match (base.relation, head.relation) {
        (Relation::Truth(was), Relation::Truth(is)) if was != is => Some(Turn::Rewritten),
        (Relation::Truth(true), Relation::Truth(true)) => any_of_all(base, head),
        (Relation::Contains(was), Relation::Contains(is)) | (Relation::OneOf(was), Relation::OneOf(is))
            if was != is =>
        {
            Some(Turn::Rewritten)
        }
        (Relation::OneOf(true), Relation::OneOf(true)) => {
            let (old, new) = (base.expected.as_row()?, head.expected.as_row()?);
            if new.len() > old.len() && old.iter().all(|part| new.contains(part)) {
                return weaker("more values are accepted");
            }
            changed.then_some(Turn::Rewritten)
        }
        (Relation::Close(was), Relation::Close(is)) => {
            if looser(was, is, base.expected, head.expected) {
                return weaker("tolerance loosened");
            }
            changed.then_some(Turn::Rewritten)
        }
        (Relation::Compares(Operator::Equal), Relation::Close(is)) => {
            if looser(&Tolerance::default(), is, base.expected, head.expected) {
                return weaker("tolerance added");
            }
            changed.then_some(Turn::Rewritten)
        }
        (Relation::Compares(was), Relation::Compares(is)) if is_order(*was) && is_order(*is) => {
            bounds(*was, *is, base, head)
        }
        (Relation::Instance, Relation::Instance) => {
            let accepts = |side: &Side<'_>| side.expected.as_row().map_or(1, <[Expr]>::len);
            if accepts(head) > accepts(base)
                || *head.expected == Expr::name("object") && base.expected != head.expected
            {
                return weaker("more types are accepted");
            }
            None
        }
        (Relation::Matches, Relation::Matches) if is_less_of_a_pattern(base.expected, head.expected) => {
            weaker("pattern loosened")
        }
        (was, is) if was == is || rank(base) == rank(head) => changed.then_some(Turn::Rewritten),
        _ => changed.then_some(Turn::Rewritten),
    }
}

/// `all(…)` that became `any(…)`.
fn any_of_all(base: &Side<'_>, head: &Side<'_>) -> Option<Turn> {
    let callee = |side: &Side<'_>| match side.subject {
        Expr::Call { callee, .. } => callee.dotted(),
        _ => None,
    };
    let fewer = callee(base).as_deref() == Some("all") && callee(head).as_deref() == Some("any");
    fewer.then(|| Turn::Weaker(format!("all became any: {}", head.text())))
}

/// Whether a value is got at through a mock that the test makes itself.
fn is_mock(subject: &Expr) -> bool {
    match subject {
        Expr::Attribute(value, _) | Expr::Subscript(value, _) => is_mock(value),
        Expr::Call { callee, .. } => {
            let dotted = callee.dotted().unwrap_or_default();
            let last = dotted.rsplit('.').next().unwrap_or_default();
            matches!(
                last,
                "Mock" | "MagicMock" | "AsyncMock" | "NonCallableMock" | "create_autospec"
            ) || is_mock(callee)
        }
        _ => false,
    }
}

/// How much a claim pins down.
fn rank(side: &Side<'_>) -> u8 {
    match side.relation {
        Relation::Compares(Operator::Equal | Operator::Is) => 4,
        Relation::Close(_) => 3,
        Relation::Compares(Operator::NotEqual | Operator::IsNot) => 1,
        Relation::Compares(_) | Relation::Contains(true) | Relation::OneOf(true) | Relation::Matches => 2,
        Relation::Truth(_)
            if is_predicate(side.subject, "startswith") || is_predicate(side.subject, "endswith") =>
        {
            2
        }
        Relation::Truth(_) | Relation::Instance | Relation::Contains(false) | Relation::OneOf(false) => 1,
    }
}

fn is_predicate(subject: &Expr, method: &str) -> bool {
    matches!(subject, Expr::Call { callee, .. } if matches!(&**callee, Expr::Attribute(_, name) if name == method))
}

/// Whether a truth says what the equality said.
fn says_the_same(base: &Side<'_>, head: &Side<'_>) -> bool {
    match (base.relation, head.relation) {
        (Relation::Compares(Operator::Equal | Operator::Is), Relation::Truth(holds)) => match base.expected {
            Expr::Constant(Constant::Bool(value)) => value == holds,
            expected => !holds && truth(expected) == Some(false),
        },
        _ => false,
    }
}

/// Whether a lower rank does not say yet that it is weaker: a tolerance is weighed, and the opposite is another
/// expectation.
fn is_judged_apart(base: &Side<'_>, head: &Side<'_>) -> bool {
    matches!(
        (base.relation, head.relation),
        (Relation::Compares(Operator::Equal), Relation::Close(_))
            | (Relation::Contains(true), Relation::Contains(false))
            | (Relation::OneOf(true), Relation::OneOf(false))
    )
}

/// Whether it pins down more than before.
fn asks_more(base: &Side<'_>, head: &Side<'_>) -> bool {
    rank(head) > rank(base) && std::mem::discriminant(base.relation) != std::mem::discriminant(head.relation)
        || rank(head) > rank(base) && matches!(head.relation, Relation::Compares(Operator::Equal))
}

/// Whether the claim looks at a part of what was looked at, or at nothing but its kind: `order` for `order["change"]`.
fn is_part(base: &Expr, head: &Side<'_>) -> bool {
    let inner = match head.subject {
        Expr::Call { callee, args, .. } if is_lossy(callee) => args.first().unwrap_or(head.subject),
        subject => subject,
    };
    matches!(
        head.relation,
        Relation::Truth(_) | Relation::Instance | Relation::Compares(_) | Relation::Contains(true)
    ) && !is_literal(inner)
        && (base.any(&mut |part| part == inner) || same_root(base, inner))
}

/// Whether both are attributes and parts of one thing, and the second calls nothing that could be a check of its own.
fn same_root(base: &Expr, head: &Expr) -> bool {
    fn root(expr: &Expr) -> &Expr {
        match expr {
            Expr::Attribute(value, _) | Expr::Subscript(value, _) => root(value),
            Expr::Call { callee, .. } => match &**callee {
                Expr::Attribute(value, _) => root(value),
                _ => expr,
            },
            expr => expr,
        }
    }
    fn is_plain(expr: &Expr) -> bool {
        match expr {
            Expr::Attribute(value, _) | Expr::Subscript(value, _) => is_plain(value),
            Expr::Name(_) => true,
            _ => false,
        }
    }
    is_plain(head) && root(base) == root(head)
}

fn is_lossy(callee: &Expr) -> bool {
    callee.dotted().is_some_and(|name| LOSSY.contains(&name.as_str()))
}

/// Whether `head` is `base` with something of it lost: `set(base)`, `base[0]`, `base.lower()`.
fn loses(base: &Expr, head: &Expr) -> bool {
    match head {
        Expr::Call { callee, args, .. } if is_lossy(callee) => args
            .first()
            .is_some_and(|inner| inner == base && !is_coarser_already(base, callee)),
        Expr::Call { callee, args, .. } if args.is_empty() => {
            matches!(&**callee, Expr::Attribute(value, name)
                if **value == *base && matches!(name.as_str(), "lower" | "upper" | "strip" | "casefold" | "keys" | "split"))
        }
        Expr::Subscript(value, _) => **value == *base,
        _ => false,
    }
}

/// `sorted(sorted(x))` loses nothing.
fn is_coarser_already(base: &Expr, callee: &Expr) -> bool {
    matches!(base, Expr::Call { callee: inner, .. } if **inner == *callee)
}

/// Whether two expectations differ for certain: both are written down, or they differ in nothing but written values.
fn differs(old: &Expr, new: &Expr) -> bool {
    if old == new {
        return false;
    }
    is_literal(old) && is_literal(new) || same_but_for_constants(old, new)
}

fn same_but_for_constants(old: &Expr, new: &Expr) -> bool {
    match (old, new) {
        (Expr::Constant(_), Expr::Constant(_)) => true,
        (Expr::Constant(_), _) | (_, Expr::Constant(_)) => false,
        (old, new) => {
            let (parts, others) = (old.parts(), new.parts());
            std::mem::discriminant(old) == std::mem::discriminant(new)
                && parts.len() == others.len()
                && (!parts.is_empty() || old == new)
                && parts
                    .iter()
                    .zip(&others)
                    .all(|(old, new)| old == new || same_but_for_constants(old, new))
        }
    }
}

pub(crate) fn alike(old: &Expr, new: &Expr) -> bool {
    dice(&of_expr(old), &of_expr(new)) >= SAME
}

/// Calls of a mock's assertions, weakest first.
const MOCK: [&str; 6] = [
    "assert_called",
    "assert_called_once",
    "assert_any_call",
    "assert_called_with",
    "assert_called_once_with",
    "assert_has_calls",
];

fn calls(old: &Expr, new: &Expr) -> Turn {
    let parts = |call: &Expr| match call {
        Expr::Call {
            callee,
            args,
            keywords,
        } => match &**callee {
            Expr::Attribute(owner, name) => {
                Some(((**owner).clone(), name.clone(), args.clone(), keywords.clone()))
            }
            _ => None,
        },
        _ => None,
    };
    let (Some((owner, was, args, named)), Some((other, is, new_args, new_named))) = (parts(old), parts(new))
    else {
        return Turn::Kept;
    };
    let place = |name: &str| MOCK.iter().position(|known| *known == name);
    match (place(&was), place(&is)) {
        (Some(old_place), Some(new_place)) if alike(&owner, &other) => {
            if new_place < old_place {
                Turn::Weaker(format!("assertion loosened: {was} became {is}"))
            } else if was == is
                && (args != new_args || named != new_named)
                && same_but_for_constants(old, new)
            {
                Turn::Rewritten
            } else {
                Turn::Kept
            }
        }
        _ => Turn::Kept,
    }
}
