//! A process made for one library: whatever its code does, it does it to this process.

use std::ffi::OsString;
use std::process::ExitCode;

use dylib_plugin::Hosted;

/// The hidden first argument of that process.
pub(crate) const COMMAND: &str = "__backend-host";

/// Answers a host's calls with a library until the host is gone. `words`: the backend's name, the copy of its library, the
/// hash of its content.
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    let Ok([name, copy, sha256]) = <[OsString; 3]>::try_from(words) else {
        return ExitCode::from(crate::exit::USAGE);
    };
    let text = |word: OsString| word.to_string_lossy().into_owned();
    exec_plugin::serve_answers(&mut Hosted::new(text(name), copy.into(), text(sha256)))
}
