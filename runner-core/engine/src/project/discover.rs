//! Everything that is known about a suite's directory before anything runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::cargo;
use super::error::ProjectError;
use super::interpreter::{self, Search};
use super::manager;
use super::name::name;
use super::node::node;
use super::resolve::resolve_dir;
use super::settings_file::read_small;
use crate::config::Suite;
use crate::environment::Environment;
use runner_core::backend::Need;
use runner_core::facts::Project;
use runner_core::registry::Registry;

/// What a person typed to override a suite: consent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// An interpreter or an environment's folder; relative to the working folder; a bare name is looked for on PATH.
    pub python: Option<PathBuf>,
    pub backend: Option<String>,
}

/// Reads what is known about a suite's directory. `start` is where the interpreter search starts (the suite's
/// folder, or the `cwd` of a call). `registry` says which programs are worth looking for.
///
/// No usable interpreter is not an error here, since not every suite needs one: see
/// [`Project::interpreter_problem`] and [`super::choose_backend`].
pub fn discover(
    root: &Path,
    suite: &Suite,
    registry: &Registry,
    start: &Path,
    overrides: &Overrides,
    environment: &Environment,
) -> Result<Project, ProjectError> {
    let dir = resolve_dir(root, &suite.dir.to_string_lossy()).map_err(|error| ProjectError {
        message: format!("suite `{}`: dir: {}", suite.name, error.message),
        ..error
    })?;
    let search = Search {
        root,
        dir: &dir,
        start,
        environment,
    };
    let named = suite.options.get("python").and_then(serde_json::Value::as_str);
    let (interpreter, interpreter_problem) =
        match interpreter::find(&search, overrides.python.as_deref(), named) {
            Ok(interpreter) => (Some(interpreter), None),
            Err(error) => (None, Some(error.into())),
        };
    Ok(Project {
        root: root.to_owned(),
        name: name(root, &dir),
        manager: manager::manager(root, start).map(str::to_owned),
        declared: manager::declared(root, start),
        programs: programs(root, &dir, registry, environment),
        node_packages: node_packages(root, &dir),
        cargo: cargo::read(root, &dir, environment),
        interpreter,
        interpreter_problem,
        dir,
    })
}

/// The programs that registered backends need, as far as PATH has them; Node by what the project asks for.
fn programs(
    root: &Path,
    dir: &Path,
    registry: &Registry,
    environment: &Environment,
) -> BTreeMap<String, PathBuf> {
    let needs = registry.infos().into_iter().flat_map(|info| info.needs);
    let named = |name: &str| match name {
        "node" => node(root, dir, environment),
        _ => None,
    };
    needs
        .filter_map(|need| match need {
            Need::Program(name) => Some(name),
            _ => None,
        })
        .filter_map(|name| {
            let program = named(&name).or_else(|| interpreter::on_path(root, &name, environment))?;
            Some((name, program))
        })
        .collect()
}

/// What is installed in the `node_modules` folders from the suite's folder up to the root, of what `package.json` there
/// depends on.
fn node_packages(root: &Path, dir: &Path) -> BTreeMap<String, String> {
    let mut packages = BTreeMap::new();
    let upward: Vec<&Path> = dir
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .collect();
    for folder in &upward {
        let Some(package_json) = read_json(&folder.join("package.json")) else {
            continue;
        };
        for list in [
            "dependencies",
            "devDependencies",
            "optionalDependencies",
            "peerDependencies",
        ] {
            for name in package_json[list]
                .as_object()
                .into_iter()
                .flat_map(|list| list.keys())
            {
                let installed = |folder: &&Path| installed_version(folder, name);
                if let Some(version) = upward.iter().find_map(installed) {
                    packages.entry(name.clone()).or_insert(version);
                }
            }
        }
    }
    packages
}

fn installed_version(folder: &Path, package: &str) -> Option<String> {
    let facts = read_json(&folder.join("node_modules").join(package).join("package.json"))?;
    Some(facts["version"].as_str().unwrap_or_default().to_owned())
}

fn read_json(file: &Path) -> Option<serde_json::Value> {
    serde_json::from_str(&read_small(file)?).ok()
}
