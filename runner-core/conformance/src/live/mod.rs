//! Real runs of the sample project.

mod bench;
mod cases;
mod traps;

use super::NO_SAMPLE;
use super::book::{Book, Finding, Group};
use super::subject::Subject;
use super::tape::Tape;
use runner_core::backend::Capability;
use runner_core::model::Outcome;
use runner_core::report::Report;

pub use self::bench::Bench;
use self::bench::{Ran, Wish};

/// A recorded run, or why there is none.
type Tried = Result<Box<Recorded>, String>;

struct Recorded {
    tape: Tape,
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
    pub(super) fn all(&self) -> Result<&Tape, &str> {
        tape(&self.all)
    }

    /// Those that pass.
    pub(super) fn green(&self) -> Result<&Tape, &str> {
        tape(&self.green)
    }

    pub(super) fn list(&self) -> Result<&Tape, &str> {
        tape(&self.list)
    }

    fn report(tried: &Tried) -> Result<&Report, Finding> {
        match tried {
            Ok(recorded) => Ok(&recorded.ran.report),
            Err(why) => Err(Finding::Skipped(why.clone())),
        }
    }
}

fn tape(tried: &Tried) -> Result<&Tape, &str> {
    tried
        .as_ref()
        .map(|recorded| &recorded.tape)
        .map_err(String::as_str)
}

/// Records the runs that later cases look at.
pub(super) async fn record(subject: &Subject, bench: &Bench) -> Tapes {
    if let Some(why) = bench.unusable() {
        return Tapes::without(why);
    }
    if !subject.can(Capability::Run) {
        return Tapes::without("it runs no tests");
    }
    let all = bench.record(subject, &Wish::default()).await;
    let passing = bench.sample().with(Outcome::Passed);
    let green = if !subject.can(Capability::Single) {
        Err("it cannot run chosen tests".to_owned())
    } else if passing.is_empty() {
        Err("none of the sample's tests passes".to_owned())
    } else {
        bench.record(subject, &Wish::of(&passing)).await
    };
    let list = if subject.can(Capability::List) {
        bench
            .record(
                subject,
                &Wish {
                    list: true,
                    ..Wish::default()
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
pub(super) async fn check(subject: &Subject, bench: Option<&Bench>, tapes: &Tapes, book: &mut Book<'_>) {
    let mut add = |(name, expected): Head, finding: Finding| book.add(Group::Live, name, expected, finding);
    let why = match bench {
        None => Some(NO_SAMPLE.to_owned()),
        Some(bench) => bench.unusable().map(str::to_owned),
    };
    let why = why.or_else(|| (!subject.can(Capability::Run)).then(|| "it runs no tests".to_owned()));
    let (Some(bench), None) = (bench, &why) else {
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
        add(head, cases::outcome(bench, &tapes.all, outcome));
    }
    add(ALL, cases::all(bench, &tapes.all));
    add(WHY, cases::messages(&tapes.all));
    add(LIVE, cases::live_rows(subject, &tapes.all));
    add(GREEN, cases::green(bench, &tapes.green));
    add(LIST, cases::list(tapes));
    add(ALONE, cases::alone(subject, bench).await);
    add(KEYWORD, cases::keyword(subject, bench).await);
    add(FIRST, cases::max_failures(subject, bench).await);
    add(MISSING, cases::missing(subject, bench).await);
    add(EMPTY, traps::empty(subject, bench).await);
    add(BROKEN, traps::broken(subject, bench).await);
    add(BESIDE, traps::beside(subject, bench).await);
    // First: what has to be compiled then is, before the time limit of the next case counts.
    add(CANCEL, traps::cancel(subject, bench).await);
    add(HANG, traps::hang(subject, bench).await);
    add(CRASH, traps::crash(subject, bench).await);
    add(AT_ONCE, cases::at_once(subject, bench, tapes).await);
}
