//! A run on the screen. One small method for each kind of event; the facts are folded by [`Report`] as everywhere.

use std::collections::BTreeSet;
use std::io::{self, Write};

use runner_core::backend::Shows;
use runner_core::event::{RunEvent, TestEvent};
use runner_core::facts::RunFacts;
use runner_core::model::{CollectionError, Outcome, Phase, Status, TestResult};
use runner_core::report::{Iteration, Report};
use runner_core::visible::visible;
use runner_core::words::count;

use super::progress::Progress;
use super::{Paint, for_people, seconds};

/// How much is shown of tests that are well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What failed in one line each, and the summary.
    Summary,
    /// Failures and the summary.
    Failures,
    /// Every test, as it ends.
    Everything,
}

/// Shows one run while it goes on, and its summary at the end.
pub(crate) struct Screen<W: Write> {
    out: W,
    paint: Paint,
    detail: Detail,
    progress: Progress,
    /// The same failure is shown once, however many iterations meet it.
    shown: BTreeSet<String>,
    /// Failures of the present iteration, for the progress line: counted when there is one more.
    failed: usize,
    /// The framework speaks for itself, instead of the run.
    silent: bool,
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, paint: Paint, detail: Detail, progress: Progress) -> Self {
        Self {
            out,
            paint,
            detail,
            progress,
            shown: BTreeSet::new(),
            failed: 0,
            silent: false,
        }
    }

    /// Leaves to a framework what it shows itself.
    pub(crate) fn make_room(&mut self, shows: Shows) {
        self.silent = shows == Shows::Instead;
        if shows != Shows::Results {
            self.progress = Progress::none();
            self.detail = Detail::Summary;
        }
    }

    /// Somebody else writes to the terminal now: perhaps a debugger.
    pub(crate) fn pause(&mut self, debugger: bool) -> io::Result<()> {
        self.progress.clear();
        if debugger {
            let head = "── the debugger has the terminal; there is no time limit any more";
            writeln!(self.out, "\n{}", self.paint.warning(head))?;
        }
        self.out.flush()
    }

    /// Shows one event of the run whose report, this event included, is `report`.
    pub(crate) fn event(&mut self, event: &RunEvent, report: &Report) -> io::Result<()> {
        if self.silent {
            return Ok(());
        }
        match event {
            RunEvent::Started(facts) => {
                self.progress.begin();
                self.head(facts)
            }
            RunEvent::IterationStarted { .. } => {
                self.failed = 0;
                Ok(())
            }
            RunEvent::Test {
                test: TestEvent::Finished(result),
                ..
            } => self.finished(result, report),
            RunEvent::Test {
                test: TestEvent::CollectFailed(error),
                ..
            } => {
                self.failed = report.iterations.last().map_or(0, bad);
                self.collect_failed(error)
            }
            // Some backends learn only at the end why a test failed.
            RunEvent::Test {
                test: TestEvent::Detailed(result),
                ..
            } if result.outcome.is_bad() => {
                self.progress.clear();
                self.failure(result)
            }
            RunEvent::Test {
                test: TestEvent::Started { nodeid, .. },
                ..
            } => {
                self.draw(nodeid, report);
                Ok(())
            }
            RunEvent::Finished { .. } => {
                self.progress.clear();
                if is_worth_a_summary(report) {
                    self.summary(report)
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }

    /// Shows a run that is over.
    pub(crate) fn whole(&mut self, report: &Report) -> io::Result<()> {
        self.head(&report.facts)?;
        for iteration in &report.iterations {
            for row in &iteration.rows {
                if row.outcome.is_bad() {
                    self.failure(row)?;
                } else if row.is_flaky() {
                    self.flaky(row)?;
                }
            }
            for error in &iteration.collection_errors {
                self.collect_failed(error)?;
            }
        }
        self.summary(report)
    }

    fn head(&mut self, facts: &RunFacts) -> io::Result<()> {
        self.shown.clear();
        let mut words = vec![facts.suite.clone(), facts.backend.clone()];
        if let Some(interpreter) = &facts.interpreter {
            words.extend(interpreter.version.as_deref().map(|v| format!("Python {v}")));
            let place = interpreter.venv.as_ref().unwrap_or(&interpreter.path);
            let place = place.strip_prefix(&facts.root).unwrap_or(place).display();
            words.push(format!("{place} ({})", interpreter.why));
        }
        words.retain(|word| !word.is_empty());
        writeln!(self.out, "{}", self.paint.dim(&words.join(" · ")))
    }

    fn finished(&mut self, result: &TestResult, report: &Report) -> io::Result<()> {
        if result.outcome.is_bad() {
            self.progress.clear();
            self.failed = report.iterations.last().map_or(0, bad);
            return self.failure(result);
        }
        // Its earlier tries are the report's.
        let row = report
            .iterations
            .last()
            .and_then(|iteration| iteration.row(&result.nodeid));
        if let Some(row) = row.filter(|row| row.is_flaky() && self.detail != Detail::Summary) {
            self.progress.clear();
            self.flaky(row)?;
        } else if self.detail == Detail::Everything {
            self.progress.clear();
            let word = self
                .paint
                .outcome(result.outcome, &format!("{:<7}", result.outcome));
            let time = result
                .duration_s
                .map(|s| self.paint.dim(&format!(" {}", seconds(s))));
            let why = result
                .message
                .as_deref()
                .map(|why| self.paint.dim(&format!(" ({})", first_line(why))));
            writeln!(
                self.out,
                "{word} {}{}{}",
                visible(&result.nodeid),
                time.unwrap_or_default(),
                why.unwrap_or_default()
            )?;
        }
        self.draw(&result.nodeid, report);
        Ok(())
    }

    /// A test that passed only when it was run again, with what it said the first time.
    fn flaky(&mut self, result: &TestResult) -> io::Result<()> {
        let text = result
            .first_bad_attempt()
            .and_then(|attempt| attempt.message.as_deref());
        let head = format!("── FLAKY {} ({})", visible(&result.nodeid), tries(result));
        writeln!(self.out, "\n{}", self.paint.warning(&head))?;
        self.text(text.unwrap_or_default())
    }

    fn failure(&mut self, result: &TestResult) -> io::Result<()> {
        let Some(text) = result
            .message
            .as_deref()
            .filter(|_| self.detail != Detail::Summary)
        else {
            return Ok(());
        };
        if !self.shown.insert(format!("{}\0{text}", result.nodeid)) {
            return Ok(());
        }
        let time = result
            .duration_s
            .map(|s| format!(" ({})", seconds(s)))
            .unwrap_or_default();
        let word = result.outcome.as_str().to_uppercase();
        let phases: BTreeSet<&str> = result
            .failures
            .iter()
            .map(|failure| failure.phase.as_str())
            .collect();
        let phases: Vec<&str> = phases
            .into_iter()
            .filter(|phase| *phase != Phase::Call.as_str())
            .collect();
        let phase = match phases.as_slice() {
            [] => String::new(),
            phases => format!(" (in {})", phases.join(" and ")),
        };
        let head = self.paint.outcome(
            result.outcome,
            &format!("── {word} {}{phase}", visible(&result.nodeid)),
        );
        writeln!(self.out, "\n{head}{}", self.paint.dim(&time))?;
        self.text(text)?;
        for subtest in result.subtests.iter().filter(|subtest| subtest.outcome.is_bad()) {
            writeln!(self.out, "   subtest {}", subtest.description)?;
            self.text(subtest.message.as_deref().unwrap_or_default())?;
        }
        match &result.output {
            Some(output) => self.text(output),
            None => Ok(()),
        }
    }

    fn collect_failed(&mut self, error: &CollectionError) -> io::Result<()> {
        let shown = !self.shown.insert(format!("{}\0{}", error.nodeid, error.message));
        if shown || self.detail == Detail::Summary {
            return Ok(());
        }
        self.progress.clear();
        let head = self.paint.outcome(
            Outcome::Error,
            &format!("── ERROR {} (collect)", visible(&error.nodeid)),
        );
        writeln!(self.out, "\n{head}")?;
        self.text(&error.message)
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        write!(self.out, "{}", self.paint.indented(text))
    }

    fn draw(&mut self, nodeid: &str, report: &Report) {
        let Some(iteration) = report.iterations.last() else {
            return;
        };
        let failed = self.failed;
        let counts = || {
            let done = iteration.rows.len();
            let total = iteration.selected.map(|n| format!("/{n}")).unwrap_or_default();
            let run = match (report.facts.iterations, report.iterations.len()) {
                (0 | 1, _) => String::new(),
                (all, now) => format!("run {now}/{all}  "),
            };
            let failures = if failed > 0 {
                format!("  {failed} failed")
            } else {
                String::new()
            };
            format!("{run}{done}{total}{failures}")
        };
        self.progress.set(counts, &visible(nodeid));
    }

    /// The end: what failed in one line each, counts, the status and what to do next.
    fn summary(&mut self, report: &Report) -> io::Result<()> {
        let verdict = report.verdict();
        let iteration = report.iterations.last().unwrap_or_else(|| report.first());
        self.printed(iteration)?;
        writeln!(self.out)?;
        self.short_list(iteration)?;
        for unfinished in iteration.unfinished() {
            let phase = unfinished
                .phase
                .map(|p| format!(" ({})", p.as_str()))
                .unwrap_or_default();
            let line = format!("running  {}{phase}", visible(&unfinished.nodeid));
            writeln!(self.out, "{}", self.paint.status(Status::TimedOut, &line))?;
            self.text(unfinished.stack.as_deref().unwrap_or_default())?;
        }
        // Nothing else shown so far would explain the end.
        let unexplained = iteration.rows.is_empty() && iteration.collection_errors.is_empty();
        if unexplained && !verdict.status.is_green() {
            self.text(&iteration.output_tail)?;
        }
        let counts = self.counts(iteration);
        let status = self
            .paint
            .status(verdict.status, &verdict.status.as_str().replace('_', " "));
        let time = self.paint.dim(&format!("in {}", seconds(report.duration_s)));
        let separator = if counts.is_empty() { "" } else { ": " };
        let run = self.paint.dim(&format!("· run {}", report.facts.run_id));
        writeln!(self.out, "{status}{separator}{counts} {time} {run}")?;
        self.notes(
            report,
            iteration,
            verdict.reason.as_deref(),
            verdict.hint.as_deref(),
        )?;
        self.out.flush()
    }

    /// What the framework printed beside its results.
    fn printed(&mut self, iteration: &Iteration) -> io::Result<()> {
        if self.detail == Detail::Summary {
            return Ok(());
        }
        for part in &iteration.printed {
            let head = self.paint.dim(&format!("── {}", part.title));
            writeln!(self.out, "\n{head}")?;
            self.text(&part.text)?;
        }
        Ok(())
    }

    fn short_list(&mut self, iteration: &Iteration) -> io::Result<()> {
        for row in iteration.rows.iter().filter(|row| row.is_flaky()) {
            let word = self.paint.warning("flaky  ");
            let why = self.paint.dim(&format!("  {}", tries(row)));
            writeln!(self.out, "{word} {}{why}", visible(&row.nodeid))?;
        }
        for row in iteration.rows.iter().filter(|row| row.outcome.is_bad()) {
            let word = self.paint.outcome(row.outcome, &format!("{:<7}", row.outcome));
            let failure = row.failures.first();
            let summary = failure
                .and_then(|failure| failure.summary.as_deref())
                .map(first_line);
            let why = summary
                .map(|why| self.paint.dim(&format!("  {why}")))
                .unwrap_or_default();
            let place = failure.and_then(|failure| failure.location.as_ref());
            let place = place
                .map(|place| self.paint.dim(&format!("  {place}")))
                .unwrap_or_default();
            writeln!(self.out, "{word} {}{place}{why}", visible(&row.nodeid))?;
        }
        for error in &iteration.collection_errors {
            let word = self.paint.outcome(Outcome::Error, "error  ");
            let place = error.location.as_ref();
            let place = place.map(|place| self.paint.dim(&format!("  {place}")));
            writeln!(
                self.out,
                "{word} {}{}{}",
                visible(&error.nodeid),
                place.unwrap_or_default(),
                self.paint.dim(&format!("  {}", error.what()))
            )?;
        }
        Ok(())
    }

    fn counts(&self, iteration: &Iteration) -> String {
        let totals = iteration.totals();
        let order = [
            Outcome::Failed,
            Outcome::Error,
            Outcome::Passed,
            Outcome::Skipped,
            Outcome::Xfailed,
            Outcome::Xpassed,
        ];
        let mut words: Vec<String> = order
            .into_iter()
            .filter_map(|outcome| {
                let number = totals.get(&outcome)?;
                Some(self.paint.outcome(outcome, &outcome.counted(*number)))
            })
            .collect();
        let flaky = iteration.rows.iter().filter(|row| row.is_flaky()).count();
        if flaky > 0 {
            let word = format!("{flaky} of them flaky");
            words.push(self.paint.warning(&word));
        }
        let warnings: u64 = iteration.warned();
        if warnings > 0 {
            words.push(self.paint.warning(&count(warnings, "warning")));
        }
        if iteration.deselected > 0 {
            words.push(self.paint.dim(&format!("{} deselected", iteration.deselected)));
        }
        words.join(", ")
    }

    fn notes(
        &mut self,
        report: &Report,
        iteration: &Iteration,
        reason: Option<&str>,
        hint: Option<&str>,
    ) -> io::Result<()> {
        if let Some(reason) = reason {
            writeln!(self.out, "   {}", for_people(reason))?;
        }
        if let Some(hint) = hint {
            writeln!(self.out, "   {} {}", self.paint.bold("next:"), for_people(hint))?;
        }
        for warning in report.warnings.iter().chain(&iteration.warnings) {
            writeln!(self.out, "   {} {warning}", self.paint.dim("note:"))?;
        }
        for leaked in iteration.exits.iter().flat_map(|exit| &exit.leaked) {
            writeln!(
                self.out,
                "   {} {leaked} outlived the tests and was ended",
                self.paint.dim("note:")
            )?;
        }
        let failed = iteration.rows.iter().filter(|row| row.outcome.is_bad()).count() as u64;
        if failed > 1 {
            writeln!(
                self.out,
                "   {}",
                self.paint.dim(&format!(
                    "again, only the {}: qaas run --failed",
                    count(failed, "failure")
                ))
            )?;
        }
        Ok(())
    }
}

/// Whether a run has anything to sum up. If not, its error answer says what happened; a time limit is no error.
fn is_worth_a_summary(report: &Report) -> bool {
    let timed_out = report.status() == Status::TimedOut;
    timed_out
        || report.iterations.iter().any(|iteration| {
            !iteration.rows.is_empty()
                || !iteration.collection_errors.is_empty()
                || !iteration.unfinished().is_empty()
        })
}

fn bad(iteration: &Iteration) -> usize {
    iteration.rows.iter().filter(|row| row.outcome.is_bad()).count() + iteration.collection_errors.len()
}

/// How often a test was run until it passed.
fn tries(result: &TestResult) -> String {
    format!(
        "passed in try {} of {}",
        result.attempt,
        result.attempts.len() + 1
    )
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}
