//! `qaas check`: loads everything, plans every suite, and says what needs a person's agreement. Executes nothing.

use std::path::Path;

use engine::config::Suite;
use engine::policy::Policy;
use engine::project;
use ops::{ExitCode, OpError, Workspace};
use runner_core::backend::{Mode, RunRequest};
use serde_json::{Value, json};

use super::Context;
use super::output::{print, print_json};
use super::run::fail;
use crate::cli::Format;
use crate::display::Paint;
use crate::plugins::NOT_STARTED;

/// One suite, planned or not.
struct Planned {
    suite: String,
    /// Backend, interpreter and command line; or why there is none.
    result: Result<Plan, OpError>,
}

struct Plan {
    backend: String,
    python: Option<String>,
    why: Option<String>,
    argv: Vec<String>,
    passed_over: Vec<String>,
}

pub(super) fn run(context: &Context) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let checked = context.no_exec_workspace(Policy::person()).and_then(|workspace| {
        let settings = workspace.settings()?;
        let suites = project::suites(&workspace.root, settings, &workspace.registry);
        let planned: Vec<Planned> = suites.iter().map(|suite| plan(&workspace, suite)).collect();
        let file = settings.file.as_ref().map(|file| file.display().to_string());
        Ok((file, planned, ops::trust(&workspace)?.refusals()))
    });
    let (file, planned, refusals) = match checked {
        Ok(checked) => checked,
        Err(error) => return fail(&error, format, paint),
    };
    let codes: Vec<ExitCode> = planned
        .iter()
        .map(|p| p.result.as_ref().map_or_else(OpError::exit, |_| ExitCode::Passed))
        .collect();
    if format == Format::Human {
        print(&paint.dim(
            &file.map_or("no qaas.toml: what the folder shows".to_owned(), |file| {
                format!("{file} is right")
            }),
        ));
        for planned in &planned {
            print(&text(planned, paint));
        }
        for refusal in &refusals {
            print(&refusal.to_string());
            for line in &refusal.lines {
                print(&format!("   {line}"));
            }
            print(&format!("   next: {}", refusal.hint));
        }
    } else {
        let suites: Vec<Value> = planned.iter().map(value).collect();
        let untrusted: Vec<Value> = refusals
            .iter()
            .map(|refusal| json!({"message": refusal.message, "hint": refusal.hint, "lines": refusal.lines}))
            .collect();
        print_json(
            &json!({"status": "done", "config": file, "suites": suites, "untrusted": untrusted}),
            format,
        );
    }
    ExitCode::worst(codes)
}

fn plan(workspace: &Workspace, suite: &Suite) -> Planned {
    let planned = || {
        let folder = project::resolve_dir(&workspace.root, &suite.dir.to_string_lossy())?;
        let (overrides, environment) = (&workspace.overrides, &workspace.environment);
        let project = project::discover(
            &workspace.root,
            suite,
            &workspace.registry,
            &folder,
            overrides,
            environment,
        )?;
        let choice = project::choose_backend(&workspace.registry, suite, &project, overrides)?;
        let paths = suite.paths.iter();
        let paths = paths.map(|path| project::resolve_suite_path(&workspace.root, &folder, path));
        let request = RunRequest {
            options: suite.options.clone(),
            paths: paths.collect::<Result<_, _>>()?,
            ..RunRequest::new(Mode::Run, &folder, Path::new("SCRATCH"))
        };
        let mut notes = choice.passed_over;
        notes.extend(workspace.notes_of(&choice.backend.info().name));
        let plan = match choice.backend.plan(&request, &project) {
            Ok(plan) => plan,
            // A plug-in plans when it runs.
            Err(error) if error.code == NOT_STARTED => {
                notes.push("a plug-in: its command line is known when it runs".to_owned());
                runner_core::plan::Plan::default()
            }
            Err(error) => {
                let hint = error.hint.unwrap_or_default();
                return Err(OpError::bad_argument(error.message).with_hint(hint));
            }
        };
        let used = choice.backend.info().uses_python();
        let python = project.interpreter.filter(|_| used);
        Ok(Plan {
            backend: choice.backend.info().name,
            python: python.as_ref().map(|python| python.path.display().to_string()),
            why: python.map(|python| python.why),
            argv: plan
                .steps
                .first()
                .map(runner_core::plan::Step::argv)
                .unwrap_or_default(),
            passed_over: notes,
        })
    };
    Planned {
        suite: suite.name.clone(),
        result: planned(),
    }
}

fn text(planned: &Planned, paint: Paint) -> String {
    let name = paint.bold(&planned.suite);
    match &planned.result {
        Ok(plan) => {
            let mut lines = vec![format!("{name}: {}", plan.backend)];
            if let (Some(python), Some(why)) = (&plan.python, &plan.why) {
                lines.push(format!("   {python} ({why})"));
            }
            if !plan.argv.is_empty() {
                lines.push(format!("   {}", paint.dim(&plan.argv.join(" "))));
            }
            lines.extend(
                plan.passed_over
                    .iter()
                    .map(|note| format!("   {} {note}", paint.dim("note:"))),
            );
            lines.join("\n")
        }
        Err(error) => {
            let hint = error
                .error
                .hint
                .as_ref()
                .map(|hint| format!("\n   next: {hint}"))
                .unwrap_or_default();
            format!("{name}: {}{hint}", error.error.message)
        }
    }
}

fn value(planned: &Planned) -> Value {
    match &planned.result {
        Ok(plan) => json!({
            "suite": planned.suite, "backend": plan.backend, "python": plan.python, "why": plan.why,
            "argv": plan.argv, "passed_over": plan.passed_over,
        }),
        Err(error) => json!({"suite": planned.suite, "error": error.error}),
    }
}
