//! `coverage run` around a plan's steps, `coverage combine` and `coverage json` behind them.

use std::path::Path;

use runner_core::backend::{BackendError, Mode, RunRequest, UNSUPPORTED};
use runner_core::facts::{Interpreter, Project};
use runner_core::plan::{Artifact, Plan, Step};

use crate::paths;

/// The distribution that does the measuring.
pub(crate) const PACKAGE: &str = "coverage";
/// The name of the report among a plan's artifacts.
pub(crate) const REPORT: &str = "coverage.json";
/// The data file; those of single processes have a suffix.
const DATA: &str = "coverage.data";

pub(crate) fn wrap(request: &RunRequest, project: &Project, inner: Plan) -> Result<Plan, BackendError> {
    if request.mode == Mode::List {
        return Ok(inner);
    }
    let interpreter = project.interpreter.as_ref().ok_or_else(|| {
        BackendError::new("no_interpreter", "coverage.py needs a Python interpreter, and none was found")
            .with_hint("make a virtual environment in the project (`python3 -m venv .venv`), or name one with `--python PATH`")
    })?;
    if interpreter.packages.is_some() && interpreter.package(PACKAGE).is_none() {
        return Err(not_installed(&interpreter.path));
    }
    let mut plan = inner;
    for step in &mut plan.steps {
        measure(step, request, interpreter)?;
    }
    let Some(last) = plan.steps.last() else {
        return Ok(plan);
    };
    let report = request.scratch.join(REPORT);
    let follow = |command: &str, args: Vec<String>| Step {
        name: format!("coverage {command}"),
        program: interpreter.path.clone(),
        launcher: ["-m", "coverage", command].map(str::to_owned).into(),
        args,
        env: last.env.clone(),
        cwd: last.cwd.clone(),
        always: true,
        ..Step::default()
    };
    // Files that a test made, imported and removed have no source any more: that must not cost the report.
    let words = [
        "--ignore-errors",
        "--fail-under=0",
        "-o",
        &report.to_string_lossy(),
    ];
    let steps = [
        follow("combine", Vec::new()),
        follow("json", words.map(str::to_owned).into()),
    ];
    plan.steps.extend(steps);
    plan.artifacts.push(Artifact {
        name: REPORT.to_owned(),
        path: report,
    });
    Ok(plan)
}

/// The error for an environment without coverage.py.
pub(crate) fn not_installed(python: &Path) -> BackendError {
    let python = python.display();
    BackendError::new(
        "missing_package",
        format!(
            "coverage is not installed for {python}, so nothing can be measured; do not estimate coverage from \
             reading the code"
        ),
    )
    .with_hint(format!(
        "install it (`{python} -m pip install coverage`, or add `coverage` to the project's development dependencies) \
         and ask again"
    ))
}

fn measure(step: &mut Step, request: &RunRequest, interpreter: &Interpreter) -> Result<(), BackendError> {
    let first = step.launcher.first();
    let measurable =
        first.is_some_and(|word| word == "-m" || Path::new(word).extension().is_some_and(|end| end == "py"));
    if step.program != interpreter.path || !measurable {
        return Err(BackendError::new(
            UNSUPPORTED,
            format!(
                "the step `{}` does not start a Python module, so coverage.py cannot measure it",
                step.name
            ),
        )
        .with_hint("choose a test backend that runs `python -m …`, or `coverage = false` for the suite"));
    }
    if step.launcher.get(1).map(String::as_str) == Some("pytest") {
        let words = pytest_words(interpreter);
        let end = step
            .args
            .iter()
            .position(|word| word == "--")
            .unwrap_or(step.args.len());
        step.args.splice(end..end, words);
    }
    // Every process writes a file of its own, whatever the project's configuration says; `combine` finds them all.
    let mut launcher: Vec<String> = ["-m", "coverage", "run", "--parallel-mode"]
        .map(str::to_owned)
        .into();
    launcher.extend(paths::source_word(request));
    launcher.append(&mut step.launcher);
    step.launcher = launcher;
    let data = request.scratch.join(DATA).to_string_lossy().into_owned();
    step.env.insert("COVERAGE_FILE".to_owned(), Some(data));
    // Left by a run around this one, they would have child processes measured into its files.
    for name in ["COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"] {
        step.env.insert(name.to_owned(), None);
    }
    Ok(())
}

/// Plug-ins that a project's own options may switch on and that would take the measuring out of our hands: pytest-cov
/// measures for itself (and the outer measuring stops), xdist runs the tests in processes that nobody measures. Naming
/// a plug-in (`-p`) makes its option known even where plug-ins are not loaded by themselves.
fn pytest_words(interpreter: &Interpreter) -> Vec<String> {
    let mut words: Vec<&str> = Vec::new();
    if interpreter.package("pytest-cov").is_some() {
        words.extend(["-p", "pytest_cov", "--no-cov"]);
    }
    if interpreter.package("pytest-xdist").is_some() {
        words.extend(["-p", "xdist", "-n0"]);
    }
    words.into_iter().map(str::to_owned).collect()
}
