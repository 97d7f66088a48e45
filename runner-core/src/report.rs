//! The report: the fold of a run's events. Never written by hand, always recomputable.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use serde::Serialize;

use crate::event::{Ending, RunEvent, StopReason, TestEvent};
use crate::facts::RunFacts;
use crate::model::{
    Attempt, CollectionError, Coverage, Location, Outcome, Phase, Printed, TestResult, Unfinished,
};
use crate::plan::{Start, StepExit};

/// Everything known about a run. [`Report::add`] is the only way it changes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// What was known before it began.
    pub facts: RunFacts,
    /// At least one entry once the run began.
    pub iterations: Vec<Iteration>,
    /// `None` while the run goes on.
    pub cause: Option<StopReason>,
    /// Seconds of the whole run. 0 while it goes on.
    pub duration_s: f64,
    /// What the engine had to say about the run, in order.
    pub warnings: Vec<String>,
}

/// A report that grows while others look at it. Clones share.
#[derive(Clone, Debug, Default)]
pub struct SharedReport(Arc<Mutex<Arc<Report>>>);

impl SharedReport {
    /// Takes in one event.
    pub fn add(&self, event: &RunEvent) {
        // Copies only if somebody still holds an earlier `so_far`.
        Arc::make_mut(&mut self.lock()).add(event);
    }

    /// Looks at it without keeping it.
    pub fn look<T>(&self, look: impl FnOnce(&Report) -> T) -> T {
        look(&self.lock())
    }

    /// The report as it stands.
    pub fn so_far(&self) -> Arc<Report> {
        Arc::clone(&self.lock())
    }

    /// A panic elsewhere leaves the report as it was: it is still the truth so far.
    fn lock(&self) -> MutexGuard<'_, Arc<Report>> {
        crate::panic::lock(&self.0)
    }
}

/// One execution of the plan.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Iteration {
    /// One row for each nodeid, in the order of their first verdict.
    pub rows: Vec<TestResult>,
    /// Collectors that failed.
    pub collection_errors: Vec<CollectionError>,
    /// Tests that exist (listing only).
    pub found: Vec<Found>,
    /// Tests the framework meant to run. `None` if it never said.
    pub selected: Option<u64>,
    /// How many tests were found and set aside.
    pub deselected: u64,
    /// How its first step was started, and why so. `None` until it was.
    pub start: Option<(Start, String)>,
    /// One for each step that ended.
    pub exits: Vec<StepExit>,
    /// The backend's reading of its framework's end.
    pub ending: Option<Ending>,
    /// Whether nothing more can come.
    pub ended: bool,
    /// What was measured.
    pub coverage: Option<Coverage>,
    /// What ran the tests, by name: versions, as the framework told them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Seconds. 0 while it goes on.
    pub duration_s: f64,
    /// The last of what was printed, cleaned and bounded.
    pub output_tail: String,
    /// What the backend had to say, in order.
    pub warnings: Vec<String>,
    /// What the framework printed beside its results, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<Printed>,
    #[serde(skip)]
    index: HashMap<String, usize>,
    #[serde(skip)]
    reruns: HashMap<String, Vec<Attempt>>,
    /// Further results of tests that already had one, from the same worker (a file given twice).
    repeats: u64,
    /// Those of them that say what the first result said.
    #[serde(skip)]
    alike: Alike,
    /// Started and not finished; a worker may run one while another runs its namesake.
    running: Vec<Unfinished>,
}

/// Tells of tests that were reported more than once and alike: of a few by name, of all others as a number, since a whole
/// run may be told twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Alike {
    count: u64,
    /// Where among the warnings the number stands.
    place: Option<usize>,
}

impl Alike {
    const NAMED: u64 = 3;

    fn push(&mut self, nodeid: &str, outcome: Outcome, warnings: &mut Vec<String>) {
        self.count += 1;
        if self.count <= Self::NAMED {
            warnings.push(format!(
                "{nodeid} was reported more than once ({outcome}, then {outcome}); {outcome} is kept"
            ));
            return;
        }
        let place = *self.place.get_or_insert(warnings.len());
        let text = format!(
            "{} more results of tests that had one already say the same",
            self.count - Self::NAMED
        );
        match warnings.get_mut(place) {
            Some(warning) => *warning = text,
            None => warnings.push(text),
        }
    }
}

/// A test that exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Verbatim from the framework.
    pub nodeid: String,
    /// Where it is defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

impl Report {
    /// Folds a whole record.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Self {
        let mut report = Self::default();
        for event in events {
            report.add(event);
        }
        report
    }

    /// Takes in one event.
    pub fn add(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(facts) => self.facts = (**facts).clone(),
            RunEvent::IterationStarted { iteration } => {
                self.with_iteration(*iteration, |_| {});
            }
            RunEvent::Test { iteration, test } => self.with_iteration(*iteration, |found| found.add(test)),
            RunEvent::StepStarted {
                iteration,
                start,
                why,
                ..
            } => self.with_iteration(*iteration, |found| {
                // The first step is the one that was worth a start ahead of time.
                found.start.get_or_insert_with(|| (*start, why.clone()));
            }),
            RunEvent::StepExited { iteration, exit } => {
                self.with_iteration(*iteration, |found| found.exits.push(exit.clone()));
            }
            RunEvent::IterationEnded {
                iteration,
                ending,
                duration_s,
                output_tail,
            } => self.with_iteration(*iteration, |found| {
                found.ending.clone_from(ending);
                found.duration_s = *duration_s;
                found.output_tail.clone_from(output_tail);
                found.ended = true;
            }),
            RunEvent::Warning { message } => self.warnings.push(message.clone()),
            RunEvent::Finished { cause, duration_s } => {
                // The first end counts: a record has one, and a damaged one must not change its mind.
                if self.cause.is_none() {
                    self.cause = Some(cause.clone());
                    self.duration_s = *duration_s;
                }
            }
        }
    }

    /// The first (mostly only) iteration; an empty one if the run never began.
    pub fn first(&self) -> &Iteration {
        static NONE: std::sync::LazyLock<Iteration> = std::sync::LazyLock::new(Iteration::default);
        self.iterations.first().unwrap_or(&NONE)
    }

    /// Iterations come one after another: a number out of turn is a damaged record's, and is left out.
    fn with_iteration(&mut self, number: u32, change: impl FnOnce(&mut Iteration)) {
        let wanted = number.max(1) as usize;
        if wanted == self.iterations.len() + 1 {
            self.iterations.push(Iteration::default());
        }
        if let Some(iteration) = self.iterations.get_mut(wanted - 1) {
            change(iteration);
        }
    }
}

impl Iteration {
    /// The row of exactly this nodeid.
    pub fn row(&self, nodeid: &str) -> Option<&TestResult> {
        self.index.get(nodeid).map(|&place| &self.rows[place])
    }

    /// Tests that began and did not end.
    pub fn unfinished(&self) -> &[Unfinished] {
        &self.running
    }

    /// How many tests the framework meant to run and never began. `None` if it never said how many.
    pub fn never_started(&self) -> Option<u64> {
        let begun = self.finished_tests() as u64 + self.running.len() as u64 + self.repeats;
        self.selected.map(|selected| selected.saturating_sub(begun))
    }

    /// Tests that finished (rows that stand for whole files are not counted).
    pub fn finished_tests(&self) -> usize {
        self.rows.iter().filter(|row| row.is_test()).count()
    }

    /// How many warnings the framework counted.
    pub fn warned(&self) -> u64 {
        let counts = self.printed.iter().filter(|part| part.warnings);
        counts.filter_map(|part| part.count).sum()
    }

    /// Count of each outcome, collection errors included as `error`, outcomes that did not occur left out.
    pub fn totals(&self) -> BTreeMap<Outcome, u64> {
        let mut totals = BTreeMap::new();
        for row in &self.rows {
            *totals.entry(row.outcome).or_default() += 1;
        }
        let only_collected = self
            .collection_errors
            .iter()
            .filter(|e| !self.index.contains_key(&e.nodeid));
        let errors = only_collected.count() as u64;
        if errors > 0 {
            *totals.entry(Outcome::Error).or_default() += errors;
        }
        totals
    }

    /// Whether anything seen keeps this iteration from being green.
    pub fn has_failures(&self) -> bool {
        !self.collection_errors.is_empty() || self.rows.iter().any(|row| row.outcome.is_bad())
    }

    fn add(&mut self, event: &TestEvent) {
        match event {
            TestEvent::Found { nodeid, location } => {
                self.found.push(Found {
                    nodeid: nodeid.clone(),
                    location: location.clone(),
                });
            }
            TestEvent::Counted { selected, deselected } => {
                self.selected = Some(*selected);
                self.deselected = *deselected;
            }
            TestEvent::Started { nodeid, worker } => self.start(nodeid, worker.as_ref()),
            TestEvent::Entered { nodeid, phase } => {
                if let Some(running) = self.running.iter_mut().find(|r| r.nodeid == *nodeid) {
                    running.phase = Some(*phase);
                }
            }
            TestEvent::Reran { nodeid, attempt } => {
                self.reruns
                    .entry(nodeid.clone())
                    .or_default()
                    .push(attempt.clone());
            }
            TestEvent::Finished(result) => self.finish(result),
            TestEvent::Detailed(result) => {
                if let Some(&place) = self.index.get(&result.nodeid) {
                    self.rows[place].fill_from(result);
                }
            }
            TestEvent::CollectFailed(error) => {
                // Every xdist worker collects, and fails, for itself: once is enough.
                if !self
                    .collection_errors
                    .iter()
                    .any(|known| known.nodeid == error.nodeid)
                {
                    self.collection_errors.push(error.clone());
                }
            }
            TestEvent::Hung {
                nodeid,
                phase,
                stack,
                worker,
            } => {
                self.hang(nodeid, *phase, stack.as_ref(), worker.as_ref());
            }
            TestEvent::Coverage(coverage) => self.coverage = Some(coverage.clone()),
            TestEvent::Environment { values } => self.environment.extend(values.clone()),
            TestEvent::Printed(part) => self.printed.push(part.clone()),
            TestEvent::Terminal { .. } => {}
            TestEvent::Warning { message } => self.warnings.push(message.clone()),
        }
    }

    fn start(&mut self, nodeid: &str, worker: Option<&String>) {
        if !self
            .running
            .iter()
            .any(|r| r.nodeid == nodeid && r.worker.as_ref() == worker)
        {
            self.running.push(Unfinished {
                nodeid: nodeid.to_owned(),
                phase: None,
                stack: None,
                worker: worker.cloned(),
            });
        }
    }

    fn finish(&mut self, result: &TestResult) {
        let same = |r: &Unfinished| r.nodeid == result.nodeid && r.worker == result.worker;
        let place = self.running.iter().position(same);
        let place = place.or_else(|| self.running.iter().position(|r| r.nodeid == result.nodeid));
        if let Some(place) = place {
            self.running.remove(place);
        }
        match self.index.get(&result.nodeid) {
            None => {
                let mut row = result.clone();
                if let Some(attempts) = self.reruns.remove(&result.nodeid) {
                    row.attempt = row.attempt.max(attempts.len() as u32 + 1);
                    row.attempts = attempts;
                }
                self.index.insert(row.nodeid.clone(), self.rows.len());
                self.rows.push(row);
            }
            Some(&place) => self.second_verdict(place, result),
        }
    }

    /// The first verdict for a test counts, unless a later one is worse: two tests may share a nodeid, and several
    /// workers may run the same one. A failure is never hidden behind a pass.
    fn second_verdict(&mut self, place: usize, result: &TestResult) {
        let row = &mut self.rows[place];
        let other_worker = row.worker != result.worker;
        let (first, second) = (row.outcome, result.outcome);
        if second.severity() > first.severity() {
            *row = result.clone();
        }
        let kept = row.outcome;
        self.repeats += 1;
        if first != second {
            self.warnings.push(format!(
                "{} was reported more than once ({first}, then {second}); {kept} is kept",
                result.nodeid
            ));
        } else if !other_worker {
            self.alike.push(&result.nodeid, first, &mut self.warnings);
        }
    }

    fn hang(&mut self, nodeid: &str, phase: Option<Phase>, stack: Option<&String>, worker: Option<&String>) {
        // A parallel run's starts do not say where: the worker that hangs in the test is the one that runs it.
        let here = |r: &Unfinished| r.nodeid == nodeid && (r.worker.is_none() || r.worker.as_ref() == worker);
        if !self.running.iter().any(here) {
            self.start(nodeid, worker);
        }
        if let Some(hung) = self.running.iter_mut().find(|r| here(r)) {
            hung.worker = worker.cloned().or(hung.worker.take());
            hung.phase = phase.or(hung.phase);
            hung.stack = stack.cloned().or(hung.stack.take());
        }
    }
}

#[cfg(test)]
mod tests;
