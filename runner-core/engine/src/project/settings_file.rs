//! Reading a project's own files of settings.

use std::fs;
use std::io::Read;
use std::path::Path;

/// A regular file of a project's own settings, if it is of a size that such a file can have.
pub(super) fn read_small(file: &Path) -> Option<String> {
    const MOST_BYTES: u64 = 4 * 1024 * 1024;
    let mut options = fs::OpenOptions::new();
    // A pipe must not hold us; what was looked at is what is read, however it grows meanwhile.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), libc::O_NONBLOCK);
    let file = options.read(true).open(file).ok()?;
    let facts = file.metadata().ok()?;
    if !facts.is_file() || facts.len() > MOST_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
