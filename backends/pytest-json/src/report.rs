//! The report of pytest-json-report, read tolerantly: other plug-ins and the project's own hooks may change its words
//! and leave parts out.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use pytest_base::text::Exact;
use runner_core::model::{CollectionError, Failure, Location, Outcome, Phase, TestResult};
use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Value};

const UNREADABLE: &str = "holds tests in a shape that cannot be read";

type Object = Map<String, Value>;

/// Reads a report. The error is the end of a sentence that begins with the report ("is not JSON").
pub(crate) fn read(bytes: &[u8]) -> Result<Exact, String> {
    // A list would be taken for the fields of a report in their order.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(UNREADABLE.to_owned());
    }
    let report: Report = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Eof => "is cut short".to_owned(),
        Category::Data => UNREADABLE.to_owned(),
        Category::Syntax | Category::Io => format!("is not JSON ({error})"),
    })?;
    let tests = report
        .tests
        .ok_or("holds no tests (a summary only, or changed by a hook of the project)")?;
    let mut exact = Exact {
        exit_code: report
            .exitcode
            .and_then(|code| i32::try_from(code.as_i64()?).ok()),
        ..Exact::default()
    };
    for test in tests.0 {
        if !test.sure {
            exact.unsure.insert(test.result.nodeid.clone());
        }
        exact.results.push(test.result);
    }
    add_collectors(report.collectors.unwrap_or_default(), &mut exact);
    Ok(exact)
}

/// The parts that are read. Each entry is taken in as it comes: a large report never stands in memory as JSON.
#[derive(serde::Deserialize)]
struct Report {
    exitcode: Option<Value>,
    tests: Option<Entries<Test>>,
    collectors: Option<Entries<Collector>>,
}

struct Entries<T>(Vec<T>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// What is kept of one entry of a list.
trait Entry: Sized {
    /// `Ok(None)`: nothing to keep. The error stands for an entry that cannot be left out.
    fn read(entry: &Value) -> Result<Option<Self>, &'static str>;
}

impl<'de, T: Entry> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T>(PhantomData<T>);

impl<'de, T: Entry> Visitor<'de> for EntriesVisitor<T> {
    type Value = Entries<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element::<Value>()? {
            entries.extend(T::read(&entry).map_err(A::Error::custom)?);
        }
        Ok(Entries(entries))
    }
}

/// One entry of `tests`.
struct Test {
    result: Box<TestResult>,
    /// Whether its outcome has only one reading.
    sure: bool,
}

impl Entry for Test {
    fn read(entry: &Value) -> Result<Option<Self>, &'static str> {
        let test = entry.as_object().ok_or(UNREADABLE)?;
        if Stages::of(test).unfinished() {
            return Ok(None);
        }
        Self::of(test).map(Some).ok_or(UNREADABLE)
    }
}

impl Test {
    fn of(test: &Object) -> Option<Self> {
        let nodeid = test.get("nodeid")?.as_str()?;
        let stages = Stages::of(test);
        let (outcome, sure) = stages.outcome(test.get("outcome").and_then(Value::as_str))?;
        let mut result = Box::new(TestResult::new(nodeid, outcome));
        result.duration_s = stages.duration();
        match outcome {
            Outcome::Failed | Outcome::Error => {
                result.failures = stages.failures();
                let texts: Vec<&str> = result
                    .failures
                    .iter()
                    .map(|failure| failure.text.as_str())
                    .collect();
                result.message = Some(texts.join("\n\n")).filter(|text| !text.is_empty());
            }
            Outcome::Skipped if stages.ended("skipped").next().is_none() => {
                result.message = Some(pytest_base::text::NEVER_CALLED.to_owned());
            }
            Outcome::Skipped => result.message = stages.skip_reason(),
            Outcome::Passed | Outcome::Xfailed | Outcome::Xpassed => {}
        }
        Some(Self { result, sure })
    }
}

/// The stages of a test: set-up, call, teardown, and `???` for a worker that died.
struct Stages<'a>(Vec<(Phase, &'a Object)>);

impl<'a> Stages<'a> {
    fn of(test: &'a Object) -> Self {
        let stages = test.iter().filter_map(|(name, value)| {
            let stage = value.as_object().filter(|stage| stage.contains_key("outcome"))?;
            let phase = match name.as_str() {
                "setup" => Phase::Setup,
                "teardown" => Phase::Teardown,
                "metadata" => return None,
                _ => Phase::Call,
            };
            Some((phase, stage))
        });
        let mut stages: Vec<_> = stages.collect();
        stages.sort_by_key(|(phase, _)| *phase);
        Self(stages)
    }

    fn ended(&self, outcome: &str) -> impl Iterator<Item = &(Phase, &'a Object)> {
        self.0
            .iter()
            .filter(move |(_, stage)| stage["outcome"] == outcome)
    }

    fn passed(&self, phase: Phase) -> bool {
        let mut stages = self.ended("passed");
        stages.any(|(own, _)| *own == phase)
    }

    /// Only set up and torn down (`--setup-only`).
    fn never_called(&self) -> bool {
        let has = |phase| self.0.iter().any(|(own, _)| *own == phase);
        has(Phase::Setup) && has(Phase::Teardown) && !has(Phase::Call)
    }

    /// No outcome can be told: set up and never called (the run was interrupted), or ended with a plug-in's own word for
    /// a stage.
    fn unfinished(&self) -> bool {
        match self.0.as_slice() {
            [] => false,
            [(Phase::Setup, stage)] if stage["outcome"] == "passed" => true,
            _ => {
                let ended = self.ended("failed").chain(self.ended("skipped")).next().is_some();
                !ended && !self.passed(Phase::Call) && !self.never_called()
            }
        }
    }

    /// Stages tell what passed and failed, the test's own word what was expected; that word is any plug-in's.
    fn outcome(&self, word: Option<&str>) -> Option<(Outcome, bool)> {
        let failed: BTreeSet<Phase> = self.ended("failed").map(|(phase, _)| *phase).collect();
        if failed.contains(&Phase::Call) {
            return Some((Outcome::Failed, true));
        }
        if !failed.is_empty() {
            return Some((Outcome::Error, true));
        }
        if self.0.is_empty() {
            return word.and_then(by_word);
        }
        if self.never_called() && self.passed(Phase::Setup) {
            return Some((Outcome::Skipped, true));
        }
        let called = self.passed(Phase::Call);
        let skipped = !called && self.ended("skipped").next().is_some();
        Some(match (word, skipped) {
            // Only its parts failed, or so a plug-in says.
            (Some("failed"), _) => (Outcome::Failed, false),
            (Some("xfailed"), true) => (Outcome::Xfailed, true),
            (Some("xpassed"), false) => (Outcome::Xpassed, true),
            (Some("skipped"), true) => (Outcome::Skipped, true),
            (Some("passed"), false) => (Outcome::Passed, true),
            (_, true) => (Outcome::Skipped, false),
            // Its teardown failed as expected; most likely by a mark of the test, which then passed unexpectedly.
            (Some("xfailed"), false) => (Outcome::Xpassed, false),
            (_, false) => (Outcome::Passed, false),
        })
    }

    fn duration(&self) -> Option<f64> {
        let each: Vec<f64> = self
            .0
            .iter()
            .filter_map(|(_, stage)| stage.get("duration")?.as_f64())
            .collect();
        (!each.is_empty()).then(|| each.iter().sum())
    }

    fn failures(&self) -> Vec<Failure> {
        let failure = |(phase, stage): &(Phase, &Object)| {
            let text = text(stage.get("longrepr")?);
            let crash = stage.get("crash").and_then(Value::as_object);
            let message = crash.and_then(|crash| crash.get("message")?.as_str());
            Some(Failure {
                phase: *phase,
                summary: message.unwrap_or(&text).lines().next().map(str::to_owned),
                location: crash.and_then(location),
                text,
            })
        };
        self.ended("failed").filter_map(failure).collect()
    }

    fn skip_reason(&self) -> Option<String> {
        let (_, stage) = self.ended("skipped").next()?;
        let reason = skip_reason(&text(stage.get("longrepr")?));
        (!reason.is_empty()).then_some(reason)
    }
}

fn by_word(word: &str) -> Option<(Outcome, bool)> {
    let outcome = Outcome::ALL
        .into_iter()
        .find(|outcome| outcome.as_str() == word)?;
    Some((outcome, false))
}

fn location(crash: &Object) -> Option<Location> {
    Some(Location {
        file: crash.get("path")?.as_str()?.to_owned(),
        line: crash
            .get("lineno")
            .and_then(Value::as_u64)
            .and_then(|line| u32::try_from(line).ok()),
    })
}

/// A text, or (after a hook) anything in JSON.
fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), |text| text.trim_matches('\n').to_owned())
}

/// The plug-in writes a skip as Python shows a tuple: `('a.py', 3, 'Skipped: why')`.
fn skip_reason(longrepr: &str) -> String {
    let inner = longrepr
        .strip_prefix("('")
        .and_then(|rest| rest.strip_suffix(')'));
    let Some(inner) = inner else {
        return longrepr.to_owned();
    };
    let mut quoted = [", '", ", \""].iter().filter_map(|start| {
        let (before, after) = inner.split_once(&format!("{start}Skipped"))?;
        let reason = after.strip_suffix(&start[2..])?;
        before
            .rsplit_once(", ")?
            .1
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then_some(reason)
    });
    let Some(reason) = quoted.next_back() else {
        return longrepr.to_owned();
    };
    unescape(reason.strip_prefix(": ").unwrap_or(reason))
}

/// Takes back the escapes that Python's `repr` of a string is most likely to hold.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (char, chars.clone().next()) {
            ('\\', Some(next @ ('\\' | '\'' | '"'))) => {
                chars.next();
                plain.push(next);
            }
            ('\\', Some('n')) => {
                chars.next();
                plain.push('\n');
            }
            ('\\', Some('t')) => {
                chars.next();
                plain.push('\t');
            }
            _ => plain.push(char),
        }
    }
    plain
}

/// A collector that failed, or a file that skipped itself.
struct Collector {
    nodeid: String,
    failed: bool,
    longrepr: String,
}

impl Entry for Collector {
    fn read(entry: &Value) -> Result<Option<Self>, &'static str> {
        let text_of = |name: &str| entry.get(name).and_then(Value::as_str);
        let failed = match text_of("outcome") {
            Some("failed") => true,
            Some("skipped") => false,
            _ => return Ok(None),
        };
        Ok(text_of("nodeid").map(|nodeid| Self {
            // The root folder itself: its conftest files, in older releases.
            nodeid: if nodeid.is_empty() { "." } else { nodeid }.to_owned(),
            failed,
            longrepr: entry.get("longrepr").map(text).unwrap_or_default(),
        }))
    }
}

fn add_collectors(collectors: Entries<Collector>, exact: &mut Exact) {
    let mut seen = BTreeSet::new();
    for collector in collectors.0 {
        // Every xdist worker collects for itself.
        if !seen.insert(collector.nodeid.clone()) {
            continue;
        }
        if collector.failed {
            exact.collection_errors.push(CollectionError {
                nodeid: collector.nodeid,
                location: pytest_base::text::location(&collector.longrepr),
                summary: pytest_base::text::summary(&collector.longrepr),
                message: collector.longrepr,
            });
        } else {
            let mut row = TestResult::new(collector.nodeid, Outcome::Skipped);
            row.phase = Some(Phase::Collect);
            row.message = Some(skip_reason(&collector.longrepr)).filter(|reason| !reason.is_empty());
            exact.results.push(Box::new(row));
        }
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
