//! Which Python runs the tests, found by reading. The whole story is in [`Interpreter::why`], `passed_over`, `also_seen`.
//!
//! The order: what somebody named (`--python`, `QAAS_PYTHON`, the suite's `python`); an active environment inside the
//! repository; the project's own environment, from the start folder up to the root, then in the store of the tool that
//! keeps it (poetry, pdm, pipenv, hatch, conda), then one with the framework that tox, nox or hatch made; another active
//! environment, unless it is a different project's or qaas's own; conda's, unless it is the base; the version
//! `.python-version` names; PATH.
//!
//! A project's own environment ends the search even if it lacks the framework: running the suite with a different
//! Python's packages would be an answer about something else.

mod active;
mod environment_folder;
mod machine;
mod named;
mod stores;

use std::path::{Path, PathBuf};

use environment_folder::Look;
pub(super) use machine::on_path;
pub(super) use named::NAMED;

use super::error::{ProjectError, ProjectErrorKind};
use super::manager;
use crate::config::Suite;
use crate::environment::Environment;
use runner_core::facts::Interpreter;

/// The distribution that tells a test environment from any other.
const FRAMEWORK: &str = "pytest";

/// Where a search takes place.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) root: &'a Path,
    /// The suite's folder: what its `python` is relative to.
    pub(super) dir: &'a Path,
    /// Where the search starts.
    pub(super) start: &'a Path,
    pub(super) environment: &'a Environment,
}

impl Search<'_> {
    /// The folders from the start up to the root, nearest first.
    fn upward(&self) -> impl Iterator<Item = &Path> {
        let inside = |folder: &&Path| folder.starts_with(self.root);
        self.start.ancestors().take_while(inside)
    }

    fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(self.root) || path.canonicalize().is_ok_and(|real| real.starts_with(self.root))
    }

    /// For people: relative to the root where it lies inside.
    fn show(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).display().to_string()
    }
}

/// The interpreter for a search; `typed` is `--python`, `written` the suite's `python`.
pub(super) fn find(
    search: &Search<'_>,
    typed: Option<&Path>,
    written: Option<&str>,
) -> Result<Interpreter, ProjectError> {
    let cwd = search.environment.cwd.as_path();
    if let Some(path) = typed {
        return named::find(search, path, &[cwd], "--python");
    }
    if let Some(path) = search.environment.get("QAAS_PYTHON") {
        return named::find(search, Path::new(path), &[cwd], "QAAS_PYTHON");
    }
    if let Some(path) = written {
        let bases = [search.dir, search.root];
        return named::find(search, Path::new(path), &bases, "the suite's options.python");
    }
    detect(search)
}

/// Whether the `python` that a suite names (if any) is one that needs no consent: the one that detection finds without
/// it, or the environment that the caller has active (unless that is a different project's).
pub fn is_detected(root: &Path, suite: &Suite, start: &Path, environment: &Environment) -> bool {
    let Some(written) = suite.options.get("python").and_then(serde_json::Value::as_str) else {
        return true;
    };
    // That one is taken instead, whatever is written.
    if environment.get("QAAS_PYTHON").is_some() {
        return true;
    }
    let dir = root.join(&suite.dir);
    let search = Search {
        root,
        dir: &dir,
        start,
        environment,
    };
    let Ok(wanted) = find(&search, None, Some(written)) else {
        return true;
    };
    let mut notes = Vec::new();
    let active = match active::virtual_env(&search, &mut notes) {
        Some(Look::Sound(active)) => Some(active),
        _ => None,
    };
    let found = detect(&search).ok().into_iter().chain(active);
    found.into_iter().any(|found| is_same(&found.path, &wanted.path))
}

/// The same program by way of the same environment: links between names in one folder do not matter, links out of it do.
fn is_same(one: &Path, other: &Path) -> bool {
    let folder = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
    let program = |path: &Path| path.canonicalize().ok();
    one == other || (folder(one).is_some_and(|f| Some(f) == folder(other)) && program(one) == program(other))
}

/// Steps that need nobody's word.
fn detect(search: &Search<'_>) -> Result<Interpreter, ProjectError> {
    let mut passed_over = Vec::new();
    let active = active::virtual_env(search, &mut passed_over);
    let inside = |look: &Look| match look {
        Look::Sound(interpreter) => interpreter
            .venv
            .as_deref()
            .is_some_and(|venv| search.is_inside(venv)),
        Look::Broken(_) => true,
        Look::Absent(_) => false,
    };
    let found = match active {
        Some(look) if inside(&look) => look,
        outside => first_of(search, outside, &mut passed_over),
    };
    match found {
        Look::Sound(mut interpreter) => {
            if lacks_framework(&interpreter) {
                interpreter.also_seen = also_seen(search, &interpreter);
            }
            interpreter.passed_over = passed_over;
            Ok(interpreter)
        }
        Look::Broken(error) => Err(error),
        Look::Absent(why) => Err(ProjectError::new(ProjectErrorKind::NoInterpreter, why)),
    }
}

/// The steps after an active environment inside the repository; `active` is one outside it.
fn first_of(search: &Search<'_>, active: Option<Look>, passed_over: &mut Vec<String>) -> Look {
    if let Some(own) = project_environment(search, passed_over) {
        if let (Some(Look::Sound(active)), Look::Sound(_)) = (&active, &own) {
            let place = active.venv.as_ref().unwrap_or(&active.path).display();
            passed_over.push(format!("VIRTUAL_ENV {place}: the project's own comes first"));
        }
        return own;
    }
    active
        .or_else(|| active::conda(search, passed_over))
        .or_else(|| machine::python_version(search, passed_over))
        .or_else(|| machine::first_on_path(search, passed_over))
        .unwrap_or_else(|| Look::Broken(nothing_found(search, passed_over)))
}

fn lacks_framework(interpreter: &Interpreter) -> bool {
    interpreter.packages.is_some() && interpreter.package(FRAMEWORK).is_none()
}

/// The project's own environment: the first with the framework, else one that a test tool made, else the first that is
/// sound, else the first broken one.
fn project_environment(search: &Search<'_>, passed_over: &mut Vec<String>) -> Option<Look> {
    let mut second_best: Option<Look> = None;
    for (folder, why) in project_folders(search) {
        let look = environment_folder::look(search, &folder, why);
        match look {
            Look::Sound(interpreter) if !lacks_framework(&interpreter) => {
                note_second_best(search, second_best, passed_over);
                return Some(Look::Sound(interpreter));
            }
            Look::Sound(_) if !matches!(second_best, Some(Look::Sound(_))) => {
                note_second_best(search, second_best.take(), passed_over);
                second_best = Some(look);
            }
            Look::Broken(_) if second_best.is_none() => second_best = Some(look),
            Look::Sound(_) => {}
            Look::Broken(error) => passed_over.push(first_line(&error.message)),
            Look::Absent(note) if note.is_empty() => {}
            Look::Absent(note) => passed_over.push(note),
        }
    }
    let Some(made) = made_by_tool(search) else {
        return second_best;
    };
    note_second_best(search, second_best, passed_over);
    Some(made)
}

/// The environment that tox, nox or hatch made for this project's tests: one with the framework, the newest Python first.
/// Those for other work (`lint`, `docs`) lack it, and are nobody's second best.
fn made_by_tool(search: &Search<'_>) -> Option<Look> {
    const FOLDERS: [(&str, &str); 3] = [(".tox", "tox"), (".nox", "nox"), (".hatch", "hatch")];
    let tools = search
        .upward()
        .flat_map(|folder| FOLDERS.map(|(name, tool)| (folder.join(name), tool)));
    tools.into_iter().find_map(|(folder, tool)| {
        let why = format!("the project's own, made by {tool}");
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let looks = entries.map(|entry| environment_folder::look(search, &entry.path(), &why));
        let found = looks.filter_map(|look| match look {
            Look::Sound(found) if found.package(FRAMEWORK).is_some() => Some(found),
            _ => None,
        });
        found
            .max_by_key(|found| (version(found), std::cmp::Reverse(found.path.clone())))
            .map(Look::Sound)
    })
}

/// The numbers of an interpreter's version.
fn version(interpreter: &Interpreter) -> Vec<u32> {
    let parts = interpreter.version.as_deref().unwrap_or_default().split('.');
    parts.map_while(|part| part.parse().ok()).collect()
}

fn note_second_best(search: &Search<'_>, look: Option<Look>, passed_over: &mut Vec<String>) {
    match look {
        Some(Look::Sound(interpreter)) => {
            let place = interpreter.venv.as_ref().unwrap_or(&interpreter.path);
            passed_over.push(format!("{} has no {FRAMEWORK}", search.show(place)));
        }
        Some(Look::Broken(error)) => passed_over.push(first_line(&error.message)),
        Some(Look::Absent(_)) | None => {}
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("QA0302 ").unwrap_or(line).to_owned()
}

/// Folders that may be the project's own environment, each with the reason: those in the project, nearest and best-known
/// names first, then those in its tool's store.
fn project_folders(search: &Search<'_>) -> Vec<(PathBuf, &'static str)> {
    let stored = stores::environments(search).into_iter();
    let inside = folders_inside(search)
        .into_iter()
        .map(|folder| (folder, "the project's own"));
    inside
        .chain(stored.map(|stored| (stored.folder, stored.why)))
        .collect()
}

fn folders_inside(search: &Search<'_>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in search.upward() {
        let uv = search.environment.get("UV_PROJECT_ENVIRONMENT");
        if let Some(place) = uv.filter(|_| folder.join("uv.lock").is_file()) {
            folders.push(folder.join(place));
        }
        folders.extend([".venv", "venv", "env"].map(|name| folder.join(name)));
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut others: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .filter(|path| path.join("pyvenv.cfg").is_file())
            .collect();
        others.sort();
        folders.extend(others);
    }
    let mut seen = std::collections::BTreeSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

/// What else there is, for somebody whose environment lacks the framework.
fn also_seen(search: &Search<'_>, taken: &Interpreter) -> Vec<String> {
    let mut notes = Vec::new();
    let mut seen = Vec::new();
    let active = [
        active::virtual_env(search, &mut notes),
        active::conda(search, &mut notes),
    ];
    let project = project_folders(search)
        .into_iter()
        .map(|(folder, why)| Some(environment_folder::look(search, &folder, why)));
    for look in project.chain(active).flatten() {
        if let Look::Sound(other) = look
            && !is_same(&other.path, &taken.path)
        {
            let place = search.show(other.venv.as_ref().unwrap_or(&other.path));
            seen.extend(framework_in(&other).map(|fact| format!("{place} {fact}")));
        }
    }
    if let Some(fact) = machine::system_fact(search, FRAMEWORK) {
        seen.push(fact);
    }
    seen
}

fn framework_in(interpreter: &Interpreter) -> Option<String> {
    interpreter.packages.as_ref()?;
    Some(match interpreter.package(FRAMEWORK) {
        Some(version) => format!("has {FRAMEWORK} {version}"),
        None => format!("has no {FRAMEWORK}"),
    })
}

fn nothing_found(search: &Search<'_>, passed_over: &[String]) -> ProjectError {
    let mut lines = vec!["QA0303 no Python environment found".to_owned()];
    for folder in search.upward() {
        lines.push(format!(
            "looked at: .venv, venv, env and folders with pyvenv.cfg in {}",
            folder.display()
        ));
    }
    for name in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        if search.environment.get(name).is_none() {
            lines.push(format!("looked at: {name}, which is not set"));
        }
    }
    lines.extend(passed_over.iter().map(|note| format!("passed over: {note}")));
    lines.push("looked at: python3 and python on PATH".to_owned());
    ProjectError::new(ProjectErrorKind::NoInterpreter, lines.join("\n")).with_hint(create(search, ".venv"))
}

/// The command that makes the project's environment anew.
fn create(search: &Search<'_>, folder: &str) -> String {
    manager::manager(search.root, search.start)
        .and_then(manager::synchronise)
        .map_or_else(
            || format!("python3 -m venv {folder}, then install the project's requirements into it"),
            str::to_owned,
        )
}

#[cfg(test)]
mod tests;
