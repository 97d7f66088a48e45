//! What a change did to the tests: from the sources of two states to the tests that were removed, renamed, muted,
//! weakened, rewritten and added. Reads what it is given, runs nothing.
//!
//! A false alarm costs more than a miss: where it cannot be said that a test checks less, nothing is said.

mod claim;
mod collect;
mod compare;
mod evidence;
mod fold;
mod identity;
mod likeness;
mod module;
mod reader;
mod render;
mod rules;
mod snapshot;
mod strength;
mod text;
mod unittest;
mod walk;

use std::collections::{BTreeMap, HashSet};

pub use reader::Reader;
pub use snapshot::Snapshot;

use claim::Claim;
use collect::Tests;
use compare::Circumstances;
use evidence::Evidence;
use snapshot::View;

/// A test with what is to be said about it. Ids are `path::Class::name`, the path from the root, without parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub id: String,
    pub what: Vec<String>,
}

/// A test under its new id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    pub was: String,
    pub id: String,
}

/// What a change did to the tests, as far as the sources tell. Each list is in the order of ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub renamed: Vec<Renamed>,
    /// What is skipped, expected to fail or no longer collected whatever the run; `what` says how. Under the id at head
    /// where it is still collected, else under the one of the base.
    pub muted: Vec<Told>,
    /// What can fail in fewer ways than before; `what` says which. Under the id at head.
    pub weakened: Vec<Told>,
    /// What expects something else than before. Under the id at head.
    pub rewritten: Vec<Told>,
}

/// Compares the tests of two states.
#[must_use]
pub fn compare(base: &Snapshot, head: &Snapshot) -> Changes {
    let (base, head) = (base.view(), head.view());
    let (before, after) = (collect::tests(&base), collect::tests(&head));
    let mut changes = Changes::default();
    let pairs = pairs(&before, &after, &mut changes);
    let known: HashSet<&str> = pairs.iter().map(|(_, now)| *now).collect();
    let collected = after.values().filter(|test| test.is_collected());
    changes.added = collected
        .filter(|test| !known.contains(&*test.id))
        .map(|test| test.id.clone())
        .collect();
    judge(
        &States {
            base: &base,
            head: &head,
            before: &before,
            after: &after,
        },
        &pairs,
        &mut changes,
    );
    changes
}

/// The tests that are on both sides, by their ids there; what is not is removed or muted.
fn pairs<'t>(
    before: &'t Tests<'_, '_>,
    after: &'t Tests<'_, '_>,
    changes: &mut Changes,
) -> Vec<(&'t str, &'t str)> {
    let renamed = identity::renamed(before, after);
    let moved: BTreeMap<&str, &str> = renamed.iter().map(|pair| (&*pair.was, &*pair.now)).collect();
    let mut pairs = Vec::new();
    for test in before.values().filter(|test| test.is_collected()) {
        let now = after.get(moved.get(&*test.id).copied().unwrap_or(&test.id));
        match now {
            None => changes.removed.push(test.id.clone()),
            Some(now) => {
                if let Some(why) = &now.uncollected {
                    let what = vec![format!("no longer collected: {why}")];
                    changes.muted.push(Told {
                        id: test.id.clone(),
                        what,
                    });
                } else {
                    pairs.push((&*test.id, &*now.id));
                    if now.id != test.id {
                        changes.renamed.push(Renamed {
                            was: test.id.clone(),
                            id: now.id.clone(),
                        });
                    }
                }
            }
        }
    }
    pairs
}

struct States<'s, 'b, 'h> {
    base: &'s View<'b>,
    head: &'s View<'h>,
    before: &'s Tests<'s, 'b>,
    after: &'s Tests<'s, 'h>,
}

fn judge(states: &States<'_, '_, '_>, pairs: &[(&str, &str)], changes: &mut Changes) {
    let evidence: Vec<(Evidence, Evidence)> = pairs
        .iter()
        .map(|(was, now)| {
            let old = walk::evidence(&states.before[*was], states.base);
            (old, walk::evidence(&states.after[*now], states.head))
        })
        .collect();
    let elsewhere = claims_elsewhere(states, pairs, &evidence, changes);
    for ((was, now), (old, new)) in pairs.iter().zip(&evidence) {
        if let Some(how) = &new.muted {
            if old.muted.is_none() {
                changes.muted.push(Told {
                    id: (*now).to_owned(),
                    what: vec![how.clone()],
                });
            }
            continue;
        }
        if old == new {
            continue;
        }
        let is_shadowed = states.after[*now].shadows && !states.before[*was].shadows;
        let found = compare::compare(
            old,
            new,
            &Circumstances {
                elsewhere: &elsewhere,
                is_shadowed,
            },
        );
        let told = |what: Vec<String>| Told {
            id: (*now).to_owned(),
            what,
        };
        if !found.weaker.is_empty() {
            changes.weakened.push(told(found.weaker));
        }
        if !found.rewritten.is_empty() {
            changes.rewritten.push(told(found.rewritten));
        }
    }
    changes.muted.sort_by(|left, right| left.id.cmp(&right.id));
}

/// Claims that tests make at head and did not make at the base: what left one test may have come to another.
fn claims_elsewhere(
    states: &States<'_, '_, '_>,
    pairs: &[(&str, &str)],
    evidence: &[(Evidence, Evidence)],
    changes: &Changes,
) -> HashSet<Claim> {
    let mut claims = HashSet::new();
    for ((was, now), (old, new)) in pairs.iter().zip(evidence) {
        debug_assert!(states.before.contains_key(*was) && states.after.contains_key(*now));
        if new.muted.is_none() && old != new {
            let had: HashSet<&Claim> = old.checks().map(|check| &check.claim).collect();
            claims.extend(effective(new).filter(|claim| !had.contains(claim)));
        }
    }
    for id in &changes.added {
        let new = walk::evidence(&states.after[id], states.head);
        if new.muted.is_none() {
            claims.extend(effective(&new));
        }
    }
    claims
}

fn effective(evidence: &Evidence) -> impl Iterator<Item = Claim> {
    let checks = evidence
        .checks()
        .filter(|check| check.void.is_none() && check.guards.is_empty());
    checks.map(|check| check.claim.clone())
}

#[cfg(test)]
mod tests;
