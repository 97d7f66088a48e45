//! `qaas backend check NAME|PATH`: drives backends through the conformance kit.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use conformance::{Case, Finding, Harness, NO_SAMPLE, Sample};
use engine::policy::Policy;
use engine::project::Overrides;
use engine::trust::Part;
use ops::{ErrorKind, ExitCode, OpError};
use runner_core::backend::TestBackend;
use runner_core::registry::nearest;
use serde_json::{Value, json};

use super::Context;
use super::output::{print, print_json};
use super::run::fail;
use crate::cli::{BackendCheck, Format};
use crate::display::Paint;
use crate::plugins::{Plugin, Starting};
use crate::{backends, world};

/// What is to be driven, and with which sample project.
struct Subjects {
    backends: Vec<Subject>,
    sample: Option<Sample>,
}

struct Subject {
    backend: Arc<dyn TestBackend>,
    /// What else is to be said of it.
    notes: Vec<String>,
}

impl From<Plugin> for Subject {
    fn from(plugin: Plugin) -> Self {
        Self {
            notes: backends::unknown_words(&plugin).into_iter().collect(),
            backend: plugin.backend,
        }
    }
}

/// How the cases of all backends came out.
#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// How many were skipped for each reason, in the order in which the reasons came.
    left_out: Vec<(String, usize)>,
}

pub(super) async fn run(context: &Context, command: &BackendCheck) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let subjects = match subjects(context, command) {
        Ok(subjects) => subjects,
        Err(error) => return fail(&error, format, paint),
    };
    let mut count = Count::default();
    let mut answers = Vec::new();
    for Subject { backend, notes } in subjects.backends {
        let name = backend.info().name;
        if format == Format::Human {
            print(&paint.bold(&format!("backend `{name}`")));
            for note in &notes {
                print(&format!("note: {note}"));
            }
        }
        let harness = match harness(context, &backend, subjects.sample.clone()).await {
            Ok(harness) => harness,
            Err(error) => return fail(&error, format, paint),
        };
        let mut told = |case: &Case| {
            if command.verbose || format != Format::Human || !matches!(case.finding, Finding::Skipped(_)) {
                tell(case, &name, format, paint);
            }
        };
        let cases = conformance::check(backend, harness.as_ref(), &mut told).await;
        for case in &cases {
            count.add(case);
        }
        answers.push(json!({ "name": name, "cases": cases, "notes": notes }));
    }
    sum_up(&count, &answers, command, format, paint)
}

/// What was asked for: a folder with a `qaas.toml`, or the name of a backend of this repository.
fn subjects(context: &Context, command: &BackendCheck) -> Result<Subjects, OpError> {
    let cwd = &context.environment.cwd;
    let path = cwd.join(&command.backend);
    let is_path = command.backend.contains('/') || command.backend == "." || path.join("qaas.toml").is_file();
    let sample = command.project.as_ref().map(|folder| cwd.join(folder));
    if !is_path {
        return Ok(Subjects {
            backends: vec![named(context, &command.backend)?],
            sample: sample.map(|folder| read(&folder)).transpose()?,
        });
    }
    let sample = sample.or_else(|| Some(path.clone()).filter(|folder| Sample::is_there(folder)));
    Ok(Subjects {
        backends: at(context, &path)?,
        sample: sample.map(|folder| read(&folder)).transpose()?,
    })
}

fn read(folder: &Path) -> Result<Sample, OpError> {
    Sample::read(folder).map_err(|error| OpError::bad_argument(error.message).with_hint(error.hint))
}

/// A backend by its name. One that the repository's own file describes needs consent: its command is going to run.
fn named(context: &Context, name: &str) -> Result<Subject, OpError> {
    let workspace = context.workspace(Policy::person())?;
    let settings = workspace.settings()?;
    if settings.backends.contains_key(name) {
        ops::trust(&workspace)?.require(&Part::Backend(name.to_owned()))?;
    }
    if let Some(known) = workspace.registry.get(name) {
        let notes = workspace.notes_of(name);
        let backend = known.clone();
        return Ok(Subject { backend, notes });
    }
    let found = context.plugin_named(&workspace.root, name)?;
    found.map(Subject::from).ok_or_else(|| {
        let mut registry = (*workspace.registry).clone();
        let store = context.store();
        let loader = context.loader(&workspace.root, store.as_ref(), Starting::Never, false);
        registry.name_others(loader.names());
        let names = registry.names_to_choose();
        let near = nearest(name, names.iter().map(String::as_str));
        let near = near.map_or_else(
            || format!("there are: {}.", names.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        OpError::new(
            ErrorKind::BadRequest,
            "unknown_backend",
            format!("there is no backend `{name}`"),
        )
        .with_hint(format!("{near} A path is written with a `/`: `./{name}`"))
    })
}

/// The backends that lie at a path. Who types that of a program or library agrees to what it does.
fn at(context: &Context, path: &Path) -> Result<Vec<Subject>, OpError> {
    if path.is_file() {
        return Ok(vec![context.typed_plugin(path)?.into()]);
    }
    if !path.is_dir() {
        let message = format!(
            "{} is neither a program, a library nor a folder with a qaas.toml",
            path.display()
        );
        return Err(OpError::bad_argument(message).with_hint(
            "name a backend's program or library, or a folder whose qaas.toml has a [backend.NAME] table",
        ));
    }
    let root: PathBuf = path
        .canonicalize()
        .map_err(|error| OpError::bad_argument(format!("{}: {error}", path.display())))?;
    let workspace = context.folder_workspace(root.clone());
    let tables = &workspace.settings()?.backends;
    if tables.is_empty() {
        let message = format!("{} describes no backend", root.join("qaas.toml").display());
        return Err(OpError::bad_argument(message).with_hint("it has no [backend.NAME] table"));
    }
    let trust = ops::trust(&workspace)?;
    let mut own = Vec::with_capacity(tables.len());
    for name in tables.keys() {
        trust.require(&Part::Backend(name.clone()))?;
        own.extend(workspace.registry.get(name).map(|backend| Subject {
            backend: backend.clone(),
            notes: workspace.notes_of(name),
        }));
    }
    Ok(own)
}

async fn harness(
    context: &Context,
    backend: &Arc<dyn TestBackend>,
    sample: Option<Sample>,
) -> Result<Option<Harness>, OpError> {
    let Some(sample) = sample else { return Ok(None) };
    let overrides = Overrides {
        python: context.global.python.clone(),
        backend: None,
    };
    let harness = Harness::new(
        backend,
        sample,
        world::supervisor(),
        &overrides,
        &context.environment,
    )
    .await?;
    Ok(Some(harness))
}

impl Count {
    fn add(&mut self, case: &Case) {
        match case.finding {
            Finding::Passed(_) => self.passed += 1,
            Finding::Failed(_) => self.failed += 1,
            Finding::Skipped(ref why) => {
                self.skipped += 1;
                match self.left_out.iter_mut().find(|(known, _)| known == why) {
                    Some((_, count)) => *count += 1,
                    None => self.left_out.push((why.clone(), 1)),
                }
            }
        }
    }

    fn without_sample(&self) -> bool {
        self.left_out.iter().any(|(why, _)| why == NO_SAMPLE)
    }
}

/// One line, as soon as the case is done.
fn tell(case: &Case, backend: &str, format: Format, paint: Paint) {
    match format {
        Format::Json => {}
        Format::Jsonl => {
            let mut line = json!(case);
            line["backend"] = json!(backend);
            print_json(&line, format);
        }
        Format::Human => print(&line(case, paint)),
    }
}

fn line(case: &Case, paint: Paint) -> String {
    let name = format!("{}/{}", case.group.as_str(), case.name);
    let found = case.finding.came().replace('\n', "\n      ");
    match &case.finding {
        Finding::Skipped(_) => paint.dim(&format!("skipped {name}: {found}")),
        Finding::Passed(_) => format!(
            "passed  {name}: {} {}",
            case.expected,
            paint.dim(&format!("({found})"))
        ),
        Finding::Failed(_) => format!(
            "{}  {name}: expected {}; came {found}",
            paint.bold("FAILED"),
            case.expected
        ),
    }
}

/// What was not looked at, and how it can be: a green line must not be taken for more than it is.
fn not_checked(count: &Count, command: &BackendCheck) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (why, count) in &count.left_out {
        lines.push(format!("{count:>5} skipped: {}", why.replace('\n', " ")));
    }
    if !command.verbose && !lines.is_empty() {
        lines.push("      (-v names them)".to_owned());
    }
    if count.without_sample() {
        lines.push(format!(
            "NOT checked: real runs. No test was run, so it is not known whether any output is understood.\nTo check that, give \
             it tests: a folder with a {} that says how each of them ends (docs/backends.md, \"A sample project\"), and\n  \
             qaas backend check {} --project DIR",
            conformance::FILE,
            command.backend,
        ));
    }
    lines.join("\n")
}

fn sum_up(
    count: &Count,
    answers: &[Value],
    command: &BackendCheck,
    format: Format,
    paint: Paint,
) -> ExitCode {
    let status = if count.failed == 0 { "passed" } else { "failed" };
    let Count {
        passed,
        failed,
        skipped,
        ..
    } = count;
    let mut answer = json!({
        "status": status, "passed": passed, "failed": failed, "skipped": skipped, "real_runs": !count.without_sample(),
    });
    match format {
        Format::Human => {
            let rest = not_checked(count, command);
            if !rest.is_empty() {
                print(&rest);
            }
            let but = if count.without_sample() {
                "; real runs were NOT checked"
            } else {
                ""
            };
            print(&paint.bold(&format!(
                "{passed} passed, {failed} failed, {skipped} skipped{but}"
            )));
        }
        Format::Jsonl => print_json(&answer, format),
        Format::Json => {
            answer["backends"] = json!(answers);
            print_json(&answer, format);
        }
    }
    if count.failed == 0 {
        ExitCode::Passed
    } else {
        ExitCode::Failed
    }
}
