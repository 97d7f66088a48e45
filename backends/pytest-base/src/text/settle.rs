//! Closing one session's books: pytest's lists against its counts, both against the rows that went out, and what the
//! lists add to the rows.

use std::collections::{HashMap, HashSet};

use runner_core::event::TestEvent;
use runner_core::model::{CollectionError, Failure, Location, Outcome, Phase, Subtest, TestResult};

use super::counts::{Counts, category};
use super::entries::{Skips, Summary, Timings};
use super::failures::{self, Block, Wanted};
use super::names::Table;
use super::progress::Row;
use super::reader::Exact;
use super::session::{self, Session};
use super::tail::Tail;
use super::word::Word;

/// What the books say once they are closed.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Where pytest contradicts itself or what was read. Any of them makes the record cut.
    pub(crate) contradictions: Vec<String>,
}

/// A test with everything known about it.
struct Book {
    result: TestResult,
    row: Option<usize>,
}

/// Settles a session that reached its line of counts.
pub(crate) fn complete(
    session: &mut Session,
    said: &Counts,
    exact: Option<Exact>,
    events: &mut Vec<TestEvent>,
) -> Settled {
    let tail = session.tail.take().unwrap_or_default();
    let lists = Lists::read(session, &tail, said);
    let rows = resolve(session, &lists);
    let mut settled = Settled::default();
    let from_exact = exact.is_some();
    let mut books = match exact {
        Some(exact) => exact_books(exact, &rows, session, events),
        None => text_books(session, &lists, &rows, said, &mut settled),
    };
    check_sent(session, &books, &mut settled);
    if !lists.timings.is_empty() {
        check_timings(&lists.timings, &books, &mut settled);
    }
    let reports = Reports::of(&lists, &rows, session, said);
    add_reasons(&mut books, &lists);
    add_durations(&mut books, session, &lists.timings);
    add_failures(&mut books, &reports, &tail);
    if !from_exact {
        collectors(&reports, session, &tail, events);
    }
    skipped_files(session, &lists, &books, said, events);
    send(session, books, events);
    settled
}

/// Settles a session that was cut: what is known goes out, what is not stays unfinished.
pub(crate) fn cut(session: &mut Session, events: &mut Vec<TestEvent>) {
    session.progress.plain.close();
    let plain = !session.progress.counted() && !session.progress.distributed;
    let rows = if plain {
        std::mem::take(&mut session.progress.plain.rows)
    } else {
        std::mem::take(&mut session.progress.rows)
    };
    let last = rows.len().saturating_sub(1);
    for (place, row) in rows.iter().enumerate() {
        let nodeid = session.names.nodeid(&row.id);
        let Some(result) = session::result(row, &nodeid).filter(|_| !row.id.is_empty()) else {
            continue;
        };
        if session.sent.contains_key(&nodeid) {
            continue;
        }
        // No test began after the last verdict: the session was cut in the teardown behind it.
        let over =
            plain || session.progress.distributed || place < last || !session.progress.running().is_empty();
        if over || session.tail.is_some() {
            session::reruns(row, &nodeid, events);
            events.push(TestEvent::Finished(Box::new(result)));
        } else {
            let phase = Phase::Teardown;
            started(&nodeid, events);
            events.push(TestEvent::Entered { nodeid, phase });
        }
    }
    let running = match plain {
        true => session.progress.plain.running().into_iter().collect(),
        false => session.progress.running(),
    };
    if session.tail.is_none() {
        for id in running {
            started(&session.names.nodeid(id), events);
        }
    }
}

fn started(nodeid: &str, events: &mut Vec<TestEvent>) {
    events.push(TestEvent::Started {
        nodeid: nodeid.to_owned(),
        worker: None,
    });
}

/// pytest's lists, read.
struct Lists {
    timings: Timings,
    table: Table,
    summary: Summary,
    /// The summary names as many tests as pytest counted.
    sound: bool,
}

impl Lists {
    fn read(session: &Session, tail: &Tail, said: &Counts) -> Self {
        let timings = tail
            .durations
            .as_ref()
            .map(|list| Timings::parse(&list.lines))
            .unwrap_or_default();
        let table = session.names.table(timings.order.iter().map(String::as_str));
        let lines = tail.summary.as_ref().map_or(&[][..], |list| &list.lines);
        let mut summary = Summary::parse(lines, &table);
        summary.learn_words(said);
        let sound = summary.is_sound() && said.differs_from(&summary.count()).is_none();
        Self {
            // Without the list of nodeids no test's line can be told from a collector's.
            sound: sound && (!timings.is_empty() || session.progress.rows.is_empty()),
            timings,
            table,
            summary,
        }
    }
}

/// The nodeid of each progress row, `None` where it cannot be told.
fn resolve(session: &Session, lists: &Lists) -> Vec<Option<String>> {
    let nodeid = |row: &Row| {
        let listed = lists.table.nodeid(&row.id).or_else(|| {
            let text = row.hidden_id.as_deref()?;
            Some(lists.table.leading(text)?.0).or_else(|| longest_start(text, &lists.timings))
        });
        match listed {
            Some(nodeid) => Some(nodeid.to_owned()),
            None if row.id.is_empty() || !lists.table.is_empty() && !row.exact => None,
            None => Some(session.names.nodeid(&row.id)),
        }
    };
    session.progress.rows.iter().map(nodeid).collect()
}

/// The longest nodeid that a text begins with, whatever follows.
fn longest_start<'a>(text: &str, timings: &'a Timings) -> Option<&'a str> {
    let fits = timings
        .order
        .iter()
        .filter(|nodeid| text.starts_with(nodeid.as_str()));
    fits.max_by_key(|nodeid| nodeid.len()).map(String::as_str)
}

/// Rows by the progress lines if those add up, else by the summary if that does.
fn text_books(
    session: &Session,
    lists: &Lists,
    rows: &[Option<String>],
    said: &Counts,
    settled: &mut Settled,
) -> Vec<Book> {
    let live = live_count(session, lists, said);
    let exact = session
        .progress
        .rows
        .iter()
        .all(|row| row.exact && !row.unknown_word);
    let live_difference = said.differs_from(&live);
    if exact && live_difference.is_none() {
        let books = live_books(session, rows, |_| true);
        if lists.sound {
            check_summary(lists, &books, settled);
        }
        return books;
    }
    if lists.sound {
        return summary_books(session, lists, rows);
    }
    let read = live_difference.unwrap_or_else(|| "progress lines that could not be read".to_owned());
    settled
        .contradictions
        .push(format!("pytest's last line counts {read}"));
    live_books(session, rows, |row| !row.unknown_word)
}

/// Verdicts in the progress lines by pytest's categories, with what happened during collection, where no line shows it.
fn live_count(session: &Session, lists: &Lists, said: &Counts) -> Counts {
    let mut counts = Counts::default();
    for row in &session.progress.rows {
        for word in &row.words {
            if let Word::Is(outcome) = word {
                counts.add(category(*outcome));
            }
        }
        for (_, outcome) in row
            .parts
            .iter()
            .filter(|(_, outcome)| *outcome != Outcome::Passed)
        {
            counts.add(category(*outcome));
        }
    }
    match session.collected.filter(|_| !session.progress.distributed) {
        Some(collected) => {
            counts.add_many("error", collected.errors);
            counts.add_many("skipped", collected.skipped);
        }
        // xdist does not say how many collectors failed or were skipped.
        None => {
            counts.add_many("error", lists.summary.collectors().count() as u64);
            let missing = said
                .of(Outcome::Skipped)
                .saturating_sub(counts.of(Outcome::Skipped));
            let listed: u64 = lists.summary.skips.iter().map(|skips| skips.count).sum();
            counts.add_many("skipped", missing.min(listed));
        }
    }
    counts
}

fn live_books(session: &Session, rows: &[Option<String>], take: impl Fn(&Row) -> bool) -> Vec<Book> {
    let mut books: Vec<Book> = Vec::with_capacity(rows.len());
    for (place, nodeid) in rows.iter().enumerate() {
        let row = &session.progress.rows[place];
        let Some(nodeid) = nodeid.as_ref().filter(|_| take(row)) else {
            continue;
        };
        if let Some(result) = session::result(row, nodeid) {
            books.push(Book {
                result,
                row: Some(place),
            });
        }
    }
    books
}

/// One row for each test that ran: listed under an outcome, or else skipped.
fn summary_books(session: &Session, lists: &Lists, rows: &[Option<String>]) -> Vec<Book> {
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
    let place_of: HashMap<&str, usize> = rows
        .iter()
        .enumerate()
        .filter_map(|(place, nodeid)| Some((nodeid.as_deref()?, place)))
        .collect();
    let mut order: Vec<&str> = rows.iter().flatten().map(String::as_str).collect();
    order.extend(lists.timings.order.iter().map(String::as_str));
    let mut seen = HashSet::new();
    order.retain(|nodeid| lists.timings.get(nodeid).is_some() && seen.insert(*nodeid));
    let book = |nodeid: &str| {
        let place = place_of.get(nodeid).copied();
        let mut row = listed.remove(nodeid).unwrap_or_default();
        if row.words.is_empty() {
            row.words.push(Word::Is(Outcome::Skipped));
        }
        if let Some(live) = place.map(|place| &session.progress.rows[place]) {
            row.worker.clone_from(&live.worker);
            row.reason.clone_from(&live.reason);
            row.words
                .extend(live.words.iter().filter(|word| **word == Word::Rerun));
            if live.parts.len() > row.parts.len() {
                row.parts.clone_from(&live.parts);
            }
        }
        Some(Book {
            result: session::result(&row, nodeid)?,
            row: place,
        })
    };
    order.into_iter().filter_map(book).collect()
}

/// `SUBFAILED[step] (n=1)` without its word.
fn part(text: &str) -> String {
    let start = text.find(['[', '(']).unwrap_or(0);
    let end = text.rfind([']', ')']).map_or(text.len(), |at| at + 1);
    text.get(start..end).unwrap_or(text).to_owned()
}

/// Rows from a source that names every test exactly. The text only adds what that source does not say.
fn exact_books(
    exact: Exact,
    rows: &[Option<String>],
    session: &Session,
    events: &mut Vec<TestEvent>,
) -> Vec<Book> {
    let places: HashMap<&str, usize> = rows
        .iter()
        .enumerate()
        .filter_map(|(place, nodeid)| Some((nodeid.as_deref()?, place)))
        .collect();
    events.extend(exact.collection_errors.into_iter().map(TestEvent::CollectFailed));
    let book = |mut result: TestResult| {
        let row = places.get(result.nodeid.as_str()).copied();
        if let Some(live) =
            row.and_then(|place| session::result(&session.progress.rows[place], &result.nodeid))
        {
            if result.outcome == live.outcome {
                result.fill_from(&live);
            }
            result.attempt = result.attempt.max(live.attempt);
        }
        Book { result, row }
    };
    exact.results.into_iter().map(book).collect()
}

/// Nothing that went out may be missing from the books, or stand there with another outcome.
fn check_sent(session: &Session, books: &[Book], settled: &mut Settled) {
    let known: HashMap<&str, Outcome> = books
        .iter()
        .map(|book| (book.result.nodeid.as_str(), book.result.outcome))
        .collect();
    let mut wrong: Vec<String> = session
        .sent
        .iter()
        .filter_map(|(nodeid, sent)| match known.get(nodeid.as_str()) {
            Some(outcome) if outcome == sent => None,
            Some(outcome) => Some(format!(
                "{nodeid} was {sent} while the tests ran and is {outcome} at the end"
            )),
            None => Some(format!(
                "{nodeid} was {sent} while the tests ran and is not listed at the end"
            )),
        })
        .collect();
    wrong.sort();
    settled.contradictions.extend(few(wrong));
}

fn check_summary(lists: &Lists, books: &[Book], settled: &mut Settled) {
    let mut listed: HashMap<&str, Vec<Word>> = HashMap::new();
    for entry in &lists.summary.entries {
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
            Outcome::Skipped => words.is_empty(),
            Outcome::Failed => words
                .iter()
                .any(|w| matches!(w, Word::Is(Outcome::Failed) | Word::Sub(Outcome::Failed))),
            outcome => words.contains(&Word::Is(outcome)),
        };
        (!agrees).then(|| {
            format!(
                "{} was read as {outcome}, and pytest's summary does not say so",
                book.result.nodeid
            )
        })
    });
    settled.contradictions.extend(few(wrong.collect()));
}

fn check_timings(timings: &Timings, books: &[Book], settled: &mut Settled) {
    let known: HashSet<&str> = books.iter().map(|book| book.result.nodeid.as_str()).collect();
    let missing = timings
        .order
        .iter()
        .filter(|nodeid| !known.contains(nodeid.as_str()));
    let missing = missing.map(|nodeid| format!("{nodeid} ran, and no verdict of it was read"));
    let unknown = known.iter().filter(|nodeid| timings.get(nodeid).is_none());
    let unknown = unknown.map(|nodeid| format!("{nodeid} was read, and is not among the tests that ran"));
    let mut wrong: Vec<String> = missing.chain(unknown).collect();
    wrong.sort();
    settled.contradictions.extend(few(wrong));
}

/// The first few of many sentences of one kind.
fn few(mut sentences: Vec<String>) -> Vec<String> {
    const SAID: usize = 3;
    if sentences.len() > SAID {
        let more = sentences.len() - SAID;
        sentences.truncate(SAID);
        sentences.push(format!("and {more} more"));
    }
    sentences
}

/// The reports that have a block of their own in the ERRORS and FAILURES sections, in pytest's order.
struct Reports {
    /// As the summary prints them: `tests/test_x.py`, perhaps with a message.
    collectors: Vec<String>,
    errors: Vec<String>,
    failures: Vec<(String, Option<String>)>,
}

impl Reports {
    fn of(lists: &Lists, rows: &[Option<String>], session: &Session, said: &Counts) -> Self {
        if !lists.sound && said.differs_from(&live_count(session, lists, said)).is_none() {
            return Self::live(lists, rows, session);
        }
        let mut reports = Self::collectors(lists);
        for entry in &lists.summary.entries {
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

    fn collectors(lists: &Lists) -> Self {
        Self {
            collectors: lists
                .summary
                .collectors()
                .map(|entry| entry.text.clone())
                .collect(),
            errors: Vec::new(),
            failures: Vec::new(),
        }
    }

    fn live(lists: &Lists, rows: &[Option<String>], session: &Session) -> Self {
        let mut reports = Self::collectors(lists);
        for (row, nodeid) in session.progress.rows.iter().zip(rows) {
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

fn add_reasons(books: &mut [Book], lists: &Lists) {
    let mut messages: HashMap<&str, &str> = HashMap::new();
    for entry in &lists.summary.entries {
        let listed = matches!(entry.word, Some(Word::Is(Outcome::Xfailed | Outcome::Xpassed)));
        if let (true, Some(nodeid), Some(message)) = (listed, &entry.nodeid, &entry.message) {
            messages.insert(nodeid, message.strip_prefix("reason: ").unwrap_or(message));
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
            Outcome::Skipped if result.message.is_none() => {
                let file = result.nodeid.split("::").next().unwrap_or_default();
                result.message = skip_reason(file, &lists.summary);
            }
            _ => {}
        }
    }
}

/// The reason of a skip whose progress line had no room for it, if only one is possible.
fn skip_reason(file: &str, summary: &Summary) -> Option<String> {
    let mut reasons = summary
        .skips
        .iter()
        .filter(|skips| file.ends_with(&skips.path))
        .map(|skips| &skips.reason);
    let first = reasons.next()?;
    (!first.is_empty() && reasons.all(|other| other == first)).then(|| first.clone())
}

fn add_durations(books: &mut [Book], session: &Session, timings: &Timings) {
    for book in books {
        let reran = book
            .row
            .is_some_and(|place| session.progress.rows[place].words.contains(&Word::Rerun));
        // The list does not say which durations belong to which attempt.
        if let Some(timing) = timings.get(&book.result.nodeid).filter(|_| !reran) {
            book.result.duration_s = book.result.duration_s.or(Some(timing.total()));
        }
    }
}

fn add_failures(books: &mut [Book], reports: &Reports, tail: &Tail) {
    let place_of: HashMap<String, usize> = books
        .iter()
        .enumerate()
        .map(|(place, book)| (book.result.nodeid.clone(), place))
        .collect();
    let failures = failures::find(&tail.text, "FAILURES", &wanted_failures(reports));
    for ((nodeid, part), block) in reports.failures.iter().zip(failures) {
        if let (Some(&place), Some(block)) = (place_of.get(nodeid), block) {
            add_block(&mut books[place].result, Phase::Call, part.as_deref(), block);
        }
    }
    let errors = failures::find(&tail.text, "ERRORS", &wanted_errors(reports));
    for (nodeid, block) in reports
        .errors
        .iter()
        .zip(errors.into_iter().skip(reports.collectors.len()))
    {
        if let (Some(&place), Some(block)) = (place_of.get(nodeid), block) {
            let phase = if block.title.starts_with("ERROR at teardown of ") {
                Phase::Teardown
            } else {
                Phase::Setup
            };
            add_block(&mut books[place].result, phase, None, block);
        }
    }
    books.iter_mut().for_each(|book| join_messages(&mut book.result));
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
        let text = text.split("::").next().unwrap_or(text);
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
        let titled = titles
            .iter()
            .flat_map(|title| phases.map(|phase| format!("ERROR at {phase} of {title}")));
        Wanted {
            titles: titled.collect(),
        }
    };
    reports
        .collectors
        .iter()
        .map(collector)
        .chain(reports.errors.iter().map(test))
        .collect()
}

fn add_block(result: &mut TestResult, phase: Phase, part: Option<&str>, block: Block) {
    let message = failures::message(&block.text);
    if let Some(part) = part
        && let Some(subtest) = result
            .subtests
            .iter_mut()
            .find(|s| s.description == part && s.message.is_none())
    {
        let subtest: &mut Subtest = subtest;
        subtest.message = Some(message.clone());
    }
    if let Some(captured) = block.captured
        && !result
            .output
            .as_ref()
            .is_some_and(|known| known.contains(&captured))
    {
        let output = result.output.get_or_insert_default();
        if !output.is_empty() {
            output.push('\n');
        }
        output.push_str(&captured);
    }
    if block.text.is_empty() || result.failures.iter().any(|known| known.text == block.text) {
        return;
    }
    let location: Option<Location> = failures::location(&block.text);
    result.failures.push(Failure {
        phase,
        summary: message.lines().next().map(str::to_owned),
        text: block.text,
        location,
    });
}

/// What went wrong in a row that has no message of its own: all its failures.
fn join_messages(result: &mut TestResult) {
    if result.message.is_none() && !result.failures.is_empty() {
        result.failures.sort_by_key(|failure| failure.phase);
        let messages: Vec<String> = result
            .failures
            .iter()
            .map(|failure| failures::message(&failure.text))
            .collect();
        result.message = Some(messages.join("\n"));
    }
}

fn collectors(reports: &Reports, session: &Session, tail: &Tail, events: &mut Vec<TestEvent>) {
    let blocks = failures::find(&tail.text, "ERRORS", &wanted_errors(reports));
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
            nodeid: session.names.nodeid(id),
            message,
            location,
        }));
    }
}

/// Files that skip themselves have no progress line. The summary names the place of the skip, not the collector: a
/// place in a file without tests is taken for it, if that adds up.
fn skipped_files(
    session: &Session,
    lists: &Lists,
    books: &[Book],
    said: &Counts,
    events: &mut Vec<TestEvent>,
) {
    let count = match session.collected.filter(|_| !session.progress.distributed) {
        Some(collected) => collected.skipped,
        None => said
            .of(Outcome::Skipped)
            .saturating_sub(skipped_tests(session, books)),
    };
    if count == 0 {
        return;
    }
    let files: HashSet<&str> = books
        .iter()
        .filter_map(|book| book.result.nodeid.split("::").next())
        .collect();
    let whole: Vec<(String, &Skips)> = lists
        .summary
        .skips
        .iter()
        .map(|skips| (session.names.nodeid(&skips.path), skips))
        .filter(|(nodeid, _)| !files.contains(nodeid.as_str()))
        .collect();
    if whole.iter().map(|(_, skips)| skips.count).sum::<u64>() != count {
        events.push(TestEvent::Warning {
            message: format!("files or classes skipped as a whole during collection, not told which by pytest's text: {count}"),
        });
        return;
    }
    for (nodeid, skips) in whole {
        let mut result = TestResult::new(nodeid, Outcome::Skipped);
        result.phase = Some(Phase::Collect);
        result.message = Some(skips.reason.clone()).filter(|reason| !reason.is_empty());
        events.push(TestEvent::Finished(Box::new(result)));
    }
}

/// Skips that tests (and their parts) reported.
fn skipped_tests(session: &Session, books: &[Book]) -> u64 {
    let skips = |book: &Book| match book.row.map(|place| &session.progress.rows[place]) {
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

fn send(session: &mut Session, books: Vec<Book>, events: &mut Vec<TestEvent>) {
    for Book { result, row } in books {
        match session.sent.get(&result.nodeid) {
            Some(outcome) if *outcome == result.outcome => events.push(TestEvent::Detailed(Box::new(result))),
            // A contradiction, already told: the first verdict stands.
            Some(_) => {}
            None => {
                if let Some(row) = row.map(|place| &session.progress.rows[place]) {
                    session::reruns(row, &result.nodeid, events);
                }
                session.sent.insert(result.nodeid.clone(), result.outcome);
                events.push(TestEvent::Finished(Box::new(result)));
            }
        }
    }
}
