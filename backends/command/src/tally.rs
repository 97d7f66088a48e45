//! Gives tests their ids, drops those that were not selected, and counts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runner_core::backend::{Mode, RunRequest};
use runner_core::event::TestEvent;
use runner_core::model::{Outcome, TestResult};

use crate::formats::{Closing, Format, ReportItem};
use crate::held::Held;
use crate::id::Fields;
use crate::layout::keyword;
use crate::spec::Spec;
use crate::wanted::Wanted;

pub(crate) struct Tally {
    spec: Arc<Spec>,
    pub(crate) cwd: PathBuf,
    listing: bool,
    pub(crate) wanted: Wanted,
    /// Nextest tells of every ignored test, also of those that the keyword (a part of the name) does not find.
    part: Option<String>,
    /// How often an id was finished.
    seen: HashMap<String, u32>,
    held: Held,
    /// What the framework says at its end, of all steps together.
    pub(crate) closing: Closing,
    pub(crate) kept: u64,
    pub(crate) bad: u64,
    pub(crate) dropped: u64,
    pub(crate) dropped_bad: u64,
    passed: u64,
}

impl Tally {
    pub(crate) fn new(spec: &Arc<Spec>, request: &RunRequest) -> Self {
        let part = keyword(request).ok().flatten();
        Self {
            spec: Arc::clone(spec),
            cwd: request.cwd.clone(),
            listing: request.mode == Mode::List,
            wanted: Wanted::new(
                &request.selection.selectors,
                spec.id.begins_with_file(),
                spec.cargo_targets,
            ),
            part: part.filter(|_| spec.report.format == Format::LibtestJson),
            seen: HashMap::new(),
            held: Held::default(),
            closing: Closing::default(),
            kept: 0,
            bad: 0,
            dropped: 0,
            dropped_bad: 0,
            passed: 0,
        }
    }

    pub(crate) fn take(&mut self, said: ReportItem, events: &mut Vec<TestEvent>) {
        match said {
            ReportItem::Found(fields) => self.found(fields, events),
            ReportItem::Started(fields) if self.listing => self.found(fields, events),
            ReportItem::Started(fields) => {
                let id = self.id(fields);
                if self.wanted.has(&id) {
                    let nodeid = self.numbered(&id);
                    events.push(TestEvent::Started { nodeid, worker: None });
                }
            }
            ReportItem::Finished(fields, _) if self.listing => self.found(fields, events),
            ReportItem::Finished(fields, row) if self.is_beyond(&fields, row.outcome) => self.dropped += 1,
            ReportItem::Finished(fields, mut row) => {
                let id = self.id(fields);
                row.nodeid = self.numbered(&id);
                *self.seen.entry(id.clone()).or_default() += 1;
                self.finished(&id, row, events);
            }
            ReportItem::Reran(fields, attempt) => {
                let id = self.id(fields);
                if self.wanted.has(&id) {
                    let nodeid = self.numbered(&id);
                    events.push(TestEvent::Reran { nodeid, attempt });
                }
            }
            ReportItem::Exact(event) => self.exact(event, events),
            ReportItem::Provisional(row) => self.held.provisional(*row),
            ReportItem::Running(nodeid) => self.held.running(nodeid),
            ReportItem::Over(nodeid) => self.held.over(&nodeid),
            ReportItem::Closing(closing) => {
                self.held.clear();
                self.closing.add(closing);
            }
            ReportItem::Warning(message) => events.push(TestEvent::Warning { message }),
        }
    }

    /// After the last line: what a framework that was cut had not said for certain.
    pub(crate) fn end(&mut self, events: &mut Vec<TestEvent>) {
        let (rows, running) = self.held.take();
        for row in rows {
            let id = row.nodeid.clone();
            self.finished(&id, Box::new(row), events);
        }
        let running = running.into_iter().filter(|nodeid| self.wanted.has(nodeid));
        events.extend(running.map(|nodeid| TestEvent::Started { nodeid, worker: None }));
    }

    /// Where the framework's own totals and its rows disagree, in words.
    pub(crate) fn disagreement(&self) -> Option<String> {
        let bad = self.bad + self.dropped_bad;
        let pairs = [
            ("failed", self.closing.failed.filter(|failed| *failed > bad), bad),
            (
                "passed",
                self.closing.passed.filter(|passed| *passed != self.passed),
                self.passed,
            ),
        ];
        pairs.into_iter().find_map(|(word, said, rows)| {
            let said = said?;
            Some(format!(
                "{} counts {said} {word}, and told of {rows}",
                self.spec.framework
            ))
        })
    }

    fn is_beyond(&self, fields: &Fields, outcome: Outcome) -> bool {
        let missed = |part: &String| !fields.name.contains(part.as_str());
        outcome == Outcome::Skipped && self.part.as_ref().is_some_and(missed)
    }

    fn found(&mut self, fields: Fields, events: &mut Vec<TestEvent>) {
        let id = self.id(fields);
        let known = self.seen.entry(id.clone()).or_default();
        *known += 1;
        if *known == 1 && self.wanted.has(&id) {
            self.kept += 1;
            events.push(TestEvent::Found {
                nodeid: id,
                location: None,
            });
        }
    }

    fn finished(&mut self, id: &str, mut row: Box<TestResult>, events: &mut Vec<TestEvent>) {
        let bad = u64::from(row.outcome.is_bad());
        self.passed += u64::from(row.outcome == Outcome::Passed);
        self.held.over(&row.nodeid);
        if !self.wanted.has(id) {
            self.dropped += 1;
            self.dropped_bad += bad;
            return;
        }
        self.wanted.reach(&row.nodeid);
        self.kept += 1;
        self.bad += bad;
        if let Some(location) = &mut row.location {
            location.file = self.relative(&location.file);
        }
        events.push(TestEvent::Finished(row));
    }

    fn exact(&mut self, event: TestEvent, events: &mut Vec<TestEvent>) {
        match event {
            TestEvent::Finished(row) => {
                let id = row.nodeid.clone();
                self.finished(&id, row, events);
            }
            TestEvent::Started { ref nodeid, .. }
            | TestEvent::Found { ref nodeid, .. }
            | TestEvent::Entered { ref nodeid, .. }
            | TestEvent::Reran { ref nodeid, .. }
                if !self.wanted.has(nodeid) => {}
            TestEvent::CollectFailed(mut error) => {
                error.nodeid = self.relative(&error.nodeid);
                self.wanted.reach_below(&error.nodeid);
                self.held.over(&error.nodeid);
                self.bad += 1;
                events.push(TestEvent::CollectFailed(error));
            }
            // How many there are is said of all, selected or not.
            TestEvent::Counted { .. } if !self.wanted.is_everything() => {}
            other => events.push(other),
        }
    }

    fn id(&self, mut fields: Fields) -> String {
        fields.file = self.relative(&fields.file);
        self.spec.id.id(&fields)
    }

    /// The first test of an id has the id itself, the next ones `[2]`, `[3]`, …: as parameters have in most frameworks.
    fn numbered(&self, id: &str) -> String {
        match self.seen.get(id) {
            None | Some(0) => id.to_owned(),
            Some(before) => format!("{id}[{}]", before + 1),
        }
    }

    /// A file as seen from the working folder, if it lies inside.
    fn relative(&self, file: &str) -> String {
        let file = file.strip_prefix("file://").unwrap_or(file);
        let inside = Path::new(file).strip_prefix(&self.cwd);
        let path = inside.ok().and_then(Path::to_str).unwrap_or(file);
        let path = path.strip_prefix("./").unwrap_or(path);
        if path.contains('\\') && !path.contains('/') {
            path.replace('\\', "/")
        } else {
            path.to_owned()
        }
    }
}
