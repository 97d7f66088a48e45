//! Failing rows, identical failures together, as many as fit: full where there is room, then shorter, then folded,
//! and exactly counted where even that is too much.

use std::collections::HashMap;

use ops::{MESSAGE_CHARS, Row, Totals};
use runner_core::model::{Outcome, Phase};

/// Tests that failed alike.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) first: &'a Row,
    pub(super) others: Vec<&'a Row>,
}

/// Rows with the same outcome, phase and last line (or whole text) are one failure.
fn group<'a>(rows: &[&'a Row]) -> Vec<Group<'a>> {
    let mut places: HashMap<(Outcome, Option<Phase>, &str), usize> = HashMap::new();
    let mut groups: Vec<Group<'a>> = Vec::new();
    for row in rows {
        let what = row.summary.as_deref().or(row.message.as_deref());
        let place = what.map(|what| {
            *places
                .entry((row.outcome, row.phase, what))
                .or_insert(groups.len())
        });
        match place.and_then(|place| groups.get_mut(place)) {
            Some(known) => known.others.push(row),
            None => groups.push(Group {
                first: row,
                others: Vec::new(),
            }),
        }
    }
    groups
}

/// How one half of an answer shows a failure.
pub(super) trait Shape {
    type Item;

    /// A failing test with at most `cap` of its text.
    fn row(&self, row: &Row, cap: usize) -> Self::Item;

    /// The same, with the nodeids of `others`, out of `count`, that failed alike.
    fn folded(&self, row: &Row, cap: usize, others: &[&Row], count: usize) -> Self::Item;

    fn size(&self, item: &Self::Item) -> usize;

    /// What one more nodeid adds to a folded item.
    fn id_size(&self, row: &Row) -> usize;
}

/// What fits.
pub(super) struct Fitted<Item> {
    pub(super) items: Vec<Item>,
    pub(super) used: usize,
    /// Failing tests that are not even named.
    pub(super) omitted: Totals,
}

/// The caps that are tried on each failure's text, from generous to short.
const CAPS: [usize; 4] = [MESSAGE_CHARS, 600, 300, 120];

pub(super) fn fit<S: Shape>(shape: &S, rows: &[&Row], limit: usize) -> Fitted<S::Item> {
    if let Some(fitted) = all(shape, rows.iter().map(|row| shape.row(row, CAPS[0])), limit) {
        return fitted;
    }
    let groups = group(rows);
    for cap in CAPS {
        let items = groups.iter().map(|group| whole(shape, group, cap));
        if let Some(fitted) = all(shape, items, limit) {
            return fitted;
        }
    }
    some(shape, &groups, limit)
}

/// All of the items, or nothing if they do not fit together.
fn all<S: Shape>(shape: &S, items: impl Iterator<Item = S::Item>, limit: usize) -> Option<Fitted<S::Item>> {
    let mut fitted = Fitted {
        items: Vec::new(),
        used: 0,
        omitted: Totals::default(),
    };
    for item in items {
        fitted.used += shape.size(&item);
        if fitted.used > limit {
            return None;
        }
        fitted.items.push(item);
    }
    Some(fitted)
}

fn whole<S: Shape>(shape: &S, group: &Group<'_>, cap: usize) -> S::Item {
    if group.others.is_empty() {
        shape.row(group.first, cap)
    } else {
        shape.folded(group.first, cap, &group.others, group.others.len())
    }
}

/// As many groups as fit, each with as many of its nodeids as its share allows.
fn some<S: Shape>(shape: &S, groups: &[Group<'_>], limit: usize) -> Fitted<S::Item> {
    /// Nothing that names a test is smaller.
    const LEAST: usize = 30;
    let cap = CAPS[if limit < 4_000 { 3 } else { 2 }];
    let mut fitted = Fitted {
        items: Vec::new(),
        used: 0,
        omitted: Totals::default(),
    };
    for group in groups {
        let left = limit - fitted.used;
        let named = if left < LEAST {
            None
        } else {
            part(shape, group, cap, left, limit / 2)
        };
        let shown = match named {
            Some((item, shown)) => {
                fitted.used += shape.size(&item);
                fitted.items.push(item);
                shown
            }
            None => 0,
        };
        fitted
            .omitted
            .add(group.first.outcome, 1 + group.others.len() - shown);
    }
    fitted
}

/// A group in at most `left`, its further nodeids in at most `most_ids`; with how many tests it names.
fn part<S: Shape>(
    shape: &S,
    group: &Group<'_>,
    cap: usize,
    left: usize,
    most_ids: usize,
) -> Option<(S::Item, usize)> {
    let count = group.others.len();
    let bare = |cap| match count {
        0 => shape.row(group.first, cap),
        _ => shape.folded(group.first, cap, &[], count),
    };
    let caps = [cap, CAPS[3], 40];
    let (cap, size) = caps
        .into_iter()
        .map(|cap| (cap, shape.size(&bare(cap))))
        .find(|(_, size)| *size <= left)?;
    let mut room = most_ids.min(left - size);
    let named = group
        .others
        .iter()
        .take_while(|row| match room.checked_sub(shape.id_size(row)) {
            Some(rest) => {
                room = rest;
                true
            }
            None => false,
        })
        .count();
    let item = match named {
        0 => bare(cap),
        _ => shape.folded(group.first, cap, &group.others[..named], count),
    };
    Some((item, 1 + named))
}
