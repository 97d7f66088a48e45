//! What the repository says and has: `qaas.toml`, trust, suites, interpreters and their packages. By reading.

use engine::config::{CoverageChoice, Settings, Suite};
use engine::project;
use ops::{OpError, Workspace, trust};
use runner_core::backend::{BackendInfo, Capability, Need};
use runner_core::facts::{Interpreter, Project};

use super::check::Check;

pub(super) fn checks(workspace: &Workspace) -> Vec<Check> {
    let settings = match workspace.settings() {
        Ok(settings) => settings,
        Err(error) => {
            let rest = ["trust", "suites"].map(|name| Check::skipped(name, "qaas.toml cannot be read"));
            return std::iter::once(Check::of_error("qaas.toml", &error))
                .chain(rest)
                .collect();
        }
    };
    let mut checks = vec![configuration(settings), agreed(workspace)];
    let suites = project::suites(&workspace.root, settings, &workspace.registry);
    if suites.is_empty() {
        checks.push(Check::warn(
            "suites",
            "no tests of a framework that qaas knows were found",
            "name a suite in qaas.toml (`qaas init` writes a first one), or give the repository with --root",
        ));
    }
    checks.extend(suites.iter().flat_map(|suite| of_suite(workspace, suite)));
    checks
}

fn configuration(settings: &Settings) -> Check {
    const NAME: &str = "qaas.toml";
    match &settings.file {
        Some(file) => Check::ok(NAME, format!("{} is right", file.display())),
        None => Check::ok(NAME, "there is none, and none is needed: suites are detected"),
    }
}

/// Whether something in the configuration waits for a person.
fn agreed(workspace: &Workspace) -> Check {
    const NAME: &str = "trust";
    let trust = match trust(workspace) {
        Ok(trust) => trust,
        Err(error) => return Check::of_error(NAME, &error),
    };
    let refusals = trust.refusals();
    match refusals.first() {
        None if trust.surface().is_empty() => Check::ok(NAME, "nothing needs it"),
        None => Check::ok(NAME, "everything that needs it has it").with_notes(trust.surface().lines()),
        Some(first) => Check::warn(NAME, "something needs it and is left out", first.hint.clone())
            .with_notes(refusals.iter().map(|refusal| refusal.message.clone())),
    }
}

/// A suite's interpreter and packages, where it has to do with Python, and its backend.
fn of_suite(workspace: &Workspace, suite: &Suite) -> Vec<Check> {
    let about = |what: &str| format!("{what} ({})", suite.name);
    let name = about("suite");
    let found = match discovered(workspace, suite) {
        Ok(found) => found,
        Err(error) => return vec![Check::of_error(name, &error)],
    };
    let mut checks = Vec::new();
    if let Some(python) = found
        .interpreter
        .as_ref()
        .filter(|_| wants_python(workspace, suite))
    {
        checks.push(interpreter(about("python"), python));
        checks.push(packages(about("packages"), workspace, suite, &found, python));
    }
    checks.push(backend(name, workspace, suite, &found));
    checks
}

fn discovered(workspace: &Workspace, suite: &Suite) -> Result<Project, OpError> {
    let folder = project::resolve_dir(&workspace.root, &suite.dir.to_string_lossy())?;
    let (overrides, environment) = (&workspace.overrides, &workspace.environment);
    Ok(project::discover(
        &workspace.root,
        suite,
        &workspace.registry,
        &folder,
        overrides,
        environment,
    )?)
}

/// The backends that the suite may come to.
fn candidates<'a>(workspace: &'a Workspace, suite: &'a Suite) -> impl Iterator<Item = BackendInfo> + 'a {
    let typed = workspace.overrides.backend.as_slice();
    let names = if typed.is_empty() {
        suite.backend.as_slice()
    } else {
        typed
    };
    names
        .iter()
        .filter_map(|name| workspace.registry.get(name))
        .map(|backend| backend.info())
}

fn wants_python(workspace: &Workspace, suite: &Suite) -> bool {
    candidates(workspace, suite).any(|info| info.needs.contains(&Need::Python))
}

fn interpreter(name: String, python: &Interpreter) -> Check {
    let version = python.version.as_ref().map(|version| format!(" ({version})"));
    let path = python.path.display();
    Check::ok(
        name,
        format!("{path}{}: {}", version.unwrap_or_default(), python.why),
    )
    .with_notes(
        python
            .passed_over
            .iter()
            .map(|note| format!("passed over: {note}")),
    )
    .with_notes(python.also_seen.iter().map(|note| format!("also seen: {note}")))
}

/// The framework, its plug-ins, and what else the backends need.
fn packages(
    name: String,
    workspace: &Workspace,
    suite: &Suite,
    found: &Project,
    python: &Interpreter,
) -> Check {
    let Some(installed) = &python.packages else {
        let why = "cannot be read from outside; a run asks the interpreter";
        return Check::skipped(name, why);
    };
    let infos = workspace.registry.infos();
    let needed: Vec<&str> = infos
        .iter()
        .flat_map(|info| &info.needs)
        .filter_map(package)
        .collect();
    let frameworks: Vec<String> = candidates(workspace, suite).map(|info| info.framework).collect();
    let concerns = |package: &str| {
        let plug_in = |framework: &String| {
            let rest = package.strip_prefix(framework.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        needed.contains(&package) || frameworks.iter().any(plug_in)
    };
    let there: Vec<String> = installed
        .iter()
        .filter(|(package, _)| concerns(package))
        .map(|(package, version)| format!("{package} {version}"))
        .collect();
    let message = if there.is_empty() {
        "none of those that matter".to_owned()
    } else {
        there.join(", ")
    };
    match lacking_coverage(suite, &infos, python) {
        Some(package) => Check::warn(
            name,
            format!("{message}; without {package} there is no coverage"),
            project::install(&package, found, python),
        ),
        None => Check::ok(name, message),
    }
}

fn package(need: &Need) -> Option<&str> {
    match need {
        Need::PythonPackage(name) => Some(name),
        _ => None,
    }
}

/// The package that measuring coverage would need, if the suite wants it measured and it is not there.
fn lacking_coverage(suite: &Suite, infos: &[BackendInfo], python: &Interpreter) -> Option<String> {
    let measures = |info: &&BackendInfo| match &suite.coverage {
        CoverageChoice::Off => false,
        CoverageChoice::Named(name) => info.name == *name,
        CoverageChoice::Default => info.can(Capability::Coverage) && info.language == "python",
    };
    let info = infos.iter().find(measures)?;
    let mut missing = info.needs.iter().filter_map(package);
    missing
        .find(|name| python.package(name).is_none())
        .map(str::to_owned)
}

fn backend(name: String, workspace: &Workspace, suite: &Suite, found: &Project) -> Check {
    match project::choose_backend(&workspace.registry, suite, found, &workspace.overrides) {
        Ok(choice) => {
            let dir = suite.dir.display();
            Check::ok(name, format!("{} in {dir}", choice.backend.info().name)).with_notes(
                choice
                    .passed_over
                    .into_iter()
                    .map(|note| format!("passed over: {note}")),
            )
        }
        Err(error) => Check::of_error(name, &OpError::from(error)),
    }
}
