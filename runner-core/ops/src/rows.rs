//! A report's tests as rows of an answer.

use std::collections::BTreeMap;

use super::ids::Ids;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use runner_core::model::{Attempt, CollectionError, Location, Outcome, Phase, Subtest, TestResult};
use runner_core::report::{Iteration, Report};
use runner_core::visible::visible;

/// One finished test. Only such an object has both `nodeid` and `outcome`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub nodeid: String,
    pub outcome: Outcome,
    /// Rounded to 4 digits. Null where the backend cannot tell.
    pub duration_s: Option<f64>,
    /// Why: the whole failure text, or the reason of a skip. Null for a plain pass.
    pub message: Option<String>,
    /// The one line that says what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Where it was raised, in the project's own frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// `collect` for a row that stands for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// All failures of a test that has more than one (its call and again its teardown).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailurePlace>,
    /// Passed only when it was run again in the same run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
    /// Earlier tries in the same run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subtests: Vec<Subtest>,
    /// What it printed. Shown by `run_single` and on request.
    #[serde(skip)]
    pub output: Option<String>,
}

/// A failure without its text, which the row's message has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailurePlace {
    pub phase: Phase,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

impl From<&TestResult> for Row {
    fn from(result: &TestResult) -> Self {
        let first = result.failures.first();
        let failures = if result.failures.len() > 1 {
            result.failures.iter().map(FailurePlace::from).collect()
        } else {
            Vec::new()
        };
        Self {
            nodeid: result.nodeid.clone(),
            outcome: result.outcome,
            duration_s: result.duration_s.map(|seconds| round(seconds, 4)),
            message: result.message.clone().filter(|text| !text.trim().is_empty()),
            summary: first.and_then(|failure| failure.summary.clone()),
            location: first.and_then(|failure| failure.location.clone()),
            phase: result.phase,
            failures,
            flaky: result.is_flaky(),
            attempts: result.attempts.clone(),
            subtests: result.subtests.clone(),
            output: result.output.clone(),
        }
    }
}

impl From<&runner_core::model::Failure> for FailurePlace {
    fn from(failure: &runner_core::model::Failure) -> Self {
        Self {
            phase: failure.phase,
            summary: failure.summary.clone(),
            location: failure.location.clone(),
        }
    }
}

impl From<&CollectionError> for Row {
    fn from(error: &CollectionError) -> Self {
        Self {
            nodeid: error.nodeid.clone(),
            outcome: Outcome::Error,
            duration_s: None,
            message: Some(error.message.clone()),
            // Files that fail alike share it; a text of one line has said it.
            summary: Some(error.what())
                .filter(|what| what.len() < error.message.len())
                .map(str::to_owned),
            location: error.location.clone(),
            phase: Some(Phase::Collect),
            failures: Vec::new(),
            flaky: false,
            attempts: Vec::new(),
            subtests: Vec::new(),
            output: None,
        }
    }
}

impl Row {
    pub fn is_bad(&self) -> bool {
        self.outcome.is_bad()
    }
}

/// All rows of an iteration: its tests in their order, then the collectors that failed and have no row yet.
pub(super) fn rows_of(iteration: &Iteration) -> Vec<Row> {
    let tests = iteration.rows.iter().map(Row::from);
    let collectors = iteration
        .collection_errors
        .iter()
        .filter(|error| iteration.row(&error.nodeid).is_none())
        .map(Row::from);
    tests.chain(collectors).collect()
}

/// The tests that passed only when they were run again.
pub(super) fn flaky(rows: &[Row]) -> Ids {
    Ids::of(rows.iter().filter(|row| row.flaky).map(|row| row.nodeid.as_str()))
}

/// That some tests passed only when they were run again, as a sentence of a headline; empty if none did.
pub(super) fn flaky_words(flaky: &Ids) -> Option<String> {
    const MOST_NAMED: usize = 3;
    let named: Vec<_> = flaky.ids.iter().take(MOST_NAMED).map(|id| visible(id)).collect();
    let more = if flaky.count > MOST_NAMED { ", …" } else { "" };
    let those = if flaky.count == 1 { "it" } else { "they" };
    let be = if flaky.count == 1 { "is" } else { "are" };
    (!flaky.is_empty()).then(|| {
        format!(
            "{} of those passed {be} FLAKY ({those} failed at first and passed when run again): {}{more}.",
            flaky.count,
            named.join(", ")
        )
    })
}

/// How many there are of each outcome, `total` first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals(pub BTreeMap<Outcome, u64>);

impl Totals {
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0.get(&outcome).copied().unwrap_or(0)
    }

    /// How many are to be mended.
    pub fn bad(&self) -> u64 {
        let bad = self.0.iter().filter(|(outcome, _)| outcome.is_bad());
        bad.map(|(_, count)| count).sum()
    }

    pub fn add(&mut self, outcome: Outcome, count: usize) {
        if count > 0 {
            *self.0.entry(outcome).or_default() += count as u64;
        }
    }

    /// `3 passed, 1 failed`, or `none ran`.
    pub fn words(&self) -> String {
        if self.0.is_empty() {
            return "none ran".to_owned();
        }
        let words: Vec<String> = self.0.iter().map(|(outcome, n)| outcome.counted(*n)).collect();
        words.join(", ")
    }
}

impl Serialize for Totals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len() + 1))?;
        map.serialize_entry("total", &self.total())?;
        for (outcome, count) in &self.0 {
            map.serialize_entry(outcome.as_str(), count)?;
        }
        map.end()
    }
}

/// To `digits` after the point.
pub(super) fn round(number: f64, digits: i32) -> f64 {
    let factor = 10f64.powi(digits);
    (number * factor).round() / factor
}

/// The run's own warnings, those of one iteration, and what its supervision saw.
pub(super) fn warnings(report: &Report, iteration: &Iteration) -> Vec<String> {
    let leaks = iteration.exits.iter().filter(|exit| !exit.leaked.is_empty());
    let leaks = leaks.map(|exit| {
        let leaked = exit.leaked.join(", ");
        format!("processes outlived {} and were ended: {leaked}", exit.step)
    });
    let notes = iteration.exits.iter().filter_map(|exit| exit.note.clone());
    let told = report.warnings.iter().chain(&iteration.warnings).cloned();
    told.chain(leaks).chain(notes).collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}
