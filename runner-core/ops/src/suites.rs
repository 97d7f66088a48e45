//! The suites of a repository, and where each of them lies.

use std::path::{Path, PathBuf};

use super::{ErrorKind, OpError, Workspace, cut};
use engine::config::Suite;
use engine::project;
use runner_core::backend::{BackendInfo, Capability};
use runner_core::language::Language;
use runner_core::registry::{Registry, nearest};

/// At least one suite, or the error answer.
pub(super) fn all(workspace: &Workspace) -> Result<Vec<Suite>, OpError> {
    let suites = project::suites(&workspace.root, workspace.settings()?, &workspace.registry);
    if suites.is_empty() {
        let message = format!(
            "no tests of a framework that qaas knows were found in {}",
            workspace.root.display()
        );
        return Err(OpError::new(ErrorKind::NoTests, "no_suite", message)
            .with_hint("Name a suite in `qaas.toml`, or give the repository with `--root`."));
    }
    Ok(suites)
}

/// The suite of that name.
pub(super) fn by_name(suites: Vec<Suite>, name: &str) -> Result<Suite, OpError> {
    let names: Vec<String> = suites.iter().map(|suite| suite.name.clone()).collect();
    if let Some(suite) = suites.into_iter().find(|suite| suite.name == name) {
        return Ok(suite);
    }
    let message = format!("there is no suite `{}`", cut::quote_truncated(name));
    let error = OpError::new(ErrorKind::BadRequest, "no_such_suite", message);
    Err(match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => error.with_hint(format!("Did you mean `{near}`?")),
        None => error.with_hint(format!("There are: {}.", names.join(", "))),
    })
}

/// A suite's folder, as a real path where it has one.
pub(super) fn folder(root: &Path, suite: &Suite) -> PathBuf {
    let folder = root.join(&suite.dir);
    folder.canonicalize().unwrap_or(folder)
}

/// What a suite's backends say of themselves.
pub(super) fn infos<'a>(
    workspace: &'a Workspace,
    suite: &'a Suite,
) -> impl Iterator<Item = BackendInfo> + 'a {
    let named = match &workspace.overrides.backend {
        Some(name) => std::slice::from_ref(name),
        None => suite.backend.as_slice(),
    };
    let backends = named.iter().filter_map(|name| workspace.registry.get(name));
    backends.map(|backend| backend.info())
}

/// Whether one of the suite's backends can do it.
pub(super) fn can(workspace: &Workspace, suite: &Suite, capability: Capability) -> bool {
    infos(workspace, suite).any(|info| info.can(capability))
}

/// The suites that a file or folder lies in.
pub(super) fn owners(root: &Path, registry: &Registry, suites: &[Suite], place: &Path) -> Vec<Suite> {
    let above = deepest(
        root,
        suites
            .iter()
            .filter(|suite| place.starts_with(folder(root, suite))),
    );
    let found = narrowed(above, |suite| in_paths(root, suite, place));
    narrowed(found, |suite| speaks(registry, suite, place))
}

fn in_paths(root: &Path, suite: &Suite, place: &Path) -> bool {
    let folder = folder(root, suite);
    suite.paths.iter().any(|path| {
        let path = folder.join(path);
        place.starts_with(path.canonicalize().unwrap_or(path))
    })
}

/// Whether the suite's first backend drives the language of the file.
fn speaks(registry: &Registry, suite: &Suite, file: &Path) -> bool {
    let Some(language) = Language::of(file) else {
        return false;
    };
    suite
        .backend
        .iter()
        .filter_map(|name| registry.get(name))
        .any(|backend| backend.info().language == language.name)
}

/// Those that the test holds for; all, if it holds for none.
fn narrowed(suites: Vec<Suite>, test: impl Fn(&Suite) -> bool) -> Vec<Suite> {
    let held: Vec<Suite> = suites.iter().filter(|suite| test(suite)).cloned().collect();
    if held.is_empty() { suites } else { held }
}

fn deepest<'a>(root: &Path, suites: impl Iterator<Item = &'a Suite>) -> Vec<Suite> {
    let depth = |suite: &Suite| folder(root, suite).components().count();
    let suites: Vec<&Suite> = suites.collect();
    let most = suites.iter().map(|suite| depth(suite)).max();
    suites
        .into_iter()
        .filter(|suite| Some(depth(suite)) == most)
        .cloned()
        .collect()
}
