//! `junit`: JUnit XML in all its dialects. There is no one schema; what is common is read, in whatever place it stands.
//!
//! Document types and entities of a report's own are refused: nothing is expanded but XML's five names and numbers.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use runner_core::event::TestEvent;
use runner_core::model::{Attempt, CollectionError, Location, Outcome};

use super::ReportItem;
use super::row::{add_failure, result, seconds};
use crate::id::Fields;

/// Reads a whole report. What stands before a fault stays in `said`.
pub(super) fn read(bytes: &[u8], said: &mut Vec<ReportItem>) -> Result<(), String> {
    let mut reader = Reader::from_reader(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    let mut state = State::default();
    loop {
        let event = reader
            .read_event()
            .map_err(|error| format!("is no whole XML: {error}, at byte {}", reader.error_position()))?;
        match event {
            Event::Start(start) => state.open(&start),
            Event::Empty(start) => {
                state.open(&start);
                state.close(said);
            }
            Event::End(_) => state.close(said),
            Event::Text(text) => state.text(&unescaped(&text)),
            Event::CData(text) => state.text(&String::from_utf8_lossy(&text)),
            Event::GeneralRef(name) => state.text(&entity(&String::from_utf8_lossy(&name))),
            Event::DocType(_) => {
                return Err(
                    "has a document type declaration, which no report needs; it is refused".to_owned(),
                );
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
    if !state.open.is_empty() {
        return Err(format!(
            "is no whole XML: it stops inside <{}>",
            state.open.join("><")
        ));
    }
    if !state.any {
        return Err("holds no test suite".to_owned());
    }
    Ok(())
}

#[derive(Default)]
struct State {
    /// Names of the open elements.
    open: Vec<String>,
    suites: Vec<Suite>,
    case: Option<Case>,
    /// What an element below the case, or the suite, says.
    part: Option<Part>,
    /// Whether any element of the format was seen.
    any: bool,
}

struct Suite {
    name: String,
    file: String,
}

#[derive(Default)]
struct Case {
    fields: Fields,
    seconds: Option<f64>,
    line: Option<u32>,
    attempts: Vec<(Outcome, String)>,
    bad: Vec<(Outcome, String, String)>,
    other: Option<(Outcome, String)>,
    output: String,
}

struct Part {
    kind: String,
    type_name: String,
    message: String,
    text: String,
    depth: usize,
}

impl State {
    fn open(&mut self, start: &BytesStart<'_>) {
        let name = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
        self.open.push(name.clone());
        if self.part.is_some() {
            return;
        }
        match (name.as_str(), &self.case) {
            ("testsuites", None) => self.any = true,
            ("testsuite", None) => {
                self.any = true;
                self.suites.push(Suite {
                    name: attribute(start, "name").unwrap_or_default(),
                    file: attribute(start, "file")
                        .or_else(|| attribute(start, "filepath"))
                        .unwrap_or_default(),
                });
            }
            ("testcase", None) => {
                self.any = true;
                self.case = Some(self.new_case(start));
            }
            ("properties" | "property", _) => {}
            _ => {
                self.part = Some(Part {
                    kind: name,
                    type_name: attribute(start, "type").unwrap_or_default(),
                    message: attribute(start, "message").unwrap_or_default(),
                    text: String::new(),
                    depth: self.open.len(),
                });
            }
        }
    }

    fn new_case(&self, start: &BytesStart<'_>) -> Case {
        let file = attribute(start, "file").or_else(|| attribute(start, "filepath"));
        let named = |suite: &&Suite| !suite.file.is_empty();
        let file = file.or_else(|| {
            self.suites
                .iter()
                .rev()
                .find(named)
                .map(|suite| suite.file.clone())
        });
        let suites: Vec<&str> = self.suites.iter().map(|suite| suite.name.as_str()).collect();
        let mut case = Case {
            fields: Fields {
                file: file.unwrap_or_default(),
                classname: attribute(start, "classname").unwrap_or_default(),
                name: attribute(start, "name").unwrap_or_default(),
                suite: suites
                    .into_iter()
                    .filter(|name| !name.is_empty())
                    .collect::<Vec<_>>()
                    .join("::"),
            },
            seconds: attribute(start, "time").and_then(|time| number(&time)),
            line: attribute(start, "line").and_then(|line| line.trim().parse().ok()),
            ..Case::default()
        };
        for (name, outcome) in [("failure", Outcome::Failed), ("error", Outcome::Error)] {
            if let Some(message) = attribute(start, name) {
                case.bad.push((outcome, message, String::new()));
            }
        }
        if attribute(start, "status")
            .is_some_and(|status| matches!(&*status, "notrun" | "skipped" | "disabled"))
        {
            case.other = Some((Outcome::Skipped, String::new()));
        }
        case
    }

    fn text(&mut self, text: &str) {
        if let Some(part) = &mut self.part {
            part.text.push_str(text);
        }
    }

    fn close(&mut self, said: &mut Vec<ReportItem>) {
        if self
            .part
            .as_ref()
            .is_some_and(|part| part.depth == self.open.len())
        {
            let part = self.part.take().expect("it was just looked at");
            self.take(part, said);
            self.open.pop();
            return;
        }
        let Some(name) = self.open.pop() else {
            return;
        };
        if self.part.is_some() {
            return;
        }
        match name.as_str() {
            "testcase" => {
                if let Some(case) = self.case.take() {
                    said.push(case.said());
                }
            }
            "testsuite" if self.case.is_none() => {
                self.suites.pop();
            }
            _ => {}
        }
    }

    fn take(&mut self, part: Part, said: &mut Vec<ReportItem>) {
        let Some(case) = &mut self.case else {
            if matches!(part.kind.as_str(), "error" | "failure")
                && let Some(suite) = self.suites.last()
            {
                said.push(ReportItem::Exact(TestEvent::CollectFailed(CollectionError {
                    nodeid: suite.name.clone(),
                    message: joined(&part.message, &part.text),
                    summary: None,
                    location: None,
                })));
            }
            return;
        };
        match part.kind.as_str() {
            "failure" => case.add_bad(Outcome::Failed, part),
            "error" => case.add_bad(Outcome::Error, part),
            "skipped" | "disabled" | "ignored" => {
                let expected = part.type_name.ends_with("xfail");
                let outcome = if expected {
                    Outcome::Xfailed
                } else {
                    Outcome::Skipped
                };
                let message = if part.message == "true" {
                    String::new()
                } else {
                    part.message
                };
                case.other = Some((outcome, joined(&message, &part.text)));
            }
            "rerunFailure" | "flakyFailure" => {
                case.attempts
                    .push((Outcome::Failed, joined(&part.message, &part.text)));
            }
            "rerunError" | "flakyError" => {
                case.attempts
                    .push((Outcome::Error, joined(&part.message, &part.text)));
            }
            "system-out" | "system-err" => case.output.push_str(&part.text),
            _ => {}
        }
    }
}

impl Case {
    /// A failure that is an attribute too (node's dialect) is one failure.
    fn add_bad(&mut self, outcome: Outcome, part: Part) {
        self.bad
            .retain(|(_, message, text)| !(text.is_empty() && *message == part.message));
        self.bad.push((outcome, part.message, part.text));
    }

    fn said(self) -> ReportItem {
        let outcome = match (&self.bad.as_slice(), &self.other) {
            ([], None) => Outcome::Passed,
            ([], Some((outcome, _))) => *outcome,
            (bad, _) if bad.iter().any(|(outcome, ..)| *outcome == Outcome::Failed) => Outcome::Failed,
            _ => Outcome::Error,
        };
        let mut row = result(outcome);
        for (_, message, text) in &self.bad {
            add_failure(&mut row, &joined(message, text), Some(message));
        }
        if let ([], Some((_, why))) = (self.bad.as_slice(), self.other) {
            row.message = Some(why).filter(|why| !why.trim().is_empty());
        }
        row.duration_s = self.seconds;
        row.attempts = self
            .attempts
            .into_iter()
            .zip(1..)
            .map(|((outcome, message), attempt)| Attempt {
                attempt,
                outcome,
                duration_s: None,
                message: Some(message).filter(|message| !message.is_empty()),
            })
            .collect();
        row.attempt = row.attempts.len() as u32 + 1;
        if !self.fields.file.is_empty() {
            row.location = self.line.map(|line| Location {
                file: self.fields.file.clone(),
                line: Some(line),
            });
        }
        row.output = Some(self.output).filter(|output| outcome.is_bad() && !output.trim().is_empty());
        ReportItem::Finished(self.fields, Box::new(row))
    }
}

/// The message, and the text unless it says the same.
fn joined(message: &str, text: &str) -> String {
    let text = text.trim_matches(['\n', '\r']).trim_end();
    match (message.trim(), text.trim()) {
        (message, "") => message.to_owned(),
        ("", _) => text.to_owned(),
        (message, trimmed) if trimmed.contains(message) => text.to_owned(),
        (message, _) => format!("{message}\n{text}"),
    }
}

/// An attribute's text.
pub(crate) fn attribute(start: &BytesStart<'_>, wanted: &str) -> Option<String> {
    // Repeated or unquoted attributes are a fault of the tool's, and no reason to lose the row.
    let mut attributes = start.html_attributes();
    attributes
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref() == wanted.as_bytes())
        .map(|attribute| unescaped(&attribute.value))
}

/// Text with XML's own five names and numbers replaced.
fn unescaped(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    if !text.contains('&') {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let from = &rest[at + 1..];
        if let Some(end) = from.find(';').filter(|end| *end <= 10) {
            out.push_str(&entity(&from[..end]));
            rest = &from[end + 1..];
        } else {
            out.push('&');
            rest = from;
        }
    }
    out.push_str(rest);
    out
}

/// What `&name;` stands for; itself, if nothing.
fn entity(name: &str) -> String {
    let number = name
        .strip_prefix('#')
        .and_then(|digits| match digits.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        });
    match (name, number.and_then(char::from_u32)) {
        ("lt", _) => "<".to_owned(),
        ("gt", _) => ">".to_owned(),
        ("amp", _) => "&".to_owned(),
        ("quot", _) => "\"".to_owned(),
        ("apos", _) => "'".to_owned(),
        (_, Some(c)) => c.to_string(),
        _ => format!("&{name};"),
    }
}

/// Seconds as tools write them: `0.5`, `0,5`, `1,234.5`.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let text = match (text.contains(','), text.contains('.')) {
        (true, true) => text.replace(',', ""),
        (true, false) => text.replace(',', "."),
        _ => text.to_owned(),
    };
    text.parse().ok().and_then(seconds)
}
