//! One book for each test: by the progress lines, by the summary, or by a report file.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use runner_core::model::{CollectionError, Outcome, TestResult};

use super::{Candidate, SessionOutput, check};
use crate::text::counts::category;
use crate::text::entries::Timing;
use crate::text::exact::Exact;
use crate::text::names;
use crate::text::row::Row;
use crate::text::session;
use crate::text::word::Word;

/// Rows by the progress lines if those fit and add up, else by the summary if that does, else by lines that do not all
/// fit but add up to tests that ran. With none of these, what is known and a sentence why it is not enough.
pub(super) fn from_text(pages: &SessionOutput<'_>) -> (Vec<Candidate>, Vec<String>) {
    let (mut books, mut wrong) = as_printed(pages);
    // The recording `garbled`: a test's name in another encoding than the output's arrives as `test_gro\u{fffd}es`, which
    // names no test that could be asked for again.
    let all = books.len();
    books.retain(|book| !names::is_garbled(&book.result.nodeid));
    if books.len() < all {
        let lost = all - books.len();
        wrong.push(format!(
            "the names of {lost} tests were not printed in UTF-8 and cannot be read"
        ));
    }
    (books, wrong)
}

fn as_printed(pages: &SessionOutput<'_>) -> (Vec<Candidate>, Vec<String>) {
    let rows = &pages.session.progress.rows;
    let difference = pages.said.differs_from(&pages.live);
    // The recordings `misused_words` and `swapped_words`: a plug-in prints `PASSED` for a test that failed. Lines are
    // believed only where pytest's own words were used for what they mean, and add up to its counts.
    if !pages.lists.misused && difference.is_none() && rows.iter().all(|row| row.exact && !row.unknown_word) {
        let mut books = live(pages, |_| true);
        add_never_called(&mut books, pages);
        return (books, Vec::new());
    }
    // The recordings `renamed` (`fine`, `no good`) and `two_words` (`SURELY FAILED`): words of a plug-in's own. The summary
    // lists tests by what pytest made of them, whatever was printed.
    if pages.lists.sound {
        return summary(pages);
    }
    let listed = !pages.lists.table.is_empty();
    let told = rows
        .iter()
        .zip(&pages.nodeids)
        .all(|(row, nodeid)| !row.unknown_word && nodeid.is_some());
    if difference.is_none() && listed && told {
        return (live(pages, |_| true), Vec::new());
    }
    if let Some(books) = uncaptured(pages).filter(|_| listed && rows.is_empty()) {
        return (books, Vec::new());
    }
    let read = difference.unwrap_or_else(|| "verdicts whose lines could not be read".to_owned());
    let books = live(pages, |row| row.exact && !row.unknown_word);
    (books, vec![format!("pytest's last line counts {read}")])
}

/// Rows between prints, where nothing else was listed (`-s --no-summary`), if they add up.
fn uncaptured(pages: &SessionOutput<'_>) -> Option<Vec<Candidate>> {
    let mut counts = pages.live.clone();
    let mut books = Vec::new();
    for row in &pages.session.progress.plain.rows {
        let nodeid = pages.lists.table.nodeid(&row.id)?;
        for word in &row.words {
            if let Word::Is(outcome) = word {
                counts.add(category(*outcome));
            }
        }
        books.push(Candidate {
            result: Box::new(session::result(row, nodeid)?),
            row: None,
        });
    }
    pages.said.differs_from(&counts).is_none().then_some(books)
}

/// Tests without any verdict that were set up and torn down (`--setup-only`).
fn add_never_called(books: &mut Vec<Candidate>, pages: &SessionOutput<'_>) {
    let timings = &pages.lists.timings;
    let known: HashSet<String> = books.iter().map(|book| book.result.nodeid.clone()).collect();
    for nodeid in timings.order.iter().map(|nodeid| &**nodeid) {
        if !known.contains(nodeid) && timings.get(nodeid).is_some_and(Timing::never_called) {
            books.push(never_called(nodeid));
        }
    }
}

fn never_called(nodeid: &str) -> Candidate {
    let mut result = Box::new(TestResult::new(nodeid, Outcome::Skipped));
    result.message = Some(crate::text::NEVER_CALLED.to_owned());
    Candidate { result, row: None }
}

/// One row for each test with a verdict. A test whose id was read by parts may stand in several progress rows.
fn live(pages: &SessionOutput<'_>, take: impl Fn(&Row) -> bool) -> Vec<Candidate> {
    let rows = &pages.session.progress.rows;
    let mut books: Vec<Candidate> = Vec::with_capacity(rows.len());
    let mut known: HashMap<&str, (usize, Cow<'_, Row>)> = HashMap::with_capacity(rows.len());
    for (place, (row, nodeid)) in rows.iter().zip(&pages.nodeids).enumerate() {
        let Some(nodeid) = nodeid.as_deref().filter(|_| take(row)) else {
            continue;
        };
        if let Some((book, first)) = known.get_mut(nodeid) {
            let first = first.to_mut();
            first.words.extend(&row.words);
            first.parts.extend(row.parts.iter().cloned());
            if let Some(result) = session::result(first, nodeid) {
                *books[*book].result = result;
            }
        } else if let Some(result) = session::result(row, nodeid) {
            known.insert(nodeid, (books.len(), Cow::Borrowed(row)));
            books.push(Candidate {
                result: Box::new(result),
                row: Some(place),
            });
        }
    }
    books
}

/// One row for each test that ran: listed under an outcome, or else skipped, if there are no more of them than skips.
fn summary(pages: &SessionOutput<'_>) -> (Vec<Candidate>, Vec<String>) {
    let lists = &pages.lists;
    let mut listed: HashMap<&str, Row> = HashMap::new();
    for entry in &lists.summary.entries {
        let (Some(nodeid), Some(word)) = (&entry.nodeid, entry.word) else {
            continue;
        };
        let row = listed.entry(nodeid).or_default();
        match word {
            Word::Sub(outcome) => row.parts.push((part(&entry.text), outcome)),
            word => row.words.push(word),
        }
    }
    let places = places(pages);
    let mut order: Vec<&str> = pages.nodeids.iter().flatten().map(String::as_str).collect();
    let plain = &pages.session.progress.plain.rows;
    order.extend(plain.iter().filter_map(|row| lists.table.nodeid(&row.id)));
    order.extend(lists.timings.order.iter().map(|nodeid| &**nodeid));
    let mut seen = HashSet::new();
    let ended = |nodeid: &str| lists.timings.get(nodeid).is_some_and(Timing::ended);
    order.retain(|nodeid| ended(nodeid) && seen.insert(*nodeid));
    // Tests that no list names were skipped, or only set up: the recording `only_set_up`, where `--setup-only` prints a
    // test's fixtures in place of a word.
    let unlisted = order
        .iter()
        .filter(|nodeid| !listed.contains_key(*nodeid))
        .count() as u64;
    let skips = lists.summary.folded();
    let only_set_up = unlisted > skips;
    let mut spoke: HashSet<&str> = plain
        .iter()
        .filter_map(|row| lists.table.nodeid(&row.id))
        .collect();
    let aside = &pages.session.progress.plain.aside;
    let aside: HashSet<&str> = aside.iter().filter_map(|id| lists.table.nodeid(id)).collect();
    if aside.len() as u64 == skips {
        spoke.extend(aside);
    }
    let (mut unnamed, mut skipped_early) = (Vec::new(), 0);
    let mut book = |nodeid: &str| {
        let place = places.get(nodeid).copied();
        let silent = place.is_none() && !spoke.contains(nodeid) && !listed.contains_key(nodeid);
        if only_set_up && silent && lists.timings.get(nodeid).is_some_and(Timing::never_called) {
            return Some(never_called(nodeid));
        }
        let mut row = listed.remove(nodeid).unwrap_or_default();
        if row.words.is_empty() {
            if lists.timings.get(nodeid).is_some_and(Timing::never_called) {
                skipped_early += 1;
            } else {
                unnamed.push(nodeid.to_owned());
            }
            row.words.push(Word::Is(Outcome::Skipped));
        }
        // The list is by outcome; only a call passes unexpectedly, so an expected failure beside it is the teardown's. So
        // is, most likely, a skip beside another outcome.
        row.words.sort_by_key(|word| match word {
            Word::Is(Outcome::Xpassed) => 0,
            Word::Is(Outcome::Skipped) => 2,
            _ => 1,
        });
        if let Some(place) = place {
            add_live(&mut row, &pages.session.progress.rows[place]);
        }
        Some(Candidate {
            result: Box::new(session::result(&row, nodeid)?),
            row: place,
        })
    };
    let mut books: Vec<Candidate> = order.into_iter().filter_map(&mut book).collect();
    if unnamed.len() as u64 <= skips.saturating_sub(skipped_early) {
        return (books, Vec::new());
    }
    // Which of them were skipped is not told.
    let unnamed: HashSet<String> = unnamed.into_iter().collect();
    books.retain(|book| !unnamed.contains(&book.result.nodeid));
    let reason = format!(
        "pytest's summary lists {} tests that were called under none of its outcomes, and {skips} skips{}",
        unnamed.len(),
        pages.said.foreign().map_or_else(String::new, |names| format!(
            " (and {names}, which are not its own)"
        )),
    );
    (books, vec![reason])
}

/// What only the progress lines tell.
fn add_live(row: &mut Row, live: &Row) {
    row.worker.clone_from(&live.worker);
    row.reason.clone_from(&live.reason);
    row.words
        .extend(live.words.iter().filter(|word| **word == Word::Rerun));
    if live.parts.len() > row.parts.len() {
        row.parts.clone_from(&live.parts);
    }
}

/// `SUBFAILED[step] (n=1)` without its word.
pub(super) fn part(text: &str) -> String {
    let start = text.find(['[', '(']).unwrap_or(0);
    let end = text.rfind([']', ')']).map_or(text.len(), |at| at + 1);
    text.get(start..end).unwrap_or(text).to_owned()
}

/// Rows from a source that names every test exactly. The text decides only where that source leaves two readings, by
/// the test's own line or else by its lists (`told`), and adds what the source does not say. The last of the three:
/// sentences about tests that neither could decide.
pub(super) fn from_exact(
    exact: Exact,
    pages: &SessionOutput<'_>,
    told: Option<&HashMap<String, Outcome>>,
) -> (Vec<Candidate>, Vec<CollectionError>, Vec<String>) {
    let places = places(pages);
    let mut undecided = Vec::new();
    let book = |mut result: Box<TestResult>| {
        let row = places.get(result.nodeid.as_str()).copied();
        let live = row
            .map(|place| &pages.session.progress.rows[place])
            .filter(|row| row.exact && !pages.lists.misused);
        let live = live.and_then(|row| session::result(row, &result.nodeid));
        if exact.unsure.contains(&result.nodeid) {
            // Which of its parts failed is more than an outcome: that the text's own row tells.
            let lists = || told?.get(&result.nodeid).copied().filter(|told| !told.is_bad());
            let said = live.as_ref().map(|live| live.outcome).or_else(lists);
            match said.filter(|said| may_be(&result, *said)) {
                Some(said) => result.outcome = said,
                // Words that are not pytest's tell no more than the phases do.
                None if pages.lists.misused || result.outcome.is_bad() => {}
                None => undecided.push(format!(
                    "neither the report nor the output tells whether {} was expected to fail",
                    result.nodeid
                )),
            }
        }
        if let Some(live) = live {
            if result.outcome == live.outcome {
                result.fill_from(&live);
            }
            result.attempt = result.attempt.max(live.attempt);
        }
        Candidate { result, row }
    };
    let books = exact.results.into_iter().map(book).collect();
    (books, exact.collection_errors, check::few(undecided))
}

/// Whether a test whose phases came to `result` can have ended so: only what is expected of it is open, and whether its
/// parts failed.
pub(super) fn may_be(result: &TestResult, told: Outcome) -> bool {
    match result.outcome {
        Outcome::Passed | Outcome::Xpassed => {
            matches!(told, Outcome::Passed | Outcome::Xpassed | Outcome::Failed)
        }
        Outcome::Skipped | Outcome::Xfailed => matches!(told, Outcome::Skipped | Outcome::Xfailed),
        Outcome::Failed | Outcome::Error => true,
    }
}

fn places<'a>(pages: &'a SessionOutput<'_>) -> HashMap<&'a str, usize> {
    let rows = pages.nodeids.iter().enumerate();
    rows.filter_map(|(place, nodeid)| Some((nodeid.as_deref()?, place)))
        .collect()
}
