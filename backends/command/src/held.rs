//! What a report says before it is sure: believed only if the framework never came to its own end.

use std::collections::HashMap;

use runner_core::model::TestResult;

/// Results that the framework may still change (a test that is run again, an error after a test's end), and what began
/// without its being known yet whether it is a test. A framework that goes to its end has said the rest itself; of one
/// that was cut this is the best there is.
#[derive(Default)]
pub(crate) struct Held {
    /// By id, each with its place in the order of arrival.
    provisional: HashMap<String, (u64, TestResult)>,
    running: HashMap<String, u64>,
    arrived: u64,
}

impl Held {
    pub(crate) fn provisional(&mut self, row: TestResult) {
        self.arrived += 1;
        self.running.remove(&row.nodeid);
        self.provisional.insert(row.nodeid.clone(), (self.arrived, row));
    }

    pub(crate) fn running(&mut self, nodeid: String) {
        self.arrived += 1;
        self.running.entry(nodeid).or_insert(self.arrived);
    }

    /// The last word on it was said, or it was no test.
    pub(crate) fn over(&mut self, nodeid: &str) {
        self.running.remove(nodeid);
        self.provisional.remove(nodeid);
    }

    /// The framework's own end: nothing is left to be guessed.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// What is left of a framework that never came to its end: results, and what was running, in order of arrival.
    pub(crate) fn take(&mut self) -> (Vec<TestResult>, Vec<String>) {
        let Self {
            provisional, running, ..
        } = std::mem::take(self);
        let mut rows: Vec<(u64, TestResult)> = provisional.into_values().collect();
        rows.sort_by_key(|(arrived, _)| *arrived);
        let mut running: Vec<(u64, String)> =
            running.into_iter().map(|(id, arrived)| (arrived, id)).collect();
        running.sort_unstable();
        (
            rows.into_iter().map(|(_, row)| row).collect(),
            running.into_iter().map(|(_, nodeid)| nodeid).collect(),
        )
    }
}
