//! The report formats. Each reader is tolerant: what it can understand it hands out, what it cannot becomes a warning
//! or, if the report does not go to its end, the reason why it counts as cut.

mod ctrf;
mod events;
mod go_json;
mod jest_json;
mod json;
mod junit;
mod libtest_json;
mod libtest_text;
mod lines;
mod nextest_list;
mod row;
mod rustc;
mod tap;
mod vitest_list;

#[cfg(test)]
mod tests;

pub(crate) use junit::attribute as xml_attribute;
use runner_core::event::TestEvent;
use runner_core::model::{Attempt, TestResult};

use crate::id::Fields;

/// A format that a report can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Junit,
    Tap,
    Ctrf,
    GoJson,
    LibtestJson,
    LibtestText,
    JestJson,
    VitestJson,
    Events,
    Lines,
    NextestList,
    VitestList,
}

const FORMATS: [(&str, Format); 12] = [
    ("junit", Format::Junit),
    ("tap", Format::Tap),
    ("ctrf", Format::Ctrf),
    ("go-json", Format::GoJson),
    ("libtest-json", Format::LibtestJson),
    ("libtest-text", Format::LibtestText),
    ("jest-json", Format::JestJson),
    ("vitest-json", Format::VitestJson),
    ("events", Format::Events),
    ("lines", Format::Lines),
    ("nextest-list", Format::NextestList),
    ("vitest-list", Format::VitestList),
];

impl Format {
    pub(crate) fn named(name: &str) -> Option<Self> {
        let found = FORMATS.iter().find(|(known, _)| *known == name);
        found.map(|(_, format)| *format)
    }

    pub(crate) fn names() -> Vec<&'static str> {
        FORMATS.iter().map(|(name, _)| *name).collect()
    }

    /// Whether its lines can be read while they are written.
    pub(crate) fn streams(self) -> bool {
        self.line_reader().is_some()
    }

    /// The id template that suits what the format says.
    pub(crate) fn usual_id(self) -> &'static str {
        match self {
            Self::Junit | Self::Tap => "{file}::{classname}::{name}",
            Self::GoJson => "{suite}::{name}",
            Self::LibtestJson | Self::NextestList => "{suite}${name}",
            Self::LibtestText | Self::Lines => "{name}",
            Self::Ctrf => "{file}::{suite}::{name}",
            Self::JestJson | Self::VitestJson | Self::VitestList | Self::Events => "{file}::{name}",
        }
    }

    /// How its files are named.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Junit => "xml",
            Self::Tap => "tap",
            Self::LibtestText | Self::Lines => "txt",
            _ => "json",
        }
    }

    /// A reader of its lines; `None` for a format that is read in one piece.
    pub(crate) fn line_reader(self) -> Option<Box<dyn LineReader>> {
        Some(match self {
            Self::Tap => Box::<tap::Tap>::default(),
            Self::GoJson => Box::<go_json::GoJson>::default(),
            Self::LibtestJson => Box::<libtest_json::LibtestJson>::default(),
            Self::LibtestText => Box::<libtest_text::LibtestText>::default(),
            Self::Events => Box::<events::Events>::default(),
            Self::Lines => Box::new(lines::Names),
            Self::Junit
            | Self::Ctrf
            | Self::JestJson
            | Self::VitestJson
            | Self::NextestList
            | Self::VitestList => return None,
        })
    }

    /// Reads a whole report. An error says why it does not go to its end; what was read before it stays in `said`.
    pub(crate) fn read_whole(self, bytes: &[u8], said: &mut Vec<ReportItem>) -> Result<(), String> {
        if let Some(mut reader) = self.line_reader() {
            for line in bytes.split(|byte| *byte == b'\n') {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                reader.line(&String::from_utf8_lossy(line), said);
            }
            return reader.end(said);
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err("is empty".to_owned());
        }
        match self {
            Self::Junit => junit::read(bytes, said),
            Self::Ctrf => ctrf::read(bytes, said),
            Self::NextestList => nextest_list::read(bytes, said),
            Self::VitestList => vitest_list::read(bytes, said),
            _ => jest_json::read(bytes, said),
        }
    }
}

/// Understands a format line by line.
pub(crate) trait LineReader: Send {
    fn line(&mut self, line: &str, said: &mut Vec<ReportItem>);

    /// A line of standard error, where the report is standard output: what the framework says beside it.
    fn aside(&mut self, _line: &str, _said: &mut Vec<ReportItem>) {}

    /// How the command exited; called before `end`.
    fn exited(&mut self, _code: Option<i32>) {}

    /// Called once, after the last line. An error says why the report does not go to its end.
    fn end(&mut self, said: &mut Vec<ReportItem>) -> Result<(), String>;
}

/// What a report says, before tests have ids.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReportItem {
    /// A test exists.
    Found(Fields),
    Started(Fields),
    /// The result's nodeid is still empty.
    Finished(Fields, Box<TestResult>),
    /// A try that the framework will not let count.
    Reran(Fields, Attempt),
    /// In qaas's own words already.
    Exact(TestEvent),
    /// A result that the framework may still change.
    Provisional(Box<TestResult>),
    /// Something of this id began, which may or may not be a test.
    Running(String),
    /// What began has ended, or was no test.
    Over(String),
    /// The framework's own end.
    Closing(Closing),
    Warning(String),
}

/// What a framework says at its end, to be held against its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
pub(crate) struct Closing {
    /// Why there was nothing to run.
    pub(crate) none: Option<String>,
    /// Why it could not do its work.
    pub(crate) broken: Option<String>,
    /// How many tests passed, as it counts them.
    pub(crate) passed: Option<u64>,
    /// How many tests and files failed, as it counts them.
    pub(crate) failed: Option<u64>,
}

impl Closing {
    /// Takes in what a further step says.
    pub(crate) fn add(&mut self, other: Self) {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        self.none = self.none.take().or(other.none);
        self.broken = self.broken.take().or(other.broken);
        self.passed = sum(self.passed, other.passed);
        self.failed = sum(self.failed, other.failed);
    }
}
