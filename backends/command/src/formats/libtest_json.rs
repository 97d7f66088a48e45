//! `libtest-json`: the lines of libtest's JSON, as cargo nextest writes them too (0.9.64 to 0.9.143).
//!
//! nextest's names are `package::binary$test`, with `#2` behind the second try of a test and `@stress-0` behind the
//! binary in a stress run. Which kind of binary it is, only the head of each suite says (`libtest-json-plus`). A test that
//! was still running when nextest was told to stop is told of as failed: what nextest prints beside it, on standard error,
//! says which those are.

mod beside;
mod stress;

use runner_core::model::{Outcome, TestResult};
use serde::Deserialize;

use self::beside::{Beside, How};
use self::stress::Stress;
use super::row::{add_failure, bad, result, seconds};
use super::rustc::Diagnostics;
use super::{LineReader, ReportItem, json};
use crate::cargo::binary_name;
use crate::id::Fields;

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    event: Option<String>,
    #[serde(default)]
    name: String,
    exec_time: Option<f64>,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    ignored: usize,
    nextest: Option<Suite>,
}

/// Which binary the lines up to the suite's end are of.
#[derive(Clone, PartialEq, Eq, Deserialize)]
struct Suite {
    #[serde(rename = "crate")]
    package: String,
    test_binary: String,
    kind: String,
}

/// A failed test whose text does not say why, until standard error has.
struct Held {
    fields: Fields,
    row: Box<TestResult>,
}

#[derive(Default)]
pub(super) struct LibtestJson {
    suites_begun: u64,
    suites_ended: u64,
    /// Those of which tests were told; the lines of several go on side by side.
    suites: Vec<Suite>,
    /// Results of tests that two binaries of one name have.
    alike: Vec<(String, Box<TestResult>)>,
    /// As the suites' ends count them.
    ignored: usize,
    /// Of which so many were told of by name.
    told_ignored: usize,
    ignored_names: Vec<String>,
    running: Vec<String>,
    finished: usize,
    held: Vec<Held>,
    stress: Stress,
    beside: Beside,
    diagnostics: Diagnostics,
}

impl LineReader for LibtestJson {
    fn line(&mut self, line: &str, said: &mut Vec<ReportItem>) {
        // Other lines are the tests' own prints.
        let Ok(line) = json::from_str::<Line>(line) else {
            return;
        };
        let event = line.event.as_deref().unwrap_or_default();
        match (line.kind.as_str(), event) {
            ("suite", "started") => {
                self.suites_begun += 1;
                if let Some(suite) = line.nextest {
                    // The one that began last is the last one.
                    self.suites.retain(|known| *known != suite);
                    self.suites.push(suite);
                }
            }
            ("suite", "ok" | "failed") => {
                self.suites_ended += 1;
                self.ignored += line.ignored;
            }
            ("test", "started") => {
                let mut fields = self.fields(&line.name);
                let binary = fields.suite.split("@stress-").next().map_or(0, str::len);
                fields.suite.truncate(binary);
                said.push(ReportItem::Started(fields));
                self.running.push(line.name);
            }
            ("test", "ok" | "failed" | "ignored" | "timeout" | "allowed_failure") => {
                self.finish(&line, event, said);
            }
            _ => {}
        }
    }

    fn aside(&mut self, line: &str, said: &mut Vec<ReportItem>) {
        self.diagnostics.line(line);
        if self.beside.line(line) {
            self.release(said);
        }
    }

    fn end(&mut self, said: &mut Vec<ReportItem>) -> Result<(), String> {
        self.beside.close();
        self.release(said);
        self.tell_alike(said);
        for Held { fields, row } in std::mem::take(&mut self.held) {
            // Told to stop, nextest ended it: it has no result, and stays unfinished.
            if !self.beside.was_stopped {
                self.tell(fields, row, said);
            }
        }
        self.stress.tell(said);
        if self.suites_begun == 0 {
            return Err(format!("tells of no test binary{}", self.diagnostics.why()));
        }
        self.diagnostics.tell(said);
        if self.suites_begun > self.suites_ended {
            return Err("stops before its end".to_owned());
        }
        // Nextest says that an ignored test started, and not always that it was ignored: only its suite counts it.
        if self.running.len() > self.ignored.saturating_sub(self.told_ignored) {
            return Err(format!("stops before the end of {}", self.running.join(", ")));
        }
        for name in std::mem::take(&mut self.running) {
            said.push(ReportItem::Finished(
                self.fields(&name),
                Box::new(result(Outcome::Skipped)),
            ));
        }
        self.beside.agrees(self.finished)
    }
}

impl LibtestJson {
    fn finish(&mut self, line: &Line, event: &str, said: &mut Vec<ReportItem>) {
        // A note that it takes long; its end is still to come.
        if event == "timeout" {
            return;
        }
        let (name, attempt) = self.begun(&line.name);
        if let Some(place) = self.running.iter().position(|running| *running == name) {
            self.running.swap_remove(place);
        }
        if event == "ignored" {
            self.told_ignored += 1;
            // A stress run says it anew each time, and without the number of the time.
            let is_it = |running: &String| without_stress(running) == name;
            self.running.retain(|running| !is_it(running));
            if self.ignored_names.contains(&name) {
                return;
            }
            self.ignored_names.push(name.clone());
        }
        self.finished += usize::from(event != "ignored");
        let row = Box::new(TestResult {
            attempt,
            ..row(line, event)
        });
        let called = name.split_once('$').map_or("", |(binary, _)| binary);
        if event != "ignored" && self.binaries(called).len() > 1 {
            self.alike.push((name, row));
            return;
        }
        let fields = self.fields(&name);
        // A panic says why; a silent end, or one with some output, may be nextest's own doing.
        if event == "failed" && line.reason.is_empty() && row.failures.iter().all(|one| one.summary.is_none())
        {
            self.held.push(Held { fields, row });
            self.release(said);
            return;
        }
        self.tell(fields, row, said);
    }

    /// The name under which a test began, and which try this is. A name may itself end like a try (`case #2`).
    fn begun(&self, name: &str) -> (String, u32) {
        if self.running.iter().any(|running| running == name) {
            return (name.to_owned(), 1);
        }
        let tries = name
            .rsplit_once('#')
            .and_then(|(name, number)| Some((name, number.parse().ok()?)));
        match tries {
            Some((base, number)) if number > 1 => (base.to_owned(), number),
            _ => (name.to_owned(), 1),
        }
    }

    /// Tells of those held back of which standard error has said how they ended.
    fn release(&mut self, said: &mut Vec<ReportItem>) {
        let mut held = std::mem::take(&mut self.held);
        held.retain_mut(|one| {
            let words = format!("{} {}", one.fields.suite, one.fields.name);
            let Some(How::Ended { reason }) = self.beside.how(&words) else {
                return true;
            };
            if let Some(reason) = reason {
                explain(&mut one.row, reason);
            }
            let fields = std::mem::take(&mut one.fields);
            let row = std::mem::replace(&mut one.row, Box::new(result(Outcome::Failed)));
            self.stress.take(fields, row, said);
            false
        });
        self.held.append(&mut held);
    }

    fn tell(&mut self, fields: Fields, row: Box<TestResult>, said: &mut Vec<ReportItem>) {
        self.stress.take(fields, row, said);
    }

    /// nextest's own names for a binary that its JSON calls `package::binary`: a library and a program may share that.
    fn binaries(&self, called: &str) -> Vec<String> {
        let of = |suite: &&Suite| called == format!("{}::{}", suite.package, suite.test_binary);
        let suites = self.suites.iter().filter(of);
        suites
            .map(|suite| binary_name(&suite.package, &suite.kind, &suite.test_binary))
            .collect()
    }

    /// Tells of tests that two binaries of one name have: which is which, standard error says by outcome and time.
    fn tell_alike(&mut self, said: &mut Vec<ReportItem>) {
        let mut taken: Vec<String> = Vec::new();
        for (name, row) in std::mem::take(&mut self.alike) {
            let (called, test) = name.split_once('$').unwrap_or(("", &name));
            let binaries = self
                .binaries(called)
                .into_iter()
                .map(|binary| format!("{binary} {test}"));
            let free: Vec<String> = binaries.filter(|words| !taken.contains(words)).collect();
            let fits = |words: &&String| self.beside.fits(words, row.outcome, row.duration_s);
            let Some(words) = free.iter().find(fits).or(free.first()).cloned() else {
                continue;
            };
            let fields = Fields {
                suite: words[..words.len() - test.len() - 1].to_owned(),
                name: test.to_owned(),
                ..Fields::default()
            };
            taken.push(words);
            self.tell(fields, row, said);
        }
    }

    /// `binary$path`, as nextest has it; a bare path, as libtest has it.
    fn fields(&self, name: &str) -> Fields {
        let (suite, name) = name.split_once('$').unwrap_or(("", name));
        let (binary, stress) = match suite.split_once("@stress-") {
            Some((binary, _)) => (binary, &suite[binary.len()..]),
            None => (suite, ""),
        };
        let binary = self.binaries(binary).pop().unwrap_or_else(|| binary.to_owned());
        Fields {
            // Taken off again when the rows of a stress run become one.
            suite: binary + stress,
            name: name.to_owned(),
            ..Fields::default()
        }
    }
}

fn row(line: &Line, event: &str) -> TestResult {
    let mut row = match event {
        "failed" => {
            let text = [line.message.as_str(), line.stdout.as_str()].join("\n");
            bad(Outcome::Failed, &text, panic_line(&text))
        }
        "ignored" => result(Outcome::Skipped),
        "allowed_failure" => result(Outcome::Xfailed),
        _ => result(Outcome::Passed),
    };
    if event == "failed" && line.reason == "time limit exceeded" {
        explain(&mut row, &line.reason);
    }
    if event == "ignored" && !line.message.is_empty() {
        row.message = Some(line.message.clone());
    }
    row.duration_s = line.exec_time.and_then(seconds);
    row
}

/// `shop::it$x` of `shop::it@stress-0$x`.
fn without_stress(name: &str) -> String {
    match name
        .split_once("@stress-")
        .and_then(|(binary, rest)| Some((binary, rest.split_once('$')?.1)))
    {
        Some((binary, test)) => format!("{binary}${test}"),
        None => name.to_owned(),
    }
}

/// Puts the reason in front of what the test printed.
fn explain(row: &mut TestResult, reason: &str) {
    let printed = row.message.take().unwrap_or_default();
    row.failures.clear();
    let text = if printed.is_empty() {
        reason.to_owned()
    } else {
        format!("{reason}\n{printed}")
    };
    add_failure(row, &text, Some(reason));
}

/// The line in which the panic says what went wrong.
pub(super) fn panic_line(text: &str) -> Option<&str> {
    let mut lines = text.lines();
    lines.find(|line| line.contains("panicked at"))?;
    lines.find(|line| !line.trim().is_empty())
}
