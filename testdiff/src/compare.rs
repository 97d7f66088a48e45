//! What a test checked at the base against what it checks now.

use std::collections::HashSet;

use source::python::Expr;

use crate::claim::{Claim, Relation, implied, parts};
use crate::evidence::{Check, Evidence};
use crate::likeness::{dice, of_expr};
use crate::strength::{Turn, turn};
use crate::text;

/// What was found about a test on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    pub(crate) weaker: Vec<String>,
    pub(crate) rewritten: Vec<String>,
}

/// How the test at head stands to the one at the base, beside what it checks.
pub(crate) struct Circumstances<'c> {
    /// Claims of other tests at head that are not theirs at the base: a check may have moved there.
    pub(crate) elsewhere: &'c HashSet<Claim>,
    /// Whether a later definition of the same name hides what was there.
    pub(crate) is_shadowed: bool,
}

pub(crate) fn compare(base: &Evidence, head: &Evidence, around: &Circumstances<'_>) -> Findings {
    let mut findings = Findings::default();
    checks(base, head, around, &mut findings);
    for name in head.patched.difference(&base.patched) {
        if is_subject(base, name) {
            findings
                .weaker
                .push(format!("what is tested is replaced: {name}"));
        }
    }
    if head.retries > base.retries {
        findings
            .weaker
            .push("retries added: a failure no longer counts at once".to_owned());
    }
    if base.fails_on_warnings && !head.fails_on_warnings {
        findings.weaker.push("warnings are no longer failures".to_owned());
    }
    if base.checks().next().is_none() && base.calls > 0 && head.calls == 0 && head.checks().next().is_none() {
        findings.weaker.push("it no longer calls anything".to_owned());
    }
    findings.weaker.dedup();
    findings
}

fn checks(base: &Evidence, head: &Evidence, around: &Circumstances<'_>, findings: &mut Findings) {
    let (base, head) = comparable(base, head);
    let mut open: Vec<&Check> = base.into_iter().filter(|check| check.void.is_none()).collect();
    let (mut free, void): (Vec<&Check>, Vec<&Check>) =
        head.into_iter().partition(|check| check.void.is_none());
    let holds: HashSet<Claim> = free.iter().flat_map(|check| implied(&check.claim)).collect();
    let said: HashSet<Claim> = free.iter().map(|check| check.claim.clone()).collect();
    take_equal(&mut open, &mut free, findings);
    open.retain(|check| !holds.contains(&check.claim));
    open.retain(|check| {
        let parts = parts(&check.claim);
        parts.is_empty() || !parts.iter().all(|part| said.contains(part))
    });
    take_void(&mut open, &void, findings);
    if around.is_shadowed {
        let hidden = open
            .iter()
            .map(|check| format!("hidden by a later definition: {}", text::claim(&check.claim)));
        return findings.weaker.extend(hidden.take(MOST_TOLD));
    }
    pair(&mut open, &mut free, findings);
    open.retain(|check| !around.elsewhere.contains(&check.claim));
    // A call that checks something which cannot be seen may stand for any number of claims.
    let is_opaque = free.iter().any(|check| matches!(check.claim, Claim::Opaque(_)));
    let fresh_void = void.iter().find(|check| is_new(check));
    if !is_opaque {
        let gone = open
            .iter()
            .map(|check| match fresh_void.and_then(|check| check.void.clone()) {
                Some(why) => why,
                None => format!("assertion removed: {}", text::claim(&check.claim)),
            });
        findings.weaker.extend(gone.take(MOST_TOLD));
    }
}

/// Claims are told so far.
const MOST_TOLD: usize = 5;

fn is_new(check: &Check) -> bool {
    check.void.is_some()
}

/// The checks to hold against each other. Sets of parameters that are gone are told as such, by their ids.
fn comparable<'e>(base: &'e Evidence, head: &'e Evidence) -> (Vec<&'e Check>, Vec<&'e Check>) {
    let parametrised = |evidence: &Evidence| evidence.cases.iter().any(|case| !case.key.is_empty());
    if parametrised(base) && parametrised(head) && head.cases.len() < base.cases.len() {
        let kept = |key: &str| head.cases.iter().any(|case| case.key == key);
        let base = base
            .cases
            .iter()
            .filter(|case| kept(&case.key))
            .flat_map(|case| &case.checks)
            .collect();
        return (base, head.checks().collect());
    }
    (base.checks().collect(), head.checks().collect())
}

/// Takes away what both say. A condition that is new around it makes it weaker.
fn take_equal(open: &mut Vec<&Check>, free: &mut Vec<&Check>, findings: &mut Findings) {
    open.retain(|check| {
        let same: Vec<usize> = (0..free.len())
            .filter(|place| free[*place].claim == check.claim)
            .collect();
        let Some(best) = same
            .iter()
            .copied()
            .min_by_key(|place| new_guards(check, free[*place]).len())
        else {
            return true;
        };
        if let Some(guard) = new_guards(check, free[best]).first() {
            findings.weaker.push(format!(
                "checked only where {}: {}",
                crate::render::render(guard),
                text::claim(&check.claim)
            ));
        }
        if !free[best].many {
            free.remove(best);
        }
        false
    });
}

/// Conditions around the check at head that were not there, those of the platform apart.
fn new_guards<'e>(base: &Check, head: &'e Check) -> Vec<&'e Expr> {
    let is_platform = |guard: &Expr| {
        guard.any(&mut |part| match part {
            Expr::Name(name) => ["sys.platform", "sys.version_info", "os.name", "platform."]
                .iter()
                .any(|known| name.starts_with(known)),
            _ => false,
        })
    };
    // As many conditions as before may be the same ones in other words.
    if head.guards.len() <= base.guards.len() {
        return Vec::new();
    }
    head.guards
        .iter()
        .filter(|guard| !base.guards.contains(guard) && !is_platform(guard))
        .collect()
}

/// Takes away what head still says where it can no longer fail.
fn take_void(open: &mut Vec<&Check>, void: &[&Check], findings: &mut Findings) {
    open.retain(|check| {
        let Some(same) = void.iter().find(|other| other.claim == check.claim) else {
            return true;
        };
        let why = same.void.as_deref().unwrap_or_default();
        findings
            .weaker
            .push(format!("{why}: {}", text::claim(&check.claim)));
        false
    });
}

/// Pairs what is left, likest first, and says what became of each.
fn pair(open: &mut Vec<&Check>, free: &mut Vec<&Check>, findings: &mut Findings) {
    let mut scored: Vec<(f64, usize, usize)> = Vec::new();
    for (old, check) in open.iter().enumerate() {
        for (new, other) in free.iter().enumerate() {
            scored.push((score(&check.claim, &other.claim), old, new));
        }
    }
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    let (mut paired, mut used) = (HashSet::new(), HashSet::new());
    for (_, old, new) in scored {
        if paired.contains(&old) || used.contains(&new) && !free[new].many {
            continue;
        }
        paired.insert(old);
        used.insert(new);
        match turn(&open[old].claim, &free[new].claim) {
            Turn::Weaker(what) => findings.weaker.push(what),
            Turn::Rewritten => findings.rewritten.push(text::claim(&free[new].claim)),
            Turn::Kept => {}
        }
    }
    let mut place = 0;
    open.retain(|_| {
        place += 1;
        !paired.contains(&(place - 1))
    });
}

/// How likely it is that one claim took the other's place.
fn score(base: &Claim, head: &Claim) -> f64 {
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
        ) => {
            let subject = if old == new {
                2.0
            } else {
                dice(&of_expr(old), &of_expr(new))
            };
            let expected = if wanted == wants && !matches!(was, Relation::Truth(_)) {
                1.5
            } else {
                0.0
            };
            let relation = if std::mem::discriminant(was) == std::mem::discriminant(is) {
                0.5
            } else {
                0.0
            };
            subject + expected + relation
        }
        (Claim::Raises { body: old, .. }, Claim::Raises { body: new, .. }) => {
            1.0 + f64::from(u8::from(old == new))
        }
        (Claim::Opaque(old), Claim::Opaque(new)) => dice(&of_expr(old), &of_expr(new)),
        _ => 0.0,
    }
}

/// Whether what is patched is what the test's own claims call: not what that calls in turn.
fn is_subject(base: &Evidence, patched: &str) -> bool {
    let (owner, last) = patched.rsplit_once('.').unwrap_or(("", patched));
    let owner = owner.rsplit('.').next().unwrap_or(owner);
    // A method is known by its class alone: many things have a `get`.
    let is_class = owner.starts_with(char::is_uppercase);
    let fits = |link: &Link| link.name == last && (link.is_function || is_class);
    base.checks().any(|check| match &check.claim {
        Claim::Value { subject, .. } => spine(subject).iter().any(fits),
        Claim::Raises { body, .. } => body.last().is_some_and(|call| spine(call).iter().any(fits)),
        Claim::Opaque(_) => false,
    })
}

/// A name on the way to a value.
struct Link {
    name: String,
    /// A function (or a class) of a module, not an attribute of an object.
    is_function: bool,
}

/// The names that are called, or looked up, to get at a value: not those in the arguments.
fn spine(expr: &Expr) -> Vec<Link> {
    match expr {
        Expr::Name(name) => {
            let last = name.rsplit('.').next().unwrap_or(name);
            vec![Link {
                name: last.to_owned(),
                is_function: true,
            }]
        }
        Expr::Attribute(value, name) => {
            let mut links = spine(value);
            links.push(Link {
                name: name.clone(),
                is_function: false,
            });
            links
        }
        Expr::Subscript(value, _) => spine(value),
        Expr::Call { callee, args, .. } => match &**callee {
            // What a builtin is given is what is looked at.
            Expr::Name(name) if !name.contains('.') && is_builtin(name) => {
                args.iter().flat_map(spine).collect()
            }
            callee => spine(callee),
        },
        Expr::Other(kind, parts) if kind == "await" => parts.iter().flat_map(spine).collect(),
        _ => Vec::new(),
    }
}

fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "len"
            | "str"
            | "int"
            | "float"
            | "list"
            | "sorted"
            | "set"
            | "dict"
            | "tuple"
            | "repr"
            | "sum"
            | "min"
            | "max"
            | "round"
            | "abs"
            | "bool"
            | "type"
            | "any"
            | "all"
    )
}
