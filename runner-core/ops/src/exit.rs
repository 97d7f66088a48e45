//! Exit codes: documented, and fixed. They follow pytest's where it has one.

use runner_core::model::Status;

/// What the command line exits with, from the best to the worst: of several, the greatest is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitCode {
    /// 0: what was asked for was done, and no test failed.
    #[default]
    Passed,
    /// 5: there is no test to run.
    NoTests,
    /// 1: tests failed; for `qaas call`, an error answer.
    Failed,
    /// 2: the tests could not be judged: broken, incomplete, or ended by the time limit.
    NotJudged,
    /// 4: bad arguments or configuration, or untrusted.
    Usage,
    /// 130: somebody ended it, as a shell reports a program that Ctrl-C ended.
    Cancelled,
}

impl ExitCode {
    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::NotJudged => 2,
            Self::Usage => 4,
            Self::NoTests => 5,
            Self::Cancelled => 130,
        }
    }

    /// That of several parts: the one that says the worst. Without any part, nothing was run.
    pub fn worst(codes: impl IntoIterator<Item = Self>) -> Self {
        codes.into_iter().max().unwrap_or(Self::NoTests)
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Passed | Status::AllSkipped | Status::Queued | Status::Running => Self::Passed,
            Status::Failed => Self::Failed,
            Status::Broken | Status::Incomplete | Status::TimedOut => Self::NotJudged,
            Status::NoTests => Self::NoTests,
            Status::Cancelled => Self::Cancelled,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        code.code().into()
    }
}

#[cfg(test)]
mod tests {
    use super::ExitCode::{Cancelled, Failed, NoTests, NotJudged, Passed, Usage};
    use super::*;

    #[test]
    fn the_worst_of_several_suites_decides() {
        assert_eq!(ExitCode::worst([Passed, Passed]), Passed);
        assert_eq!(ExitCode::worst([Passed, NoTests]), NoTests);
        assert_eq!(ExitCode::worst([Failed, NoTests, Passed]), Failed);
        assert_eq!(ExitCode::worst([Failed, NotJudged]), NotJudged);
        assert_eq!(ExitCode::worst([Cancelled, NotJudged, Usage]), Cancelled);
        assert_eq!(ExitCode::worst([]), NoTests);
    }

    #[test]
    fn the_numbers_are_the_documented_ones() {
        let codes = [Passed, Failed, NotJudged, Usage, NoTests, Cancelled];
        assert_eq!(codes.map(ExitCode::code), [0, 1, 2, 4, 5, 130]);
    }
}
