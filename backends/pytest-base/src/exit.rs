//! What pytest's exit codes mean, and how an exit is put into words.

use runner_core::event::ExitMeaning;
use runner_core::plan::{StepExit, signal_name};

/// pytest's own exit codes (`pytest.ExitCode`), and what a process of it can end with besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PytestExit {
    Ok,
    TestsFailed,
    /// Ctrl-C, `pytest.exit`, a plug-in that stops the session.
    Interrupted,
    InternalError,
    UsageError,
    NoTests,
    /// A code that is not pytest's, or none.
    Foreign,
}

impl PytestExit {
    pub fn of(exit: &StepExit) -> Self {
        match exit.code {
            Some(0) => Self::Ok,
            Some(1) => Self::TestsFailed,
            Some(2) => Self::Interrupted,
            Some(3) => Self::InternalError,
            Some(4) => Self::UsageError,
            Some(5) => Self::NoTests,
            _ => Self::Foreign,
        }
    }

    pub fn meaning(self) -> ExitMeaning {
        match self {
            Self::Ok => ExitMeaning::Ok,
            Self::TestsFailed => ExitMeaning::TestsFailed,
            Self::NoTests => ExitMeaning::NoTests,
            Self::Interrupted | Self::InternalError | Self::UsageError | Self::Foreign => ExitMeaning::Other,
        }
    }
}

/// What an exit means, whatever the rows say.
pub fn meaning(exit: &StepExit) -> ExitMeaning {
    PytestExit::of(exit).meaning()
}

/// The end of a sentence that begins with the process: "ended with exit code 3", "was killed by signal 9 (SIGKILL)".
pub fn in_words(exit: &StepExit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => match signal_name(signal) {
            Some(name) => format!("was killed by signal {signal} ({name})"),
            None => format!("was killed by signal {signal}"),
        },
        (None, None) => "ended without an exit code".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: i32) -> StepExit {
        StepExit {
            code: Some(code),
            ..StepExit::default()
        }
    }

    #[test]
    fn only_pytests_own_three_codes_mean_something_about_tests() {
        assert_eq!(meaning(&code(0)), ExitMeaning::Ok);
        assert_eq!(meaning(&code(1)), ExitMeaning::TestsFailed);
        assert_eq!(meaning(&code(5)), ExitMeaning::NoTests);
        for other in [2, 3, 4, 6, 77, 255] {
            assert_eq!(meaning(&code(other)), ExitMeaning::Other, "{other}");
        }
        assert_eq!(meaning(&StepExit::default()), ExitMeaning::Other);
    }

    #[test]
    fn a_signal_is_named() {
        let killed = StepExit {
            signal: Some(11),
            ..StepExit::default()
        };
        assert_eq!(in_words(&killed), "was killed by signal 11 (SIGSEGV)");
        assert_eq!(in_words(&code(3)), "ended with exit code 3");
    }
}
