//! The words every other room uses: outcomes, phases, statuses, and one test's result.
//!
//! They are the field's own terms (pytest's reports and its six-word summary).

use serde::{Deserialize, Serialize};

/// What became of one test. The six words of pytest's summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Did what it should.
    Passed,
    /// Its own body failed, or it passed against a strict expectation.
    Failed,
    /// Something beside the test's own body failed: set-up, tear-down or collection.
    Error,
    /// Did not run, on purpose.
    Skipped,
    /// Failed, as its author said it would.
    Xfailed,
    /// Passed although its author said it would fail (not strict; a strict one is `Failed`).
    Xpassed,
}

impl Outcome {
    /// All six.
    pub const ALL: [Self; 6] = [
        Self::Passed,
        Self::Failed,
        Self::Error,
        Self::Skipped,
        Self::Xfailed,
        Self::Xpassed,
    ];

    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Skipped => "skipped",
            Self::Xfailed => "xfailed",
            Self::Xpassed => "xpassed",
        }
    }

    /// A number of tests with this outcome, in words: `2 failed`, `1 error`, `2 errors`.
    pub fn counted(self, number: u64) -> String {
        match self {
            Self::Error if number != 1 => format!("{number} errors"),
            other => format!("{number} {other}"),
        }
    }

    /// Whether this outcome alone keeps a run from being green.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::Error)
    }

    /// How much this outcome says when several tests share one answer (larger is worse):
    /// a base id of parametrised tests answers with its worst.
    pub fn severity(self) -> u8 {
        match self {
            Self::Skipped => 0,
            Self::Xfailed => 1,
            Self::Passed => 2,
            Self::Xpassed => 3,
            Self::Error => 4,
            Self::Failed => 5,
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Which part of a test's life a fact belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Finding the tests of a file.
    Collect,
    /// What comes before the test's body.
    Setup,
    /// The test's body.
    Call,
    /// What comes after it.
    Teardown,
}

impl Phase {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Collect => "collect",
            Self::Setup => "setup",
            Self::Call => "call",
            Self::Teardown => "teardown",
        }
    }
}

/// What may be said of a run as a whole. `Queued` and `Running` come before the end; every run ends in exactly
/// one of the others. The rules are in [`crate::verdict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for its turn.
    Queued,
    /// Goes on.
    Running,
    /// At least one test finished, nothing bad was seen, and the exit code agrees.
    Passed,
    /// Tests finished, and all of them were skipped: nothing was shown to work.
    AllSkipped,
    /// At least one bad row, and nothing that keeps it from being believed.
    Failed,
    /// Nothing was selected or collected.
    NoTests,
    /// No judgement is possible: the framework did not do its work, or contradicts itself.
    Broken,
    /// The record stops in the middle.
    Incomplete,
    /// Its time limit passed. What finished before is kept.
    TimedOut,
    /// Somebody asked for its end. What finished before is kept.
    Cancelled,
}

impl Status {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Passed => "passed",
            Self::AllSkipped => "all_skipped",
            Self::Failed => "failed",
            Self::NoTests => "no_tests",
            Self::Broken => "broken",
            Self::Incomplete => "incomplete",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the run went through to its end: what did not fail in it was well.
    pub fn is_complete(self) -> bool {
        self.is_green() || self == Self::Failed
    }

    /// Whether the run went through to its end and found nothing bad.
    pub fn is_green(self) -> bool {
        matches!(self, Self::Passed | Self::AllSkipped)
    }

    /// Whether the run is over.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A place in a source file, as the framework names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// As the framework writes it: mostly relative to the working folder.
    pub file: String,
    /// Counted from 1. `None` where the framework names only the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl std::fmt::Display for Location {
    /// `file:line`, as terminals and editors open it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = crate::visible::visible(&self.file);
        match self.line {
            Some(line) => write!(formatter, "{file}:{line}"),
            None => formatter.write_str(&file),
        }
    }
}

/// One failure of one test. A test that fails in its call and again in its teardown has two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What the test was in.
    #[serde(default = "call")]
    pub phase: Phase,
    /// The framework's own full text (pytest's `longrepr`).
    pub text: String,
    /// The one line that says what went wrong (`AssertionError: …`), where the framework gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Where it was raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

/// An earlier try of a test that was run again in the same run (pytest-rerunfailures and the like).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Counted from 1.
    pub attempt: u32,
    /// What became of it.
    pub outcome: Outcome,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// Why, where it is not plainly passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A part of a test that reports for itself (`subtests`, `unittest`'s `subTest`). A failed one makes its test failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subtest {
    /// What the framework prints to tell it from its siblings.
    pub description: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// Why, where it is not plainly passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The result of one finished test: exactly one for each test, attempts and subtests inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// Verbatim from the framework, never rewritten.
    pub nodeid: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Set-up, call and teardown together. `None` where the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// Why: the failures' text, or the reason of a skip or an expected failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// In the order they happened. Empty unless the outcome is bad (or a strict text source gave none).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Which try this is, counted from 1. More than 1 only where the framework ran it again.
    #[serde(default = "first_attempt", skip_serializing_if = "is_first_attempt")]
    pub attempt: u32,
    /// The tries before this one. Filled by the report from [`crate::event::TestEvent::Reran`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// Its parts that report for themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subtests: Vec<Subtest>,
    /// Where the test is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// What a test that is not green printed or logged (captured sections), as the framework shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Which parallel worker ran it (`gw0`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// `Collect` for a row that stands for a whole file (a module that skips itself). `None` for an ordinary test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
}

impl TestResult {
    /// A result with only a name and an outcome; the rest is filled in by the reader.
    pub fn new(nodeid: impl Into<String>, outcome: Outcome) -> Self {
        Self {
            nodeid: nodeid.into(),
            outcome,
            duration_s: None,
            message: None,
            failures: Vec::new(),
            attempt: 1,
            attempts: Vec::new(),
            subtests: Vec::new(),
            location: None,
            output: None,
            worker: None,
            phase: None,
        }
    }

    /// Takes over from `other` what this row does not know. The name, the outcome and the attempt stay.
    pub fn fill_from(&mut self, other: &Self) {
        fn fill<T: Clone>(mine: &mut Option<T>, other: Option<&T>) {
            if mine.is_none() {
                *mine = other.cloned();
            }
        }
        fn fill_list<T: Clone>(mine: &mut Vec<T>, other: &[T]) {
            if mine.is_empty() {
                mine.extend_from_slice(other);
            }
        }
        fill(&mut self.duration_s, other.duration_s.as_ref());
        fill(&mut self.message, other.message.as_ref());
        fill(&mut self.location, other.location.as_ref());
        fill(&mut self.output, other.output.as_ref());
        fill(&mut self.worker, other.worker.as_ref());
        fill_list(&mut self.failures, &other.failures);
        fill_list(&mut self.attempts, &other.attempts);
        fill_list(&mut self.subtests, &other.subtests);
        for mine in &mut self.subtests {
            let same =
                |theirs: &&Subtest| theirs.description == mine.description && theirs.outcome == mine.outcome;
            if let Some(theirs) = other.subtests.iter().find(same) {
                fill(&mut mine.message, theirs.message.as_ref());
                fill(&mut mine.duration_s, theirs.duration_s.as_ref());
            }
        }
    }

    /// Whether it passed only when it was run again: it is well, and not to be relied on.
    pub fn is_flaky(&self) -> bool {
        self.outcome == Outcome::Passed && self.first_bad_attempt().is_some()
    }

    /// The first try that did not pass.
    pub fn first_bad_attempt(&self) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.outcome.is_bad())
    }

    /// Whether this row is a test that ran, not a file that skipped itself during collection.
    pub fn is_test(&self) -> bool {
        self.phase != Some(Phase::Collect)
    }
}

fn call() -> Phase {
    Phase::Call
}

fn first_attempt() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_first_attempt(attempt: &u32) -> bool {
    *attempt == 1
}

/// A part of what the framework printed at its end that no result says: its own warnings, a list of durations, a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// As the framework heads it: `warnings summary`, `slowest 3 durations`.
    pub title: String,
    /// As it was printed.
    pub text: String,
    /// How many things it is about, where the framework counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Whether it is about warnings: what nobody asked for and everybody should know.
    #[serde(default)]
    pub warnings: bool,
}

/// A collector that failed: a file that does not import, a broken conftest. A row of outcome `error`, phase `collect`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionError {
    /// The collector's own id, mostly a file's path.
    pub nodeid: String,
    /// The framework's text.
    pub message: String,
    /// The one line that says what went wrong (`ImportError: …`), where the framework gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Where it was raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

impl CollectionError {
    /// What went wrong, in one line: the summary, else the last line of the text, where most tools write the error itself.
    pub fn what(&self) -> &str {
        match &self.summary {
            Some(summary) => summary,
            None => self.message.trim_end().lines().last().unwrap_or_default().trim(),
        }
    }
}

/// A test that began and never ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfinished {
    /// Verbatim from the framework.
    pub nodeid: String,
    /// What it was in, as far as was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Its stack when the time limit came, innermost frame first, trimmed to the project's frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Which parallel worker ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
}

/// Coverage of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileCoverage {
    /// Relative to the step's working folder, `/` between parts.
    pub path: String,
    /// 0 to 100, not rounded.
    pub percent: f64,
    /// Lines that ran.
    pub covered_lines: u64,
    /// Lines that could have run.
    pub statements: u64,
    /// Lines that never ran, counted from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_lines: Vec<u32>,
    /// Branches that were taken.
    #[serde(default)]
    pub covered_branches: u64,
    /// Branches that could have been taken. 0 where they were not measured.
    #[serde(default)]
    pub branches: u64,
}

/// Coverage of a run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// 0 to 100, not rounded. `None` when nothing was measured.
    pub percent: Option<f64>,
    /// One for each file that was measured.
    pub files: Vec<FileCoverage>,
}

impl Coverage {
    /// The share of these files together, 0 to 100: of their lines, and of their branches where they were measured with
    /// them. `None` without a file.
    pub fn percent_of(files: &[FileCoverage]) -> Option<f64> {
        let covered = files
            .iter()
            .map(|file| file.covered_lines + file.covered_branches);
        let all: u64 = files.iter().map(|file| file.statements + file.branches).sum();
        let share = match all {
            // Files without anything to cover are covered.
            0 => 100.0,
            all => covered.sum::<u64>() as f64 * 100.0 / all as f64,
        };
        (!files.is_empty()).then_some(share)
    }
}
