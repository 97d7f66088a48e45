//! Gets the file's text off the disk, trusting nothing about what lies there.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::fault::Fault;
use super::settings::Place;

/// The largest file that is read, in bytes. Hundreds of suites fit in it.
pub(super) const MAX_BYTES: u64 = 256 * 1024;

/// The name of the file in a repository's root.
pub const FILE_NAME: &str = "qaas.toml";

/// Whether `root` has a configuration: `file`, in it. Without one the defaults hold.
pub(super) fn is_there(root: &Path, file: &Path) -> Result<bool, Fault> {
    match std::fs::symlink_metadata(file) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(cannot_read(&error)),
        Ok(found) if found.is_symlink() && leads_out(root, file) => {
            Err(plain("is a link that leads out of the repository")
                .with_hint("put the file itself there, or name the other one with `--config`"))
        }
        Ok(_) => Ok(true),
    }
}

/// A dangling link is left to [`read`], which says why it cannot be opened.
fn leads_out(root: &Path, file: &Path) -> bool {
    match (root.canonicalize(), file.canonicalize()) {
        (Ok(root), Ok(file)) => !file.starts_with(root),
        _ => false,
    }
}

/// The text of the file, without a byte order mark.
pub(super) fn read(file: &Path) -> Result<String, Fault> {
    let handle = open(file).map_err(|error| cannot_read(&error))?;
    let found = handle.metadata().map_err(|error| cannot_read(&error))?;
    if !found.is_file() {
        let what = if found.is_dir() {
            "a folder"
        } else {
            "not a regular file"
        };
        return Err(plain(format!("is {what}")).with_hint("it must be a text file in TOML"));
    }
    let mut bytes = Vec::new();
    handle
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot_read(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(plain(format!("is larger than {} kB", MAX_BYTES / 1024))
            .with_hint("is it the right file? A configuration this large is not read"));
    }
    decode_utf8(bytes)
}

/// Never waits, whatever the name stands for: opening a named pipe for reading would.
fn open(file: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    options.open(file)
}

fn decode_utf8(bytes: Vec<u8>) -> Result<String, Fault> {
    match String::from_utf8(bytes) {
        Ok(text) => match text.strip_prefix('\u{feff}') {
            Some(rest) => Ok(rest.to_owned()),
            None => Ok(text),
        },
        Err(error) => {
            let before = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
            let line = before.matches('\n').count() + 1;
            let column = before
                .rsplit('\n')
                .next()
                .map_or(1, |last| last.chars().count() + 1);
            let fault = Fault {
                place: Some(Place::new(line, column)),
                ..plain("is not UTF-8 text")
            };
            Err(fault.with_hint("save the file in the encoding UTF-8"))
        }
    }
}

fn cannot_read(error: &std::io::Error) -> Fault {
    let hint = match error.kind() {
        ErrorKind::NotFound => "check the path",
        ErrorKind::PermissionDenied => "check who may read the file",
        _ => "check the file",
    };
    plain(format!("cannot be read: {error}")).with_hint(hint)
}

fn plain(message: impl Into<String>) -> Fault {
    Fault {
        key: None,
        place: None,
        message: message.into(),
        hint: None,
    }
}
