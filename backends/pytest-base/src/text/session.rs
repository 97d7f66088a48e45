//! One pytest process as its standard output tells it, line by line.

use std::collections::HashMap;
use std::path::Path;

use runner_core::event::TestEvent;
use runner_core::model::{Attempt, Outcome, Subtest, TestResult};

use super::line::{self, Collected};
use super::names::Names;
use super::progress::{self, Progress};
use super::row::Row;
use super::tail::{self, Tail};
use super::word::Word;

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) names: Names,
    /// pytest began to speak.
    pub(crate) began: bool,
    pub(crate) collected: Option<Collected>,
    pub(crate) progress: Progress,
    pub(crate) tail: Option<Tail>,
    /// Rows that went out while the tests ran, by nodeid.
    pub(crate) sent: HashMap<String, Outcome>,
    /// Rows whose teardown may still be going on, or that wait for the end: indexes.
    waiting: Vec<usize>,
    looked_at: usize,
}

impl Session {
    pub(crate) fn new(cwd: &Path) -> Self {
        Self {
            names: Names::new(cwd),
            began: false,
            collected: None,
            progress: Progress::default(),
            tail: None,
            sent: HashMap::new(),
            waiting: Vec::new(),
            looked_at: 0,
        }
    }

    pub(crate) fn line(&mut self, line: &str, events: &mut Vec<TestEvent>) {
        let printed_before = self.progress.is_untouched() && line::collected(line).is_some();
        if self.tail.is_none() && (self.collected.is_none() || printed_before) {
            self.header(line, events);
            return;
        }
        if self.tail.is_some() && self.progress.continues(line) {
            self.tail = None;
        }
        if let Some(tail) = &mut self.tail {
            tail.spoke_again |= tail.counts.is_some() && progress::is_verdict(line);
            tail.line(line);
            if !self.progress.counted() && tail.summary.is_none() {
                self.progress.plain.line(line);
            }
            return;
        }
        if tail::begins(line) {
            self.tail.get_or_insert_default().line(line);
        } else {
            self.progress.line(line);
        }
        self.send(events);
    }

    fn header(&mut self, line: &str, events: &mut Vec<TestEvent>) {
        if line::separator(line) == Some(('=', "test session starts")) {
            self.began = true;
            self.progress.width = Some(line.len());
        }
        if self.began {
            self.names.header(line);
        }
        let found = match line::distributed(line) {
            Some(items) => {
                self.progress.distributed = true;
                Some(Collected {
                    items,
                    ..Collected::default()
                })
            }
            None => line::collected(line),
        };
        if let Some(found) = found {
            self.collected = Some(found);
            events.push(TestEvent::Counted {
                selected: found.items.saturating_sub(found.deselected),
                deselected: found.deselected,
            });
        } else if tail::begins(line) {
            self.tail.get_or_insert_default().line(line);
        }
    }

    /// Sends the rows that are over and beyond doubt.
    fn send(&mut self, events: &mut Vec<TestEvent>) {
        self.waiting.extend(self.looked_at..self.progress.rows.len());
        self.looked_at = self.progress.rows.len();
        let all_over = self.tail.is_some();
        let waiting = std::mem::take(&mut self.waiting);
        for place in waiting {
            let row = &self.progress.rows[place];
            if !row.exact || row.unknown_word || !self.names.certain(&row.id) {
                continue;
            }
            if !all_over && !self.progress.is_over(place) {
                self.waiting.push(place);
                continue;
            }
            let nodeid = self.names.nodeid(&row.id);
            if let Some(result) = result(row, &nodeid) {
                self.sent.insert(nodeid.clone(), result.outcome);
                reruns(row, &nodeid, events);
                events.push(TestEvent::Finished(Box::new(result)));
            }
        }
    }
}

/// What a row's own lines tell of a test. `None` if they hold no verdict.
pub(crate) fn result(row: &Row, nodeid: &str) -> Option<TestResult> {
    let mut result = TestResult::new(nodeid, row.outcome()?);
    result.worker.clone_from(&row.worker);
    // Of a passed or failed test only the teardown can have been skipped.
    let explained = matches!(
        result.outcome,
        Outcome::Skipped | Outcome::Xfailed | Outcome::Xpassed
    );
    let reason = row
        .reason
        .as_ref()
        .filter(|reason| explained && !reason.ends_with("..."));
    result.message = reason.cloned();
    result.subtests = row
        .parts
        .iter()
        .map(|(description, outcome)| Subtest {
            description: description.clone(),
            outcome: *outcome,
            duration_s: None,
            message: None,
        })
        .collect();
    result.attempt = 1 + tries(row);
    Some(result)
}

/// How often a test was run again.
pub(crate) fn tries(row: &Row) -> u32 {
    row.words.iter().filter(|word| **word == Word::Rerun).count() as u32
}

/// A test that is run again failed before.
pub(crate) fn reruns(row: &Row, nodeid: &str, events: &mut Vec<TestEvent>) {
    for number in 1..=tries(row) {
        events.push(TestEvent::Reran {
            nodeid: nodeid.to_owned(),
            attempt: Attempt {
                attempt: number,
                outcome: Outcome::Failed,
                duration_s: None,
                message: None,
            },
        });
    }
}
