//! The seam behind `affected_tests`: which test files a change reaches. Reads files, runs nothing.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// Finds the tests that a change reaches.
pub trait AffectedFinder: Send + Sync {
    /// `changed` are paths relative to `root`, `/` between parts; they need not exist any more.
    fn find(&self, root: &Path, changed: &[String]) -> AffectedTests;
}

/// What [`AffectedFinder::find`] found, best first.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct AffectedTests {
    /// The likeliest files, best first.
    pub affected: Vec<AffectedTest>,
    /// How many test files were looked at.
    pub searched: usize,
    /// What could not be read, or was left out, in words.
    pub notes: Vec<String>,
}

/// A test file that a change may reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AffectedTest {
    /// Relative to the root.
    pub test_file: String,
    /// Larger is likelier.
    pub score: u32,
    /// How sure it is, as far as reading can tell.
    pub confidence: Confidence,
    /// One reason for each signal.
    pub why: Vec<String>,
}

/// How sure it is that a test is affected. The surest is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Nothing can make it otherwise: the test itself changed.
    Certain,
    /// It uses what changed, is named after it, or often changed with it.
    Likely,
    /// It may reach what changed on some way.
    Possible,
}
