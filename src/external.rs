//! `qaas foo` runs `qaas-foo` from PATH, as cargo does.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use runner_core::registry::nearest;

/// Built-in commands, for the did-you-mean.
fn built_in() -> Vec<String> {
    use clap::CommandFactory;
    crate::cli::Cli::command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect()
}

/// The program `qaas-NAME`, taken only from absolute PATH entries whose real path is outside the root: a repository
/// must not be able to plant a command.
pub(crate) fn find(name: &str, path: Option<&OsStr>, root: Option<&Path>) -> Option<PathBuf> {
    programs(path, root)
        .into_iter()
        .find(|(known, _)| known == name)
        .map(|(_, program)| program)
}

/// All `qaas-*` programs on PATH, first come first.
pub(crate) fn programs(path: Option<&OsStr>, root: Option<&Path>) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for folder in folders(path, root) {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_prefix("qaas-")) else {
                continue;
            };
            let program = entry.path();
            if may_be_started(&program, root) {
                found.push((name.to_owned(), program));
            }
        }
    }
    found
}

/// The program of this whole name, by the same rule.
pub(crate) fn program(name: &str, path: Option<&OsStr>, root: Option<&Path>) -> Option<PathBuf> {
    let mut programs = folders(path, root).map(|folder| folder.join(name));
    programs.find(|program| may_be_started(program, root))
}

/// Why nothing is taken from this entry of PATH, if so.
pub(crate) fn passed_over(entry: &Path, root: Option<&Path>) -> Option<&'static str> {
    if !entry.is_absolute() {
        return Some("it is not absolute");
    }
    let real = entry.canonicalize().ok()?;
    let inside = root.is_some_and(|root| real.starts_with(root));
    inside.then_some("it is inside the repository")
}

/// The real folders that programs are taken from.
fn folders(path: Option<&OsStr>, root: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let entries: Vec<PathBuf> = std::env::split_paths(path.unwrap_or_default())
        .filter(|entry| passed_over(entry, root).is_none())
        .collect();
    entries.into_iter().filter_map(|entry| entry.canonicalize().ok())
}

fn may_be_started(program: &Path, root: Option<&Path>) -> bool {
    let inside = |root: &Path| program.canonicalize().is_ok_and(|real| real.starts_with(root));
    is_executable(program) && !root.is_some_and(inside)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Becomes `qaas-NAME`; comes back only with the reason why not.
pub(crate) fn run(words: &[OsString], path: Option<&OsStr>, root: Option<&Path>, own: &Path) -> String {
    let name = words[0].to_string_lossy();
    match find(&name, path, root) {
        Some(program) => replace_process(&program, &words[1..], own),
        None => unknown(&name, path, root),
    }
}

/// What is said of a command that there is not.
pub(crate) fn unknown(name: &str, path: Option<&OsStr>, root: Option<&Path>) -> String {
    let mut known = built_in();
    known.extend(programs(path, root).into_iter().map(|(name, _)| name));
    let mut text = format!("no such command: `{name}`\n");
    if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
        text.push_str(&format!("a command with a similar name: `{near}`\n"));
    }
    text.push_str("see all commands with `qaas --help`");
    if name.contains(['/', '.', ':']) {
        text.push_str(&format!("; to run tests: `qaas run {name}`"));
    }
    text
}

/// `QAAS` points back to this program, so that the other one can call it.
#[expect(
    clippy::disallowed_methods,
    reason = "becomes the other program; nothing is supervised"
)]
fn replace_process(program: &Path, words: &[OsString], own: &Path) -> String {
    let mut command = std::process::Command::new(program);
    command.args(words).env("QAAS", own);
    #[cfg(unix)]
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    #[cfg(not(unix))]
    let error = match command.status() {
        #[expect(clippy::exit, reason = "hands the other program's exit code on")]
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    };
    format!("could not start {}: {error}", program.display())
}
