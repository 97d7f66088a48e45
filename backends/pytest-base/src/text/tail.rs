//! What pytest says after the last test: failures, durations, the short summary, why it stopped, and the counts.
//!
//! A test's captured print may hold the whole output of another pytest, so headings are not believed at first sight:
//! of each list the last one counts, since pytest prints its own behind all captured text.

use super::counts::Counts;
use super::entries::Timings;
use super::line;

/// Lines kept between two headings at the beginning, and at the end, of what stands there.
const HEAD_BYTES: usize = 128 * 1024;
const TAIL_BYTES: usize = 32 * 1024;

/// All that is kept of the failures' text. Beyond it every failure keeps a little of its beginning.
const TEXT_BYTES: usize = 64 * 1024 * 1024;
const SMALL_HEAD_BYTES: usize = 2 * 1024;

/// All that is kept of one list. A million tests with ids of 100 bytes need about as much.
const LIST_BYTES: usize = 256 * 1024 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// Everything up to the lists, bounded.
    pub(crate) text: Text,
    pub(crate) durations: Option<Timings>,
    pub(crate) summary: Option<List>,
    /// Titles of `!!!!` separators: why pytest stopped.
    pub(crate) stops: Vec<String>,
    pub(crate) counts: Option<Counts>,
    /// Lists in front of the last ones that ended with counts of their own: one of them may be pytest's, should
    /// something else print the like at the process's very end.
    earlier: Vec<Lists>,
    /// Verdicts followed behind counts: two sessions share the stream (a test forked and its child went on), so no
    /// lists but the last are believed.
    pub(crate) spoke_again: bool,
    into: Into,
}

/// One set of pytest's lists.
#[derive(Debug, Default)]
struct Lists {
    durations: Option<Timings>,
    summary: Option<List>,
    stops: Vec<String>,
    counts: Option<Counts>,
}

/// Sets of lists that are kept. Only a print of a whole tail makes one.
const EARLIER: usize = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Into {
    #[default]
    Text,
    Durations,
    Summary,
    /// A plug-in's list of counts in the place of pytest's last line.
    Results,
    /// Behind the lists.
    Rest,
}

/// Whether a line is a heading that only stands behind the last test.
pub(crate) fn begins(line: &str) -> bool {
    match line::separator(line) {
        Some(('=', title)) => heading(title),
        Some(('!', _)) => true,
        _ => false,
    }
}

fn heading(title: &str) -> bool {
    const TITLES: [&str; 9] = [
        "ERRORS",
        "FAILURES",
        "XFAILURES",
        "PASSES",
        "XPASSES",
        "warnings summary",
        "warnings summary (final)",
        "short test summary info",
        "slowest durations",
    ];
    TITLES.contains(&title) || Counts::parse(title).is_some()
}

impl Tail {
    pub(crate) fn line(&mut self, line: &str) {
        if let Some((mark, title)) = line::separator(line)
            && self.heading(mark, title)
        {
            self.text.heading(line);
            return;
        }
        match self.into {
            Into::Durations => {
                if let Some(list) = &mut self.durations {
                    list.line(line);
                }
            }
            Into::Summary => {
                if let Some(list) = &mut self.summary {
                    list.add(line);
                }
            }
            Into::Results => {
                if !self.counts.get_or_insert_default().add_line(line) {
                    self.into = Into::Rest;
                }
            }
            Into::Text | Into::Rest => {}
        }
        if line.starts_with("Results (") && line.ends_with("s):") {
            self.counts = None;
            self.into = Into::Results;
        }
        self.text.line(line);
    }

    /// Goes back to the last lists whose counts and durations `fit`, if there are any and the very last do not.
    pub(crate) fn go_back(&mut self, fit: impl Fn(&Counts, Option<&Timings>) -> bool) {
        let fits = |counts: Option<&Counts>, durations| counts.is_some_and(|counts| fit(counts, durations));
        if fits(self.counts.as_ref(), self.durations.as_ref()) {
            return;
        }
        let place = self
            .earlier
            .iter()
            .rposition(|lists| fits(lists.counts.as_ref(), lists.durations.as_ref()));
        let Some(place) = place else { return };
        let lists = self.earlier.swap_remove(place);
        (self.durations, self.summary) = (lists.durations, lists.summary);
        (self.stops, self.counts) = (lists.stops, lists.counts);
    }

    /// Another set of lists begins.
    fn put_aside(&mut self) {
        let lists = Lists {
            durations: self.durations.take(),
            summary: self.summary.take(),
            stops: std::mem::take(&mut self.stops),
            counts: self.counts.take(),
        };
        if self.earlier.len() == EARLIER {
            self.earlier.remove(0);
        }
        self.earlier.push(lists);
    }

    /// Returns false for a separator that is text of a list (a message of several lines).
    fn heading(&mut self, mark: char, title: &str) -> bool {
        match (mark, title) {
            ('=', "slowest durations") => {
                if self.counts.is_some() {
                    self.put_aside();
                }
                self.durations = Some(Timings::default());
                self.into = Into::Durations;
            }
            ('=', "short test summary info") => {
                if self.counts.is_some() {
                    self.put_aside();
                }
                self.summary = Some(List::default());
                self.stops.clear();
                self.into = Into::Summary;
            }
            ('=', title) if Counts::parse(title).is_some() => {
                if self.counts.is_some() {
                    self.put_aside();
                }
                self.counts = Counts::parse(title);
                self.into = Into::Rest;
            }
            ('!', title) => {
                self.stops.push(title.to_owned());
                if self.into == Into::Durations {
                    self.into = Into::Rest;
                }
            }
            ('=', _) => self.into = Into::Text,
            // A plug-in's own heading ends the durations; in the summary it can only be part of a message.
            ('-' | '_', _) if self.into == Into::Durations => self.into = Into::Text,
            _ => return self.into == Into::Text,
        }
        true
    }
}

/// The lines of one list, verbatim.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) lines: Vec<String>,
    bytes: usize,
}

impl List {
    fn add(&mut self, line: &str) {
        self.bytes += line.len() + 24;
        if self.bytes <= LIST_BYTES {
            self.lines.push(line.to_owned());
        }
    }
}

/// Text between headings, each stretch bounded: its beginning and its end.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) lines: Vec<String>,
    bytes: usize,
    head: usize,
    recent: std::collections::VecDeque<String>,
    recent_bytes: usize,
    dropped: usize,
}

impl Text {
    fn heading(&mut self, line: &str) {
        self.flush();
        self.keep(line.to_owned());
        self.head = 0;
    }

    fn line(&mut self, line: &str) {
        let limit = if self.bytes < TEXT_BYTES {
            HEAD_BYTES
        } else {
            SMALL_HEAD_BYTES
        };
        if self.head < limit {
            self.head += line.len() + 24;
            self.keep(cut(line));
            return;
        }
        self.recent_bytes += line.len();
        self.recent.push_back(cut(line));
        while self.recent_bytes > TAIL_BYTES {
            let Some(oldest) = self.recent.pop_front() else {
                break;
            };
            self.recent_bytes = self.recent_bytes.saturating_sub(oldest.len());
            self.dropped += 1;
        }
    }

    fn keep(&mut self, line: String) {
        self.bytes += line.len() + 24;
        self.lines.push(line);
    }

    /// Ends a stretch: its last lines follow its first ones.
    pub(crate) fn flush(&mut self) {
        if self.dropped > 0 {
            self.keep(format!("[... {} lines left out ...]", self.dropped));
        }
        for line in std::mem::take(&mut self.recent) {
            self.keep(line);
        }
        self.recent_bytes = 0;
        self.dropped = 0;
    }
}

/// One line of a stretch is no longer than the stretch.
fn cut(line: &str) -> String {
    let mut end = line.len().min(TAIL_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(text: &str) -> Tail {
        let mut tail = Tail::default();
        text.lines().for_each(|line| tail.line(line));
        tail.text.flush();
        tail
    }

    #[test]
    fn the_output_of_another_pytest_in_a_failures_text_is_replaced_by_the_runs_own() {
        let tail = tail(
            "\
=== FAILURES ===
___ test_outer ___
--- Captured stdout call ---
=== short test summary info ===
FAILED inner.py::test_inner
!!! stopping after 1 failures !!!
=== 1 failed in 0.01s ===
=== slowest durations ===
0.01s call     a.py::test_outer
=== short test summary info ===
FAILED a.py::test_outer
=== 1 failed, 2 passed in 0.20s ===",
        );
        assert_eq!(tail.summary.unwrap().lines, ["FAILED a.py::test_outer"]);
        let mut durations = tail.durations.unwrap();
        durations.close();
        assert_eq!(durations.order, ["a.py::test_outer".into()]);
        assert!(tail.stops.is_empty());
        assert_eq!(tail.counts, Counts::parse("1 failed, 2 passed in 0.20s"));
    }

    #[test]
    fn a_long_print_keeps_its_beginning_and_its_end() {
        let mut text = Text::default();
        text.heading("___ t ___");
        for number in 0..100_000 {
            text.line(&format!("line {number}"));
        }
        text.flush();
        assert_eq!(text.lines[1], "line 0");
        assert_eq!(text.lines.last().map(String::as_str), Some("line 99999"));
        assert!(
            text.lines
                .iter()
                .any(|line| line.ends_with("lines left out ...]"))
        );
        assert!(text.bytes < HEAD_BYTES * 2);
    }
}
