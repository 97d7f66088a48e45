//! pytest's two lists behind the last test: every duration by nodeid, and the short summary by outcome.

use std::collections::HashMap;
use std::sync::Arc;

use runner_core::model::Outcome;

use super::counts::{Counts, category};
use super::names::Table;
use super::word::{self, Word};

/// What the list of durations says of one test.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Timing {
    setup: f64,
    /// The longest call: sub-tests are reported as calls of their own, inside the test's.
    call: f64,
    teardown: f64,
    /// How often its call was reported, sub-tests included.
    calls: u32,
    /// Its teardown was reported.
    torn_down: bool,
    /// How often its set-up was reported, as that of every test that began is.
    setups: u32,
}

impl Timing {
    /// How often it ran: more than once where it was run again, or selected twice. A plug-in (flaky) that keeps the
    /// calls of its failed tries to itself is seen by its set-ups.
    pub(crate) fn runs(&self) -> u32 {
        if self.calls == 0 {
            self.setups
        } else {
            self.setups.min(self.calls)
        }
    }

    /// A test that was interrupted has a set-up only.
    pub(crate) fn ended(&self) -> bool {
        self.calls > 0 || self.torn_down
    }

    /// Set up and torn down (`--setup-only`), or skipped or failed in its set-up.
    pub(crate) fn never_called(&self) -> bool {
        self.torn_down && self.calls == 0
    }

    /// Whether the two are parts of one test's: no phase stands in both, and only one was set up.
    fn lacks(&self, other: &Self) -> bool {
        let both = |one: bool, two: bool| one && two;
        (self.setups > 0) != (other.setups > 0)
            && !both(self.calls > 0, other.calls > 0)
            && !both(self.torn_down, other.torn_down)
    }

    fn add(&mut self, other: &Self) {
        self.setup += other.setup;
        self.call = self.call.max(other.call);
        self.teardown += other.teardown;
        self.setups += other.setups;
        self.calls += other.calls;
        self.torn_down |= other.torn_down;
    }

    /// Seconds, to a hundredth for each phase.
    pub(crate) fn total(&self) -> f64 {
        let sum = self.setup + self.call + self.teardown;
        (sum * 100.0).round() / 100.0
    }
}

/// All tests that ran, by nodeid. The only place in pytest's text where nodeids stand verbatim.
#[derive(Debug, Default)]
pub(crate) struct Timings {
    pub(crate) order: Vec<Arc<str>>,
    of: HashMap<Arc<str>, Timing>,
    /// The last line: an id with a line end in it goes on in the next one.
    open: Option<(f64, Span, String)>,
    /// Lines behind it: the rest of its id, or (behind the last line of the list) something else.
    behind: Vec<String>,
}

/// More lines are not one nodeid.
const ID_LINES: usize = 100;

/// What a duration is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    Setup,
    /// Also what a plug-in reports under a name of its own.
    Call,
    Teardown,
}

impl Timings {
    /// Takes in a line of the list.
    pub(crate) fn line(&mut self, line: &str) {
        if let Some(timing) = timing(line) {
            let behind = std::mem::take(&mut self.behind);
            self.add(behind.len(), &behind);
            self.open = Some(timing);
        } else if self.open.is_some() && self.behind.len() < ID_LINES {
            self.behind.push(line.to_owned());
        }
    }

    /// Takes in the last line. How much of what stands behind it belongs to its id is known if the test has a duration
    /// further up.
    pub(crate) fn close(&mut self) {
        let behind = std::mem::take(&mut self.behind);
        let Some((.., first)) = &self.open else { return };
        let mut nodeid = first.clone();
        let mut known = Some(0).filter(|_| self.of.contains_key(first.as_str()));
        for (place, line) in behind.iter().enumerate() {
            nodeid = format!("{nodeid}\n{line}");
            if self.of.contains_key(nodeid.as_str()) {
                known = Some(place + 1);
            }
        }
        let filled = behind
            .iter()
            .rposition(|line| !line.is_empty())
            .map_or(0, |at| at + 1);
        self.add(known.unwrap_or(filled), &behind);
    }

    /// Takes in the line that is open, with so many of the lines behind it.
    fn add(&mut self, lines: usize, behind: &[String]) {
        let Some((seconds, span, mut nodeid)) = self.open.take() else {
            return;
        };
        for line in &behind[..lines] {
            nodeid.push('\n');
            nodeid.push_str(line);
        }
        let nodeid = nodeid.as_str();
        if !self.of.contains_key(nodeid) {
            let nodeid: Arc<str> = nodeid.into();
            self.order.push(Arc::clone(&nodeid));
            self.of.insert(nodeid, Timing::default());
        }
        let timing = self.of.get_mut(nodeid).expect("it was just put there");
        match span {
            Span::Setup => {
                timing.setup += seconds;
                timing.setups += 1;
            }
            Span::Teardown => {
                timing.teardown += seconds;
                timing.torn_down = true;
            }
            Span::Call => {
                timing.call = timing.call.max(seconds);
                timing.calls += 1;
            }
        }
    }

    /// Takes in the last line, and gives back to a test what a line printed into the list took from it: an id with a
    /// line end that lacks just the phases that the id before that line end has.
    pub(crate) fn end(&mut self) {
        self.close();
        let torn: Vec<Arc<str>> = self
            .order
            .iter()
            .filter(|id| id.contains('\n'))
            .cloned()
            .collect();
        for nodeid in torn {
            let timing = self.of[&nodeid];
            let mut ends = nodeid.match_indices('\n').map(|(at, _)| &nodeid[..at]);
            let whole = ends.rfind(|start| self.of.get(*start).is_some_and(|whole| whole.lacks(&timing)));
            if let Some(whole) = whole.and_then(|start| self.of.get_mut(start)) {
                whole.add(&timing);
                self.of.remove(&nodeid);
            }
        }
        self.order.retain(|nodeid| self.of.contains_key(nodeid));
    }

    pub(crate) fn get(&self, nodeid: &str) -> Option<&Timing> {
        self.of.get(nodeid)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Tests that began and were interrupted.
    pub(crate) fn interrupted(&self) -> impl Iterator<Item = &str> {
        let ids = self.order.iter().map(|nodeid| &**nodeid);
        ids.filter(|nodeid| !self.of[*nodeid].ended())
    }
}

/// `0.01s setup    a.py::t`: seconds, phase in a field of eight, nodeid.
fn timing(line: &str) -> Option<(f64, Span, String)> {
    let (seconds, rest) = line.split_once("s ")?;
    let (whole, part) = seconds.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) {
        return None;
    }
    let span = match rest.get(..8)?.trim_end() {
        "setup" => Span::Setup,
        "teardown" => Span::Teardown,
        _ => Span::Call,
    };
    let nodeid = rest.get(9..)?;
    let fits = rest.as_bytes()[8] == b' ' && !nodeid.is_empty();
    fits.then_some((seconds.parse().ok()?, span, nodeid.to_owned()))
}

/// One line of the short summary that names a test or a collector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// `None`: a plug-in's word.
    pub(crate) word: Option<Word>,
    /// Of a test that ran. `None` for a collector that failed, or (`--no-fold-skipped`) that skipped itself.
    pub(crate) nodeid: Option<String>,
    /// A collector's line behind the word; the words in front of a part's id.
    pub(crate) text: String,
    pub(crate) message: Option<String>,
}

/// A line `SKIPPED [2] a.py:7: why`: several tests skipped at one place. With `--no-fold-skipped` every skipped test has
/// an [`Entry`] of its own instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skips {
    pub(crate) count: u64,
    pub(crate) path: String,
    pub(crate) reason: String,
}

#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) entries: Vec<Entry>,
    pub(crate) skips: Vec<Skips>,
}

impl Summary {
    pub(crate) fn parse(lines: &[String], table: &Table) -> Self {
        let mut summary = Self::default();
        let mut next = 0;
        while let Some(line) = lines.get(next) {
            next += 1;
            let more = table.goes_on(line, &lines[next..]);
            if more > 0 {
                let whole = lines[next - 1..next + more].join("\n");
                summary.entries.extend(entry(&whole, table));
                next += more;
            } else if let Some(skips) = skips(line) {
                summary.skips.push(skips);
            } else if let Some(entry) = entry(line, table) {
                summary.entries.push(entry);
            } else if let Some(last) = summary.entries.last_mut() {
                // Messages of several lines (where `CI` is set), and older releases' reasons.
                let message = last.message.get_or_insert_default();
                if !message.is_empty() {
                    message.push('\n');
                }
                message.push_str(line.strip_prefix("  ").unwrap_or(line));
            }
        }
        if !summary.skips.is_empty() {
            // Then no collector has a line of its own; this was one of a reason's.
            let skipped = Some(Word::Is(Outcome::Skipped));
            summary
                .entries
                .retain(|entry| entry.nodeid.is_some() || entry.word != skipped);
        }
        summary
    }

    /// Gives words their meaning, also where a plug-in uses pytest's own words for something else. pytest lists passed
    /// tests first, then skipped (unless folded), xfailed, xpassed, errors, failed: so the place of a line tells its
    /// outcome, if there are as many lines as pytest counted. Returns whether one of pytest's words stood for something
    /// else.
    pub(crate) fn learn_words(&mut self, said: &Counts) -> bool {
        const ORDER: [Outcome; 6] = [
            Outcome::Passed,
            Outcome::Skipped,
            Outcome::Xfailed,
            Outcome::Xpassed,
            Outcome::Error,
            Outcome::Failed,
        ];
        let folded = !self.skips.is_empty();
        let order = ORDER
            .into_iter()
            .filter(|outcome| !folded || *outcome != Outcome::Skipped);
        let total: u64 = order.clone().map(|outcome| said.of(outcome)).sum();
        if total != self.entries.len() as u64 {
            return false;
        }
        let places = order.flat_map(|outcome| (0..said.of(outcome)).map(move |_| outcome));
        let mut misused = false;
        for (entry, outcome) in self.entries.iter_mut().zip(places) {
            let word = *entry.word.get_or_insert(Word::Is(outcome));
            if word != Word::Is(outcome) && word != Word::Sub(outcome) {
                misused = true;
                entry.word = Some(Word::Is(outcome));
            }
        }
        misused
    }

    pub(crate) fn count(&self) -> Counts {
        let mut counts = Counts::default();
        for entry in &self.entries {
            match entry.word {
                Some(Word::Is(outcome)) => counts.add(category(outcome)),
                Some(Word::Sub(outcome)) if outcome != Outcome::Passed => counts.add(category(outcome)),
                Some(Word::Sub(_) | Word::Rerun) | None => {}
            }
        }
        counts.add_many("skipped", self.folded());
        counts
    }

    /// How many skips stand in lines that name no test.
    pub(crate) fn folded(&self) -> u64 {
        self.skips.iter().map(|skips| skips.count).sum()
    }

    /// Every line names a test that ran, or is a collector's error.
    pub(crate) fn is_sound(&self) -> bool {
        self.entries.iter().all(|entry| match entry.word {
            Some(Word::Is(Outcome::Error | Outcome::Skipped)) => true,
            Some(_) => entry.nodeid.is_some(),
            None => false,
        })
    }

    /// Collectors that failed, or that skipped themselves, in order.
    pub(crate) fn collectors(&self, outcome: Outcome) -> impl Iterator<Item = &Entry> {
        let word = Some(Word::Is(outcome));
        self.entries
            .iter()
            .filter(move |entry| entry.nodeid.is_none() && entry.word == word)
    }
}

fn entry(line: &str, table: &Table) -> Option<Entry> {
    match word::leading(line) {
        Some((word @ Word::Is(_), rest)) => {
            let rest = after_phase(rest);
            if let Some(entry) = known(Some(word), rest, table) {
                return Some(entry);
            }
            let collector = matches!(word, Word::Is(Outcome::Error | Outcome::Skipped));
            (collector && !table.is_ambiguous(rest)).then(|| Entry {
                word: Some(word),
                nodeid: None,
                text: rest.to_owned(),
                message: None,
            })
        }
        Some((word, _)) => inside(line, Some(word), table),
        None => {
            let word = word::sub_anywhere(line).map(Word::Sub);
            inside(line, word, table)
        }
    }
}

/// `XFAIL at setup of ID`.
fn after_phase(rest: &str) -> &str {
    ["at setup of ", "at teardown of ", "at call of "]
        .iter()
        .find_map(|phase| rest.strip_prefix(phase))
        .unwrap_or(rest)
}

fn known(word: Option<Word>, text: &str, table: &Table) -> Option<Entry> {
    let (nodeid, rest) = table.leading(text)?;
    let message = rest.strip_prefix(" - ").or_else(|| rest.strip_prefix(' '));
    Some(Entry {
        word,
        nodeid: Some(nodeid.to_owned()),
        text: String::new(),
        message: message.filter(|text| !text.is_empty()).map(str::to_owned),
    })
}

/// A known id behind a word of several words, or behind a plug-in's own.
fn inside(line: &str, word: Option<Word>, table: &Table) -> Option<Entry> {
    const WORDS: usize = 64;
    if line.starts_with(' ') {
        return None;
    }
    let mut starts = line.match_indices(' ').map(|(at, _)| at + 1).take(WORDS);
    starts.find_map(|start| {
        let entry = known(word, &line[start..], table)?;
        let text = line[..start].trim_end().to_owned();
        Some(Entry { text, ..entry })
    })
}

/// `WORD [3] path:line: reason`. The word is that of the first skip in the list, whatever the others were.
fn skips(line: &str) -> Option<Skips> {
    let words = line.match_indices(" [").find_map(|(at, _)| {
        let rest = &line[at + 2..];
        let (count, rest) = rest.split_once("] ")?;
        let digits = !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| Some((at, count.parse::<u64>().ok()?, rest)))?
    });
    let (at, count, rest) = words?;
    let word = &line[..at];
    let skipped = word == "SKIPPED" || word.starts_with("SUBSKIP") || word.ends_with("SUBSKIP");
    if !skipped && (word.contains("::") || word.starts_with(' ') || word::leading(line).is_some()) {
        return None;
    }
    let (place, reason) = rest
        .split_once(": ")
        .or_else(|| Some((rest.strip_suffix(':')?, "")))?;
    let (path, number) = place.rsplit_once(':').unwrap_or((place, "0"));
    let path = if number.bytes().all(|b| b.is_ascii_digit()) {
        path
    } else {
        place
    };
    Some(Skips {
        count,
        path: path.to_owned(),
        reason: reason.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> Timings {
        let mut timings = Timings::default();
        lines.lines().for_each(|line| timings.line(line));
        timings.end();
        timings
    }

    #[test]
    fn a_line_printed_into_the_list_of_durations_is_no_tests_name() {
        let timings = read(
            "0.03s call     a.py::t[x]\n0.02s setup    a.py::t[x]\n0.01s teardown a.py::t[x]\nnoise\n0.00s setup    a.py::u",
        );
        assert_eq!(timings.order, ["a.py::t[x]".into(), "a.py::u".into()]);
        assert!((timings.get("a.py::t[x]").unwrap().total() - 0.06).abs() < 1e-9);
    }

    #[test]
    fn ids_with_line_ends_are_names_beside_those_they_begin_with() {
        let test = |id: &str| format!("0.00s setup    {id}\n0.00s call     {id}\n0.00s teardown {id}\n");
        let timings = read(&(test("a.py::t[x") + &test("a.py::t[x\ny]")));
        assert_eq!(timings.order, ["a.py::t[x".into(), "a.py::t[x\ny]".into()]);
    }
}
