//! Results as reports give them.

use runner_core::model::{Failure, Outcome, Phase, TestResult};

/// A result without a name.
pub(crate) fn result(outcome: Outcome) -> TestResult {
    TestResult::new(String::new(), outcome)
}

/// A bad result with the text that the report gives for it.
pub(crate) fn bad(outcome: Outcome, text: &str, summary: Option<&str>) -> TestResult {
    let mut result = result(outcome);
    add_failure(&mut result, text, summary);
    result
}

/// Adds a failure's text, if there is any.
pub(crate) fn add_failure(result: &mut TestResult, text: &str, summary: Option<&str>) {
    let text = text.trim_matches(['\n', '\r']).trim_end();
    let summary = summary.map(str::trim).filter(|summary| !summary.is_empty());
    let text = if text.trim().is_empty() {
        summary.unwrap_or_default()
    } else {
        text
    };
    if text.is_empty() {
        return;
    }
    result.failures.push(Failure {
        phase: Phase::Call,
        text: text.to_owned(),
        summary: summary.map(|summary| summary.lines().next().unwrap_or_default().to_owned()),
        location: None,
    });
    match &mut result.message {
        Some(message) => {
            message.push('\n');
            message.push_str(text);
        }
        None => result.message = Some(text.to_owned()),
    }
}

/// Seconds, unless the number makes no sense.
pub(crate) fn seconds(value: f64) -> Option<f64> {
    (value.is_finite() && value >= 0.0).then_some(value)
}
