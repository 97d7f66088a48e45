//! What is never shown in full where an answer has a budget, however large the budget is: more of it says no more.

use ops::{MESSAGE_CHARS, cut};
use serde_json::{Map, Value, json};

use super::parts::Parts;

/// Characters of the full text of one test.
const OUTPUT_CHARS: usize = 8_000;
/// Messages of a repeated test: those of its first failing runs.
const MOST_MESSAGES: usize = 5;
/// Ids that each list of changes names. Their true number stands beside them.
const MOST_IDS: usize = 50;

/// Cuts, and counts what no number tells yet.
pub(super) fn apply(parts: &mut Parts) {
    // A page of the output was asked for as such, and may take all the room there is.
    if !parts.is_page() {
        output(&mut parts.fields);
    }
    messages(&mut parts.fields);
    changes(&mut parts.fields);
    if let Some(Value::Object(flaky)) = parts.fields.get_mut("flaky") {
        few_ids(flaky);
    }
}

fn output(fields: &mut Map<String, Value>) {
    if let Some(Value::String(output)) = fields.get_mut("output") {
        *output = cut::middle(output, OUTPUT_CHARS);
    }
}

fn messages(fields: &mut Map<String, Value>) {
    let Some(Value::Array(messages)) = fields.get_mut("messages") else {
        return;
    };
    let more = messages.len().saturating_sub(MOST_MESSAGES);
    messages.truncate(MOST_MESSAGES);
    for message in messages {
        if let Value::String(message) = message {
            *message = cut::middle(message, MESSAGE_CHARS);
        }
    }
    if more > 0 {
        fields.insert("omitted".to_owned(), json!({ "messages": more }));
    }
}

fn changes(fields: &mut Map<String, Value>) {
    let Some(Value::Object(changes)) = fields.get_mut("changed_since") else {
        return;
    };
    for change in changes.values_mut().filter_map(Value::as_object_mut) {
        few_ids(change);
    }
}

fn few_ids(list: &mut Map<String, Value>) {
    if let Some(Value::Array(ids)) = list.get_mut("ids") {
        ids.truncate(MOST_IDS);
    }
}
