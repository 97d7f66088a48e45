//! Where the books and pytest's own lists disagree, in sentences.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use runner_core::model::Outcome;

use super::{Candidate, SessionOutput};
use crate::text::entries::Timing;
use crate::text::names::is_garbled;
use crate::text::session::Session;
use crate::text::word::Word;

/// All checks of books that were read from the text.
pub(super) fn all(pages: &SessionOutput<'_>, books: &[Candidate]) -> Vec<String> {
    let mut wrong = sent(pages.session, books, |nodeid| correctable(pages, nodeid));
    wrong.extend(timings(pages, books));
    if pages.lists.sound {
        wrong.extend(summary(pages, books));
    }
    wrong
}

/// All checks of books that came from a report file.
pub(super) fn exact(
    pages: &SessionOutput<'_>,
    books: &[Candidate],
    told: &HashMap<String, Outcome>,
) -> Vec<String> {
    let mut wrong = sent(pages.session, books, |nodeid| correctable(pages, nodeid));
    wrong.extend(timings(pages, books));
    let differ = books.iter().filter_map(|book| {
        let (result, told) = (&book.result, told.get(book.result.nodeid.as_str())?);
        let same = *told == result.outcome || told.is_bad() && result.outcome.is_bad();
        (!same).then(|| {
            format!(
                "{} is {} in the report and {told} in the output",
                result.nodeid, result.outcome
            )
        })
    });
    wrong.extend(few(differ.collect()));
    wrong
}

/// A report file that holds fewer or more tests than pytest's output, which agrees with itself.
pub(super) fn number(books: &[Candidate], told: &HashMap<String, Outcome>) -> Option<String> {
    let tests = books.iter().filter(|book| book.result.is_test());
    let tests: HashSet<&str> = tests.map(|book| book.result.nodeid.as_str()).collect();
    let (report, output) = (tests.len(), told.len());
    (report != output).then(|| format!("the report holds {report} tests, and {output} are in the output"))
}

/// Whether a row that turns out to be worse than what went out is no contradiction (it is corrected, and the report says
/// so): words are misused, or the test ran more than once.
pub(super) fn correctable(pages: &SessionOutput<'_>, nodeid: &str) -> bool {
    pages.lists.misused
        || pages
            .lists
            .timings
            .get(nodeid)
            .is_some_and(|timing| timing.runs() > 1)
}

/// Nothing that went out may be missing from the books, or stand there with another outcome, unless it is correctable.
pub(super) fn sent(
    session: &Session,
    books: &[Candidate],
    correctable: impl Fn(&str) -> bool,
) -> Vec<String> {
    let known = outcomes(books);
    let wrong = session
        .sent
        .iter()
        .filter_map(|(nodeid, sent)| match known.get(nodeid.as_str()) {
            Some(outcome) if outcome == sent => None,
            Some(outcome) if outcome.is_bad() && !sent.is_bad() && correctable(nodeid) => None,
            Some(outcome) => Some(format!(
                "{nodeid} was {sent} while the tests ran and is {outcome} at the end"
            )),
            None => Some(format!(
                "{nodeid} was {sent} while the tests ran and is not listed at the end"
            )),
        });
    few(wrong.collect())
}

pub(super) fn outcomes(books: &[Candidate]) -> HashMap<String, Outcome> {
    books
        .iter()
        .map(|book| (book.result.nodeid.clone(), book.result.outcome))
        .collect()
}

/// The summary lists every test that is not skipped, by outcome.
fn summary(pages: &SessionOutput<'_>, books: &[Candidate]) -> Vec<String> {
    let mut listed: HashMap<&str, Vec<Word>> = HashMap::new();
    for entry in &pages.lists.summary.entries {
        if let (Some(nodeid), Some(word)) = (&entry.nodeid, entry.word) {
            listed.entry(nodeid).or_default().push(word);
        }
    }
    let wrong = books.iter().filter_map(|book| {
        let words = listed
            .get(book.result.nodeid.as_str())
            .map_or(&[][..], Vec::as_slice);
        let outcome = book.result.outcome;
        let agrees = match outcome {
            Outcome::Skipped => words.is_empty() || words.contains(&Word::Is(Outcome::Skipped)),
            Outcome::Failed => words
                .iter()
                .any(|word| matches!(word, Word::Is(Outcome::Failed) | Word::Sub(Outcome::Failed))),
            outcome => words.contains(&Word::Is(outcome)),
        };
        (!agrees).then(|| {
            format!(
                "{} was read as {outcome}, and pytest's summary does not say so",
                book.result.nodeid
            )
        })
    });
    few(wrong.collect())
}

/// The durations name exactly the tests that ran.
fn timings(pages: &SessionOutput<'_>, books: &[Candidate]) -> Vec<String> {
    let timings = &pages.lists.timings;
    if timings.is_empty() {
        return Vec::new();
    }
    // Of text lines, the reader of a process's output keeps no carriage return at their ends, and only UTF-8.
    let tests = books.iter().filter(|book| book.result.is_test());
    let known: HashSet<Cow<'_, str>> = tests.map(|book| at_line_end(&book.result.nodeid)).collect();
    let ended = |nodeid: &str| timings.get(nodeid).is_some_and(Timing::ended);
    let (garbled, ids): (Vec<&str>, Vec<&str>) = timings
        .order
        .iter()
        .map(|nodeid| &**nodeid)
        .partition(|nodeid| is_garbled(nodeid));
    let missing = ids
        .into_iter()
        .filter(|nodeid| ended(nodeid) && !known.contains(*nodeid));
    let missing = missing.map(|nodeid| format!("{nodeid} ran, and no verdict of it was read"));
    // One of those that cannot be read, if there are any.
    let unknown = known
        .iter()
        .filter(|nodeid| garbled.is_empty() && timings.get(nodeid).is_none());
    let unknown = unknown.map(|nodeid| format!("{nodeid} was read, and is not among the tests that ran"));
    few(missing.chain(unknown).collect())
}

/// What a list of nodeids, one at each line's end, keeps of one.
fn at_line_end(nodeid: &str) -> Cow<'_, str> {
    if nodeid.contains('\r') {
        let whole = nodeid.strip_suffix('\r').unwrap_or(nodeid);
        Cow::Owned(whole.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(nodeid)
    }
}

/// The first few of many sentences of one kind, in a stable order.
pub(super) fn few(mut sentences: Vec<String>) -> Vec<String> {
    const SAID: usize = 3;
    sentences.sort();
    if sentences.len() > SAID {
        let more = sentences.len() - SAID;
        sentences.truncate(SAID);
        sentences.push(format!("and {more} more"));
    }
    sentences
}
