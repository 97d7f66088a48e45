//! What a report says before it is sure: believed only if the framework never came to its own end.

use runner_core::model::TestResult;

/// Results that the framework may still change (a test that is run again, an error after a test's end), and what began
/// without its being known yet whether it is a test. A framework that goes to its end has said the rest itself; of one
/// that was cut this is the best there is.
#[derive(Default)]
pub(crate) struct Held {
    provisional: Vec<Box<TestResult>>,
    running: Vec<String>,
}

impl Held {
    pub(crate) fn provisional(&mut self, row: Box<TestResult>) {
        self.over(&row.nodeid);
        match self
            .provisional
            .iter_mut()
            .find(|known| known.nodeid == row.nodeid)
        {
            Some(known) => *known = row,
            None => self.provisional.push(row),
        }
    }

    pub(crate) fn running(&mut self, nodeid: String) {
        if !self.running.contains(&nodeid) {
            self.running.push(nodeid);
        }
    }

    /// What began has ended, or was no test.
    pub(crate) fn over(&mut self, nodeid: &str) {
        self.running.retain(|running| running != nodeid);
    }

    /// The last word on a test.
    pub(crate) fn settle(&mut self, nodeid: &str) {
        self.over(nodeid);
        self.provisional.retain(|known| known.nodeid != nodeid);
    }

    /// The framework's own end: nothing is left to be guessed.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// What is left of a framework that never came to its end: results, and what was running.
    pub(crate) fn take(&mut self) -> (Vec<Box<TestResult>>, Vec<String>) {
        let Self { provisional, running } = std::mem::take(self);
        (provisional, running)
    }
}
