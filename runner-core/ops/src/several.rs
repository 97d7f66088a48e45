//! One call in several suites: each by itself, one after another, and one answer with a part for each.

use std::sync::Arc;

use serde::Serialize;

use super::answer::{SuiteAnswer, Sums, ToolAnswer};
use super::asked::RunArguments;
use super::definition::Pending;
use super::perform::perform;
use super::rows::round;
use super::spread::spread;
use super::{Answer, ErrorKind, ExitCode, NextCall, OpError, Totals, Workspace, words};
use engine::run::{EventSink, RunSpec};
use engine::run_id::new_run_id;
use process::Cancel;
use runner_core::backend::{Filters, UNSUPPORTED};
use runner_core::model::Status;
use runner_core::report::Report;

/// A tool's arguments that are carried out suite by suite.
pub(super) trait EachSuite: Sync {
    type Answer: ToolAnswer;

    /// What is asked, whichever suites it is about.
    fn asked(&self) -> RunArguments;

    /// What each suite is asked. Never empty.
    fn shares(&self, workspace: &Workspace) -> Result<Vec<RunArguments>, OpError> {
        spread(workspace, &self.asked())
    }

    /// What the engine is to do for one of them. `allowed` failures end it.
    fn spec<'a>(
        &'a self,
        workspace: &'a Workspace,
        share: RunArguments,
        allowed: Option<u32>,
    ) -> Pending<'a, Result<RunSpec, OpError>>;

    /// What the record of that comes to.
    fn answer(
        &self,
        workspace: &Workspace,
        report: &Report,
        filters: &Filters,
    ) -> Result<Self::Answer, OpError>;

    /// How many failures end everything. What of them is left is `allowed` to the next suite.
    fn most_failures(&self) -> Option<u32> {
        None
    }

    /// Whether a suite may have nothing of what is asked for, and the others all of it.
    fn is_narrowed(&self) -> bool {
        !self.asked().selectors.is_empty()
    }
}

/// What became of a call.
#[derive(Debug)]
pub struct Runs<A> {
    /// One for each suite that was asked and had an answer, or an error of its own.
    pub parts: Vec<SuiteRun<A>>,
    /// Suites without a part, and why.
    pub left_out: Vec<LeftOut>,
    /// Whether the call was about more than one suite.
    pub is_several: bool,
    stopped: bool,
}

/// One suite's.
#[derive(Debug)]
pub struct SuiteRun<A> {
    pub suite: String,
    /// `None` if nothing was begun.
    pub report: Option<Arc<Report>>,
    pub answer: Result<A, OpError>,
}

/// A suite that a call was about and that has no part in its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub suite: String,
    pub why: String,
}

/// Asks one suite after another.
pub(super) async fn each<T: EachSuite>(
    workspace: &Workspace,
    asked: &T,
    cancel: Cancel,
    sink: EventSink<'_>,
) -> Result<Runs<T::Answer>, OpError> {
    let shares = asked.shares(workspace)?;
    let mut runs = Runs {
        parts: Vec::with_capacity(shares.len()),
        left_out: Vec::new(),
        is_several: shares.len() > 1,
        stopped: false,
    };
    let mut failures = 0;
    for share in shares {
        let suite = share.scope.suite.clone().unwrap_or_default();
        let most = asked.most_failures();
        if let Some(why) = not_begun(&cancel, failures, most).filter(|_| !runs.parts.is_empty()) {
            runs.stopped = true;
            runs.left_out.push(LeftOut { suite, why });
            continue;
        }
        let allowed = most.map(|most| most.saturating_sub(failures).max(1));
        let (report, answer) = match asked.spec(workspace, share, allowed).await {
            Ok(spec) => {
                let filters = spec.filters.clone();
                let report = perform(workspace, new_run_id(), spec, cancel.clone(), &mut *sink).await;
                failures += failed_in(&report);
                let answer = asked.answer(workspace, &report, &filters);
                (Some(report), answer)
            }
            Err(error) => (None, Err(error)),
        };
        runs.parts.push(SuiteRun {
            suite,
            report,
            answer,
        });
    }
    runs.set_aside(asked.is_narrowed());
    Ok(runs)
}

/// What the engine is to do in each suite, for runs that nobody waits for. A suite that cannot do it is left out unless all
/// are; anything else that keeps one from running is refused, since nobody would see it.
pub(super) async fn specs<T: EachSuite>(workspace: &Workspace, asked: &T) -> Result<Vec<RunSpec>, OpError> {
    let (mut specs, mut cannot) = (Vec::new(), None);
    for share in asked.shares(workspace)? {
        match asked.spec(workspace, share, asked.most_failures()).await {
            Ok(spec) => specs.push(spec),
            Err(error) if aside(&error, false).is_some() => {
                cannot.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    match (specs.is_empty(), cannot) {
        (true, Some(error)) => Err(error),
        _ => Ok(specs),
    }
}

fn not_begun(cancel: &Cancel, failures: u32, most: Option<u32>) -> Option<String> {
    if cancel.is_asked() {
        return Some("not begun: the call was cancelled".to_owned());
    }
    let most = most.filter(|most| failures >= *most)?;
    let most = words::count(most, "failure");
    Some(format!("not begun: to stop after {most} was asked for"))
}

fn failed_in(report: &Report) -> u32 {
    let iteration = report.first();
    let bad = iteration.rows.iter().filter(|row| row.outcome.is_bad()).count();
    u32::try_from(bad + iteration.collection_errors.len()).unwrap_or(u32::MAX)
}

/// Why a suite has no part in a call, where that is nothing to complain of as long as others have.
fn aside(error: &OpError, narrowed: bool) -> Option<String> {
    let cannot = error.error.code == UNSUPPORTED || error.error.code == "no_coverage";
    match error.kind {
        ErrorKind::BadRequest if cannot => Some(error.error.message.clone()),
        ErrorKind::NoTests if narrowed => Some("no test of it is selected".to_owned()),
        _ => None,
    }
}

impl<A: ToolAnswer> Runs<A> {
    /// Suites that cannot do what is asked, or have nothing of it, are named and count for nothing; unless it is all of them.
    fn set_aside(&mut self, narrowed: bool) {
        let why = |part: &SuiteRun<A>| {
            part.answer
                .as_ref()
                .err()
                .and_then(|error| aside(error, narrowed))
        };
        if self.parts.iter().all(|part| why(part).is_some()) {
            return;
        }
        for part in std::mem::take(&mut self.parts) {
            match why(&part) {
                Some(why) => self.left_out.push(LeftOut {
                    suite: part.suite,
                    why,
                }),
                None => self.parts.push(part),
            }
        }
    }

    /// The records of the runs that began.
    pub fn reports(&self) -> Vec<Arc<Report>> {
        self.parts.iter().filter_map(|part| part.report.clone()).collect()
    }

    /// The answer of the one suite that the call was about, or one answer with a part for each.
    pub fn answer(mut self) -> Result<Answer, OpError> {
        if !self.is_several
            && let Some(only) = self.parts.pop()
        {
            return only.answer.map(|answer| Box::new(answer) as Answer);
        }
        let parts: Vec<SuiteAnswer> = self
            .parts
            .into_iter()
            .map(|part| SuiteAnswer {
                suite: part.suite,
                answer: part.answer.map(|answer| Box::new(answer) as Answer),
            })
            .collect();
        Several::of(parts, self.left_out, self.stopped).map(|answer| Box::new(answer) as Answer)
    }
}

/// The answers of several suites: the worst status, the sums, and a part for each.
#[derive(Debug, Serialize)]
pub struct Several {
    status: String,
    /// Stopped early as it was told to (`-x`, `max_failures`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<Totals>,
    /// Of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    duration_s: f64,
    /// The place of the parts: each is its suite's answer, and says which suite.
    suites: Vec<()>,
    /// Suites that have no part in this, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOut>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<NextCall>,
    #[serde(skip)]
    parts: Vec<SuiteAnswer>,
    #[serde(skip)]
    run_status: Option<Status>,
}

impl Several {
    /// # Errors
    /// If no suite answered: their error, or one that says each.
    fn of(mut parts: Vec<SuiteAnswer>, left_out: Vec<LeftOut>, stopped: bool) -> Result<Self, OpError> {
        if parts.iter().all(|part| part.answer.is_err()) {
            return Err(all_failed(parts));
        }
        let mut sums = Sums::default();
        for answer in parts.iter().filter_map(|part| part.answer.as_ref().ok()) {
            sums.add(answer.sums());
        }
        let run_status = worst(parts.iter().filter_map(SuiteAnswer::run_status));
        let lists = parts.iter().filter_map(|part| part.answer.as_ref().ok());
        // Of lists the one that is not whole says so.
        let of_lists = || {
            let mut standings = lists.map(|answer| answer.standing());
            let last = standings.find(|word| word != "done");
            last.unwrap_or_else(|| "done".to_owned())
        };
        let status = run_status.map_or_else(of_lists, |status| status.to_string());
        Ok(Self {
            status,
            stopped,
            next: next(&mut parts, sums.totals.as_ref()),
            totals: sums.totals,
            total: sums.total,
            duration_s: round(sums.duration_s, 3),
            suites: Vec::new(),
            left_out,
            parts,
            run_status,
        })
    }
}

/// The calls that lead on: into the first part that has trouble, then to all that failed.
fn next(parts: &mut [SuiteAnswer], totals: Option<&Totals>) -> Vec<NextCall> {
    let mut all: Vec<NextCall> = Vec::new();
    for part in parts.iter_mut() {
        let suite = part.suite.clone();
        let calls = match &mut part.answer {
            Ok(answer) => answer.take_next(),
            Err(error) => std::mem::take(&mut error.known.next),
        };
        let names_it = |call: &NextCall| {
            let arguments = call.tool.definition().arguments();
            call.arguments.contains_key("run_id")
                || !arguments.into_iter().any(|argument| argument.name == "suite")
        };
        let named = |call: NextCall| {
            if names_it(&call) {
                call
            } else {
                call.with("suite", suite.as_str())
            }
        };
        all.extend(calls.into_iter().map(named));
    }
    let bad = totals.map_or(0, Totals::bad);
    if bad > 1 {
        all.truncate(1);
        all.push(super::failed::again(bad));
    }
    all.truncate(2);
    all
}

/// The status of several: that which says the worst. Where anything passed, what was skipped elsewhere does not matter.
fn worst(statuses: impl Iterator<Item = Status>) -> Option<Status> {
    let rank = |status: &Status| match status {
        Status::AllSkipped => 0,
        Status::Passed => 1,
        Status::Queued | Status::Running => 2,
        Status::NoTests => 3,
        Status::Failed => 4,
        Status::Incomplete => 5,
        Status::Broken => 6,
        Status::TimedOut => 7,
        Status::Cancelled => 8,
    };
    statuses.max_by_key(rank)
}

/// The error of a call that no suite could answer.
fn all_failed(parts: Vec<SuiteAnswer>) -> OpError {
    let errors = parts
        .into_iter()
        .filter_map(|part| Some((part.suite, part.answer.err()?)));
    let errors: Vec<(String, OpError)> = errors.collect();
    let same = errors.iter().all(|(_, error)| {
        Some(&error.error.message) == errors.first().map(|(_, error)| &error.error.message)
    });
    let texts = errors.iter().map(|(suite, error)| {
        let hint = error.error.hint.as_deref().map(|hint| format!(" ({hint})"));
        format!(
            "suite `{suite}`: {}{}",
            error.error.message,
            hint.unwrap_or_default()
        )
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let first = errors
        .into_iter()
        .map(|(_, error)| error)
        .reduce(|worst, next| if next.exit() > worst.exit() { next } else { worst });
    let mut error = first.unwrap_or_else(|| {
        OpError::new(ErrorKind::NoTests, "no_tests", "no suite was asked").with_hint("Name a suite.")
    });
    if !same {
        error.error.message = text;
        error.error.hint = None;
    }
    error
}

impl ToolAnswer for Several {
    /// `3 suites, failed: 20 tests: 18 passed, 2 failed in 4.1 s. pytest failed, vitest passed. Left out: cargo (why).`
    fn headline(&self) -> String {
        let suites = words::count(self.parts.len() as u64, "suite");
        let what = match (&self.totals, self.total) {
            (Some(totals), _) => {
                let tests = words::count(totals.total(), "test");
                format!("{tests}: {} in {:.1} s", totals.words(), self.duration_s)
            }
            (None, Some(total)) => words::count(total as u64, "test"),
            (None, None) => format!("{:.1} s", self.duration_s),
        };
        let each: Vec<String> = self
            .parts
            .iter()
            .map(|part| format!("{} {}", part.suite, part.status().replace('_', " ")))
            .collect();
        let mut text = format!("{suites}, {}: {what}. {}.", self.status, each.join(", "));
        if !self.left_out.is_empty() {
            let left_out: Vec<String> = self
                .left_out
                .iter()
                .map(|one| format!("{} ({})", one.suite, one.why))
                .collect();
            text.push_str(&format!(" Left out: {}.", left_out.join(", ")));
        }
        text
    }

    fn status(&self) -> Option<Status> {
        self.run_status
    }

    fn exit(&self) -> ExitCode {
        ExitCode::worst(self.parts.iter().map(SuiteAnswer::exit))
    }

    fn sums(&self) -> Sums {
        Sums {
            totals: self.totals.clone(),
            total: self.total,
            duration_s: self.duration_s,
        }
    }

    fn take_next(&mut self) -> Vec<NextCall> {
        std::mem::take(&mut self.next)
    }

    fn take_parts(&mut self) -> Vec<SuiteAnswer> {
        std::mem::take(&mut self.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::worst;
    use runner_core::model::Status::{
        self, AllSkipped, Broken, Cancelled, Failed, Incomplete, NoTests, Passed,
    };

    #[test]
    fn the_status_over_several_suites_is_the_worst_and_a_skipped_suite_beside_a_green_one_is_not() {
        for (statuses, expected) in [
            (&[Passed, Failed, NoTests][..], Failed),
            (&[Passed, AllSkipped], Passed),
            (&[AllSkipped, AllSkipped], AllSkipped),
            (&[Failed, Incomplete], Incomplete),
            (&[Failed, Broken], Broken),
            (&[Broken, Cancelled, Status::TimedOut], Cancelled),
            (&[Passed, NoTests], NoTests),
        ] {
            assert_eq!(worst(statuses.iter().copied()), Some(expected), "{statuses:?}");
        }
    }
}
