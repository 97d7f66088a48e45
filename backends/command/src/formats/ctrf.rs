//! `ctrf`: the Common Test Report Format, one JSON file at the end.

use runner_core::model::{Attempt, Outcome};
use serde::Deserialize;
use serde_json::Value;

use super::row::{add_failure, result, seconds};
use super::{ReportItem, json};
use crate::id::Fields;

#[derive(Deserialize)]
struct Report {
    results: Results,
}

#[derive(Deserialize)]
struct Results {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    name: String,
    status: String,
    /// Milliseconds.
    duration: Option<f64>,
    /// A string, or a list of strings.
    #[serde(default)]
    suite: Value,
    message: Option<String>,
    trace: Option<String>,
    file_path: Option<String>,
    retries: Option<u32>,
}

pub(super) fn read(bytes: &[u8], said: &mut Vec<ReportItem>) -> Result<(), String> {
    let report: Report =
        json::from_slice(bytes).map_err(|error| format!("is no whole CTRF report: {error}"))?;
    for test in report.results.tests {
        let outcome = match test.status.as_str() {
            "passed" => Outcome::Passed,
            "failed" => Outcome::Failed,
            "skipped" | "pending" => Outcome::Skipped,
            _ => Outcome::Error,
        };
        let mut row = result(outcome);
        row.duration_s = test
            .duration
            .map(|milliseconds| milliseconds / 1000.0)
            .and_then(seconds);
        if outcome.is_bad() {
            let texts = [test.message.as_deref(), test.trace.as_deref()];
            let text: Vec<&str> = texts.into_iter().flatten().collect();
            add_failure(&mut row, &text.join("\n"), test.message.as_deref());
        } else {
            row.message = test.message;
        }
        // A retried test failed in all tries but its last.
        row.attempts = (1..=test.retries.unwrap_or_default().min(100))
            .map(|attempt| Attempt {
                attempt,
                outcome: Outcome::Failed,
                duration_s: None,
                message: None,
            })
            .collect();
        row.attempt = row.attempts.len() as u32 + 1;
        let suite = match &test.suite {
            Value::String(suite) => suite.replace(" > ", "::"),
            Value::Array(parts) => parts
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join("::"),
            _ => String::new(),
        };
        let fields = Fields {
            file: test.file_path.unwrap_or_default(),
            suite,
            name: test.name,
            ..Fields::default()
        };
        said.push(ReportItem::Finished(fields, Box::new(row)));
    }
    Ok(())
}
