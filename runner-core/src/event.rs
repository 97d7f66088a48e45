//! Facts about a run, in order. The only thing that flows.
//!
//! Two types on purpose: a [`TestEvent`] is a backend's voice, what its framework said; a [`RunEvent`] is the
//! run's, what the engine saw. A report is the fold of the latter ([`crate::report`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::facts::RunFacts;
use crate::model::{Attempt, CollectionError, Coverage, Location, Phase, Printed, TestResult};
use crate::plan::{Start, StepExit};

/// What a backend understood from its framework's output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TestEvent {
    /// A test exists. Sent when listing; a run need not send it.
    Found {
        /// Verbatim from the framework.
        nodeid: String,
        /// Where it is defined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        location: Option<Location>,
    },
    /// How many tests the framework is going to run, and how many it set aside. A later one replaces an earlier one.
    Counted {
        /// Tests that are going to run.
        selected: u64,
        /// Tests that were found and set aside by a selection.
        deselected: u64,
    },
    /// A test began.
    Started {
        /// Which test.
        nodeid: String,
        /// Which parallel worker runs it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
    },
    /// A running test went over to another phase.
    Entered {
        /// Which test.
        nodeid: String,
        /// The one that begins.
        phase: Phase,
    },
    /// A try of a test ended and the framework runs it again: no verdict yet.
    Reran {
        /// Which test.
        nodeid: String,
        /// The try that ended.
        attempt: Attempt,
    },
    /// A test ended, teardown included. The first verdict for (nodeid, attempt, worker) counts.
    Finished(Box<TestResult>),
    /// More about a test that already finished (its text, its duration), from a source that speaks only at the end.
    /// Fills in what its row does not say; never changes an outcome, never makes a row.
    Detailed(Box<TestResult>),
    /// A collector failed.
    CollectFailed(CollectionError),
    /// Where a test hung when the time limit came, or where its process died. It stays unfinished.
    Hung {
        /// Which test.
        nodeid: String,
        /// What it was in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<Phase>,
        /// Innermost frame first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stack: Option<String>,
        /// Which parallel worker ran it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
    },
    /// What was measured. A later one replaces an earlier one.
    Coverage(Coverage),
    /// What ran the tests, as it says itself: a name (`node`, the framework) and its version. A later value of a name
    /// replaces an earlier one.
    Environment {
        /// Names (`node`, `vitest`) to versions.
        values: BTreeMap<String, String>,
    },
    /// What the framework printed beside its results.
    Printed(Printed),
    /// The tests took the terminal of the person who runs them (a debugger, prints as they come), or gave it back.
    Terminal {
        /// Taken, or given back.
        taken: bool,
        /// For how long: the rest of the run (they were started so), or until it is given back (a debugger).
        #[serde(default)]
        debugger: bool,
    },
    /// Something the reader of an answer should know: a contradiction, a malformed line, a plug-in in the way.
    Warning {
        /// One sentence.
        message: String,
    },
}

/// One entry of a run's record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunEvent {
    /// Always first.
    Started(Box<RunFacts>),
    /// The plan is carried out once more.
    IterationStarted {
        /// Counted from 1.
        iteration: u32,
    },
    /// A step is about to do its work.
    StepStarted {
        /// Counted from 1.
        iteration: u32,
        /// The step's name.
        step: String,
        /// By a process that was waiting, or by a new one.
        start: Start,
        /// Why it was started so, in words.
        why: String,
    },
    /// What the backend understood, strings already cleaned.
    Test {
        /// Counted from 1.
        iteration: u32,
        /// What the backend said.
        test: TestEvent,
    },
    /// A step and all its descendants are gone.
    StepExited {
        /// Counted from 1.
        iteration: u32,
        /// How.
        exit: StepExit,
    },
    /// All steps are over and the reader has read everything.
    IterationEnded {
        /// Counted from 1.
        iteration: u32,
        /// The backend's reading of how its framework ended. `None` if it could not read anything.
        ending: Option<Ending>,
        /// Seconds, from the start of the first step.
        duration_s: f64,
        /// The last of what the processes printed, both streams, cleaned and bounded.
        output_tail: String,
    },
    /// Something the engine has to say about the run.
    Warning {
        /// One sentence.
        message: String,
    },
    /// Always last, exactly once.
    Finished {
        /// Why nothing more is done.
        cause: StopReason,
        /// Seconds of the whole run.
        duration_s: f64,
    },
}

/// Why the engine stopped working on a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum StopReason {
    /// All planned work was done.
    Done,
    /// A time limit passed: `limit_ms` for one iteration, or for all of them.
    TimedOut {
        /// Milliseconds.
        limit_ms: u64,
        /// What was waited for in vain when it passed, if it was a backend and not the tests: in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unanswered: Option<String>,
    },
    /// Somebody asked for it.
    Cancelled {
        /// Who, in words.
        by: String,
    },
    /// The engine itself could not go on (a program that does not start, a full disk, a bug).
    Failed {
        /// A stable word for programs.
        code: String,
        /// What went wrong.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

/// A backend's reading of how its framework ended. Never the run's status: that takes the rows as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// How it ended.
    pub kind: EndingKind,
    /// What the exit code means in this framework, whatever the rows say.
    pub exit: ExitMeaning,
    /// In words, for every kind but a plain `Completed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Ending {
    /// The framework went to its end.
    pub fn completed(exit: ExitMeaning) -> Self {
        Self {
            kind: EndingKind::Completed,
            exit,
            reason: None,
            hint: None,
        }
    }

    /// Any other end, with its reason.
    pub fn because(kind: EndingKind, exit: ExitMeaning, reason: impl Into<String>) -> Self {
        Self {
            kind,
            exit,
            reason: Some(reason.into()),
            hint: None,
        }
    }

    /// The same with what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The one that says most against a run of several sessions; the first of equals. `None` if there is none.
    ///
    /// A session with nothing to run says nothing against one that ran.
    pub fn worst(endings: impl IntoIterator<Item = Self>) -> Option<Self> {
        let worse = |one: Self, other: Self| {
            if other.severity() > one.severity() {
                other
            } else {
                one
            }
        };
        endings.into_iter().reduce(worse)
    }

    fn severity(&self) -> (EndingKind, ExitMeaning) {
        match self.kind {
            // Only where all else is the same does the exit decide.
            EndingKind::Completed => (self.kind, self.exit),
            kind => (kind, ExitMeaning::NoTests),
        }
    }
}

/// In the order in which they speak against a run ([`Ending::worst`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndingKind {
    /// Nothing selected, nothing collected, or the selector names nothing.
    NoTests,
    /// Ran everything it meant to run.
    Completed,
    /// Stopped early as it was told to (`-x`, `--maxfail`).
    Stopped,
    /// Interrupted from within (Ctrl-C, `pytest.exit`, a plug-in).
    Interrupted,
    /// The record ends without the framework's own end: a crash, a kill, counts that disagree.
    Cut,
    /// Could not do its work: wrong usage, internal error, missing package.
    Broken,
}

/// What a framework's exit code says, in the order in which it speaks against a run ([`ExitMeaning::worst`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitMeaning {
    /// "There was nothing to run."
    NoTests,
    /// "All is well."
    Ok,
    /// Nothing against the tests that ran: a rule over the whole suite was missed, and only a part of it ran.
    NotOfTests,
    /// "There are failures."
    TestsFailed,
    /// Any other code, a signal, or none.
    Other,
}

impl ExitMeaning {
    /// What a run of several steps is known by. `NoTests` only if no step had anything to run; `None` if there is none.
    pub fn worst(exits: impl IntoIterator<Item = Self>) -> Option<Self> {
        exits.into_iter().max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_with_nothing_to_run_does_not_undo_one_that_ran() {
        use ExitMeaning::{NoTests, Ok, Other, TestsFailed};
        for (exits, expected) in [
            (vec![NoTests, Ok], Some(Ok)),
            (vec![Ok, NoTests], Some(Ok)),
            (vec![TestsFailed, NoTests, Ok], Some(TestsFailed)),
            (vec![Other, TestsFailed], Some(Other)),
            (vec![NoTests], Some(NoTests)),
            (vec![], None),
        ] {
            assert_eq!(ExitMeaning::worst(exits.clone()), expected, "{exits:?}");
        }
    }

    #[test]
    fn failures_are_worse_than_a_good_end_and_anything_else_than_failures_and_the_first_of_equals_is_told() {
        let completed = Ending::completed;
        let of = |kind| Ending::because(kind, ExitMeaning::Ok, "why");
        let in_order = [
            of(EndingKind::NoTests),
            completed(ExitMeaning::Ok),
            completed(ExitMeaning::TestsFailed),
            completed(ExitMeaning::Other),
            of(EndingKind::Stopped),
            of(EndingKind::Interrupted),
            of(EndingKind::Cut),
            of(EndingKind::Broken),
        ];
        for pair in in_order.windows(2) {
            let both = [pair.to_vec(), pair.iter().rev().cloned().collect()];
            for endings in both {
                assert_eq!(Ending::worst(endings).as_ref(), Some(&pair[1]));
            }
        }
        let cut = |reason: &str| Ending::because(EndingKind::Cut, ExitMeaning::Other, reason);
        assert_eq!(Ending::worst([cut("first"), cut("second")]), Some(cut("first")));
        // The exit of anything but a completed session decides nothing.
        let stopped = Ending::because(EndingKind::Stopped, ExitMeaning::Other, "why");
        assert_eq!(
            Ending::worst([of(EndingKind::Stopped), stopped]),
            Some(of(EndingKind::Stopped))
        );
        assert_eq!(Ending::worst([]), None);
    }
}
