//! The list of runs: one small file each, or its record where that was not written.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::Summary;
use super::folder::{self, EVENTS, SUMMARY};
use super::private::open_file;
use super::prune::newest_first;
use runner_core::event::RunEvent;
use runner_core::facts::RunFacts;
use runner_core::model::Status;

/// The head of a record has one line of facts.
const LONGEST_HEAD: u64 = 1024 * 1024;

/// Runs whose facts are `wanted`, newest first.
pub(super) fn summaries(runs: &Path, wanted: impl Fn(&RunFacts) -> bool) -> impl Iterator<Item = Summary> {
    let folders = newest_first(runs).into_iter();
    folders.filter_map(move |folder| {
        let facts = head(&folder)?;
        if !wanted(&facts) {
            return None;
        }
        let status = status(&folder, &facts.run_id)?;
        Some(Summary { facts, status })
    })
}

fn head(folder: &Path) -> Option<RunFacts> {
    let file = open_file(&folder.join(EVENTS)).ok()?;
    let mut line = Vec::new();
    BufReader::new(file.take(LONGEST_HEAD))
        .read_until(b'\n', &mut line)
        .ok()?;
    let RunEvent::Started(facts) = serde_json::from_slice(&line).ok()? else {
        return None;
    };
    (folder.file_name()?.to_str()? == facts.run_id).then_some(*facts)
}

fn status(folder: &Path, run_id: &str) -> Option<Status> {
    let mut text = Vec::new();
    if let Ok(file) = open_file(&folder.join(SUMMARY)) {
        file.take(1024).read_to_end(&mut text).ok()?;
        if let Ok(status) = serde_json::from_slice::<Status>(&text) {
            return Some(status);
        }
    }
    folder::load(folder, run_id).ok().map(|report| report.status())
}
