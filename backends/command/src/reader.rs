//! From what the command left to events, and to how it ended.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use runner_core::backend::{BackendError, Mode, OutputReader, RunRequest};
use runner_core::event::{Ending, EndingKind, ExitMeaning, TestEvent};
use runner_core::plan::{ArtifactState, Artifacts, Lines, StepExit, Stream};

use crate::formats::{Format, LineReader, ReportItem};
use crate::layout::{COVERAGE, report_file, report_name, step_name};
use crate::spec::{ReportPlace, Source, Spec};
use crate::stack;
use crate::tally::Tally;
use crate::template::{Placeholder, Segment};

pub(crate) struct Reader {
    name: String,
    report: ReportPlace,
    scratch: PathBuf,
    spec: Arc<Spec>,
    max_failures: Option<u32>,
    mode: Mode,
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
            mode: request.mode,
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
    fn report(
        &mut self,
        (step, code): (usize, Option<i32>),
        files: &Artifacts,
        said: &mut Vec<ReportItem>,
    ) -> Result<(), String> {
        if self.stream().is_some() && self.report.format.streams() {
            let reader = self
                .lines
                .remove(&step)
                .or_else(|| self.report.format.line_reader());
            return reader.map_or(Ok(()), |mut reader| {
                reader.exited(code);
                reader.end(said)
            });
        }
        match files.get(&report_name(step)) {
            ArtifactState::Bytes(bytes) => self.report.format.read_whole(bytes, said),
            _ => files.bytes(&report_name(step)).map(drop),
        }
    }
}

impl OutputReader for Reader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        let aside = lines.stream == Stream::Stderr && self.stream() == Some(Stream::Stdout);
        if self.stream() != Some(lines.stream) && !aside {
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
            if aside {
                reader.aside(line, &mut said);
            } else {
                reader.line(line, &mut said);
            }
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
        let mut meanings = Vec::new();
        for step in 0.. {
            let wanted = step_name(&self.name, step);
            let Some(found) = exits.iter().find(|exit| exit.step == wanted) else {
                break;
            };
            let mut said = Vec::new();
            let read = self.report((step, found.code), files, &mut said);
            for one in said {
                self.tally.take(one, events);
            }
            let meaning = found
                .code
                .map_or(ExitMeaning::Other, |code| self.spec.exit.meaning(code));
            meanings.push(meaning);
            let state = files.get(&report_name(step));
            if let Some(ending) = self.trouble(step, found, meaning, (read, state)) {
                trouble.get_or_insert(ending);
            }
        }
        self.tally.end(events);
        self.hung(files, events);
        self.coverage(files, events);
        if exits.is_empty() {
            let reason = "the command was never started";
            trouble = Some(Ending::because(EndingKind::Broken, ExitMeaning::Other, reason));
        }
        let exit = ExitMeaning::worst(meanings).unwrap_or(ExitMeaning::Ok);
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
            let why = self.tally.closing.broken.as_ref();
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            return broken(format!(
                "{} exited with {code}: it did not understand its arguments{why}",
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

    /// Where processes were when the time limit came: each file begins with the id of its test.
    fn hung(&self, files: &Artifacts, events: &mut Vec<TestEvent>) {
        for dump in files.dumps.values() {
            let (nodeid, stack) = dump.split_once('\n').unwrap_or((dump, ""));
            let stack = stack::shown(stack, &self.tally.cwd, &self.scratch);
            if !nodeid.is_empty() && stack.is_some() {
                let nodeid = nodeid.to_owned();
                let (phase, worker) = (None, None);
                events.push(TestEvent::Hung {
                    nodeid,
                    phase,
                    stack,
                    worker,
                });
            }
        }
    }

    fn ending(&self, exit: ExitMeaning, events: &mut Vec<TestEvent>) -> Ending {
        let tally = &self.tally;
        if let Some(why) = &tally.closing.broken {
            return Ending::because(EndingKind::Broken, exit, why);
        }
        if let Some(ending) = self.nothing(exit) {
            return ending;
        }
        if let Some(why) = tally.disagreement() {
            return Ending::because(EndingKind::Cut, exit, why);
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
            return Ending::because(EndingKind::Stopped, exit, reason);
        }
        self.with_unreached(ending, events)
    }

    /// The ending of a run in which none of the tests that were asked for ran, if it is one.
    fn nothing(&self, exit: ExitMeaning) -> Option<Ending> {
        let tally = &self.tally;
        let none = |reason: &str| Some(Ending::because(EndingKind::NoTests, exit, reason));
        // With several steps one may have had nothing to run: then what it was given is named.
        if exit == ExitMeaning::NoTests && (tally.kept == 0 || tally.wanted.unreached().is_empty()) {
            return none("the framework says that there was nothing to run");
        }
        if tally.kept > 0 {
            return None;
        }
        // Frameworks that select by a part of a name, or by file, run neighbours of what was asked for.
        if tally.dropped > 0 {
            return none(&format!(
                "none of the {} tests that ran is one of those selected",
                tally.dropped
            ));
        }
        let reason = tally.closing.none.as_ref().filter(|_| tally.bad == 0)?;
        none(reason)
    }

    /// Names what was selected and did not run. Beside tests that passed it keeps the run from being green.
    fn with_unreached(&self, ending: Ending, events: &mut Vec<TestEvent>) -> Ending {
        /// How many are named.
        const MOST_NAMED: usize = 20;
        let tally = &self.tally;
        let unreached = tally.wanted.unreached();
        // An exit that says more than that nothing ran is not explained by it.
        let unexplained = tally.kept == 0 && ending.exit != ExitMeaning::Ok;
        if self.mode == Mode::List || unreached.is_empty() || unexplained {
            return ending;
        }
        let more = match unreached.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = unreached[..unreached.len().min(MOST_NAMED)].join(", ");
        let of = tally.wanted.count();
        let reason = format!("of {of} selected, {} did not run: {named}{more}", unreached.len());
        if tally.bad > 0 {
            events.push(TestEvent::Warning { message: reason });
            return ending;
        }
        let kind = if tally.kept > 0 {
            EndingKind::Cut
        } else {
            EndingKind::NoTests
        };
        Ending::because(kind, ending.exit, reason)
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
