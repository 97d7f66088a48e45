//! A process made for one library: whatever its code does, it does it to this process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dylib_plugin::Hosted;

/// The hidden first argument of that process.
pub(crate) const COMMAND: &str = "__backend-host";

/// The command line of that process: for a library's copy whose content has this hash. `from` is only for messages.
pub(crate) fn argv(name: &str, from: &Path, copy: PathBuf, sha256: &str) -> Vec<OsString> {
    let program = crate::world::own_program();
    vec![
        program.into(),
        COMMAND.into(),
        name.into(),
        from.into(),
        copy.into(),
        sha256.into(),
    ]
}

/// Answers a host's calls with a library until the host is gone. `words`: what follows [`COMMAND`].
pub(crate) fn main(words: Vec<OsString>) -> ExitCode {
    let Ok([name, from, copy, sha256]) = <[OsString; 4]>::try_from(words) else {
        return ops::ExitCode::Usage.into();
    };
    let text = |word: OsString| word.to_string_lossy().into_owned();
    exec_plugin::serve_answers(&mut Hosted::new(
        text(name),
        from.into(),
        copy.into(),
        text(sha256),
    ))
}
