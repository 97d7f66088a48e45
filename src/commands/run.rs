//! `qaas run`: tests, for people. Several suites run one after another, one report each, worst exit.

use std::path::Path;
use std::sync::Arc;

use engine::junit;
use mcp::Reply;
use runner_core::backend::Filters;
use runner_core::event::RunEvent;

use engine::policy::Policy;
use ops::{Answer, ExitCode, OpError, run_suite};
use runner_core::report::Report;
use serde_json::Value;

use super::output::{print_error, print_json, print_stderr};
use super::{Context, signals};
use crate::cli::{Format, Run};
use crate::display::{Detail, Paint, Progress, Screen, stdout_colors};

pub(super) async fn run(context: &Context, command: Run) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let workspace = match context.workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, format, paint),
    };
    let junit = command.junit.clone();
    let one_test = names_one_test(&command.narrow.selectors);
    let detail = match command.verbose {
        0 if command.quiet => Detail::Summary,
        0 if !one_test => Detail::Failures,
        _ => Detail::Everything,
    };
    let mut watch = context.watch(detail);
    let arguments = arguments(command);
    let runs = run_suite::run_all(&workspace, arguments, signals::cancel(), &mut |event, report| {
        watch.event(event, report);
    })
    .await;

    let mut codes: Vec<ExitCode> = runs.iter().map(|run| code(&run.answer)).collect();
    let mut reports = Vec::with_capacity(runs.len());
    for run in runs {
        reports.extend(run.report);
        match run.answer {
            Ok(answer) if format == Format::Json => print_json(&structured(Ok(Box::new(answer))), format),
            Ok(_) => {}
            Err(error) => print_error(&error, format, paint),
        }
    }
    if let Some(path) = junit {
        codes.extend(write_junit(&context.environment.cwd.join(path), &reports));
    }
    ExitCode::worst(codes)
}

fn names_one_test(selectors: &[String]) -> bool {
    matches!(selectors, [one] if one.contains("::"))
}

fn arguments(command: Run) -> run_suite::Arguments {
    let full_texts = command.verbose > 1 || names_one_test(&command.narrow.selectors);
    run_suite::Arguments {
        selectors: command.narrow.selectors,
        failed_of: command.failed,
        filters: Filters {
            full_texts,
            keyword: command.keyword,
            markers: command.markers,
            max_failures: if command.exit_first {
                Some(1)
            } else {
                command.maxfail
            },
            workers: command.workers,
            extra_args: command.args,
            ..Filters::default()
        },
        scope: command.narrow.place.scope(),
    }
}

fn code(answer: &Result<run_suite::Answer, OpError>) -> ExitCode {
    match answer {
        Ok(answer) => ExitCode::from(answer.status),
        Err(error) => error.exit(),
    }
}

/// An answer's structure, whole: a person's programs get all rows.
pub(super) fn structured(answer: Result<Answer, OpError>) -> Value {
    Value::Object(Reply::of(answer, None).structured)
}

/// Prints an error and gives its exit code.
pub(super) fn fail(error: &OpError, format: Format, paint: Paint) -> ExitCode {
    print_error(error, format, paint);
    error.exit()
}

fn write_junit(path: &Path, reports: &[Arc<Report>]) -> Option<ExitCode> {
    let write = |xml: String| {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, xml)
    };
    let written = junit::to_xml(reports).map_err(|error| error.to_string());
    let error = written
        .and_then(|xml| write(xml).map_err(|error| error.to_string()))
        .err()?;
    print_stderr(&format!("qaas: {} could not be written: {error}", path.display()));
    Some(ExitCode::Usage)
}

impl Context {
    pub(super) fn paint(&self) -> Paint {
        Paint {
            colors: stdout_colors(self.global.color, &self.environment),
        }
    }

    /// What looks on while this command's runs go on.
    pub(super) fn watch(&self, detail: Detail) -> Watch {
        let format = self.global.format;
        let progress = match format {
            Format::Human => Progress::new(self.environment.get("CI").is_some()),
            Format::Json | Format::Jsonl => Progress::none(),
        };
        Watch::new(format, self.paint(), detail, progress)
    }
}

/// What looks on while runs go on: the screen, or a line of JSON for each event.
pub(super) struct Watch {
    format: Format,
    screen: Screen<std::io::Stdout>,
}

impl Watch {
    fn new(format: Format, paint: Paint, detail: Detail, progress: Progress) -> Self {
        Self {
            format,
            screen: Screen::new(std::io::stdout(), paint, detail, progress),
        }
    }

    pub(super) fn event(&mut self, event: &RunEvent, report: &Report) {
        match self.format {
            // A reader that went away does not end the run: its report is stored all the same.
            Format::Human => drop(self.screen.event(event, report)),
            Format::Jsonl => {
                if let Ok(value) = serde_json::to_value(event) {
                    print_json(&value, Format::Jsonl);
                }
            }
            Format::Json => {}
        }
    }
}
