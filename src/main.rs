//! qaas: the command line. Parses, dispatches, and turns what came out into an exit code.

mod backends;
mod cli;
mod commands;
mod console;
mod display;
mod external;
mod help;
mod library_host;
mod plugins;
#[cfg(unix)]
mod terminal;
mod world;

use std::ffi::{OsStr, OsString};

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
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
    let words: Vec<OsString> = std::env::args_os().collect();
    let parsed = help::command()
        .try_get_matches_from(words)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed {
        Ok(cli) => commands::dispatch(cli).into(),
        Err(error) => usage(error).into(),
    }
}

/// Clap's own answers: help and version are successes, everything else is a bad argument.
fn usage(mut error: clap::Error) -> ExitCode {
    let asks_for_help = std::env::args_os()
        .nth(1)
        .is_some_and(|command| command == "help");
    if let (true, Some(ContextValue::String(word))) =
        (asks_for_help, error.get(ContextKind::InvalidSubcommand))
    {
        commands::no_such_command(word);
        return ExitCode::Usage;
    }
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => Some(word.clone()),
        _ => None,
    };
    let takes_more = std::env::args_os().nth(1).is_some_and(|command| command == "run");
    if let Some(word) = unknown.filter(|word| takes_more && word.starts_with('-')) {
        let tip = format!("words of the framework itself go behind `--`: qaas run -- {word}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    let _ = error.print();
    if error.use_stderr() {
        ExitCode::Usage
    } else {
        ExitCode::Passed
    }
}
