//! `qaas check`: loads everything, plans every suite, and says what needs a person's agreement. Executes nothing.

use engine::policy::Policy;
use ops::{ExitCode, OpError, SuiteCheck};
use serde_json::{Value, json};

use super::Context;
use super::output::{print, print_json};
use super::run::fail;
use crate::cli::Format;
use crate::display::{Paint, for_people};

pub(super) fn run(context: &Context) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let checked = context.no_exec_workspace(Policy::person()).and_then(|workspace| {
        let checks = ops::check(&workspace)?;
        let file = workspace
            .settings()?
            .file
            .as_ref()
            .map(|file| file.display().to_string());
        Ok((file, checks, ops::trust(&workspace)?.refusals()))
    });
    let (file, checks, refusals) = match checked {
        Ok(checked) => checked,
        Err(error) => return fail(&error, format, paint),
    };
    let codes: Vec<ExitCode> = checks
        .iter()
        .map(|check| {
            check
                .plan
                .as_ref()
                .map_or_else(OpError::exit, |_| ExitCode::Passed)
        })
        .collect();
    if format == Format::Human {
        print(&paint.dim(
            &file.map_or("no qaas.toml: what the folder shows".to_owned(), |file| {
                format!("{file} is right")
            }),
        ));
        for check in &checks {
            print(&text(check, paint));
        }
        for refusal in &refusals {
            print(&refusal.to_string());
            for line in &refusal.lines {
                print(&format!("   {line}"));
            }
            print(&format!("   next: {}", refusal.hint));
        }
    } else {
        let suites: Vec<Value> = checks.iter().map(value).collect();
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

fn text(check: &SuiteCheck, paint: Paint) -> String {
    let name = paint.bold(&check.suite);
    match &check.plan {
        Ok(plan) => {
            let mut lines = vec![format!("{name}: {}", plan.backend)];
            if let Some(python) = &plan.interpreter {
                lines.push(format!("   {} ({})", python.path.display(), python.why));
            }
            if !plan.argv.is_empty() {
                lines.push(format!("   {}", paint.dim(&plan.argv.join(" "))));
            }
            let notes = plan.notes.iter();
            lines.extend(notes.map(|note| format!("   {} {note}", paint.dim("note:"))));
            lines.join("\n")
        }
        Err(error) => {
            let hint = error.next_step();
            let hint = hint
                .map(|hint| format!("\n   next: {}", for_people(hint)))
                .unwrap_or_default();
            format!("{name}: {}{hint}", for_people(&error.error.message))
        }
    }
}

fn value(check: &SuiteCheck) -> Value {
    match &check.plan {
        Ok(plan) => {
            let python = plan.interpreter.as_ref();
            json!({
                "suite": check.suite, "backend": plan.backend,
                "python": python.map(|python| python.path.display().to_string()),
                "why": python.map(|python| &python.why),
                "argv": plan.argv, "passed_over": plan.notes,
            })
        }
        Err(error) => json!({"suite": check.suite, "error": error.error}),
    }
}
