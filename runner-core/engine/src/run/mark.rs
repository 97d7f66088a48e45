//! What tells whether a file was changed since.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

/// A file as it was when it was looked at. Compared with another look, never with a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    #[cfg(unix)]
    place: (u64, u64),
    #[cfg(unix)]
    changed: (i64, i64),
    written: Option<SystemTime>,
    length: u64,
}

impl Mark {
    /// Which file it is.
    #[cfg(unix)]
    pub(super) fn place(&self) -> (u64, u64) {
        self.place
    }

    /// Whether it was changed, by the file system's clock, after that.
    pub(super) fn is_newer_than(&self, time: SystemTime) -> bool {
        #[cfg(unix)]
        {
            let time = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let (seconds, nanoseconds) = self.changed;
            let changed = (u64::try_from(seconds), u32::try_from(nanoseconds));
            if let (Ok(seconds), Ok(nanoseconds)) = changed
                && Duration::new(seconds, nanoseconds) > time
            {
                return true;
            }
        }
        self.written.is_none_or(|written| written > time)
    }

    pub(super) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            #[cfg(unix)]
            place: (metadata.dev(), metadata.ino()),
            #[cfg(unix)]
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            written: metadata.modified().ok(),
            length: metadata.len(),
        }
    }
}
