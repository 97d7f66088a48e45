//! Stress runs: each test many times over, and one row for it in the end.

use runner_core::model::{Attempt, Outcome, TestResult};

use crate::formats::ReportItem;
use crate::id::Fields;

/// Results by test, in the order of the first.
#[derive(Default)]
pub(super) struct Stress {
    tests: Vec<(Fields, Vec<TestResult>)>,
}

impl Stress {
    /// Tells of a result at once, unless it is one of a stress run.
    pub(super) fn take(&mut self, mut fields: Fields, row: Box<TestResult>, said: &mut Vec<ReportItem>) {
        let Some((binary, _)) = fields.suite.split_once("@stress-") else {
            said.extend(earlier(&fields, row.attempt));
            said.push(ReportItem::Finished(fields, row));
            return;
        };
        fields.suite.truncate(binary.len());
        match self.tests.iter_mut().find(|(known, _)| *known == fields) {
            Some((_, rows)) => rows.push(*row),
            None => self.tests.push((fields, vec![*row])),
        }
    }

    /// The worst result of each test; the others are earlier tries.
    pub(super) fn tell(&mut self, said: &mut Vec<ReportItem>) {
        for (fields, mut rows) in std::mem::take(&mut self.tests) {
            let worst =
                (0..rows.len()).max_by_key(|at| (rows[*at].outcome.severity(), std::cmp::Reverse(*at)));
            let mut row = rows.remove(worst.unwrap_or_default());
            let mut attempt = 0;
            for other in rows {
                attempt += 1;
                let try_ = Attempt {
                    attempt,
                    outcome: other.outcome,
                    duration_s: other.duration_s,
                    message: other.message,
                };
                said.push(ReportItem::Reran(fields.clone(), try_));
            }
            row.attempt = attempt + 1;
            said.push(ReportItem::Finished(fields, Box::new(row)));
        }
    }
}

/// The tries before this one: nextest says no more of them here than that they failed.
fn earlier(fields: &Fields, attempt: u32) -> impl Iterator<Item = ReportItem> + '_ {
    (1..attempt).map(|attempt| {
        let attempt = Attempt {
            attempt,
            outcome: Outcome::Failed,
            duration_s: None,
            message: None,
        };
        ReportItem::Reran(fields.clone(), attempt)
    })
}
