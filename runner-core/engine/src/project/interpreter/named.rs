//! An interpreter that somebody named.

use std::path::{Path, PathBuf};

use super::environment_folder::{self, Look, is_program};
use super::{Search, on_path};
use crate::project::error::{ProjectError, ProjectErrorKind, shown};
use runner_core::facts::Interpreter;

/// How [`Interpreter::why`] begins if somebody named it.
pub(in crate::project) const NAMED: &str = "named";

/// The interpreter that `by` names: a program, or an environment's folder, relative to the first of `bases` that has it;
/// without a `/` a program on PATH, or a bare version. One that is not there is a missing interpreter.
pub(super) fn find(
    search: &Search<'_>,
    name: &Path,
    bases: &[&Path],
    by: &str,
) -> Result<Interpreter, ProjectError> {
    let why = format!("{NAMED} by {by}");
    let candidates = candidates(search, name, bases);
    for path in &candidates {
        if path.is_dir() {
            return match environment_folder::look(search, path, &why) {
                Look::Sound(interpreter) => Ok(interpreter),
                Look::Broken(error) => Err(error),
                Look::Absent(_) => Err(missing(search, name, by, "is a folder, but no environment's")),
            };
        }
        if is_program(path) {
            let folder = environment_folder::of_program(path);
            return Ok(environment_folder::interpreter(
                search,
                path,
                folder.as_deref(),
                &why,
            ));
        }
        if path.symlink_metadata().is_ok() {
            let folder = environment_folder::of_program(path);
            return Err(match folder {
                Some(folder) => environment_folder::broken(search, &folder, path),
                None => missing(search, name, by, "is not a program that can be started"),
            });
        }
    }
    Err(missing(search, name, by, "does not exist"))
}

fn candidates(search: &Search<'_>, name: &Path, bases: &[&Path]) -> Vec<PathBuf> {
    let text = name.to_string_lossy();
    if text.contains('/') || name.is_absolute() {
        return bases.iter().map(|base| base.join(name)).collect();
    }
    let program = if text.starts_with(|c: char| c.is_ascii_digit()) {
        format!("python{text}")
    } else {
        text.into_owned()
    };
    let is_environment = |path: &PathBuf| path.join("pyvenv.cfg").is_file();
    let folders = bases.iter().map(|base| base.join(name)).filter(is_environment);
    let programs = on_path(search.root, &program, search.environment);
    folders.chain(programs).collect()
}

fn missing(search: &Search<'_>, name: &Path, by: &str, why: &str) -> ProjectError {
    let name = shown(&name.to_string_lossy());
    let message = format!("QA0303 no Python environment found\n{NAMED} by {by}: {name} {why}");
    let found = super::detect(search);
    let hint = match &found {
        Ok(found) => format!("without {by}: {} ({})", search.show(&found.path), found.why),
        Err(_) => super::create(search, ".venv"),
    };
    ProjectError::new(ProjectErrorKind::NoInterpreter, format!("{message}\n{hint}")).with_hint(hint)
}
