//! Interpreters of the machine: those on PATH, and the one that `.python-version` names.

use std::path::{Path, PathBuf};

use super::environment_folder::{self, Look, is_program};
use super::{Search, active};
use crate::environment::Environment;
use crate::project::packages::{self, Packages};
use crate::project::settings_file::read_small;

const NAMES: [&str; 2] = ["python3", "python"];

/// The first program of that name on PATH, in folders outside the root: a repository must not choose what a bare name
/// means.
pub(in crate::project) fn on_path(root: &Path, name: &str, environment: &Environment) -> Option<PathBuf> {
    path_folders(root, environment)
        .into_iter()
        .map(|folder| folder.join(name))
        .find(|path| is_program(path))
}

fn path_folders(root: &Path, environment: &Environment) -> Vec<PathBuf> {
    let outside = |folder: &PathBuf| {
        folder.is_absolute() && folder.canonicalize().is_ok_and(|real| !real.starts_with(root))
    };
    std::env::split_paths(environment.get("PATH").unwrap_or_default())
        .filter(outside)
        .collect()
}

/// `python3`, else `python`, of the first folder on PATH whose Python is anybody's: no other project's environment, not
/// qaas's own, and no shim that hides its program.
pub(super) fn first_on_path(search: &Search<'_>, passed_over: &mut Vec<String>) -> Option<Look> {
    let folders = path_folders(search.root, search.environment);
    for name in NAMES {
        for path in folders
            .iter()
            .map(|folder| folder.join(name))
            .filter(|path| is_program(path))
        {
            let Some(program) = behind_shim(search, &path) else {
                passed_over.push(format!("{}: it is a version manager's shim", path.display()));
                continue;
            };
            if let Some(why) = unfit(search, &program) {
                passed_over.push(format!("{}: {why}", path.display()));
                continue;
            }
            let folder = environment_folder::of_program(&program);
            let why = format!("the first {name} on PATH");
            let found = environment_folder::interpreter(search, &program, folder.as_deref(), &why);
            return Some(Look::Sound(found));
        }
    }
    None
}

/// A shim starts whatever version is set somewhere; this is the program itself, if the shim is pyenv's. Programs that
/// are no shims are what they are.
fn behind_shim(search: &Search<'_>, path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    if !folder.ends_with("shims") {
        return Some(path.to_owned());
    }
    let pyenv = folder.parent()?;
    let set = read_small(&pyenv.join("version"));
    let set = search.environment.get("PYENV_VERSION").or(set.as_deref())?;
    let version = set
        .split(['\n', ':'])
        .map(str::trim)
        .find(|version| is_version(version))?;
    let program = pyenv
        .join("versions")
        .join(version)
        .join("bin")
        .join(path.file_name()?);
    is_program(&program).then_some(program)
}

/// The name of one folder, as versions have.
fn is_version(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    !text.is_empty() && !text.starts_with('.') && text.bytes().all(fits)
}

fn unfit(search: &Search<'_>, path: &Path) -> Option<String> {
    let folder = environment_folder::of_program(path)?;
    if active::is_own(search, &folder) {
        return Some("it is the environment of qaas itself".to_owned());
    }
    let project = active::other_project(search, &folder)?;
    Some(format!("it is another project's ({})", project.display()))
}

/// The pyenv version that `.python-version` names, by its real path.
pub(super) fn python_version(search: &Search<'_>, passed_over: &mut Vec<String>) -> Option<Look> {
    let file = search
        .upward()
        .map(|folder| folder.join(".python-version"))
        .find(|file| file.is_file())?;
    let text = read_small(&file)?;
    let version = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'))?;
    if !is_version(version) {
        return None;
    }
    let home = || Some(Path::new(search.environment.get("HOME")?).join(".pyenv"));
    let pyenv = search
        .environment
        .get("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(home)?;
    let python = pyenv.join("versions").join(version).join("bin/python");
    if !python.is_absolute() || !is_program(&python) {
        passed_over.push(format!(
            "the Python {version} of .python-version is not installed with pyenv"
        ));
        return None;
    }
    let folder = environment_folder::of_program(&python);
    let why = "the version that .python-version names";
    Some(Look::Sound(environment_folder::interpreter(
        search,
        &python,
        folder.as_deref(),
        why,
    )))
}

/// Whether the Python of PATH has a distribution, as far as reading tells.
pub(super) fn system_fact(search: &Search<'_>, package: &str) -> Option<String> {
    let folders = path_folders(search.root, search.environment);
    let mut pythons = NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let python = pythons.find_map(|path| {
        let program = behind_shim(search, &path).filter(|program| is_program(program))?;
        unfit(search, &program).is_none().then_some(program)
    })?;
    let name = python.file_name()?.to_str()?;
    let prefix = python.canonicalize().ok()?.parent()?.parent()?.to_owned();
    let mut found = Packages::new();
    for site in packages::site_folders(&prefix, None) {
        packages::read_folder(&site, &mut found);
    }
    packages::read_folder(&prefix.join("lib/python3/dist-packages"), &mut found);
    Some(match found.get(package) {
        Some(version) => format!("the system {name} has {package} {version}"),
        None => format!("the system {name} has no {package}"),
    })
}
