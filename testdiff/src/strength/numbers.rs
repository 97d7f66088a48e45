//! Bounds, tolerances and digits.

use source::python::{Expr, Operator};

use super::{Side, Turn};
use crate::claim::Tolerance;
use crate::fold::number;

pub(super) fn is_order(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual
    )
}

pub(super) fn bounds(was: Operator, is: Operator, base: &Side<'_>, head: &Side<'_>) -> Option<Turn> {
    let upper = |operator: Operator| matches!(operator, Operator::Less | Operator::LessOrEqual);
    let (old, new) = (number(base.expected)?, number(head.expected)?);
    if upper(was) != upper(is) {
        return Some(Turn::Rewritten);
    }
    let wider = if upper(was) { new > old } else { new < old };
    let opened = new.total_cmp(&old).is_eq() && !is_inclusive(was) && is_inclusive(is);
    (wider || opened).then(|| Turn::Weaker(format!("bound loosened: {} became {}", base.text(), head.text())))
}

fn is_inclusive(operator: Operator) -> bool {
    matches!(operator, Operator::LessOrEqual | Operator::GreaterOrEqual)
}

/// pytest's own, where nothing is given.
const USUAL_RELATIVE: f64 = 1e-6;
const USUAL_ABSOLUTE: f64 = 1e-12;

pub(super) fn looser(was: &Tolerance, is: &Tolerance, old: &Expr, new: &Expr) -> bool {
    let width = |tolerance: &Tolerance, expected: &Expr| {
        let given = |part: &Option<Expr>| part.as_ref().map(number);
        let (relative, absolute) = (given(&tolerance.relative), given(&tolerance.absolute));
        // A tolerance that is not a number cannot be weighed.
        if relative == Some(None) || absolute == Some(None) {
            return None;
        }
        let (relative, absolute) = (relative.flatten(), absolute.flatten());
        let relative = relative.unwrap_or(if absolute.is_some() { 0.0 } else { USUAL_RELATIVE });
        let size = number(expected).map_or(1.0, f64::abs);
        Some((relative * size).max(absolute.unwrap_or(USUAL_ABSOLUTE)))
    };
    match (width(was, old), width(is, new)) {
        // By a hair more is a change of the expected value, not of the tolerance.
        (Some(was_width), Some(is_width)) => is_width > was_width * 1.5 && (was != is),
        _ => false,
    }
}

/// How many digits a number is rounded to.
pub(super) fn digits(subject: &Expr) -> Option<f64> {
    match subject {
        Expr::Call { callee, args, .. } if **callee == Expr::name("round") => {
            Some(args.get(1).map_or(0.0, |digits| number(digits).unwrap_or(0.0)))
        }
        _ => None,
    }
}
