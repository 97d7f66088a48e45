//! `events`: qaas's own words, one JSON object a line, for reporters that are written for it.
//!
//! `{"event": "finished", "nodeid": "…", "outcome": "passed", "duration_s": 0.1}`, and the like; the last line is
//! `{"event": "ended"}`, so that a process that dies midway is not taken for one that went to its end.

use runner_core::event::TestEvent;
use runner_core::model::TestResult;
use serde::Deserialize;

use super::{Closing, LineReader, ReportItem, json};

/// How many malformed lines are told of.
const MOST_WARNINGS: usize = 20;

#[derive(Default)]
pub(super) struct Events {
    number: u64,
    malformed: usize,
    ended: bool,
}

/// What only this format has: words that are not final, and the framework's own end.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Own {
    Provisional(Box<TestResult>),
    Running { nodeid: String },
    Over { nodeid: String },
    Ended(Closing),
}

impl Events {
    fn own(&mut self, own: Own) -> ReportItem {
        match own {
            Own::Provisional(row) => ReportItem::Provisional(row),
            Own::Running { nodeid } => ReportItem::Running(nodeid),
            Own::Over { nodeid } => ReportItem::Over(nodeid),
            Own::Ended(closing) => {
                self.ended = true;
                ReportItem::Closing(closing)
            }
        }
    }
}

impl LineReader for Events {
    fn line(&mut self, line: &str, said: &mut Vec<ReportItem>) {
        self.number += 1;
        if line.trim().is_empty() {
            return;
        }
        match json::from_str::<TestEvent>(line) {
            Ok(event) => said.push(ReportItem::Exact(event)),
            Err(error) => {
                if let Ok(own) = json::from_str(line) {
                    said.push(self.own(own));
                    return;
                }
                self.malformed += 1;
                if self.malformed <= MOST_WARNINGS {
                    let message = format!("line {} of the report is no event: {error}", self.number);
                    said.push(ReportItem::Warning(message));
                }
            }
        }
    }

    fn end(&mut self, _said: &mut Vec<ReportItem>) -> Result<(), String> {
        if self.ended {
            Ok(())
        } else if self.number == 0 {
            Err("is empty".to_owned())
        } else {
            Err("stops before its end".to_owned())
        }
    }
}
