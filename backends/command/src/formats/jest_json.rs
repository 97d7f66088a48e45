//! `jest-json` and `vitest-json`: the JSON report that jest made and vitest follows, one file at the end.

use runner_core::event::TestEvent;
use runner_core::model::{CollectionError, Location, Outcome};
use serde::Deserialize;

use super::row::{add_failure, result, seconds};
use super::{ReportItem, json};
use crate::id::Fields;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    test_results: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: String,
    #[serde(default)]
    status: String,
    message: Option<String>,
    assertion_results: Vec<Assertion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: String,
    status: String,
    /// Milliseconds.
    duration: Option<f64>,
    failure_messages: Option<Vec<String>>,
    location: Option<Line>,
}

#[derive(Deserialize)]
struct Line {
    line: Option<u32>,
}

pub(super) fn read(bytes: &[u8], said: &mut Vec<ReportItem>) -> Result<(), String> {
    let report: Report =
        json::from_slice(bytes).map_err(|error| format!("is no whole report of this kind: {error}"))?;
    for file in report.test_results {
        if file.status == "failed" && file.assertion_results.is_empty() {
            let message = file.message.clone().unwrap_or_default();
            said.push(ReportItem::Exact(TestEvent::CollectFailed(CollectionError {
                nodeid: file.name,
                message: message.trim().to_owned(),
                summary: None,
                location: None,
            })));
            continue;
        }
        for assertion in file.assertion_results {
            said.push(row(&file.name, assertion));
        }
    }
    Ok(())
}

fn row(file: &str, assertion: Assertion) -> ReportItem {
    let outcome = match assertion.status.as_str() {
        "passed" => Outcome::Passed,
        "failed" => Outcome::Failed,
        "pending" | "skipped" | "todo" | "disabled" => Outcome::Skipped,
        _ => Outcome::Error,
    };
    let mut row = result(outcome);
    row.duration_s = assertion
        .duration
        .map(|milliseconds| milliseconds / 1000.0)
        .and_then(seconds);
    for text in assertion.failure_messages.iter().flatten() {
        add_failure(&mut row, text, text.lines().next());
    }
    row.location = assertion.location.map(|place| Location {
        file: file.to_owned(),
        line: place.line,
    });
    let mut parts: Vec<String> = assertion.ancestor_titles;
    parts.retain(|part| !part.is_empty());
    parts.push(assertion.title);
    let fields = Fields {
        file: file.to_owned(),
        name: parts.join("::"),
        ..Fields::default()
    };
    ReportItem::Finished(fields, Box::new(row))
}
