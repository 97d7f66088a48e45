//! pytest's lists, read, and what they say of the progress lines.

use runner_core::model::Outcome;

use crate::text::counts::{Counts, category};
use crate::text::entries::{Summary, Timings};
use crate::text::names::Table;
use crate::text::row::Row;
use crate::text::session::Session;
use crate::text::tail::Tail;
use crate::text::word::Word;

/// pytest's lists, read.
pub(super) struct Lists {
    pub(super) timings: Timings,
    pub(super) table: Table,
    pub(super) summary: Summary,
    /// The summary names as many tests as pytest counted.
    pub(super) sound: bool,
    /// A plug-in uses pytest's words for other outcomes, or has outcomes of its own: no progress line is believed.
    pub(super) misused: bool,
}

impl Lists {
    /// Takes the lists out of the tail.
    pub(super) fn read(session: &Session, tail: &mut Tail, said: &Counts) -> Self {
        let mut timings = tail.durations.take().unwrap_or_default();
        timings.end();
        let table = session.names.table(&timings.order);
        let lines = tail.summary.take().map_or_else(Vec::new, |list| list.lines);
        let mut summary = Summary::parse(&lines, &table);
        let misused = summary.learn_words(said) || said.foreign().is_some();
        let sound = summary.is_sound() && said.differs_from(&summary.count()).is_none();
        Self {
            // Without the list of nodeids no test's line can be told from a collector's.
            sound: sound && (!timings.is_empty() || session.progress.rows.is_empty()),
            timings,
            table,
            summary,
            misused,
        }
    }
}

/// The nodeid of each progress row, `None` where it cannot be told.
pub(super) fn resolve(session: &Session, lists: &Lists) -> Vec<Option<String>> {
    let nodeid = |row: &Row| {
        let listed = lists.table.nodeid(&row.id).or_else(|| {
            let text = row.hidden_id.as_deref()?;
            Some(lists.table.leading(text)?.0).or_else(|| longest_start(text, &lists.timings))
        });
        match listed {
            Some(nodeid) => Some(nodeid.to_owned()),
            None if row.id.is_empty() => None,
            // All tests are listed: this is none of them, or could be two.
            None if !lists.table.is_empty() && (!row.exact || !session.names.certain(&row.id)) => None,
            None => Some(session.names.nodeid(&row.id)),
        }
    };
    session.progress.rows.iter().map(nodeid).collect()
}

/// The longest nodeid that a text begins with, whatever follows.
fn longest_start<'a>(text: &str, timings: &'a Timings) -> Option<&'a str> {
    let ids = timings.order.iter().map(|nodeid| &**nodeid);
    ids.filter(|nodeid| text.starts_with(nodeid))
        .max_by_key(|nodeid| nodeid.len())
}

/// Verdicts in the progress lines by pytest's categories, with what happened during collection as far as its own line
/// tells.
pub(super) fn spoken(session: &Session) -> Counts {
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
    if let Some(collected) = session.collected.filter(|_| !session.progress.distributed) {
        counts.add_many("error", collected.errors);
        counts.add_many("skipped", collected.skipped);
    }
    counts
}

/// The same, with what only the lists tell of the collection.
pub(super) fn live_count(session: &Session, lists: &Lists, said: &Counts) -> Counts {
    let mut counts = spoken(session);
    if session.collected.is_none() || session.progress.distributed {
        // xdist does not say how many collectors failed or were skipped.
        counts.add_many("error", lists.summary.collectors(Outcome::Error).count() as u64);
        let missing = said
            .of(Outcome::Skipped)
            .saturating_sub(counts.of(Outcome::Skipped));
        let listed = lists.summary.count().of(Outcome::Skipped);
        counts.add_many("skipped", missing.min(listed));
    }
    counts
}
