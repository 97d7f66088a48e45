//! Claims as text, for people.

use crate::claim::{Claim, Relation};
use crate::render::render;

/// One line that says what a claim holds.
pub(crate) fn claim(claim: &Claim) -> String {
    match claim {
        Claim::Value {
            subject,
            relation,
            expected,
        } => {
            let (subject, expected) = (render(subject), render(expected));
            match relation {
                Relation::Compares(operator) => format!("{subject} {} {expected}", operator.as_str()),
                Relation::Close(_) => format!("{subject} ≈ {expected}"),
                Relation::Contains(true) => format!("{expected} in {subject}"),
                Relation::Contains(false) => format!("{expected} not in {subject}"),
                Relation::OneOf(true) => format!("{subject} in {expected}"),
                Relation::OneOf(false) => format!("{subject} not in {expected}"),
                Relation::Truth(true) => subject,
                Relation::Truth(false) => format!("not {subject}"),
                Relation::Instance => format!("isinstance({subject}, {expected})"),
                Relation::Matches => format!("{subject} matches {expected}"),
            }
        }
        Claim::Raises {
            what, body, warning, ..
        } => {
            let verb = if *warning { "warns of" } else { "raises" };
            let calls: Vec<String> = body.iter().map(render).collect();
            format!("{} {verb} {}", calls.join("; "), what.join(" or "))
        }
        Claim::Opaque(call) => render(call),
    }
}
