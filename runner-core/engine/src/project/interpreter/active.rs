//! Environments that the caller's shell has active.

use std::path::{Path, PathBuf};

use super::environment_folder::{self, Look};
use super::{FRAMEWORK, Search};

/// What `VIRTUAL_ENV` names, unless it is not for this project. A broken one counts only inside the root.
pub(super) fn virtual_env(search: &Search<'_>, passed_over: &mut Vec<String>) -> Option<Look> {
    let folder = PathBuf::from(search.environment.get("VIRTUAL_ENV")?);
    let shown = format!("VIRTUAL_ENV {}", folder.display());
    if !folder.is_absolute() {
        passed_over.push(format!("{shown}: it is not an absolute path"));
        return None;
    }
    let inside = search.is_inside(&folder);
    if !inside && let Some(project) = other_project(search, &folder) {
        let project = project.display();
        passed_over.push(format!(
            "{shown}: it is another project's ({project}); --python {} takes it all the same",
            folder.display()
        ));
        return None;
    }
    match environment_folder::look(search, &folder, "the active VIRTUAL_ENV") {
        Look::Sound(found) if !inside && is_own(search, &folder) && found.package(FRAMEWORK).is_none() => {
            passed_over.push(format!("{shown}: it is the environment of qaas itself"));
            None
        }
        Look::Sound(found) => Some(Look::Sound(found)),
        Look::Broken(error) if inside => Some(Look::Broken(error)),
        Look::Broken(_) => {
            passed_over.push(format!("{shown}: its bin/python cannot be started"));
            None
        }
        Look::Absent(_) => {
            passed_over.push(format!("{shown}: there is no environment"));
            None
        }
    }
}

/// What `CONDA_PREFIX` names, unless it is conda's base, which is a system Python rather than anybody's environment.
pub(super) fn conda(search: &Search<'_>, passed_over: &mut Vec<String>) -> Option<Look> {
    let folder = PathBuf::from(search.environment.get("CONDA_PREFIX")?);
    let shown = format!("CONDA_PREFIX {}", folder.display());
    let base =
        search.environment.get("CONDA_DEFAULT_ENV") == Some("base") || folder.join("condabin").is_dir();
    if base {
        passed_over.push(format!("{shown}: it is conda's base environment"));
        return None;
    }
    match environment_folder::look(search, &folder, "the active CONDA_PREFIX") {
        Look::Sound(found) => Some(Look::Sound(found)),
        Look::Broken(_) | Look::Absent(_) => {
            passed_over.push(format!("{shown}: it has no bin/python that can be started"));
            None
        }
    }
}

/// The project that an environment lies directly in, if that is neither this one nor one around it.
pub(super) fn other_project(search: &Search<'_>, folder: &Path) -> Option<PathBuf> {
    const MARKS: [&str; 5] = ["pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "qaas.toml"];
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let project = folder.parent()?;
    let marked = MARKS.iter().any(|mark| project.join(mark).is_file());
    (marked && !search.root.starts_with(project)).then(|| project.to_owned())
}

/// Whether the running program lies in this environment.
pub(super) fn is_own(search: &Search<'_>, folder: &Path) -> bool {
    let program = search.environment.program.as_ref();
    let own = program.and_then(|program| program.canonicalize().ok());
    own.zip(folder.canonicalize().ok())
        .is_some_and(|(program, folder)| program.parent().and_then(Path::parent) == Some(folder.as_path()))
}
