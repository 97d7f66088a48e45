//! Which of a suite's backends serves it: a pure function over their needs.

use std::sync::Arc;

use super::discover::Overrides;
use super::error::{ProjectError, ProjectErrorKind, shown};
use super::manager::install;
use crate::config::Suite;
use runner_core::backend::{BackendInfo, Capability, Need, TestBackend};
use runner_core::facts::{Interpreter, Project};
use runner_core::registry::{Registry, nearest};

/// A suite's backend for a project, and what was preferred to it but could not be used.
#[derive(Clone)]
pub struct Choice {
    pub backend: Arc<dyn TestBackend>,
    /// One sentence each.
    pub passed_over: Vec<String>,
}

/// A need that is not met.
struct Unmet {
    need: Need,
    /// The end of a sentence that begins with the backend's name.
    why: String,
}

/// The first of the suite's backends whose needs are met; `overrides.backend` alone if somebody typed one.
///
/// Where an interpreter's packages are not known yet (see [`super::ask`]), its framework is taken to be there and
/// anything beyond it is not.
pub fn choose_backend(
    registry: &Registry,
    suite: &Suite,
    project: &Project,
    overrides: &Overrides,
) -> Result<Choice, ProjectError> {
    let names = match &overrides.backend {
        Some(name) => std::slice::from_ref(name),
        None => suite.backend.as_slice(),
    };
    let mut refused = Vec::new();
    let mut passed_over = Vec::new();
    for name in names {
        let backend = registry.get(name).ok_or_else(|| unknown(registry, suite, name))?;
        let info = backend.info();
        if !info.can(Capability::Run) {
            return Err(runs_nothing(registry, suite, &info));
        }
        match info.needs.iter().find_map(|need| unmet(need, &info, project)) {
            None => {
                return Ok(Choice {
                    backend: Arc::clone(backend),
                    passed_over,
                });
            }
            Some(lack) => {
                passed_over.push(format!("{name}: {}", lack.why));
                refused.push((info, lack));
            }
        }
    }
    Err(none_usable(suite, project, &refused, &passed_over))
}

fn unknown(registry: &Registry, suite: &Suite, name: &str) -> ProjectError {
    let names = registry.names_to_choose();
    let error = ProjectError::new(
        ProjectErrorKind::UnknownBackend,
        format!("suite `{}`: there is no backend `{}`", suite.name, shown(name)),
    );
    match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => error.with_hint(format!("did you mean `{near}`? Backends: {}", names.join(", "))),
        None => error.with_hint(format!("backends: {}", names.join(", "))),
    }
}

fn runs_nothing(registry: &Registry, suite: &Suite, info: &BackendInfo) -> ProjectError {
    let runners = registry
        .infos()
        .into_iter()
        .filter(|known| known.can(Capability::Run));
    let runners: Vec<String> = runners.map(|known| known.name).collect();
    ProjectError::new(
        ProjectErrorKind::NoBackend,
        format!("suite `{}`: backend `{}` runs no tests", suite.name, info.name),
    )
    .with_hint(format!("backends that run tests: {}", runners.join(", ")))
}

fn unmet(need: &Need, info: &BackendInfo, project: &Project) -> Option<Unmet> {
    let why = match need {
        Need::Python if project.interpreter.is_some() => return None,
        Need::Python => "no Python interpreter was found".to_owned(),
        Need::PythonPackage(package) => match &project.interpreter {
            None => "no Python interpreter was found".to_owned(),
            Some(interpreter) => python_package(package, info, project, interpreter)?,
        },
        Need::Program(program) if project.programs.contains_key(program) => return None,
        Need::Program(program) => format!("the program `{program}` is not on PATH"),
        Need::NodePackage(package) if project.node_packages.contains_key(package) => return None,
        Need::NodePackage(package) => format!("the package `{package}` is not installed (node_modules)"),
    };
    Some(Unmet {
        need: need.clone(),
        why,
    })
}

/// Why a distribution will not do; `None` if it is there.
fn python_package(
    package: &str,
    info: &BackendInfo,
    project: &Project,
    interpreter: &Interpreter,
) -> Option<String> {
    let place = place(project, interpreter);
    match &interpreter.packages {
        Some(packages) if packages.contains_key(package) => None,
        Some(_) if package == info.framework => Some(format!("{package} is not installed in {place}")),
        Some(_) => Some(format!("QA0304 {package} is not installed in {place}")),
        None if package == info.framework => None,
        None => Some(format!(
            "whether {package} is installed in {place} is not known without starting it"
        )),
    }
}

/// The environment by a name that one can find: relative to the root where it lies inside.
pub(super) fn place(project: &Project, interpreter: &Interpreter) -> String {
    let path = interpreter.venv.as_ref().unwrap_or(&interpreter.path);
    let path = path.strip_prefix(&project.root).unwrap_or(path);
    path.display().to_string()
}

fn none_usable(
    suite: &Suite,
    project: &Project,
    refused: &[(BackendInfo, Unmet)],
    passed_over: &[String],
) -> ProjectError {
    let python =
        |(_, lack): &(BackendInfo, Unmet)| matches!(lack.need, Need::Python | Need::PythonPackage(_));
    if let (Some(problem), true) = (&project.interpreter_problem, refused.iter().any(python)) {
        return problem.clone().into();
    }
    let framework = refused.iter().find_map(|(info, lack)| match &lack.need {
        Need::PythonPackage(package) if *package == info.framework => Some(package),
        _ => None,
    });
    if let (Some(package), Some(interpreter)) = (framework, &project.interpreter) {
        return missing_package(package, project, interpreter);
    }
    let missing = refused.iter().find_map(|(_, lack)| match &lack.need {
        Need::PythonPackage(package) => Some(package),
        _ => None,
    });
    let error = ProjectError::new(
        ProjectErrorKind::NoBackend,
        format!(
            "suite `{}`: no backend can be used\n{}",
            suite.name,
            passed_over.join("\n")
        ),
    );
    match (missing, &project.interpreter) {
        (Some(package), Some(interpreter)) => error.with_hint(install(package, project, interpreter)),
        _ => error.with_hint("install what is missing, or name another backend with --backend NAME"),
    }
}

/// The framework itself is not there: which environment, why that one, what to do, what else was seen.
fn missing_package(package: &str, project: &Project, interpreter: &Interpreter) -> ProjectError {
    let version = interpreter.version.as_deref();
    let version = version.map(|v| format!(" (Python {v})")).unwrap_or_default();
    let fix = install(package, project, interpreter);
    let owner = if interpreter
        .venv
        .as_ref()
        .is_some_and(|venv| venv.starts_with(&project.root))
    {
        "the project's environment"
    } else {
        "the environment that was chosen"
    };
    let mut lines = vec![
        format!("QA0301 {package} is not installed in {owner}"),
        format!(
            "environment: {}{version}, chosen because it is {}",
            place(project, interpreter),
            interpreter.why
        ),
        format!("fix: {fix}"),
    ];
    let others = interpreter.passed_over.iter().chain(&interpreter.also_seen);
    lines.extend(others.map(|other| format!("also seen: {other}")));
    lines.push("other environment: qaas run --python PATH".to_owned());
    ProjectError::new(ProjectErrorKind::MissingPackage, lines.join("\n")).with_hint(fix)
}

#[cfg(test)]
mod tests;
