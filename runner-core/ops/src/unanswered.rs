//! The error answer to a run that came to nothing, the same for all tools.

use super::{ErrorKind, NextCall, OpError, Tool, Workspace, cut};
use engine::project::looks_like_path;
use runner_core::backend::{Capability, UNSUPPORTED};
use runner_core::event::StopReason;
use runner_core::model::Status;
use runner_core::nodeid::NodeId;
use runner_core::report::Report;

/// The error answer to a run in which nothing began. `None` if it has anything to show.
pub(super) fn unanswered(workspace: &Workspace, report: &Report) -> Option<OpError> {
    let began = report.iterations.iter().any(|iteration| {
        !iteration.rows.is_empty()
            || !iteration.collection_errors.is_empty()
            || !iteration.unfinished().is_empty()
    });
    let verdict = report.verdict();
    let (kind, code) = match verdict.status {
        _ if began => return None,
        Status::NoTests => (ErrorKind::NoTests, "no_tests"),
        Status::Cancelled => (ErrorKind::Cancelled, "cancelled"),
        // A time limit that passes before the first test is an answer: it names the limit and shows the output.
        Status::TimedOut | Status::Queued | Status::Running => return None,
        _ => match broken_code(report) {
            code @ UNSUPPORTED => (ErrorKind::BadRequest, code),
            code => (ErrorKind::Broken, code),
        },
    };
    let message = match kind {
        ErrorKind::NoTests => no_tests_message(report, verdict.reason.as_deref()),
        _ => verdict
            .reason
            .clone()
            .unwrap_or_else(|| "the run came to nothing".to_owned()),
    };
    let mut error = OpError::new(kind, code, message).with_report(&workspace.registry, report);
    error.known.status = Some(verdict.status);
    if kind == ErrorKind::NoTests
        && let Some((places, keywords)) = narrowed_places(workspace, report)
    {
        return Some(between(error, report, &places, &keywords));
    }
    if kind == ErrorKind::NoTests && report.facts.tool != Tool::ListTests.name() {
        error = with_what_there_is(error, workspace, report);
    }
    Some(error)
}

/// The places and the keyword expressions of a selection that has both. A run's record has the selectors as they were written.
fn narrowed_places(workspace: &Workspace, report: &Report) -> Option<(Vec<String>, Vec<String>)> {
    let facts = &report.facts;
    let is_place = |text: &&String| {
        let head = NodeId::of(text).file();
        looks_like_path(head) || facts.cwd.join(head).exists() || workspace.root.join(head).exists()
    };
    let words = facts.asked.iter().filter(|text| !text.starts_with('-'));
    let (places, keywords): (Vec<&String>, Vec<&String>) = words.partition(is_place);
    let owned = |all: Vec<&String>| all.into_iter().cloned().collect();
    (!places.is_empty() && !keywords.is_empty()).then(|| (owned(places), owned(keywords)))
}

/// Two selections that have tests, perhaps, but none in common.
fn between(error: OpError, report: &Report, places: &[String], keywords: &[String]) -> OpError {
    let hint = format!(
        "A keyword narrows the paths beside it: nothing in {} matches {}. Each alone is another call.",
        cut::quote_truncated(&places.join(", ")),
        cut::quote_truncated(&keywords.join(" or "))
    );
    let call = |why: &str, selectors: &[String]| {
        NextCall::new(Tool::RunSuite, why)
            .with("selectors", selectors)
            .with("suite", report.facts.suite.as_str())
    };
    error
        .with_hint(hint)
        .with_next(call("run the paths alone", places))
        .with_next(call("run the keywords alone", keywords))
}

/// How to see which tests there are, as far as the backend can tell.
fn with_what_there_is(error: OpError, workspace: &Workspace, report: &Report) -> OpError {
    let backend = workspace
        .registry
        .get(&report.facts.backend)
        .map(|backend| backend.info());
    let can = |capability| backend.as_ref().is_some_and(|info| info.can(capability));
    let check = if can(Capability::Names) {
        "Check the selector against the names of the tests"
    } else {
        "Check the selector against the files that exist"
    };
    if !can(Capability::List) {
        return error.or_hint(format!("{check}; a run of everything gives the ids."));
    }
    let list = NextCall::new(Tool::ListTests, "see which tests there are")
        .maybe("cwd", cwd_argument(workspace, report));
    error
        .or_hint(format!("{check}; `list_tests` gives the ids."))
        .with_next(list)
}

/// The engine's own word for a run that it could not begin.
fn broken_code(report: &Report) -> &str {
    match &report.cause {
        Some(StopReason::Failed { code, .. }) if !code.is_empty() => code,
        _ => "broken",
    }
}

fn no_tests_message(report: &Report, reason: Option<&str>) -> String {
    let facts = &report.facts;
    let what = match facts.asked.as_slice() {
        [] => "the default collection".to_owned(),
        words => format!("`{}`", cut::quote_truncated(&words.join(" "))),
    };
    let cwd = facts.cwd.display();
    let deselected = match report.first().deselected {
        0 => String::new(),
        count => format!("; {count} deselected"),
    };
    let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("no test matched {what} in {cwd}{deselected}{why}")
}

/// `cwd` for a next call; none if it is the root.
pub(super) fn cwd_argument(workspace: &Workspace, report: &Report) -> Option<String> {
    let relative = report.facts.cwd.strip_prefix(&workspace.root).ok()?;
    Some(relative.to_string_lossy().into_owned()).filter(|text| !text.is_empty())
}
