//! Everything that is known about a suite's directory before anything runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::ProjectError;
use super::interpreter::{self, Search};
use super::resolve::resolve_dir;
use super::suites::read_small;
use crate::backend::Need;
use crate::config::Suite;
use crate::environment::Environment;
use crate::facts::Project;
use crate::registry::Registry;

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
        manager: interpreter::manager(root, start).map(str::to_owned),
        programs: programs(root, registry, environment),
        node_packages: node_packages(root, &dir),
        interpreter,
        interpreter_problem,
        dir,
    })
}

/// The project's own name, from the nearest file that gives one, upward from the suite's folder.
fn name(root: &Path, dir: &Path) -> Option<String> {
    let upward = dir.ancestors().take_while(|folder| folder.starts_with(root));
    upward.into_iter().find_map(|folder| {
        let pyproject = || {
            let text = read_small(&folder.join("pyproject.toml"))?;
            let table: toml::Table = text.parse().ok()?;
            let name = |path: &[&str]| {
                let (first, rest) = path.split_first()?;
                let start = table.get(*first)?;
                rest.iter()
                    .try_fold(start, |value, key| value.get(*key))?
                    .as_str()
                    .map(str::to_owned)
            };
            name(&["project", "name"]).or_else(|| name(&["tool", "poetry", "name"]))
        };
        let setup_cfg = || {
            let text = read_small(&folder.join("setup.cfg"))?;
            let metadata = text.split_once("[metadata]")?.1;
            let section = metadata.lines().take_while(|line| !line.starts_with('['));
            let mut pairs = section.filter_map(|line| line.split_once('='));
            pairs
                .find(|(key, _)| key.trim() == "name")
                .map(|(_, value)| value.trim().to_owned())
        };
        let package_json = || {
            read_json(&folder.join("package.json"))?["name"]
                .as_str()
                .map(str::to_owned)
        };
        pyproject().or_else(setup_cfg).or_else(package_json)
    })
}

/// The programs that registered backends need, as far as PATH has them.
fn programs(root: &Path, registry: &Registry, environment: &Environment) -> BTreeMap<String, PathBuf> {
    let needs = registry.infos().into_iter().flat_map(|info| info.needs);
    needs
        .filter_map(|need| match need {
            Need::Program(name) => Some(name),
            _ => None,
        })
        .filter_map(|name| Some((name.clone(), interpreter::on_path(root, &name, environment)?)))
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
