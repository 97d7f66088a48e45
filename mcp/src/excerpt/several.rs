//! The answer about several suites: a head with the sums, and each suite's own answer in its share of the room.

use ops::SuiteAnswer;
use serde_json::{Map, Value, json};

use super::parts::{self, Parts};
use super::{ENVELOPE, Excerpt, MOST_NEXT, call_size, excerpt, measure, text};

/// With less than this a part says no more than how it went.
const LEAST: usize = 1_100;
/// What surrounds a part in both halves: its name, its heading.
const AROUND: usize = 60;

/// One suite's part, in both halves.
struct Part {
    structured: Map<String, Value>,
    text: String,
}

impl Part {
    fn size(&self) -> usize {
        measure::of_map(&self.structured) + measure::of_text(&self.text) + AROUND
    }
}

/// Everything, or as much as fits: what went well is short, so that the room is for what did not.
pub(super) fn compose(mut whole: Parts, max_bytes: Option<usize>) -> Excerpt {
    let suites = std::mem::take(&mut whole.suites);
    let mut next = std::mem::take(&mut whole.next);
    if let Some(max_bytes) = max_bytes {
        next.retain(|call| call_size(call) <= (max_bytes / 16).max(150));
        next.truncate(MOST_NEXT);
    }
    let ending = text::calls(&next, usize::MAX / 2);
    let room = max_bytes.map(|max_bytes| max_bytes.saturating_sub(ENVELOPE));
    let head = text::compose(&whole, room.map_or(usize::MAX / 4, |room| room / 5));
    let mut fields = whole.fields;
    parts::put_next(&mut fields, &next);
    let left = room.map(|room| {
        let used = measure::of_map(&fields) + measure::of_text(&head) + measure::of_text(&ending) + AROUND;
        room.saturating_sub(used)
    });
    let (all, hidden) = fit(suites, left);
    let mut text = head;
    let mut structured = Vec::with_capacity(all.len());
    for part in all {
        text.push_str("\n\n");
        text.push_str(&part.text);
        structured.push(Value::Object(part.structured));
    }
    if !ending.is_empty() {
        text.push_str("\n\n");
        text.push_str(ending.trim_end());
    }
    fields.insert("suites".to_owned(), Value::Array(structured));
    if hidden > 0 {
        fields.insert("omitted".to_owned(), json!({"suites": hidden}));
    }
    Excerpt {
        structured: fields,
        text,
    }
}

/// The parts in their order, and how many have no room at all.
fn fit(suites: Vec<SuiteAnswer>, room: Option<usize>) -> (Vec<Part>, usize) {
    let mut order: Vec<(usize, SuiteAnswer)> = suites.into_iter().enumerate().collect();
    // What is short gives the rest of its share to those after it.
    order.sort_by_key(|(place, suite)| (is_long(suite), *place));
    let (mut left, mut waiting) = (room, order.len());
    let mut parts: Vec<(usize, Part)> = Vec::with_capacity(waiting);
    let mut hidden = 0;
    for (place, suite) in order {
        let share = left.map(|left| left / waiting.max(1));
        waiting -= 1;
        let part = part(suite, share);
        match left.as_mut().map(|left| (left.checked_sub(part.size()), left)) {
            None => parts.push((place, part)),
            Some((Some(rest), left)) => {
                *left = rest;
                parts.push((place, part));
            }
            Some((None, _)) => hidden += 1,
        }
    }
    parts.sort_by_key(|(place, _)| *place);
    (parts.into_iter().map(|(_, part)| part).collect(), hidden)
}

fn is_long(suite: &SuiteAnswer) -> bool {
    suite.answer.as_ref().map_or(true, |answer| !answer.is_green())
}

fn part(suite: SuiteAnswer, share: Option<usize>) -> Part {
    let (name, status) = (suite.suite.clone(), suite.status());
    let parts = match suite.answer {
        Ok(answer) => Parts::of(answer),
        Err(error) => Parts::of_error(&error),
    };
    let mut structured = Map::new();
    structured.insert("suite".to_owned(), json!(name));
    if share.is_some_and(|share| share < LEAST) {
        for field in ["status", "run_id", "totals", "total"] {
            if let Some(value) = parts.fields.get(field) {
                structured.insert(field.to_owned(), value.clone());
            }
        }
        return Part {
            structured,
            text: format!("Suite {name}: {status}"),
        };
    }
    let shown = excerpt(parts, share.map(|share| share - AROUND));
    structured.extend(shown.structured);
    Part {
        structured,
        text: format!("Suite {name}: {}", shown.text),
    }
}
