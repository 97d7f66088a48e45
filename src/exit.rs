//! Exit codes: documented, and fixed. They follow pytest's where it has one.

use ops::OpError;
use runner_core::model::Status;

pub(crate) const PASSED: u8 = 0;
pub(crate) const FAILED: u8 = 1;
/// Broken, incomplete, or ended by the time limit.
pub(crate) const NOT_JUDGED: u8 = 2;
/// Bad arguments or configuration, or untrusted.
pub(crate) const USAGE: u8 = 4;
pub(crate) const NO_TESTS: u8 = 5;
pub(crate) const CANCELLED: u8 = 130;

/// The exit code of a run's status.
pub(crate) fn of_status(status: Status) -> u8 {
    ops::exit(status)
}

/// The exit code of a question that could not be answered.
pub(crate) fn of_error(error: &OpError) -> u8 {
    error.exit()
}

/// The exit code of several runs: the one that says the worst.
pub(crate) fn worst(codes: impl IntoIterator<Item = u8>) -> u8 {
    const ORDER: [u8; 6] = [PASSED, NO_TESTS, FAILED, NOT_JUDGED, USAGE, CANCELLED];
    let rank = |code: &u8| {
        ORDER
            .iter()
            .position(|known| known == code)
            .unwrap_or(ORDER.len())
    };
    codes.into_iter().max_by_key(rank).unwrap_or(NO_TESTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_several_suites_decides() {
        assert_eq!(worst([PASSED, PASSED]), PASSED);
        assert_eq!(worst([PASSED, NO_TESTS]), NO_TESTS);
        assert_eq!(worst([FAILED, NO_TESTS, PASSED]), FAILED);
        assert_eq!(worst([FAILED, NOT_JUDGED]), NOT_JUDGED);
        assert_eq!(worst([CANCELLED, NOT_JUDGED, USAGE]), CANCELLED);
        assert_eq!(worst([]), NO_TESTS);
    }
}
