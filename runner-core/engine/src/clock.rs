//! The wall clock: for names, labels and the ages of files. It can jump, so nothing waits by it; deadlines are on the
//! monotonic clock.

use std::time::{SystemTime, UNIX_EPOCH};

#[expect(clippy::disallowed_methods, reason = "the one door to the wall clock")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Seconds since 1970, for records.
pub(crate) fn unix_seconds() -> u64 {
    now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs())
}
