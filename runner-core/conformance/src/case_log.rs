//! Cases, and what was found in each.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;

use runner_core::panic::panic_text;

/// Which part of a backend a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// What it says of itself.
    Claims,
    Planning,
    Reading,
    /// Real runs of a sample project.
    Live,
}

impl Group {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claims => "claims",
            Self::Planning => "planning",
            Self::Reading => "reading",
            Self::Live => "live",
        }
    }
}

/// What came of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "came", rename_all = "snake_case")]
pub enum Finding {
    /// As expected: what came.
    Passed(String),
    /// Not as expected: what came instead.
    Failed(String),
    /// Not tried: why.
    Skipped(String),
}

impl Finding {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Passed(_) => "passed",
            Self::Failed(_) => "failed",
            Self::Skipped(_) => "skipped",
        }
    }

    /// What came, or why it was not tried.
    pub fn came(&self) -> &str {
        match self {
            Self::Passed(came) | Self::Failed(came) | Self::Skipped(came) => came,
        }
    }
}

/// `Ok`: what came is right. `Err`: it is not.
impl From<Result<String, String>> for Finding {
    fn from(came: Result<String, String>) -> Self {
        match came {
            Ok(came) => Self::Passed(came),
            Err(came) => Self::Failed(came),
        }
    }
}

/// One case: its name (unique within its group), what was expected and what came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    pub group: Group,
    pub name: &'static str,
    pub expected: &'static str,
    #[serde(flatten)]
    pub finding: Finding,
}

impl Case {
    pub fn failed(&self) -> bool {
        matches!(self.finding, Finding::Failed(_))
    }
}

/// The cases so far.
pub(super) struct CaseLog<'a> {
    cases: Vec<Case>,
    told: &'a mut (dyn FnMut(&Case) + Send),
}

impl<'a> CaseLog<'a> {
    pub(super) fn new(told: &'a mut (dyn FnMut(&Case) + Send)) -> Self {
        Self {
            cases: Vec::new(),
            told,
        }
    }

    pub(super) fn add(&mut self, group: Group, name: &'static str, expected: &'static str, finding: Finding) {
        let case = Case {
            group,
            name,
            expected,
            finding,
        };
        (self.told)(&case);
        self.cases.push(case);
    }

    /// Tries a case. A backend that panics in it fails it, and no other.
    pub(super) fn hold(
        &mut self,
        group: Group,
        name: &'static str,
        expected: &'static str,
        case: impl FnOnce() -> Finding,
    ) {
        let finding = catch_unwind(AssertUnwindSafe(case)).unwrap_or_else(|panic| {
            Finding::Failed(format!("the backend panicked: {}", panic_text(panic.as_ref())))
        });
        self.add(group, name, expected, finding);
    }

    pub(super) fn has_just_failed(&self) -> bool {
        self.cases.last().is_some_and(Case::failed)
    }

    pub(super) fn close(self) -> Vec<Case> {
        self.cases
    }
}
