//! The seam behind `affected_tests`: which test files a change reaches. Reads files, runs nothing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::change::NoBase;

/// Finds the tests that a change reaches.
pub trait AffectedFinder: Send + Sync {
    /// Answers one question about the repository at `root`. An error only where git would have to say what changed, and
    /// cannot.
    fn find(&self, root: &Path, question: &Question) -> Result<AffectedTests, NoBase>;
}

/// What changed, as far as it is told, and what else is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Empty: whatever git says has changed since `base`.
    pub changed: Vec<ChangedFile>,
    /// A revision; the change is held against where HEAD left it. `None`: HEAD itself, so what is not committed.
    pub base: Option<String>,
    /// A folder of the caller's for what is worth keeping between questions; `None`: nothing is kept.
    pub cache: Option<PathBuf>,
}

/// A file that changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedFile {
    /// Relative to the root, `/` between parts; it need not exist any more. A folder stands for all that is in it.
    pub path: String,
    /// First and last line of each part that changed, counted from 1, as the file is now. Empty: not told.
    pub lines: Vec<(u32, u32)>,
}

impl ChangedFile {
    /// A file of which no more is told.
    pub fn whole(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            lines: Vec::new(),
        }
    }
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
    /// Changed files of which nothing is known: in languages that are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// What git said, if it was asked.
    pub since: Option<Since>,
}

/// What changed since a commit, by git.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Since {
    /// The commit, in full.
    pub commit: String,
    /// Why it is the one.
    pub why: String,
    /// Staged, unstaged, untracked and committed since: files below the root, those too that are gone.
    pub changed: Vec<String>,
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

impl Confidence {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Possible => "possible",
        }
    }
}
