//! coverage.py's JSON report.

use std::collections::BTreeMap;

use runner_core::model::{Coverage, FileCoverage};
use serde::Deserialize;

use crate::paths::Filter;

/// The parts that count. Unknown ones are other versions' business.
#[derive(Deserialize)]
struct Report {
    files: BTreeMap<String, File>,
}

#[derive(Deserialize)]
struct File {
    summary: Summary,
    #[serde(default)]
    missing_lines: Vec<u32>,
}

#[derive(Deserialize)]
struct Summary {
    covered_lines: u64,
    num_statements: u64,
    percent_covered: f64,
    #[serde(default)]
    num_branches: u64,
    #[serde(default)]
    covered_branches: u64,
}

/// The report's files that count, and the total over just these.
pub(crate) fn read(bytes: &[u8], filter: &Filter) -> Result<Coverage, serde_json::Error> {
    let report: Report = serde_json::from_slice(bytes)?;
    let mut files: Vec<FileCoverage> = report
        .files
        .into_iter()
        .filter_map(|(name, file)| {
            Some(FileCoverage {
                path: filter.accept(&name)?,
                percent: file.summary.percent_covered,
                covered_lines: file.summary.covered_lines,
                statements: file.summary.num_statements,
                missing_lines: file.missing_lines,
                covered_branches: file.summary.covered_branches,
                branches: file.summary.num_branches,
            })
        })
        .collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(Coverage {
        percent: percent(&files),
        files,
    })
}

/// As coverage.py reckons: lines and branches alike, and files without either are covered. The report's own total
/// includes files that do not count here.
fn percent(files: &[FileCoverage]) -> Option<f64> {
    if files.is_empty() {
        return None;
    }
    let covered: u64 = files
        .iter()
        .map(|file| file.covered_lines + file.covered_branches)
        .sum();
    let all: u64 = files.iter().map(|file| file.statements + file.branches).sum();
    Some(if all == 0 {
        100.0
    } else {
        100.0 * covered as f64 / all as f64
    })
}
