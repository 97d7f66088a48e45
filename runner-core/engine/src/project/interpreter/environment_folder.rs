//! One folder that may be a Python environment: what can be read of it.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Search, create};
use crate::project::error::{ProjectError, ProjectErrorKind};
use crate::project::packages::{self, Packages};
use crate::project::settings_file::read_small;
use runner_core::facts::Interpreter;

/// What a folder turned out to be.
pub(super) enum Look {
    Sound(Interpreter),
    /// It was an environment, and cannot be used now.
    Broken(ProjectError),
    /// No environment; with a note if one might have expected one (else empty).
    Absent(String),
}

/// What `pyvenv.cfg` says.
#[derive(Default)]
struct Config {
    version: Option<String>,
    system_packages: bool,
}

/// Looks at a folder as an environment.
pub(super) fn look(search: &Search<'_>, folder: &Path, why: &str) -> Look {
    let place = search.show(folder);
    let Ok(facts) = fs::metadata(folder) else {
        return Look::Absent(String::new());
    };
    if !facts.is_dir() {
        return Look::Absent(format!("{place} is a file, not an environment's folder"));
    }
    let config = folder.join("pyvenv.cfg").is_file();
    let found = ["bin/python", "bin/python3"].map(|name| folder.join(name));
    let Some(python) = found.iter().find(|path| path.symlink_metadata().is_ok()) else {
        return Look::Absent(match config {
            true if folder.join("Scripts").is_dir() => format!("{place} is an environment of Windows"),
            true => format!("{place} has a pyvenv.cfg, but no bin/python"),
            false => String::new(),
        });
    };
    // A folder of another kind that happens to hold a `bin/python`, say a script of that name.
    if !config && !folder.join("conda-meta").is_dir() && packages::site_folders(folder, None).is_empty() {
        return Look::Absent(String::new());
    }
    match found.iter().find(|path| is_program(path)) {
        Some(python) => Look::Sound(interpreter(search, python, Some(folder), why)),
        None => Look::Broken(broken(search, folder, python)),
    }
}

/// A program at `path`, with what can be read of the environment it stands in. Nothing is resolved: an environment's
/// link, resolved, is another interpreter.
pub(super) fn interpreter(search: &Search<'_>, path: &Path, folder: Option<&Path>, why: &str) -> Interpreter {
    let config = folder.and_then(read_config);
    Interpreter {
        path: path.to_owned(),
        version: config.as_ref().and_then(|config| config.version.clone()),
        venv: folder.map(Path::to_owned),
        why: why.to_owned(),
        packages: folder
            .zip(config)
            .and_then(|(folder, config)| read_packages(search, folder, &config)),
        ..Interpreter::default()
    }
}

/// The environment that a program belongs to, by the `pyvenv.cfg` beside its folder.
pub(super) fn of_program(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?.parent()?;
    folder.join("pyvenv.cfg").is_file().then(|| folder.to_owned())
}

fn read_config(folder: &Path) -> Option<Config> {
    let text = read_small(&folder.join("pyvenv.cfg"))?;
    let mut config = Config::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        match (key.trim().to_ascii_lowercase().as_str(), value.trim()) {
            ("version" | "version_info", value) => config.version = number(value).or(config.version),
            ("include-system-site-packages", value) => {
                config.system_packages = value.eq_ignore_ascii_case("true");
            }
            _ => {}
        }
    }
    Some(config)
}

/// `3.11.7` of `3.11.7.final.0`.
fn number(text: &str) -> Option<String> {
    let parts: Vec<&str> = text
        .split('.')
        .take(3)
        .take_while(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        .collect();
    (parts.len() >= 2).then(|| parts.join("."))
}

/// `None` where reading cannot tell: packages of the base Python count too, or there is no folder of packages.
fn read_packages(search: &Search<'_>, folder: &Path, config: &Config) -> Option<Packages> {
    let sites = packages::site_folders(folder, config.version.as_deref());
    if config.system_packages || sites.is_empty() {
        return None;
    }
    let mut found = Packages::new();
    let python_path = search.environment.get("PYTHONPATH").unwrap_or_default();
    let given = std::env::split_paths(python_path).filter(|path| path.is_absolute());
    for folder in given {
        packages::read_folder(&folder, &mut found);
    }
    for site in sites {
        packages::read_site(&site, &mut found);
    }
    Some(found)
}

/// A regular file that somebody may execute, links followed.
pub(super) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && may_execute(&facts))
}

#[cfg(unix)]
fn may_execute(facts: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    facts.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_execute(_: &fs::Metadata) -> bool {
    true
}

/// The error of an environment whose interpreter cannot be started.
pub(super) fn broken(search: &Search<'_>, folder: &Path, python: &Path) -> ProjectError {
    let shown = search.show(python);
    let what = match missing_target(python) {
        Some(target) => format!("{shown} points to {}, which does not exist", target.display()),
        None => format!("{shown} is not a program that can be started"),
    };
    let place = search.show(folder);
    let fix = match create(search, &place) {
        plain if plain.starts_with("python3") => plain.replacen("-m venv", "-m venv --clear", 1),
        tool => format!("remove {place}, then: {tool}"),
    };
    ProjectError::new(
        ProjectErrorKind::BrokenEnvironment,
        format!(
            "QA0302 the environment is broken: {what}\nfix: {fix}\nother environment: qaas run --python PATH"
        ),
    )
    .with_hint(fix)
}

/// Where a chain of links ends that leads nowhere.
fn missing_target(python: &Path) -> Option<PathBuf> {
    let mut path = python.to_owned();
    for _ in 0..40 {
        let Ok(target) = fs::read_link(&path) else {
            return (path.symlink_metadata().is_err()).then_some(path);
        };
        path = path.parent()?.join(target);
    }
    None
}
