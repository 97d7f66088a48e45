//! Real runs of the sample project.

mod cases;
mod harness;
mod hostile;

use super::NO_SAMPLE;
use super::case_log::{CaseLog, Finding, Group};
use super::recording::Recording;
use super::subject::Subject;
use runner_core::backend::Capability;
use runner_core::model::Outcome;
use runner_core::report::Report;

pub use self::harness::Harness;
use self::harness::{Ran, SampleRun};

/// A recorded run, or why there is none.
type Tried = Result<Box<Recorded>, String>;

struct Recorded {
    recording: Recording,
    ran: Ran,
}

/// The runs whose bytes are read again.
pub(super) struct Tapes {
    all: Tried,
    green: Tried,
    list: Tried,
}

impl Tapes {
    pub(super) fn without(why: &str) -> Self {
        let none = || Err(why.to_owned());
        Self {
            all: none(),
            green: none(),
            list: none(),
        }
    }

    /// All of the sample's tests.
    pub(super) fn all(&self) -> Result<&Recording, &str> {
        recording(&self.all)
    }

    /// Those that pass.
    pub(super) fn green(&self) -> Result<&Recording, &str> {
        recording(&self.green)
    }

    pub(super) fn list(&self) -> Result<&Recording, &str> {
        recording(&self.list)
    }

    fn report(tried: &Tried) -> Result<&Report, Finding> {
        match tried {
            Ok(recorded) => Ok(&recorded.ran.report),
            Err(why) => Err(Finding::Skipped(why.clone())),
        }
    }
}

fn recording(tried: &Tried) -> Result<&Recording, &str> {
    tried
        .as_ref()
        .map(|recorded| &recorded.recording)
        .map_err(String::as_str)
}

/// Records the runs that later cases look at.
pub(super) async fn record(subject: &Subject, harness: &Harness) -> Tapes {
    if let Some(why) = harness.unusable() {
        return Tapes::without(why);
    }
    if !subject.can(Capability::Run) {
        return Tapes::without("it runs no tests");
    }
    let all = harness.record(subject, &SampleRun::default()).await;
    let passing = harness.sample().with(Outcome::Passed);
    let green = if !subject.can(Capability::Single) {
        Err("it cannot run chosen tests".to_owned())
    } else if passing.is_empty() {
        Err("none of the sample's tests passes".to_owned())
    } else {
        harness.record(subject, &SampleRun::of(&passing)).await
    };
    let list = if subject.can(Capability::List) {
        harness
            .record(
                subject,
                &SampleRun {
                    list: true,
                    ..SampleRun::default()
                },
            )
            .await
    } else {
        Err("it does not list".to_owned())
    };
    Tapes { all, green, list }
}

/// Name and what is expected.
type Head = (&'static str, &'static str);

const OUTCOMES: [(Outcome, Head); 6] = [
    (Outcome::Passed, ("passed", "tests that pass are `passed`")),
    (Outcome::Failed, ("failed", "tests that fail are `failed`")),
    (Outcome::Error, ("error", "tests whose set-up fails are `error`")),
    (
        Outcome::Skipped,
        ("skipped", "tests that are skipped are `skipped`"),
    ),
    (
        Outcome::Xfailed,
        ("xfailed", "tests that fail as expected are `xfailed`"),
    ),
    (
        Outcome::Xpassed,
        ("xpassed", "tests that pass against expectation are `xpassed`"),
    ),
];

const ALL: Head = ("all", "exactly the sample's tests, and a status that fits them");
const WHY: Head = ("messages", "every failed test says why");
const LIVE: Head = ("live-rows", "rows arrive before the framework has ended");
const GREEN: Head = (
    "green",
    "the passing tests alone are passed, and no other test has a row",
);
const LIST: Head = (
    "list",
    "the listing names exactly the tests that run; a skipped one may be missing",
);
const ALONE: Head = (
    "alone",
    "each id run alone gives one row, with that id and its outcome",
);
const KEYWORD: Head = ("keyword-run", "a keyword expression runs exactly what it finds");
const FIRST: Head = (
    "max-failures-run",
    "stopping after one failure is failed, with rows of the sample only",
);
const MISSING: Head = ("missing", "the id of no test gives no row and is never passed");
const EMPTY: Head = ("empty", "a place without tests is no_tests");
const BROKEN: Head = (
    "broken",
    "a file that cannot be collected is never passed, and the report says so",
);
const BESIDE: Head = ("broken-beside", "neither is a passing test beside it");
const HANG: Head = (
    "hang",
    "a test that never ends is timed_out; rows that came live are kept",
);
const CRASH: Head = (
    "crash",
    "a test that ends its process is never passed; rows that came live are kept",
);
const CANCEL: Head = ("cancel", "a run that is cancelled ends, as cancelled");
const AT_ONCE: Head = ("at-once", "two runs at the same time have the rows of each");

/// Runs all cases, one after another.
pub(super) async fn check(
    subject: &Subject,
    harness: Option<&Harness>,
    recordings: &Tapes,
    log: &mut CaseLog<'_>,
) {
    let mut add = |(name, expected): Head, finding: Finding| log.add(Group::Live, name, expected, finding);
    let why = match harness {
        None => Some(NO_SAMPLE.to_owned()),
        Some(harness) => harness.unusable().map(str::to_owned),
    };
    let why = why.or_else(|| (!subject.can(Capability::Run)).then(|| "it runs no tests".to_owned()));
    let (Some(harness), None) = (harness, &why) else {
        let why = why.unwrap_or_default();
        let outcomes = OUTCOMES.map(|(_, head)| head);
        let others = [
            ALL, WHY, LIVE, GREEN, LIST, ALONE, KEYWORD, FIRST, MISSING, EMPTY, BROKEN, BESIDE, HANG, CRASH,
            CANCEL, AT_ONCE,
        ];
        for head in outcomes.into_iter().chain(others) {
            add(head, Finding::Skipped(why.clone()));
        }
        return;
    };
    for (outcome, head) in OUTCOMES {
        add(head, cases::outcome(harness, &recordings.all, outcome));
    }
    add(ALL, cases::all(harness, &recordings.all));
    add(WHY, cases::messages(&recordings.all));
    add(LIVE, cases::live_rows(subject, &recordings.all));
    add(GREEN, cases::green(harness, &recordings.green));
    add(LIST, cases::list(recordings));
    add(ALONE, cases::alone(subject, harness).await);
    add(KEYWORD, cases::keyword(subject, harness).await);
    add(FIRST, cases::max_failures(subject, harness).await);
    add(MISSING, cases::missing(subject, harness).await);
    add(EMPTY, hostile::empty(subject, harness).await);
    add(BROKEN, hostile::broken(subject, harness).await);
    add(BESIDE, hostile::beside(subject, harness).await);
    // First: what has to be compiled then is, before the time limit of the next case counts.
    add(CANCEL, hostile::cancel(subject, harness).await);
    add(HANG, hostile::hang(subject, harness).await);
    add(CRASH, hostile::crash(subject, harness).await);
    add(AT_ONCE, cases::at_once(subject, harness, recordings).await);
}
