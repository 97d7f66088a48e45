//! The failures' text: which reports have a block in the ERRORS and FAILURES sections, and what it adds to its row.

use std::collections::{HashMap, HashSet};

use runner_core::event::TestEvent;
use runner_core::model::{CollectionError, Failure, Outcome, Phase, TestResult};
use runner_core::nodeid::NodeId;

use super::rows::part;
use super::{Candidate, SessionOutput};
use crate::text::failures::{self, Block, Wanted};
use crate::text::tail::Tail;
use crate::text::word::Word;

/// The reports that have a block of their own in the ERRORS and FAILURES sections, in pytest's order.
pub(super) struct Reports {
    /// As the summary prints them: `tests/test_x.py`, perhaps with a message.
    collectors: Vec<String>,
    errors: Vec<String>,
    failures: Vec<(String, Option<String>)>,
}

impl Reports {
    pub(super) fn of(pages: &SessionOutput<'_>) -> Self {
        if !pages.lists.sound && pages.said.differs_from(&pages.live).is_none() {
            return Self::live(pages);
        }
        let mut reports = Self::collectors(pages);
        for entry in &pages.lists.summary.entries {
            let Some(nodeid) = entry.nodeid.clone() else {
                continue;
            };
            match entry.word {
                Some(Word::Is(Outcome::Error)) => reports.errors.push(nodeid),
                Some(Word::Is(Outcome::Failed)) => reports.failures.push((nodeid, None)),
                Some(Word::Sub(Outcome::Failed)) => reports.failures.push((nodeid, Some(part(&entry.text)))),
                _ => {}
            }
        }
        reports
    }

    fn collectors(pages: &SessionOutput<'_>) -> Self {
        Self {
            collectors: pages
                .lists
                .summary
                .collectors(Outcome::Error)
                .map(|entry| entry.text.clone())
                .collect(),
            errors: Vec::new(),
            failures: Vec::new(),
        }
    }

    fn live(pages: &SessionOutput<'_>) -> Self {
        let mut reports = Self::collectors(pages);
        for (row, nodeid) in pages.session.progress.rows.iter().zip(&pages.nodeids) {
            let Some(nodeid) = nodeid else { continue };
            for (name, outcome) in &row.parts {
                if *outcome == Outcome::Failed {
                    reports.failures.push((nodeid.clone(), Some(name.clone())));
                }
            }
            for word in &row.words {
                match word {
                    Word::Is(Outcome::Error) => reports.errors.push(nodeid.clone()),
                    Word::Is(Outcome::Failed) => reports.failures.push((nodeid.clone(), None)),
                    _ => {}
                }
            }
        }
        reports
    }
}

/// Gives each failed row its text and what it printed. A row that brought its text from a report file keeps that.
pub(super) fn failures(books: &mut [Candidate], reports: &Reports, tail: &Tail) {
    let places: HashMap<String, usize> = books
        .iter()
        .enumerate()
        .map(|(place, book)| (book.result.nodeid.clone(), place))
        .collect();
    let has_text: HashSet<usize> = (0..books.len())
        .filter(|&place| !books[place].result.failures.is_empty())
        .collect();
    let mut add = |nodeid: &String, phase, part: Option<&str>, block: Block| {
        let Some(&place) = places.get(nodeid) else { return };
        let result = &mut books[place].result;
        add_output(result, block.captured.as_deref());
        if part.is_some() || !has_text.contains(&place) {
            add_failure(result, phase, part, block.text);
        }
    };
    let found = failures::find(&tail.text, "FAILURES", &wanted_failures(reports));
    for ((nodeid, part), block) in reports.failures.iter().zip(found) {
        if let Some(block) = block {
            add(nodeid, Phase::Call, part.as_deref(), block);
        }
    }
    let found = failures::find(&tail.text, "ERRORS", &wanted_errors(reports));
    for (nodeid, block) in reports
        .errors
        .iter()
        .zip(found.into_iter().skip(reports.collectors.len()))
    {
        if let Some(block) = block {
            let teardown = block.title.starts_with("ERROR at teardown of ");
            add(
                nodeid,
                if teardown { Phase::Teardown } else { Phase::Setup },
                None,
                block,
            );
        }
    }
    for book in books {
        join_messages(&mut book.result);
    }
}

fn wanted_failures(reports: &Reports) -> Vec<Wanted> {
    let titles = |(nodeid, part): &(String, Option<String>)| failures::titles(nodeid, part.as_deref());
    reports
        .failures
        .iter()
        .map(|one| Wanted { titles: titles(one) })
        .collect()
}

fn wanted_errors(reports: &Reports) -> Vec<Wanted> {
    let collector = |text: &String| {
        let text = NodeId::of(text).file();
        let whole = format!("ERROR collecting {text}");
        // The summary may add a message; a path may hold ` - ` itself.
        let shorter = text
            .match_indices(" - ")
            .map(|(at, _)| format!("ERROR collecting {}", &text[..at]));
        Wanted {
            titles: shorter.chain([whole]).collect(),
        }
    };
    let test = |nodeid: &String| {
        let titles = failures::titles(nodeid, None);
        let phases = ["setup", "teardown"];
        let both = titles
            .iter()
            .flat_map(|title| phases.map(|phase| format!("ERROR at {phase} of {title}")));
        Wanted {
            titles: both.collect(),
        }
    };
    reports
        .collectors
        .iter()
        .map(collector)
        .chain(reports.errors.iter().map(test))
        .collect()
}

fn add_output(result: &mut TestResult, captured: Option<&str>) {
    let Some(captured) = captured else { return };
    let output = result.output.get_or_insert_default();
    if output.contains(captured) {
        return;
    }
    if !output.is_empty() {
        output.push('\n');
    }
    output.push_str(captured);
}

fn add_failure(result: &mut TestResult, phase: Phase, part: Option<&str>, text: String) {
    let message = failures::message(&text);
    let unsaid = result
        .subtests
        .iter_mut()
        .find(|subtest| Some(subtest.description.as_str()) == part);
    if let Some(subtest) = unsaid {
        subtest.message.get_or_insert_with(|| message.clone());
    }
    if text.is_empty()
        || result
            .failures
            .iter()
            .any(|known| known.phase == phase && known.text == text)
    {
        return;
    }
    result.failures.push(Failure {
        phase,
        summary: message.lines().next().map(str::to_owned),
        location: failures::location(&text),
        text,
    });
}

/// The message of a failed row: the text of all its failures.
fn join_messages(result: &mut TestResult) {
    if result.outcome.is_bad() && !result.failures.is_empty() {
        result.failures.sort_by_key(|failure| failure.phase);
        let texts: Vec<&str> = result
            .failures
            .iter()
            .map(|failure| failure.text.as_str())
            .collect();
        result.message = Some(texts.join("\n\n"));
    }
}

/// Collectors that failed, with their text.
pub(super) fn collectors(reports: &Reports, pages: &SessionOutput<'_>, events: &mut Vec<TestEvent>) {
    let blocks = failures::find(&pages.tail.text, "ERRORS", &wanted_errors(reports));
    for (text, block) in reports.collectors.iter().zip(blocks) {
        let block = block.unwrap_or_default();
        let file = block.title.strip_prefix("ERROR collecting ");
        let rest = file.and_then(|file| text.strip_prefix(file));
        let id = match rest {
            // A class in the file: what stands before the message.
            Some(rest) => &text[..text.len() - rest.len() + rest.find(" - ").unwrap_or(rest.len())],
            None => text.find(" - ").map_or(text.as_str(), |at| &text[..at]),
        };
        let message = if block.text.is_empty() {
            text.get(id.len()..)
                .unwrap_or("")
                .trim_start_matches(" - ")
                .to_owned()
        } else {
            block.text
        };
        let location = failures::location(&message);
        events.push(TestEvent::CollectFailed(CollectionError {
            nodeid: match pages.session.names.nodeid(id) {
                // The root folder itself: its conftest files, in older releases.
                root if root.is_empty() => ".".to_owned(),
                nodeid => nodeid,
            },
            summary: failures::summary(&message),
            message,
            location,
        }));
    }
}
