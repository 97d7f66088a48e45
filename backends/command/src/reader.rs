//! From what the command left to events, and to how it ended.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runner_core::backend::{BackendError, Mode, OutputReader, RunRequest};
use runner_core::event::{Ending, EndingKind, ExitMeaning, TestEvent};
use runner_core::model::{Outcome, TestResult};
use runner_core::plan::{ArtifactState, Artifacts, Lines, StepExit, Stream};
use runner_core::selector::Selector;

use crate::formats::{Format, LineReader, ReportItem};
use crate::id::Fields;
use crate::layout::{COVERAGE, keyword, report_file, report_name, step_name};
use crate::spec::{ReportPlace, Source, Spec};
use crate::template::{Placeholder, Segment};

pub(crate) struct Reader {
    name: String,
    report: ReportPlace,
    scratch: PathBuf,
    spec: Arc<Spec>,
    max_failures: Option<u32>,
    /// One for each step.
    lines: BTreeMap<usize, Box<dyn LineReader>>,
    tally: Tally,
}

impl Reader {
    pub(crate) fn new(name: &str, spec: &Arc<Spec>, request: &RunRequest) -> Self {
        let listing = spec.list.as_ref().filter(|_| request.mode == Mode::List);
        let report = listing.map_or(&spec.report, |list| &list.report);
        Self {
            name: name.to_owned(),
            report: report.clone(),
            scratch: request.scratch.clone(),
            spec: Arc::clone(spec),
            max_failures: request.filters.max_failures,
            lines: BTreeMap::new(),
            tally: Tally::new(spec, request),
        }
    }

    fn stream(&self) -> Option<Stream> {
        match self.report.source {
            Source::Stdout => Some(Stream::Stdout),
            Source::Channel => Some(Stream::Channel),
            Source::File(_) => None,
        }
    }

    /// What one step's report says. An error is the end of a sentence that begins with "the report".
    fn report(&mut self, step: usize, files: &Artifacts, said: &mut Vec<ReportItem>) -> Result<(), String> {
        if self.stream().is_some() && self.report.format.streams() {
            let reader = self
                .lines
                .remove(&step)
                .or_else(|| self.report.format.line_reader());
            return reader.map_or(Ok(()), |mut reader| reader.end(said));
        }
        match files.get(&report_name(step)) {
            ArtifactState::Bytes(bytes) => self.report.format.read_whole(bytes, said),
            _ => files.bytes(&report_name(step)).map(drop),
        }
    }
}

impl OutputReader for Reader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        if self.stream() != Some(lines.stream) {
            return;
        }
        let format = self.report.format;
        let reader = match self.lines.entry(lines.step) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => match format.line_reader() {
                Some(reader) => entry.insert(reader),
                None => return,
            },
        };
        let mut said = Vec::new();
        for line in &lines.lines {
            reader.line(line, &mut said);
        }
        for one in said {
            self.tally.take(one, events);
        }
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        let mut trouble = None;
        let mut exit = ExitMeaning::Ok;
        for step in 0.. {
            let wanted = step_name(&self.name, step);
            let Some(found) = exits.iter().find(|exit| exit.step == wanted) else {
                break;
            };
            let mut said = Vec::new();
            let read = self.report(step, files, &mut said);
            for one in said {
                self.tally.take(one, events);
            }
            let meaning = found
                .code
                .map_or(ExitMeaning::Other, |code| self.spec.exit.meaning(code));
            exit = worse(exit, meaning);
            let state = files.get(&report_name(step));
            if let Some(ending) = self.trouble(step, found, meaning, (read, state)) {
                trouble.get_or_insert(ending);
            }
        }
        self.coverage(files, events);
        if exits.is_empty() {
            let reason = "the command was never started";
            trouble = Some(Ending::because(EndingKind::Broken, ExitMeaning::Other, reason));
        }
        Ok(trouble.unwrap_or_else(|| self.ending(exit, events)))
    }
}

impl Reader {
    /// Why a step's result cannot be believed.
    fn trouble(
        &self,
        step: usize,
        exit: &StepExit,
        meaning: ExitMeaning,
        (read, state): (Result<(), String>, &ArtifactState),
    ) -> Option<Ending> {
        let Some(code) = exit.code else {
            let how = exit.signal.map_or_else(
                || "has no exit code".to_owned(),
                |signal| format!("was ended by signal {signal}"),
            );
            let reason = format!("{} {how}", exit.step);
            return Some(Ending::because(EndingKind::Cut, meaning, reason));
        };
        let broken = |reason: String| Some(Ending::because(EndingKind::Broken, meaning, reason));
        if self.spec.exit.usage.contains(&code) {
            return broken(format!(
                "{} exited with {code}: it did not understand its arguments",
                exit.step
            ));
        }
        let why = read.err()?;
        if meaning == ExitMeaning::NoTests {
            return None;
        }
        let report = self.report_words(step);
        let reason = format!("{report} {why}; {} exited with {code}", exit.step);
        Some(Ending {
            hint: self.what_next(state),
            ..Ending::because(EndingKind::Cut, meaning, reason)
        })
    }

    /// What to do about a report that is not there.
    fn what_next(&self, state: &ArtifactState) -> Option<String> {
        let Source::File(word) = &self.report.source else {
            return None;
        };
        let hint = match state {
            ArtifactState::Missing if word.placeholders().next().is_some() => {
                "look at what the command printed; then whether the option that is given {report} is the one that names the \
                 report's file (`qaas check` shows the planned command)"
            }
            ArtifactState::Missing => {
                "look at what the command printed; then whether it writes its report to another place than `report.path` says, \
                 which is seen from its working folder"
            }
            ArtifactState::Stale => {
                "the command did not write it this time: look at what it printed; an older report is never believed"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }

    fn report_words(&self, step: usize) -> String {
        match &self.report.source {
            Source::File(word) => {
                let segment = |segment: &Segment| match segment {
                    Segment::Text(text) => text.clone(),
                    Segment::Placeholder(Placeholder::Report) => {
                        let path = report_file(&self.scratch, &self.report, step);
                        path.display().to_string()
                    }
                    Segment::Placeholder(_) | Segment::PlaceholderOr(..) => {
                        self.scratch.display().to_string()
                    }
                };
                let path: String = word.0.iter().map(segment).collect();
                format!("the report {path}")
            }
            Source::Stdout | Source::Channel if self.report.format == Format::Lines => {
                "the listing".to_owned()
            }
            Source::Stdout => "the report on standard output".to_owned(),
            Source::Channel => "the report".to_owned(),
        }
    }

    /// What was measured, if the plan was one that measures.
    fn coverage(&self, files: &Artifacts, events: &mut Vec<TestEvent>) {
        let Some(coverage) = &self.spec.coverage else {
            return;
        };
        let read = match files.get(COVERAGE) {
            ArtifactState::Missing => return,
            ArtifactState::Bytes(bytes) => coverage.format.read(bytes, &self.tally.cwd),
            _ => files
                .bytes(COVERAGE)
                .map(|_| runner_core::model::Coverage::default()),
        };
        events.push(match read {
            Ok(coverage) => TestEvent::Coverage(coverage),
            Err(why) => TestEvent::Warning {
                message: format!("the coverage report {why}"),
            },
        });
    }

    fn ending(&self, exit: ExitMeaning, events: &mut Vec<TestEvent>) -> Ending {
        let tally = &self.tally;
        if exit == ExitMeaning::NoTests {
            let reason = "the framework says that there was nothing to run";
            return Ending::because(EndingKind::NoTests, exit, reason);
        }
        // Frameworks that select by a part of a name, or by file, run neighbours of what was asked for.
        if tally.kept == 0 && tally.dropped > 0 {
            let reason = format!(
                "none of the {} tests that ran is one of those selected",
                tally.dropped
            );
            return Ending::because(EndingKind::NoTests, exit, reason);
        }
        let mut ending = Ending::completed(exit);
        if exit == ExitMeaning::TestsFailed && tally.bad == 0 && tally.dropped_bad > 0 {
            // The failing exit is explained: by tests that were not asked for.
            events.push(TestEvent::Warning {
                message: format!(
                    "{} tests that were not selected ran too, and failed",
                    tally.dropped_bad
                ),
            });
            ending.exit = ExitMeaning::Ok;
        }
        if let Some(most) = self.max_failures
            && tally.bad >= u64::from(most)
        {
            let reason = format!("stopped after {} failures", tally.bad);
            ending = Ending::because(EndingKind::Stopped, exit, reason);
        }
        ending
    }
}

/// Which of two steps' exits the run is known by.
fn worse(one: ExitMeaning, other: ExitMeaning) -> ExitMeaning {
    let rank = |meaning: ExitMeaning| match meaning {
        ExitMeaning::NoTests => 0,
        ExitMeaning::Ok | ExitMeaning::NotOfTests => 1,
        ExitMeaning::TestsFailed => 2,
        ExitMeaning::Other => 3,
    };
    // The first step alone may have had nothing to run.
    if rank(other) >= rank(one) || (one == ExitMeaning::Ok && other == ExitMeaning::NoTests) {
        other
    } else {
        one
    }
}

/// Gives tests their ids, drops those that were not selected, and counts.
struct Tally {
    spec: Arc<Spec>,
    cwd: PathBuf,
    listing: bool,
    selectors: Vec<Selector>,
    /// Nextest tells of every ignored test, also of those that the keyword (a part of the name) does not find.
    part: Option<String>,
    /// How often an id was finished.
    seen: HashMap<String, u32>,
    kept: u64,
    bad: u64,
    dropped: u64,
    dropped_bad: u64,
}

impl Tally {
    fn new(spec: &Arc<Spec>, request: &RunRequest) -> Self {
        let is_keyword = |selector: &Selector| matches!(selector, Selector::Keyword { .. });
        let selectors = &request.selection.selectors;
        Self {
            spec: Arc::clone(spec),
            cwd: request.cwd.clone(),
            listing: request.mode == Mode::List,
            // With a keyword expression among them, what is selected only the framework can tell.
            selectors: if selectors.iter().any(is_keyword) {
                Vec::new()
            } else {
                selectors.clone()
            },
            part: keyword(request)
                .ok()
                .flatten()
                .filter(|_| spec.report.format == Format::LibtestJson),
            seen: HashMap::new(),
            kept: 0,
            bad: 0,
            dropped: 0,
            dropped_bad: 0,
        }
    }

    fn take(&mut self, said: ReportItem, events: &mut Vec<TestEvent>) {
        match said {
            ReportItem::Found(fields) => self.found(fields, events),
            ReportItem::Started(fields) if self.listing => self.found(fields, events),
            ReportItem::Started(fields) => {
                let id = self.id(fields);
                if self.is_selected(&id) {
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
            ReportItem::Exact(event) => self.exact(event, events),
            ReportItem::Warning(message) => events.push(TestEvent::Warning { message }),
        }
    }

    fn is_beyond(&self, fields: &Fields, outcome: Outcome) -> bool {
        let missed = |part: &String| !fields.name.contains(part.as_str());
        outcome == Outcome::Skipped && self.part.as_ref().is_some_and(missed)
    }

    fn found(&mut self, fields: Fields, events: &mut Vec<TestEvent>) {
        let id = self.id(fields);
        let known = self.seen.entry(id.clone()).or_default();
        *known += 1;
        if *known == 1 && self.is_selected(&id) {
            self.kept += 1;
            events.push(TestEvent::Found {
                nodeid: id,
                location: None,
            });
        }
    }

    fn finished(&mut self, id: &str, mut row: Box<TestResult>, events: &mut Vec<TestEvent>) {
        let bad = u64::from(row.outcome.is_bad());
        if !self.is_selected(id) {
            self.dropped += 1;
            self.dropped_bad += bad;
            return;
        }
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
                if !self.is_selected(nodeid) => {}
            TestEvent::CollectFailed(mut error) => {
                error.nodeid = self.relative(&error.nodeid);
                self.bad += 1;
                events.push(TestEvent::CollectFailed(error));
            }
            // How many there are is said of all, selected or not.
            TestEvent::Counted { .. } if !self.selectors.is_empty() => {}
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
        // Node names files by URL; what is written on Windows has `\` between parts.
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

    fn is_selected(&self, id: &str) -> bool {
        if self.selectors.is_empty() {
            return true;
        }
        self.selectors.iter().any(|selector| match selector {
            Selector::Path { path } => self.is_in(id, path),
            Selector::Node { .. } => {
                let word = selector.as_word();
                // What stands around a selected test (its class, its file) reports only its own failures.
                stands_for(&word, id) || stands_for(id, &word)
            }
            Selector::Keyword { .. } => true,
        })
    }

    /// Whether a test is in the selected file or folder, as far as its id tells.
    fn is_in(&self, id: &str, path: &str) -> bool {
        if path == "." || !self.spec.id.begins_with_file() {
            return true;
        }
        let file = id.split("::").next().unwrap_or(id);
        let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
        match file.strip_prefix(path) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            // A report that names no files: the command itself was given the path.
            None => !file.contains('/') && !file.contains('.'),
        }
    }
}

/// Whether `id` is the selected id itself, or one of those that it stands for.
fn stands_for(selected: &str, id: &str) -> bool {
    let selected = selected.strip_prefix("./").unwrap_or(selected);
    match id.strip_prefix(selected) {
        // `a::b` stands for the tests in it, and for those that were numbered or have parameters: `a::b[2]`.
        Some(more) => more.is_empty() || more.starts_with("::") || more.starts_with('['),
        None => false,
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
