use std::path::PathBuf;

use super::*;
use crate::project::test_backend::Fake;
use runner_core::facts::Problem;

fn registry() -> Registry {
    let node = |name, need| Fake::new(name, "javascript", "vitest", Capability::Run, vec![need]);
    Registry::new()
        .with(Arc::new(Fake::python("exact", &[])))
        .with(Arc::new(Fake::python("report", &["pytest-json-report"])))
        .with(Arc::new(Fake::coverage("cover")))
        .with(Arc::new(node("vitest", Need::NodePackage("vitest".to_owned()))))
        .with(Arc::new(node("make", Need::Program("make".to_owned()))))
}

/// A project whose environment holds these packages; `None`: nobody knows.
fn project(packages: Option<&[&str]>) -> Project {
    let version = |name: &&str| ((*name).to_owned(), "1.0".to_owned());
    Project {
        root: PathBuf::from("/repo"),
        dir: PathBuf::from("/repo"),
        interpreter: Some(Interpreter {
            path: PathBuf::from("/repo/.venv/bin/python"),
            version: Some("3.11.7".to_owned()),
            venv: Some(PathBuf::from("/repo/.venv")),
            why: "the project's own".to_owned(),
            packages: packages.map(|names| names.iter().map(version).collect()),
            also_seen: vec!["the system python3 has no pytest".to_owned()],
            ..Interpreter::default()
        }),
        ..Project::default()
    }
}

fn choose(backends: &[&str], project: &Project) -> Result<(String, Vec<String>), ProjectError> {
    let suite = Suite::new("unit", backends.iter().map(ToString::to_string).collect());
    let choice = choose_backend(&registry(), &suite, project, &Overrides::default())?;
    Ok((choice.backend.info().name, choice.passed_over))
}

#[test]
fn the_first_whose_needs_are_met_is_taken_and_the_others_are_told() {
    let both = project(Some(&["pytest", "pytest-json-report"]));
    assert_eq!(
        choose(&["report", "exact"], &both),
        Ok(("report".to_owned(), vec![]))
    );
    let plain = project(Some(&["pytest"]));
    let note = "report: QA0304 pytest-json-report is not installed in .venv";
    assert_eq!(
        choose(&["report", "exact"], &plain),
        Ok(("exact".to_owned(), vec![note.to_owned()]))
    );
    let unknown = project(None);
    let note = "report: whether pytest-json-report is installed in .venv is not known without starting it";
    assert_eq!(
        choose(&["report", "exact"], &unknown),
        Ok(("exact".to_owned(), vec![note.to_owned()]))
    );
}

#[test]
fn what_somebody_types_is_the_only_choice() {
    let suite = Suite::new("unit", vec!["exact".to_owned()]);
    let typed = Overrides {
        backend: Some("report".to_owned()),
        ..Overrides::default()
    };
    let both = project(Some(&["pytest", "pytest-json-report"]));
    let choice = choose_backend(&registry(), &suite, &both, &typed).unwrap();
    assert_eq!(choice.backend.info().name, "report");
    let error = choose_backend(&registry(), &suite, &project(Some(&["pytest"])), &typed)
        .err()
        .unwrap();
    assert_eq!(error.kind.as_str(), "no_backend");
    assert_eq!(
        error.hint.as_deref(),
        Some(".venv/bin/python -m pip install pytest-json-report")
    );
}

#[test]
fn a_missing_framework_is_told_with_the_environment_the_reason_and_the_command() {
    let error = choose(&["exact", "report"], &project(Some(&[]))).unwrap_err();
    assert_eq!(error.kind.as_str(), "missing_package");
    assert_eq!(
        error.message,
        "QA0301 pytest is not installed in the project's environment\n\
         environment: .venv (Python 3.11.7), chosen because it is the project's own\n\
         fix: .venv/bin/python -m pip install pytest\n\
         also seen: the system python3 has no pytest\n\
         other environment: qaas run --python PATH"
    );
    let fixes = [
        ("uv", "uv add --dev pytest"),
        ("poetry", "poetry add --group dev pytest"),
        ("pdm", "pdm add -d pytest"),
        ("pipenv", "pipenv install --dev pytest"),
    ];
    for (manager, fix) in fixes {
        let mut project = project(Some(&[]));
        project.manager = Some(manager.to_owned());
        assert_eq!(
            choose(&["exact"], &project).unwrap_err().hint.as_deref(),
            Some(fix)
        );
        let interpreter = project.interpreter.as_mut().unwrap();
        interpreter.why = "named by --python".to_owned();
        let hint = choose(&["exact"], &project).unwrap_err().hint;
        assert_eq!(hint.as_deref(), Some(".venv/bin/python -m pip install pytest"));
    }
}

#[test]
fn no_interpreter_is_an_error_only_for_who_needs_one() {
    let mut project = Project {
        interpreter_problem: Some(Problem {
            code: "no_interpreter".to_owned(),
            message: "QA0303 no Python environment found".to_owned(),
            hint: Some("uv sync".to_owned()),
        }),
        ..Project::default()
    };
    let error = choose(&["exact"], &project).unwrap_err();
    assert_eq!(error.kind.as_str(), "no_interpreter");
    assert_eq!(error.hint.as_deref(), Some("uv sync"));
    let error = choose(&["vitest"], &project).unwrap_err();
    assert_eq!(error.kind.as_str(), "no_backend");
    project
        .node_packages
        .insert("vitest".to_owned(), "3.0.0".to_owned());
    assert_eq!(choose(&["exact", "vitest"], &project).unwrap().0, "vitest");
    project
        .programs
        .insert("make".to_owned(), PathBuf::from("/usr/bin/make"));
    assert_eq!(choose(&["make"], &project).unwrap().0, "make");
}

#[test]
fn a_name_that_no_backend_has_is_answered_with_the_nearest_one() {
    let error = choose(&["raport"], &project(None)).unwrap_err();
    assert_eq!(error.kind.as_str(), "unknown_backend");
    assert_eq!(error.message, "suite `unit`: there is no backend `raport`");
    let hint = error.hint.unwrap();
    assert!(
        hint.starts_with("did you mean `report`? Backends: exact, report"),
        "{hint}"
    );
    let error = choose(&["cover"], &project(None)).unwrap_err();
    assert_eq!(error.message, "suite `unit`: backend `cover` runs no tests");
}
