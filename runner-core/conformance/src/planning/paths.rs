//! Where a plan's steps run and its files lie.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use super::{Subject, refused, requests};
use runner_core::backend::RunRequest;
use runner_core::plan::{Plan, StdoutUse, Step};

type Look = fn(&Subject, &RunRequest, &Plan) -> Result<(), String>;

fn all(subject: &Subject, look: Look) -> Result<String, String> {
    let mut looked = 0;
    for request in requests(subject) {
        let plan = subject.plan(&request).map_err(|error| refused(&error))?;
        look(subject, &request, &plan)?;
        looked += 1;
    }
    Ok(format!("so in {looked} plans"))
}

pub(super) fn steps(subject: &Subject) -> Result<String, String> {
    all(subject, look_steps)
}

pub(super) fn cwd(subject: &Subject) -> Result<String, String> {
    all(subject, look_cwd)
}

pub(super) fn files(subject: &Subject) -> Result<String, String> {
    all(subject, look_files)
}

pub(super) fn artifacts(subject: &Subject) -> Result<String, String> {
    all(subject, look_artifacts)
}

/// All of it for one plan.
pub(super) fn sound(subject: &Subject, request: &RunRequest, plan: &Plan) -> Result<(), String> {
    for look in [look_steps, look_cwd, look_files, look_artifacts] as [Look; 4] {
        look(subject, request, plan)?;
    }
    Ok(())
}

fn look_steps(_: &Subject, _: &RunRequest, plan: &Plan) -> Result<(), String> {
    let mut names = BTreeSet::new();
    if plan.steps.is_empty() {
        return Err("no step".to_owned());
    }
    for step in &plan.steps {
        if step.name.trim().is_empty() || !names.insert(&step.name) {
            return Err(format!("a second or nameless step {:?}", step.name));
        }
        if step.program.as_os_str().is_empty() {
            return Err(format!("step `{}` without a program", step.name));
        }
        if let Some(word) = step.argv().iter().find(|word| word.contains('\0')) {
            return Err(format!("a word with a NUL: {word:?}"));
        }
    }
    Ok(())
}

/// Absolute, and without `.` and `..`.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && !path
            .components()
            .any(|part| matches!(part, Component::ParentDir | Component::CurDir))
}

fn look_cwd(subject: &Subject, _: &RunRequest, plan: &Plan) -> Result<(), String> {
    let outside = |step: &&Step| !is_plain(&step.cwd) || !step.cwd.starts_with(&subject.project.root);
    match plan.steps.iter().find(outside) {
        Some(step) => Err(format!("step `{}` in {}", step.name, step.cwd.display())),
        None => Ok(()),
    }
}

fn look_files(_: &Subject, _: &RunRequest, plan: &Plan) -> Result<(), String> {
    let mut paths = BTreeSet::new();
    for file in &plan.files {
        let inside = file
            .path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !inside || file.path.as_os_str().is_empty() {
            return Err(format!("the file {}", file.path.display()));
        }
        if !paths.insert(&file.path) {
            return Err(format!("{} twice", file.path.display()));
        }
    }
    Ok(())
}

fn look_artifacts(subject: &Subject, request: &RunRequest, plan: &Plan) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for artifact in &plan.artifacts {
        if artifact.name.trim().is_empty() || !names.insert(artifact.name.as_str()) {
            return Err(format!("a second or nameless report {:?}", artifact.name));
        }
        let path = &artifact.path;
        let inside = path.starts_with(&request.scratch) || path.starts_with(&subject.project.root);
        if !is_plain(path) || !inside {
            return Err(format!("the report `{}` at {}", artifact.name, path.display()));
        }
    }
    for step in &plan.steps {
        if let StdoutUse::File(name) = &step.stdout
            && !names.contains(name.as_str())
        {
            return Err(format!(
                "the output of `{}` kept as `{name}`, which no report is",
                step.name
            ));
        }
    }
    Ok(())
}
