//! What pytest's lists add to rows: reasons, durations, files that skipped themselves.

use std::collections::{HashMap, HashSet};

use runner_core::event::TestEvent;
use runner_core::model::{Outcome, Phase, TestResult};
use runner_core::nodeid::NodeId;

use super::{Candidate, SessionOutput};
use crate::text::entries::{Skips, Summary};
use crate::text::word::Word;

/// Why tests were skipped or expected to fail.
pub(super) fn reasons(books: &mut [Candidate], pages: &SessionOutput<'_>) {
    let summary = &pages.lists.summary;
    let mut messages: HashMap<&str, &str> = HashMap::new();
    for entry in &summary.entries {
        let (Some(Word::Is(outcome)), Some(nodeid), Some(message)) =
            (entry.word, &entry.nodeid, &entry.message)
        else {
            continue;
        };
        match outcome {
            Outcome::Xfailed | Outcome::Xpassed => {
                messages.insert(nodeid, message.strip_prefix("reason: ").unwrap_or(message));
            }
            Outcome::Skipped => {
                messages.insert(nodeid, without_word(message));
            }
            Outcome::Passed | Outcome::Failed | Outcome::Error => {}
        }
    }
    for book in books {
        let result = &mut book.result;
        match result.outcome {
            Outcome::Xfailed | Outcome::Xpassed => {
                if let Some(message) = messages.get(result.nodeid.as_str()) {
                    result.message = Some((*message).to_owned());
                }
            }
            Outcome::Skipped => {
                if let Some(listed) = messages.get(result.nodeid.as_str()) {
                    result.message = (!listed.is_empty()).then(|| (*listed).to_owned());
                }
                if result.message.is_some() {
                    continue;
                }
                let row = book.row.map(|place| &pages.session.progress.rows[place]);
                let start = row.and_then(|row| row.reason.as_deref()?.strip_suffix("..."));
                result.message = skip_reason(&result.nodeid, start, summary);
            }
            _ => {}
        }
    }
}

/// An unfolded line gives a reason as the exception was shown: `Skipped: why`.
fn without_word(message: &str) -> &str {
    match message.strip_prefix("Skipped") {
        Some("") => "",
        Some(rest) => rest.strip_prefix(": ").unwrap_or(message),
        None => message,
    }
}

/// The reason of a skip whose progress line had no room for it (`start` is what it had room for), if only one is
/// possible.
fn skip_reason(nodeid: &str, start: Option<&str>, summary: &Summary) -> Option<String> {
    let file = NodeId::of(nodeid).file();
    let possible = |skips: &&Skips| match start {
        Some(start) => skips.reason.starts_with(start),
        None => file.ends_with(&skips.path),
    };
    let mut reasons = summary.skips.iter().filter(possible).map(|skips| &skips.reason);
    let first = reasons.next()?;
    (!first.is_empty() && reasons.all(|other| other == first)).then(|| first.clone())
}

/// Seconds of each test, to a hundredth for each phase.
pub(super) fn durations(books: &mut [Candidate], pages: &SessionOutput<'_>) {
    let timings = &pages.lists.timings;
    for book in books {
        let reran = book
            .row
            .is_some_and(|place| pages.session.progress.rows[place].words.contains(&Word::Rerun));
        // The list does not say which durations belong to which attempt.
        if let Some(timing) = timings.get(&book.result.nodeid).filter(|_| !reran) {
            book.result.duration_s = book.result.duration_s.or(Some(timing.total()));
        }
    }
}

/// Files that skip themselves have no progress line. Where skips are folded, the summary names the place of the skip, not
/// the collector: a place in a file without tests is taken for it, if that adds up.
pub(super) fn skipped_files(books: &[Candidate], pages: &SessionOutput<'_>, events: &mut Vec<TestEvent>) {
    let session = pages.session;
    let count = match session.collected.filter(|_| !session.progress.distributed) {
        Some(collected) => collected.skipped,
        None => pages
            .said
            .of(Outcome::Skipped)
            .saturating_sub(skipped_tests(books, pages)),
    };
    if count == 0 || books.iter().any(|book| !book.result.is_test()) {
        return;
    }
    let named: Vec<_> = pages.lists.summary.collectors(Outcome::Skipped).collect();
    if named.len() as u64 == count {
        for entry in named {
            let (id, reason) = entry.text.split_once(" - Skipped").unwrap_or((&entry.text, ""));
            let reason = reason.strip_prefix(": ").unwrap_or(reason);
            let more = entry.message.iter().map(String::as_str);
            let lines: Vec<&str> = std::iter::once(reason).chain(more).collect();
            events.push(skipped_itself(session.names.nodeid(id), &lines.join("\n")));
        }
        return;
    }
    let files: HashSet<&str> = books
        .iter()
        .map(|book| NodeId::of(&book.result.nodeid).file())
        .collect();
    let whole: Vec<(String, &Skips)> = pages
        .lists
        .summary
        .skips
        .iter()
        .map(|skips| (session.names.nodeid(&skips.path), skips))
        .filter(|(nodeid, _)| !files.contains(nodeid.as_str()) && is_test_file(nodeid))
        .collect();
    if whole.iter().map(|(_, skips)| skips.count).sum::<u64>() != count {
        let message = format!(
            "{count} files or classes skipped themselves during collection; pytest's text does not say which"
        );
        events.push(TestEvent::Warning { message });
        return;
    }
    for (nodeid, skips) in whole {
        events.push(skipped_itself(nodeid, &skips.reason));
    }
}

fn skipped_itself(nodeid: String, reason: &str) -> TestEvent {
    let mut result = TestResult::new(nodeid, Outcome::Skipped);
    result.phase = Some(Phase::Collect);
    result.message = (!reason.is_empty()).then(|| reason.to_owned());
    TestEvent::Finished(Box::new(result))
}

/// By its name. A skip may also be raised in a package's `__init__.py` or a helper that a test file imports.
fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.split('.').next().unwrap_or(name);
    name.starts_with("test_") || name.ends_with("_test")
}

/// Skips that tests (and their parts) reported.
fn skipped_tests(books: &[Candidate], pages: &SessionOutput<'_>) -> u64 {
    let skips = |book: &Candidate| match book.row.map(|place| &pages.session.progress.rows[place]) {
        Some(row) if row.exact => {
            let own = row
                .words
                .iter()
                .filter(|word| **word == Word::Is(Outcome::Skipped))
                .count();
            own + row
                .parts
                .iter()
                .filter(|(_, outcome)| *outcome == Outcome::Skipped)
                .count()
        }
        _ => usize::from(book.result.outcome == Outcome::Skipped),
    };
    books.iter().map(skips).sum::<usize>() as u64
}
