//! The reporter's lines: one JSON object each. Unknown keys and unknown facts are let pass, so that reader and reporter
//! may differ by a version.

use std::borrow::Cow;

use serde::Deserialize;

/// One line of the channel. `e` names the fact.
#[derive(Debug, Deserialize)]
#[serde(tag = "e", rename_all = "lowercase")]
pub(crate) enum Fact {
    Hello(Hello),
    Found {
        id: String,
        file: Option<String>,
        line: Option<i64>,
    },
    Collected {
        selected: u64,
        deselected: u64,
    },
    /// A collector that did not pass.
    Collect(Report),
    Start {
        id: String,
        /// Counted from 0, -1 if there is none.
        line: Option<i64>,
        /// Only where it is not what the id begins with.
        file: Option<String>,
    },
    /// The last started test passed: seconds of its three phases together.
    Passed {
        s: f64,
    },
    Report(Report),
    /// What the last test printed, which passed.
    Printed {
        id: String,
        sections: Vec<(String, String)>,
    },
    /// The test is over, although it reported no teardown.
    End {
        id: String,
        worker: Option<String>,
        #[serde(default)]
        before: Vec<(String, Option<f64>)>,
    },
    /// A parallel worker died.
    Worker {
        id: String,
        #[serde(default)]
        text: String,
    },
    Internal {
        #[serde(default)]
        message: String,
    },
    Interrupt {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        message: String,
    },
    /// It took the person's terminal, or gave it back.
    Terminal {
        taken: bool,
        #[serde(default)]
        debugger: bool,
    },
    Finish(Finish),
    #[serde(other)]
    Unknown,
}

/// The line that most lines are, a list for brevity: a test began, and the one before it passed.
#[derive(Debug, Deserialize)]
pub(crate) struct Next<'a>(
    /// Microseconds of the test before. Negative: its end is told on a line of its own, or there is none.
    pub(crate) i64,
    /// Of the test that began, counted from 0, -1 if there is none.
    pub(crate) i64,
    /// Its nodeid. Its file is what that begins with.
    #[serde(borrow)]
    pub(crate) Cow<'a, str>,
);

/// Always the first line.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Hello {
    pub(crate) nonce: String,
    /// The plan's step that this process is.
    pub(crate) step: String,
    pub(crate) pid: u32,
}

/// Always the last line, after all other plug-ins have had their say about the exit status.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Finish {
    pub(crate) exit: i32,
    pub(crate) started: u64,
    pub(crate) ended: u64,
    /// Why pytest stopped early, in its own words.
    pub(crate) stop: Option<String>,
    /// The only failure is that of a coverage threshold: which, in words.
    pub(crate) threshold: Option<String>,
}

/// A phase of a test, a subtest, or a collector, that did more than pass.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Report {
    pub(crate) id: String,
    pub(crate) worker: Option<String>,
    /// Phases that passed before this one and were not told on their own.
    pub(crate) before: Vec<(String, Option<f64>)>,
    pub(crate) when: String,
    pub(crate) outcome: String,
    pub(crate) s: Option<f64>,
    /// A subtest's description. Then this is not the test's own report.
    pub(crate) sub: Option<String>,
    /// Expected to fail, and why (may be empty).
    pub(crate) xfail: Option<String>,
    /// A skip's reason.
    pub(crate) reason: Option<String>,
    /// The failure's whole text.
    pub(crate) text: Option<String>,
    /// The exception's own text.
    pub(crate) message: Option<String>,
    pub(crate) at: Option<(String, Option<i64>)>,
    pub(crate) sections: Vec<(String, String)>,
}
