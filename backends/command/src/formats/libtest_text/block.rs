//! What one test binary prints from `running 4 tests` to `test result: …`.
//!
//! Tests may print anything in between, lines of libtest's shape included (a test of a test runner does). So the end is
//! believed only if its figures are those of the rows, and the list of failures in front of it names exactly those that
//! failed; the output of a failed test is taken as text, whatever it looks like.

use std::collections::BTreeMap;

use runner_core::model::Outcome;

use super::{ReportItem, Unit, fields};

/// One test's line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) outcome: Outcome,
    /// What it printed, or why it was ignored.
    pub(super) text: Option<String>,
}

pub(super) struct Block {
    pub(super) announced: usize,
    pub(super) rows: Vec<Row>,
    /// Tests that are known to run and have no line yet.
    pub(super) begun: Vec<String>,
    /// Lines after the first `failures:`.
    rest: Vec<String>,
    in_failures: bool,
    /// `test name ... ` with something else behind it than an outcome: a test's print; the outcome is still to come.
    open: Option<String>,
    end: Option<Counts>,
    /// How many lines of `rest` are before the end.
    ended_at: usize,
}

/// `ok. 2 passed; 1 failed; 0 ignored; 0 measured; …`
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counts {
    text: String,
    passed: usize,
    failed: usize,
    ignored: usize,
    measured: usize,
}

impl Block {
    pub(super) fn new(announced: usize) -> Self {
        Self {
            announced,
            rows: Vec::new(),
            begun: Vec::new(),
            rest: Vec::new(),
            in_failures: false,
            open: None,
            end: None,
            ended_at: 0,
        }
    }

    pub(super) fn ended(&self) -> bool {
        self.end.is_some()
    }

    pub(super) fn is_complete(&self) -> bool {
        self.rows.len() >= self.announced
    }

    pub(super) fn line(&mut self, line: &str, said: &mut Vec<ReportItem>, unit: Option<&Unit>) {
        // Nothing but the output of a failed test can follow.
        if self.ended() && !self.in_failures {
            return;
        }
        if let Some(counts) = line.strip_prefix("test result: ").and_then(Counts::parse)
            && self.is_end(&counts)
        {
            self.end = Some(counts);
            self.ended_at = self.rest.len();
            self.rest.push(line.to_owned());
        } else if self.in_failures {
            self.rest.push(line.to_owned());
        } else if line == "failures:" && self.is_complete() {
            self.in_failures = true;
        } else if let Some(name) = is_slow(line) {
            said.push(ReportItem::Started(fields(unit, name)));
            self.begun.push(name.to_owned());
        } else {
            self.row(line);
        }
    }

    fn row(&mut self, line: &str) {
        if let Some(row) = row(line) {
            self.begun.retain(|name| *name != row.name);
            self.open = None;
            self.rows.push(row);
        } else if let Some(row) = self
            .open
            .as_ref()
            .and_then(|name| row(&format!("test {name} ... {line}")))
        {
            // One thread: the name, then what the test prints past libtest, then the outcome.
            self.open = None;
            self.begun.retain(|name| *name != row.name);
            self.rows.push(row);
        } else if let Some((name, _)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
        {
            let name = without_mode(name);
            self.begun.push(name.to_owned());
            self.open = Some(name.to_owned());
        }
    }

    /// Whether this is the binary's own last line: its figures are as many as were announced, and the list of failures
    /// in front of it has as many names. A test that printed a row of its own does not hide the end.
    fn is_end(&self, counts: &Counts) -> bool {
        let all = counts.passed + counts.failed + counts.ignored + counts.measured;
        if all != self.announced || self.rows.len() < self.announced {
            return false;
        }
        // Figures that contradict the rows are an end all the same, and a reason not to believe them.
        if !self.in_failures {
            return true;
        }
        let listed = self.listed();
        let is_row = |name: &&str| self.rows.iter().any(|row| row.name == **name);
        listed.len() == counts.failed && listed.iter().all(is_row)
    }

    /// The names in the list of failures that ends the text so far.
    fn listed(&self) -> Vec<&str> {
        let mut lines = self.rest.iter().rev().skip_while(|line| line.is_empty());
        let names: Vec<&str> = lines
            .by_ref()
            .map_while(|line| line.strip_prefix("    "))
            .collect();
        // `map_while` took the line after the names: the heading.
        let heading = self
            .rest
            .iter()
            .rev()
            .skip_while(|line| line.is_empty())
            .nth(names.len());
        if heading.is_some_and(|line| line == "failures:") {
            names
        } else {
            Vec::new()
        }
    }

    /// Why the rows cannot be believed, though the binary came to its end.
    pub(super) fn doubt(&self) -> Option<String> {
        let counts = self.end.as_ref()?;
        let count = |wanted: fn(Outcome) -> bool| self.rows.iter().filter(|row| wanted(row.outcome)).count();
        let told = (
            count(|outcome| outcome == Outcome::Passed),
            count(Outcome::is_bad),
            count(|outcome| outcome == Outcome::Skipped),
        );
        (told != (counts.passed + counts.measured, counts.failed, counts.ignored)).then(|| {
            format!(
                "does not add up: {} tests were announced, {} were told of (a test may have printed such a line itself), and the end says: {}",
                self.announced,
                self.rows.len(),
                counts.text
            )
        })
    }

    /// The rows, with the texts of those that failed.
    pub(super) fn finish(mut self) -> Vec<Row> {
        if self.end.is_some() {
            self.rest.truncate(self.ended_at);
        }
        let mut texts = self.texts();
        for row in self.rows.iter_mut().filter(|row| row.outcome.is_bad()) {
            row.text = texts.remove(&row.name);
        }
        self.rows
    }

    /// What failed tests printed. A section begins with the name of one that failed, and each has one.
    fn texts(&self) -> BTreeMap<String, String> {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        let mut section: Option<String> = None;
        let listed = self.listed().len();
        let end = if listed == 0 {
            self.rest.len()
        } else {
            self.end_of_texts(listed)
        };
        for line in &self.rest[..end] {
            let name = self.section(line).filter(|name| !texts.contains_key(*name));
            if let Some(name) = name {
                section = Some(name.to_owned());
                texts.insert(name.to_owned(), String::new());
            } else if let Some(text) = section.as_ref().and_then(|name| texts.get_mut(name)) {
                text.push_str(line);
                text.push('\n');
            }
        }
        texts
    }

    /// Where the last list of failures begins.
    fn end_of_texts(&self, listed: usize) -> usize {
        let blanks = self.rest.iter().rev().take_while(|line| line.is_empty()).count();
        self.rest.len().saturating_sub(blanks + listed + 1)
    }

    /// `---- name stdout ----`; `---- name ----` of harnesses that do as libtest does.
    fn section<'a>(&self, line: &'a str) -> Option<&'a str> {
        let name = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
        let name = name.strip_suffix(" stdout").unwrap_or(name);
        let failed = |row: &Row| row.name == name && row.outcome.is_bad();
        self.rows.iter().any(failed).then_some(name)
    }
}

impl Counts {
    fn parse(text: &str) -> Option<Self> {
        let of = |word: &str| {
            let mut parts = text.split(['.', ';']);
            let part = parts.find_map(|part| part.trim().strip_suffix(word))?;
            part.trim().parse().ok()
        };
        Some(Self {
            passed: of(" passed")?,
            failed: of(" failed")?,
            ignored: of(" ignored")?,
            measured: of(" measured").unwrap_or_default(),
            text: text.to_owned(),
        })
    }
}

/// `test m::hangs has been running for over 60 seconds`
fn is_slow(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("test ")?.strip_suffix(" seconds")?;
    rest.split_once(" has been running for over ")
        .map(|(name, _)| name)
}

/// `test tests::adds ... ok`
fn row(line: &str) -> Option<Row> {
    let (name, word) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let word = word.split(" <").next().unwrap_or(word);
    let (outcome, text) = match word.split_once(", ") {
        Some(("ignored", why)) => (Outcome::Skipped, Some(why.to_owned())),
        _ if word.starts_with("bench: ") => (Outcome::Passed, None),
        _ => match word {
            "ok" => (Outcome::Passed, None),
            "FAILED" => (Outcome::Failed, None),
            "ignored" => (Outcome::Skipped, None),
            _ => return None,
        },
    };
    let name = without_mode(name).to_owned();
    Some(Row { name, outcome, text })
}

/// A name without what libtest and rustdoc say of how the test is run.
fn without_mode(name: &str) -> &str {
    let modes = [" - should panic", " - compile fail", " - compile"];
    modes
        .iter()
        .find_map(|mode| name.strip_suffix(mode))
        .unwrap_or(name)
}
