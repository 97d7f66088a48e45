//! A library's file: read once, and known by its content from then on. What is loaded is a copy of what was looked at,
//! whatever becomes of the original in between; and to build the original anew while it is in use does no harm.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::{Fault, LibraryError};
use super::header;

/// The largest library that is taken, in bytes.
const LARGEST: u64 = 512 << 20;

/// Reads a library's file and looks at it, without running anything of it. The content is what is to be copied and loaded.
pub fn look(path: &Path) -> Result<Vec<u8>, LibraryError> {
    let bytes = read(path).map_err(|fault| fault.at(path))?;
    check(path, &bytes)?;
    Ok(bytes)
}

/// Whether a file's content is a library of this machine that exports a backend. `path` is only for messages.
pub fn check(path: &Path, content: &[u8]) -> Result<(), LibraryError> {
    header::check(content).map_err(|fault| fault.at(path))
}

/// Reads a library's file: a regular one of sensible size.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let file = open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Fault::Missing,
        _ => Fault::Unreadable(error.to_string()),
    })?;
    let unreadable = |error: io::Error| Fault::Unreadable(error.to_string());
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(Fault::NotAFile("a folder"));
    }
    if !metadata.is_file() {
        return Err(Fault::NotAFile("a pipe, a socket or a device"));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(LARGEST) as usize);
    (&file)
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        let has = metadata.len();
        return Err(Fault::TooLarge { has, most: LARGEST });
    }
    Ok(bytes)
}

/// Waits for nobody, should it be a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// In hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("writing to a String does not fail");
    }
    text
}
