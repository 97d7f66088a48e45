//! qaas: the command line. Parses, dispatches, and turns what came out into an exit code.

mod backends;
mod cli;
mod commands;
mod console;
mod display;
mod external;
mod library_host;
mod plugins;
#[cfg(unix)]
mod terminal;
mod world;

use std::ffi::OsStr;

use clap::Parser;
use ops::ExitCode;

use crate::cli::Cli;

/// The hidden first argument of the supervising process (see `process`).
pub(crate) const SUPERVISE: &str = "__supervise";

fn main() -> std::process::ExitCode {
    // Before anything else: the supervisor is small, single-threaded and knows nothing of the rest.
    if std::env::args_os().nth(1).as_deref() == Some(OsStr::new(SUPERVISE)) {
        return std::process::ExitCode::from(u8::try_from(process::supervise_main()).unwrap_or(1));
    }
    if std::env::args_os().nth(1).as_deref() == Some(OsStr::new(library_host::COMMAND)) {
        return library_host::main(std::env::args_os().skip(2).collect());
    }
    match Cli::try_parse() {
        Ok(cli) => commands::dispatch(cli).into(),
        Err(error) => usage(&error).into(),
    }
}

/// Clap's own answers: help and version are successes, everything else is a bad argument.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() {
        ExitCode::Usage
    } else {
        ExitCode::Passed
    }
}
