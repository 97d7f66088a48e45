//! Everything in an answer but its rows: shortened field by field, what matters most first.

use serde_json::{Map, Value};

use super::measure;

/// The fields that say most, in the order in which they get their room, each with the part of the room (in percent)
/// that it may take. Numbers and words of fixed length take what they need. Fields that are not named come last.
const SHARES: [(&str, usize); 41] = [
    ("status", 100),
    ("run_id", 100),
    ("totals", 100),
    ("tests", 100),
    ("flaky", 15),
    ("nodeid", 50),
    ("outcome", 100),
    ("exit_code", 100),
    ("timed_out", 100),
    ("signal", 100),
    ("duration_s", 100),
    ("stopped", 100),
    ("never_started", 100),
    ("deselected", 100),
    ("runs", 100),
    ("valid", 100),
    ("passed", 100),
    ("failed", 100),
    ("flake_rate", 100),
    ("majority_outcome", 100),
    ("counts", 100),
    ("overall_percent", 100),
    ("tests_exit_code", 100),
    ("heuristic", 100),
    ("searched", 100),
    ("count", 100),
    ("lines", 100),
    ("parser", 20),
    ("error", 40),
    ("reason", 15),
    ("hint", 15),
    ("message", 25),
    ("attempts", 30),
    ("unfinished", 35),
    ("collection_errors", 60),
    ("selector", 15),
    ("cwd", 40),
    ("changed_since", 20),
    ("warnings", 30),
    ("output", 100),
    ("output_tail", 60),
];

/// What a field that is not named may take.
const OTHER: usize = 60;

/// Names and places: cut ones would be wrong ones, so they are there whole or not at all.
const WHOLE: [&str; 8] = [
    "nodeid",
    "run_id",
    "tool",
    "path",
    "file",
    "test_file",
    "cwd",
    "parser",
];

/// What fits of an answer's fields, in their order, and how much of its lists was left out.
pub(super) struct Shrunk {
    pub(super) fields: Map<String, Value>,
    pub(super) used: usize,
    /// Items of top-level lists and objects that are not shown, by the field's name.
    pub(super) omitted: Map<String, Value>,
}

/// Shortens `fields` to at most `limit`.
pub(super) fn shrink(fields: &Map<String, Value>, limit: usize) -> Shrunk {
    let mut kept: Map<String, Value> = Map::new();
    let mut omitted = Map::new();
    let mut used = 2;
    for (name, share) in order(fields) {
        let Some(value) = fields.get(name) else { continue };
        let left = limit.saturating_sub(used).min(limit * share / 100);
        let overhead = measure::of_field(name, &Value::Null) - 4;
        let fitted = left
            .checked_sub(overhead)
            .and_then(|room| fit_field(name, value, room));
        if let Some(missing) = missing(value, fitted.as_ref()) {
            omitted.insert(name.to_owned(), missing.into());
        }
        if let Some(value) = fitted {
            used += measure::of_field(name, &value);
            kept.insert(name.to_owned(), value);
        }
    }
    let fields = fields.keys().filter_map(|name| kept.remove_entry(name)).collect();
    Shrunk {
        fields,
        used,
        omitted,
    }
}

/// The names of the fields there are, what matters most first.
fn order(fields: &Map<String, Value>) -> impl Iterator<Item = (&str, usize)> {
    let others = fields.keys().map(|name| (name.as_str(), OTHER));
    let others = others.filter(|(name, _)| !SHARES.iter().any(|(known, _)| known == name));
    SHARES.into_iter().chain(others)
}

/// How many items of a list or object were lost.
fn missing(value: &Value, fitted: Option<&Value>) -> Option<usize> {
    let count = |value: &Value| match value {
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    let lost = count(value).saturating_sub(fitted.map_or(0, count));
    (lost > 0).then_some(lost)
}

fn fit_field(name: &str, value: &Value, limit: usize) -> Option<Value> {
    match value {
        _ if WHOLE.contains(&name) => measure::fits_value(value, limit).then(|| value.clone()),
        Value::Array(words) if name == "argv" => fit_words(words, limit),
        _ => fit(value, limit),
    }
}

/// A command line, with the number of words that are left out.
fn fit_words(words: &[Value], limit: usize) -> Option<Value> {
    const MARK: usize = 30;
    let mut left = limit.checked_sub(2 + MARK)?;
    let mut kept = Vec::new();
    for word in words {
        let size = measure::of(word) + 2;
        let Some(rest) = left.checked_sub(size) else { break };
        left = rest;
        kept.push(word.clone());
    }
    if kept.len() < words.len() {
        kept.push(Value::String(format!("… {} more", words.len() - kept.len())));
    }
    Some(Value::Array(kept))
}

/// The value, shortened to at most `limit`. `None` if nothing useful is left.
fn fit(value: &Value, limit: usize) -> Option<Value> {
    if measure::fits_value(value, limit) {
        return Some(value.clone());
    }
    match value {
        Value::Array(items) => fit_array(items, limit),
        Value::Object(map) => fit_object(map, limit),
        Value::String(text) => {
            let cut = measure::cut(text, limit.checked_sub(2)?);
            (!cut.is_empty()).then_some(Value::String(cut))
        }
        _ => None,
    }
}

fn fit_array(items: &[Value], limit: usize) -> Option<Value> {
    /// A shortened item must keep enough to be of use.
    const LEAST: usize = 60;
    let mut left = limit.checked_sub(2)?;
    let mut kept = Vec::new();
    for item in items {
        let room = left.saturating_sub(2);
        // The first item may take half, so that a list with one huge item is not all of it.
        let share = if kept.is_empty() { room } else { room / 2 };
        let fitted = if measure::fits_value(item, room) {
            Some(item.clone())
        } else if share >= LEAST {
            fit(item, share)
        } else {
            None
        };
        let Some(fitted) = fitted else { break };
        left = left.saturating_sub(measure::of(&fitted) + 2);
        kept.push(fitted);
    }
    (!kept.is_empty()).then_some(Value::Array(kept))
}

fn fit_object(map: &Map<String, Value>, limit: usize) -> Option<Value> {
    let mut left = limit.checked_sub(2)?;
    let mut kept = Map::new();
    for (name, value) in map {
        let overhead = measure::of_field(name, &Value::Null) - 4;
        let Some(room) = left.checked_sub(overhead) else {
            continue;
        };
        match fit_field(name, value, room) {
            Some(value) => {
                left -= measure::of_field(name, &value);
                kept.insert(name.clone(), value);
            }
            // Without its id an entry says nothing.
            None if WHOLE.contains(&name.as_str()) => return None,
            None => {}
        }
    }
    (!kept.is_empty()).then_some(Value::Object(kept))
}
