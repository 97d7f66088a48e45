//! A run's folder read back: nothing in it is believed further than it parses.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::StoreError;
use super::private::{Lock, open_file};
use runner_core::event::{RunEvent, StopReason};
use runner_core::report::Report;

pub(super) const EVENTS: &str = "events.jsonl";
pub(super) const OUTPUT: &str = "output";
pub(super) const SUMMARY: &str = "summary.json";
pub(super) const LOCK: &str = "lock";
pub(super) const FILES: &str = "files";

/// What is kept of the output, in bytes.
pub(super) const LARGEST_OUTPUT: u64 = 2 * 1024 * 1024;
/// One line of a record is bounded by the cleaning of its strings.
const LONGEST_LINE: u64 = 64 * 1024 * 1024;

pub(super) fn load(folder: &Path, run_id: &str) -> Result<Report, StoreError> {
    let damaged = |why: String| StoreError::Damaged {
        run_id: run_id.to_owned(),
        why,
    };
    let goes_on = is_held(folder);
    let file = open_file(&folder.join(EVENTS)).map_err(|error| damaged(format!("{EVENTS}: {error}")))?;
    let mut lines = BufReader::new(file);
    let mut report = Report::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| damaged(error.to_string()))? == 0 {
            break;
        }
        match serde_json::from_slice::<RunEvent>(&line) {
            Ok(event) if number == 1 => {
                check_head(&event, run_id).map_err(damaged)?;
                report.add(&event);
            }
            Ok(event) => report.add(&event),
            // The last line of a record whose writer was killed, or is just writing.
            Err(_) if line.last() != Some(&b'\n') && number > 1 => break,
            Err(error) => return Err(damaged(format!("{EVENTS}, line {number}: {error}"))),
        }
    }
    if report.facts.run_id.is_empty() {
        return Err(damaged(format!("{EVENTS} is empty")));
    }
    if report.cause.is_none() && !goes_on {
        report.add(&end_of_the_abandoned());
    }
    Ok(report)
}

fn check_head(event: &RunEvent, run_id: &str) -> Result<(), String> {
    match event {
        RunEvent::Started(facts) if facts.run_id == run_id => Ok(()),
        RunEvent::Started(_) => Err("its record is another run's".to_owned()),
        _ => Err("its record does not begin with the start of a run".to_owned()),
    }
}

/// The end that a killed process could not write.
pub(super) fn end_of_the_abandoned() -> RunEvent {
    RunEvent::Finished {
        cause: StopReason::Failed {
            code: "abandoned".to_owned(),
            message: "the qaas process that ran these tests ended before they did".to_owned(),
            hint: Some("run the tests again".to_owned()),
        },
        duration_s: 0.0,
    }
}

/// Whether the process that writes this record lives.
pub(super) fn is_held(folder: &Path) -> bool {
    matches!(Lock::take_over(&folder.join(LOCK)), Ok(None))
}

pub(super) fn output(folder: &Path, run_id: &str) -> Result<String, StoreError> {
    let damaged = |error: &std::io::Error| StoreError::Damaged {
        run_id: run_id.to_owned(),
        why: error.to_string(),
    };
    let path = folder.join(OUTPUT);
    if fs::symlink_metadata(&path).is_err() {
        return Ok(String::new());
    }
    let file = open_file(&path).map_err(|error| damaged(&error))?;
    let mut bytes = Vec::new();
    file.take(LARGEST_OUTPUT)
        .read_to_end(&mut bytes)
        .map_err(|error| damaged(&error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
