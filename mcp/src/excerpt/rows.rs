//! Rows as JSON.

use ops::{FailurePlace, Row};
use runner_core::model::{Attempt, Location, Outcome, Subtest};
use serde_json::{Map, Value, json};

use super::group::Shape;
use super::measure;

/// Below this a row has no room for its attempts and parts.
const ROOMY: usize = 300;
/// Attempts, subtests and failures that a row shows.
const MOST_PARTS: usize = 5;

/// The structured half.
pub(super) struct Json;

impl Shape for Json {
    type Item = Value;

    fn row(&self, row: &Row, cap: usize) -> Value {
        Value::Object(short(row, cap))
    }

    fn folded(&self, row: &Row, cap: usize, others: &[&Row], count: usize) -> Value {
        let mut map = short(row, cap);
        let nodeids: Vec<&str> = others.iter().map(|row| row.nodeid.as_str()).collect();
        map.insert(
            "identical".to_owned(),
            json!({"count": count, "nodeids": nodeids}),
        );
        Value::Object(map)
    }

    fn size(&self, item: &Value) -> usize {
        measure::of(item) + 2
    }

    fn id_size(&self, row: &Row) -> usize {
        measure::of_text(&row.nodeid) + 4
    }
}

/// A row with everything.
pub(super) fn whole(row: &Row) -> Value {
    serde_json::to_value(row).unwrap_or_else(|_| Value::Object(short(row, usize::MAX)))
}

/// A row whose texts take at most `cap` each.
pub(super) fn short(row: &Row, cap: usize) -> Map<String, Value> {
    let mut map = Map::new();
    let mut add = |name: &str, value: Value| map.insert(name.to_owned(), value);
    add("nodeid", json!(row.nodeid));
    add("outcome", json!(row.outcome));
    add("duration_s", json!(row.duration_s));
    let message = message(row, cap);
    let tight = cap < ROOMY;
    let lost = |summary: &&str| {
        !tight
            && !message
                .as_deref()
                .is_some_and(|message| message.contains(*summary))
    };
    let summary = row.summary.as_deref().filter(lost);
    add("message", json!(message));
    if let Some(summary) = summary {
        add("summary", json!(measure::cut(summary, cap / 2)));
    }
    if let Some(location) = row
        .location
        .as_ref()
        .filter(|location| measure::fits(&location.file, 200))
    {
        add("location", json!(location));
    }
    if let Some(phase) = row.phase {
        add("phase", json!(phase));
    }
    if row.flaky {
        add("flaky", json!(true));
    }
    if !tight {
        parts(row, cap / 2, &mut add);
    }
    map
}

/// The text that explains a row. Very short ones start from the line that says what went wrong.
fn message(row: &Row, cap: usize) -> Option<String> {
    let text = if cap < ROOMY {
        row.summary.as_deref().or(row.message.as_deref())
    } else {
        row.message.as_deref().or(row.summary.as_deref())
    };
    text.map(|text| measure::cut(text, cap))
}

fn parts(row: &Row, cap: usize, add: &mut impl FnMut(&str, Value) -> Option<Value>) {
    if !row.failures.is_empty() {
        let failures: Vec<Value> = row
            .failures
            .iter()
            .take(MOST_PARTS)
            .map(|f| failure(f, cap))
            .collect();
        add("failures", json!(failures));
    }
    if !row.attempts.is_empty() {
        let attempts: Vec<Value> = row
            .attempts
            .iter()
            .rev()
            .take(MOST_PARTS)
            .rev()
            .map(|a| attempt(a, cap))
            .collect();
        add("attempts", json!(attempts));
    }
    if !row.subtests.is_empty() {
        let mut worst: Vec<&Subtest> = row.subtests.iter().collect();
        worst.sort_by_key(|subtest| !subtest.outcome.is_bad());
        let shown: Vec<Value> = worst
            .into_iter()
            .take(MOST_PARTS)
            .map(|s| subtest(s, cap))
            .collect();
        add("subtests", json!(shown));
        if row.subtests.len() > MOST_PARTS {
            let failed = row
                .subtests
                .iter()
                .filter(|subtest| subtest.outcome.is_bad())
                .count();
            add(
                "subtest_totals",
                json!({"total": row.subtests.len(), "failed": failed}),
            );
        }
    }
}

fn failure(failure: &FailurePlace, cap: usize) -> Value {
    let mut map = Map::new();
    map.insert("phase".to_owned(), json!(failure.phase));
    if let Some(summary) = &failure.summary {
        map.insert("summary".to_owned(), json!(measure::cut(summary, cap)));
    }
    if let Some(Location { file, line }) = failure.location.as_ref().filter(|l| measure::fits(&l.file, 200)) {
        map.insert("location".to_owned(), json!({"file": file, "line": line}));
    }
    Value::Object(map)
}

fn attempt(attempt: &Attempt, cap: usize) -> Value {
    let message = attempt.message.as_deref().map(|text| measure::cut(text, cap));
    json!({
        "attempt": attempt.attempt,
        "outcome": attempt.outcome,
        "duration_s": attempt.duration_s,
        "message": message,
    })
}

fn subtest(subtest: &Subtest, cap: usize) -> Value {
    let message = subtest.message.as_deref().map(|text| measure::cut(text, cap));
    json!({
        "description": measure::cut(&subtest.description, cap),
        "outcome": subtest.outcome,
        "message": message,
    })
}

/// The rows that are not failures, each with a short reason where it has one, as long as they fit.
pub(super) struct Rest {
    pub(super) items: Vec<Value>,
    pub(super) used: usize,
    /// One entry for each row that is not shown.
    pub(super) hidden: Vec<Outcome>,
}

pub(super) fn rest(rows: &[&Row], limit: usize) -> Rest {
    /// Reasons of skips are one line.
    const REASON: usize = 200;
    /// Nothing smaller is a row.
    const LEAST: usize = 50;
    let mut rest = Rest {
        items: Vec::new(),
        used: 0,
        hidden: Vec::new(),
    };
    for row in rows {
        if limit.saturating_sub(rest.used) >= LEAST {
            let item = Value::Object(short(row, REASON));
            let size = measure::of(&item) + 2;
            if rest.used + size <= limit {
                rest.used += size;
                rest.items.push(item);
                continue;
            }
        }
        rest.hidden.push(row.outcome);
    }
    rest
}
