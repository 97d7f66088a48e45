//! What a test was found to check.

use std::collections::BTreeSet;

use source::python::Expr;

use crate::claim::Claim;

/// A claim, and what stands between it and a failure of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) claim: Claim,
    /// Why it cannot make the test fail; none if it can.
    pub(crate) void: Option<String>,
    /// Conditions under which alone it is looked at, beside those of the platform.
    pub(crate) guards: Vec<Expr>,
    /// Whether it stands for a number of checks that is not known: it is in a loop over something that is made.
    pub(crate) many: bool,
}

/// One set of parameters of a test, with what it checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Case {
    /// Tells it from the others; empty for a test without parameters.
    pub(crate) key: String,
    pub(crate) checks: Vec<Check>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) cases: Vec<Case>,
    /// What is patched, dotted, as far as it can be named.
    pub(crate) patched: BTreeSet<String>,
    /// How often a failure is tried again; 0 if it counts at once.
    pub(crate) retries: u32,
    /// What says that it is skipped or expected to fail whatever happens.
    pub(crate) muted: Option<String>,
    /// Whether warnings are failures.
    pub(crate) fails_on_warnings: bool,
    /// Calls that stand alone.
    pub(crate) calls: usize,
}

impl Evidence {
    pub(crate) fn checks(&self) -> impl Iterator<Item = &Check> {
        self.cases.iter().flat_map(|case| &case.checks)
    }
}
