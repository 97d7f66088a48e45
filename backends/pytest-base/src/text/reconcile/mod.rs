//! Closing one session's books: pytest's lists against its counts, both against the rows that went out, and what the
//! lists add to the rows.

mod blocks;
mod check;
mod detail;
mod lists;
mod rows;

use std::collections::HashMap;

use runner_core::event::TestEvent;
use runner_core::model::{CollectionError, Outcome, Phase, TestResult};

use super::counts::Counts;
use super::entries::{Timing, Timings};
use super::exact::Exact;
use super::names;
use super::session::{self, Session};
use super::tail::Tail;
use lists::Lists;

/// A test with everything known about it.
struct Candidate {
    /// Boxed, because it goes through several lists on its way into its event.
    result: Box<TestResult>,
    /// Its progress lines, where there are any.
    row: Option<usize>,
}

/// Everything a session left, open for reading.
struct SessionOutput<'a> {
    session: &'a Session,
    tail: &'a Tail,
    lists: Lists,
    /// The nodeid of each progress row, `None` where it cannot be told.
    nodeids: Vec<Option<String>>,
    said: &'a Counts,
    /// What the progress lines add up to.
    live: Counts,
}

/// Something may print a whole tail of its own behind pytest's (at the process's end, say): then pytest's own lists are
/// those whose counts fit the progress lines.
pub(crate) fn find_lists(session: &mut Session) {
    let spoken = lists::spoken(session);
    let sent = &session.sent;
    let fits = |counts: &Counts, durations: Option<&Timings>| {
        let named = |durations: &Timings| sent.keys().all(|nodeid| durations.get(nodeid).is_some());
        counts.differs_from(&spoken).is_none() && durations.is_none_or(named)
    };
    if let Some(tail) = session
        .tail
        .as_mut()
        .filter(|tail| session.progress.counted() && !tail.spoke_again)
    {
        tail.go_back(fits);
    }
}

/// Settles a session that reached its line of counts. Returns where pytest contradicts itself or what was read: any
/// sentence makes the record cut.
pub(crate) fn complete(
    session: &mut Session,
    said: &Counts,
    exact: impl FnOnce() -> Option<Exact>,
    events: &mut Vec<TestEvent>,
) -> Vec<String> {
    let mut tail = session.tail.take().unwrap_or_default();
    session.progress.plain.close();
    dead_workers(session, events);
    let lists = Lists::read(session, &mut tail, said);
    let pages = SessionOutput {
        nodeids: lists::resolve(session, &lists),
        live: lists::live_count(session, &lists, said),
        session,
        tail: &tail,
        lists,
        said,
    };
    let (books, mut contradictions) = rows::from_text(&pages);
    contradictions.extend(check::all(&pages, &books));
    // Made again if needed: the two sources' rows never stand in memory together.
    let told = check::outcomes(&books);
    drop(books);
    let (mut books, collected) = match exact() {
        Some(exact) => choose(exact, &told, &pages, &mut contradictions, events),
        None => (rows::from_text(&pages).0, Vec::new()),
    };
    drop(told);
    detail::reasons(&mut books, &pages);
    detail::durations(&mut books, &pages);
    let reports = blocks::Reports::of(&pages);
    blocks::failures(&mut books, &reports, &tail);
    if collected.is_empty() {
        blocks::collectors(&reports, &pages, events);
    }
    events.extend(collected.into_iter().map(TestEvent::CollectFailed));
    events.push(counted(&books, &pages));
    detail::skipped_files(&books, &pages, events);
    let has_row = |nodeid: &str| books.iter().any(|book| book.result.nodeid == nodeid);
    for nodeid in pages
        .lists
        .timings
        .interrupted()
        .filter(|nodeid| !has_row(nodeid))
    {
        started(nodeid, events);
    }
    if contradictions.is_empty() {
        recount(session, &books, events);
    }
    let repeats = repeats(&books, &pages);
    send(session, books, events);
    events.extend(repeats);
    contradictions
}

/// Further results of tests that ran more than once without being run again: selected twice, or namesakes. Their lines
/// name the same test, so all they tell is that there were as many (the recording `twice`).
fn repeats(books: &[Candidate], pages: &SessionOutput<'_>) -> Vec<TestEvent> {
    let mut events = Vec::new();
    let again = ["rerun", "retried"].iter().any(|name| pages.said.get(name) > 0);
    for book in books {
        let runs = pages
            .lists
            .timings
            .get(&book.result.nodeid)
            .map_or(0, Timing::runs);
        let tries = match book.row {
            Some(place) => session::tries(&pages.session.progress.rows[place]) + 1,
            None if again => continue,
            None => 1,
        };
        // One more goes out if it is worse than what went out.
        let corrected = went_out_better(pages.session, &book.result);
        for _ in tries + u32::from(corrected)..runs {
            let mut result = TestResult::new(book.result.nodeid.clone(), book.result.outcome);
            result.worker.clone_from(&book.result.worker);
            events.push(TestEvent::Finished(Box::new(result)));
        }
    }
    events
}

/// By pytest's own counter every test ran. What it collected may be more: hooks take tests out without a word, and the
/// same test may be selected twice.
fn recount(session: &Session, books: &[Candidate], events: &mut Vec<TestEvent>) {
    let Some(collected) = session.collected.as_ref().filter(|_| session.progress.all_done()) else {
        return;
    };
    let tests = books.iter().filter(|book| book.result.is_test());
    let selected = tests.count() as u64;
    if selected != collected.items.saturating_sub(collected.deselected) {
        let deselected = collected.deselected;
        events.push(TestEvent::Counted { selected, deselected });
    }
}

/// Rows of the report file, unless pytest's own output agrees with itself twice over and disagrees with the file.
fn choose(
    exact: Exact,
    told: &HashMap<String, Outcome>,
    pages: &SessionOutput<'_>,
    contradictions: &mut Vec<String>,
    events: &mut Vec<TestEvent>,
) -> (Vec<Candidate>, Vec<CollectionError>) {
    // What contradicts itself decides nothing.
    let trusted = contradictions.is_empty();
    let (mut books, collected, undecided) = rows::from_exact(exact, pages, trusted.then_some(told));
    let mut wrong = check::exact(pages, &books, told);
    wrong.extend(check::number(&books, told).filter(|_| trusted));
    if trusted && !wrong.is_empty() {
        // Something else wrote the file, or a hook reshaped it (the recordings `reshaped…`): pytest's lines, lists and counts
        // agree with each other there, and the file with none of them.
        let message = format!(
            "the report file disagrees with what pytest printed, so rows are read from its output: {}",
            wrong.join("; ")
        );
        events.push(TestEvent::Warning { message });
        let books = worse(rows::from_text(pages).0, books);
        *contradictions = check::sent(pages.session, &books, |nodeid| check::correctable(pages, nodeid));
        return (books, Vec::new());
    }
    wrong.extend(undecided);
    let failed = books.iter().filter(|book| book.result.outcome == Outcome::Failed);
    let (failed, said) = (failed.count() as u64, pages.said.of(Outcome::Failed));
    // Parts of tests may have failed, which the file does not know of and the text could not be read for.
    let parts = !contradictions.is_empty() && failed < said;
    *contradictions = wrong;
    if parts {
        let confirmed = |book: &Candidate| book.row.is_some_and(|row| pages.session.progress.rows[row].exact);
        books.retain(|book| book.result.outcome.is_bad() || confirmed(book));
        contradictions.push(format!(
            "the report holds {failed} failed tests, and pytest counts {said} failures"
        ));
    }
    (books, collected)
}

/// Whether a row that is not bad went out for a test that is.
fn went_out_better(session: &Session, result: &TestResult) -> bool {
    let sent = session.sent.get(&result.nodeid);
    result.outcome.is_bad() && sent.is_some_and(|outcome| !outcome.is_bad())
}

/// The text's rows, but for failures that only the file tells, and skips that the text calls passes: a plug-in may print
/// any word for them (`pytest_report_teststatus`), where the file also holds what each phase came to.
fn worse(mut text_books: Vec<Candidate>, books: Vec<Candidate>) -> Vec<Candidate> {
    let less = |outcome: Outcome| outcome.is_bad() || outcome == Outcome::Skipped;
    let others = books.into_iter().filter(|book| less(book.result.outcome));
    let mut others: HashMap<String, Candidate> =
        others.map(|book| (book.result.nodeid.clone(), book)).collect();
    for book in text_books.iter_mut().filter(|book| !less(book.result.outcome)) {
        if let Some(other) = others.remove(&book.result.nodeid) {
            *book = other;
        }
    }
    text_books
}

/// Settles a session by a report file alone: its text has no line of counts (a plug-in replaced pytest's own).
/// Returns contradictions, as [`complete`] does.
pub(crate) fn exact_only(session: &mut Session, exact: Exact, events: &mut Vec<TestEvent>) -> Vec<String> {
    let unsure = exact.unsure;
    let book = |mut result: Box<TestResult>| {
        let sent = session.sent.get(&result.nodeid).copied();
        if let Some(sent) =
            sent.filter(|sent| unsure.contains(&result.nodeid) && rows::may_be(&result, *sent))
        {
            result.outcome = sent;
        }
        Candidate { result, row: None }
    };
    let books: Vec<Candidate> = exact.results.into_iter().map(book).collect();
    let contradictions = check::sent(session, &books, |_| false);
    events.extend(exact.collection_errors.into_iter().map(TestEvent::CollectFailed));
    send(session, books, events);
    contradictions
}

/// Settles a session that was cut: what is known goes out, what is not stays unfinished.
pub(crate) fn cut(session: &mut Session, events: &mut Vec<TestEvent>) {
    let torn = session.progress.plain.close();
    dead_workers(session, events);
    let plain = !session.progress.counted() && !session.progress.distributed;
    let rows = if plain {
        std::mem::take(&mut session.progress.plain.rows)
    } else {
        std::mem::take(&mut session.progress.rows)
    };
    let last = rows.len().saturating_sub(1);
    for (place, row) in rows.iter().enumerate() {
        let nodeid = session.names.nodeid(&row.id);
        let readable = !row.id.is_empty() && !names::is_garbled(&row.id);
        let Some(result) = session::result(row, &nodeid).filter(|_| readable) else {
            continue;
        };
        if session.sent.contains_key(&nodeid) {
            continue;
        }
        // No test began after the last verdict: the session was cut in the teardown behind it.
        let next = if plain {
            !torn
        } else {
            session.progress.distributed || !session.progress.running().is_empty()
        };
        let over = place < last || next;
        if over || session.tail.is_some() {
            session::reruns(row, &nodeid, events);
            events.push(TestEvent::Finished(Box::new(result)));
        } else {
            let phase = Phase::Teardown;
            started(&nodeid, events);
            events.push(TestEvent::Entered { nodeid, phase });
        }
    }
    let running = if plain {
        session.progress.plain.running().into_iter().collect()
    } else {
        session.progress.running()
    };
    if session.tail.is_none() {
        for id in running {
            started(&session.names.nodeid(id), events);
        }
    }
}

/// How many tests there were, now that more is known than what stood in front of them (or was printed there).
fn counted(books: &[Candidate], pages: &SessionOutput<'_>) -> TestEvent {
    let finished = books.iter().filter(|book| book.result.is_test()).count() as u64;
    let collected = pages.session.collected.unwrap_or_default();
    let selected = match pages.session.progress.total() {
        Some(total) => total,
        None if pages.tail.stops.is_empty() => finished,
        None => collected.items.saturating_sub(collected.deselected),
    };
    TestEvent::Counted {
        selected,
        deselected: pages.said.get("deselected"),
    }
}

fn dead_workers(session: &Session, events: &mut Vec<TestEvent>) {
    for worker in &session.progress.crashes {
        let message = format!("xdist worker {worker} died");
        events.push(TestEvent::Warning { message });
    }
}

fn started(nodeid: &str, events: &mut Vec<TestEvent>) {
    events.push(TestEvent::Started {
        nodeid: nodeid.to_owned(),
        worker: None,
    });
}

fn send(session: &mut Session, books: Vec<Candidate>, events: &mut Vec<TestEvent>) {
    for Candidate { result, row } in books {
        match session.sent.get(&result.nodeid) {
            Some(outcome) if *outcome == result.outcome => events.push(TestEvent::Detailed(result)),
            // A contradiction, already told: the worse verdict stands.
            Some(_) if went_out_better(session, &result) => {
                events.push(TestEvent::Finished(result));
            }
            Some(_) => {}
            None => {
                if let Some(row) = row.map(|place| &session.progress.rows[place]) {
                    session::reruns(row, &result.nodeid, events);
                }
                session.sent.insert(result.nodeid.clone(), result.outcome);
                events.push(TestEvent::Finished(result));
            }
        }
    }
}
