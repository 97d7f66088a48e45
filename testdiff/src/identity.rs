//! Which test is which: a test keeps its identity through another name, class or file.

use std::collections::HashSet;

use crate::collect::{Test, Tests};
use crate::likeness::{Labels, dice, of_body};

/// Bodies at least this like are one test under two names.
const SAME_BODY: f64 = 0.75;
/// Where the name (or the class and the place in it) stayed, less is enough.
const SAME_NAME: f64 = 0.5;

/// A test of the base and the one at head that it became.
pub(crate) struct Pair {
    pub(crate) was: String,
    pub(crate) now: String,
}

struct Candidate<'t, 'v, 'a> {
    test: &'t Test<'v, 'a>,
    labels: Labels,
}

/// The tests of the base that are gone under their id, each with the function at head that it lives on in.
pub(crate) fn renamed(base: &Tests<'_, '_>, head: &Tests<'_, '_>) -> Vec<Pair> {
    let gone: Vec<_> = base
        .values()
        .filter(|test| test.is_collected() && !head.contains_key(&test.id))
        .map(candidate)
        .collect();
    let new: Vec<_> = head
        .values()
        .filter(|test| !base.contains_key(&test.id))
        .map(candidate)
        .collect();
    let mut scored = Vec::new();
    for (old, was) in gone.iter().enumerate() {
        for (place, now) in new.iter().enumerate() {
            if let Some(score) = score(was, now) {
                scored.push((score, old, place));
            }
        }
    }
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    let (mut taken, mut used) = (HashSet::new(), HashSet::new());
    let mut pairs = Vec::new();
    for (_, old, place) in scored {
        if !taken.contains(&old) && !used.contains(&place) {
            taken.insert(old);
            used.insert(place);
            pairs.push(Pair {
                was: gone[old].test.id.clone(),
                now: new[place].test.id.clone(),
            });
        }
    }
    pairs.sort_by(|left, right| left.was.cmp(&right.was));
    pairs
}

fn candidate<'t, 'v, 'a>(test: &'t Test<'v, 'a>) -> Candidate<'t, 'v, 'a> {
    Candidate {
        test,
        labels: of_body(&test.function.body),
    }
}

fn score(was: &Candidate<'_, '_, '_>, now: &Candidate<'_, '_, '_>) -> Option<f64> {
    // Copies that became one test with parameters are another test each.
    if is_parametrised(was.test) != is_parametrised(now.test) && was.test.name() != now.test.name() {
        return None;
    }
    let body = dice(&was.labels, &now.labels);
    let same_name = was.test.name() == now.test.name();
    // Below this a body is too small to be known by.
    let is_small = was.labels.values().sum::<usize>() < 8;
    let enough = match (same_name, is_small) {
        (true, _) => SAME_NAME,
        (false, true) => 0.95,
        (false, false) => SAME_BODY,
    };
    let near = u8::from(was.test.module.path == now.test.module.path);
    // A test that only lost (or only got) something under its new name.
    let body = if near == 1 && !is_small {
        body.max(contained(&was.labels, &now.labels))
    } else {
        body
    };
    let closeness = 0.5 * f64::from(u8::from(same_name)) + 0.1 * f64::from(near);
    (body >= enough).then_some(body + closeness)
}

/// How much of the smaller body is in the larger one, if that is nearly all: less says nothing.
fn contained(left: &Labels, right: &Labels) -> f64 {
    let size = |labels: &Labels| labels.values().sum::<usize>();
    let shared: usize = left
        .iter()
        .map(|(label, count)| right.get(label).map_or(0, |other| *count.min(other)))
        .sum();
    let (smaller, larger) = (size(left).min(size(right)), size(left).max(size(right)));
    let share = shared as f64 / smaller.max(1) as f64;
    if share >= 0.98 && smaller >= SMALLEST && smaller * 3 >= larger {
        SAME_BODY
    } else {
        0.0
    }
}

/// A body of fewer labels is no body to know a test by.
const SMALLEST: usize = 6;

fn is_parametrised(test: &Test<'_, '_>) -> bool {
    test.marks.iter().any(|mark| {
        let callee = if let source::python::Expr::Call { callee, .. } = mark {
            callee
        } else {
            *mark
        };
        callee.dotted().is_some_and(|name| name.ends_with("parametrize"))
    })
}
