//! What plan and reader must agree on: how steps, artifacts and files are named, and what a request selects.

use std::path::{Path, PathBuf};

use runner_core::backend::{BackendError, RunRequest, UNSUPPORTED};
pub(crate) use runner_core::plan::step_name;
use runner_core::selector::Selector;

use crate::spec::ReportPlace;
use crate::template::Arg;

/// What a request comes to for this backend.
pub(crate) struct Asked<'a> {
    pub(crate) items: &'a [Arg],
    pub(crate) report: &'a ReportPlace,
}

/// The artifact that is the coverage report.
pub(crate) const COVERAGE: &str = "coverage";

pub(crate) const IDS_FILE: &str = "selected.txt";

/// What {report} stands for in the step of this number: a file that no earlier run can have left.
pub(crate) fn report_file(scratch: &Path, report: &ReportPlace, number: usize) -> PathBuf {
    scratch.join(format!("report-{}.{}", number + 1, report.format.extension()))
}

/// The artifact that is the report of the step of this number.
pub(crate) fn report_name(number: usize) -> String {
    format!("report {}", number + 1)
}

/// The one keyword expression; frameworks do not share a way to join several.
pub(crate) fn keyword(request: &RunRequest) -> Result<Option<String>, BackendError> {
    let selected = request
        .selection
        .selectors
        .iter()
        .filter_map(|selector| match selector {
            Selector::Keyword { expression } => Some(expression),
            _ => None,
        });
    let mut all = selected.chain(&request.filters.keyword);
    match (all.next(), all.next()) {
        (first, None) => Ok(first.cloned()),
        _ => Err(
            BackendError::new(UNSUPPORTED, "one keyword expression at a time, please")
                .with_hint("join them into one, in the framework's own language"),
        ),
    }
}
