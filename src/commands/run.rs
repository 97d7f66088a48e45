//! `qaas run`: tests, for people. Several suites run one after another, one report each, worst exit.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use engine::junit;
use engine::run::Onlooker;
use mcp::Reply;
use runner_core::backend::{Filters, Shows};
use runner_core::event::{RunEvent, TestEvent};

use engine::policy::Policy;
use ops::{Answer, ExitCode, OpError, Runs, SuiteRun, ToolAnswer, run_suite};
use runner_core::report::Report;
use runner_core::words::count;
use serde_json::{Value, json};

use super::output::{print, print_error, print_json, print_stderr};
use super::{Context, signals};
use crate::cli::{Format, Run};
use crate::console::Console;
use crate::display::{Detail, Paint, Progress, Screen, stdout_colors};

pub(super) async fn run(context: &Context, command: Run) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let mut workspace = match context.workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, format, paint),
    };
    let cancel = signals::cancel();
    let console = (format == Format::Human).then(|| Arc::new(Console::new(&cancel)));
    workspace.onlooker = console.clone().map(|console| console as Arc<dyn Onlooker>);
    let junit = command
        .junit
        .as_ref()
        .map(|path| context.environment.cwd.join(path));
    junit.as_deref().into_iter().for_each(forget_report);
    let one_test = names_one_test(&command.narrow.selectors);
    let detail = match command.verbose {
        0 if command.quiet => Detail::Summary,
        0 if !one_test => Detail::Failures,
        _ => Detail::Everything,
    };
    let mut watch = context.watch(detail);
    watch.console.clone_from(&console);
    let arguments = arguments(command);
    let runs = run_suite::run(&workspace, &arguments, cancel, &mut |event, report| {
        watch.event(event, report);
    })
    .await;
    let runs = match runs {
        Ok(runs) => runs,
        Err(error) => return fail(&error, format, paint),
    };
    let junit = junit.and_then(|path| write_junit(&path, &runs.reports()));
    if console.is_some_and(|console| console.shows() == Shows::Instead) && runs.parts.iter().all(did_well) {
        return ExitCode::worst([ExitCode::Passed].into_iter().chain(junit));
    }
    ExitCode::worst([conclude(runs, format, paint)].into_iter().chain(junit))
}

/// Shows what became of a call in however many suites: one JSON value, or what the screen has not shown yet. A stream of
/// events has said it all.
pub(super) fn conclude<A: ToolAnswer>(runs: Runs<A>, format: Format, paint: Paint) -> ExitCode {
    if format == Format::Human {
        for part in &runs.parts {
            if let Err(error) = &part.answer {
                if runs.is_several {
                    print_stderr(&paint.dim(&format!("suite {}", part.suite)));
                }
                print_error(error, format, paint);
            }
        }
    }
    let (is_several, is_told) = (
        runs.is_several,
        runs.parts.iter().all(|part| part.answer.is_err()),
    );
    let answer = runs.answer();
    let code = answer.as_ref().map_or_else(OpError::exit, |answer| answer.exit());
    match (format, answer) {
        (Format::Json, answer) => print_json(&structured(answer), format),
        (Format::Human, Ok(answer)) if is_several => {
            let bad = answer.sums().totals.map_or(0, |totals| totals.bad());
            if bad > 0 {
                let failures = count(bad, "failure");
                print(&paint.dim(&format!("\nagain, only the {failures}: qaas run --failed")));
            }
            print(&format!("\n{}", paint.bold(&answer.headline())));
        }
        (Format::Jsonl, Err(error)) => print_error(&error, format, paint),
        (Format::Human, Err(error)) if !is_told => print_error(&error, format, paint),
        _ => {}
    }
    code
}

/// Whether a framework that was asked for something else than running tests has done it.
fn did_well(run: &SuiteRun<run_suite::Answer>) -> bool {
    let exits = run.report.as_ref().map(|report| &report.first().exits);
    exits.is_some_and(|exits| exits.iter().all(|exit| matches!(exit.code, Some(0 | 5))))
}

fn names_one_test(selectors: &[String]) -> bool {
    matches!(selectors, [one] if one.contains("::"))
}

/// Options of ours that are words of pytest.
fn pytest_words(command: &Run) -> Vec<String> {
    let durations = command.durations.map(|count| format!("--durations={count}"));
    let words = [
        command.no_capture.then(|| "-s".to_owned()),
        command.pdb.then(|| "--pdb".to_owned()),
        durations,
        command.stepwise.then(|| "--stepwise".to_owned()),
    ];
    words.into_iter().flatten().collect()
}

fn arguments(command: Run) -> run_suite::Arguments {
    let pytest_words = pytest_words(&command);
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
        pytest_words,
        scope: command.narrow.place.scope(),
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

/// Removes an older report, which must not be taken for this run's, should it be refused. What is no report stays: the path
/// may be mistyped.
fn forget_report(path: &Path) {
    const HEAD: u64 = 4096;
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let is_report = read.is_ok() && String::from_utf8_lossy(&head).contains("<testsuite");
    if is_report {
        // If it cannot be removed, it cannot be written either, which is told then.
        let _ = std::fs::remove_file(path);
    }
}

fn write_junit(path: &Path, reports: &[Arc<Report>]) -> Option<ExitCode> {
    let write = |xml: String| {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(path, xml)
    };
    if reports.is_empty() {
        // Nothing was begun: a report without a failure would say that all is well.
        return None;
    }
    let written = junit::to_xml(reports).map_err(|error| error.to_string());
    let error = written
        .and_then(|xml| write(xml).map_err(|error| error.to_string()))
        .err()?;
    print_stderr(&format!("qaas: {} could not be written: {error}", path.display()));
    Some(ExitCode::Usage)
}

/// The last line of a run's events: what they come to.
fn verdict(report: &Report) -> Value {
    let verdict = report.verdict();
    let iteration = report.iterations.last().unwrap_or_else(|| report.first());
    json!({
        "type": "verdict",
        "run_id": report.facts.run_id,
        "suite": report.facts.suite,
        "status": verdict.status,
        "reason": verdict.reason,
        "hint": verdict.hint,
        "totals": iteration.totals(),
        "flaky": iteration.rows.iter().filter(|row| row.is_flaky()).count(),
        "exit": ExitCode::from(verdict.status).code(),
    })
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
    /// Where a person may see a framework itself.
    console: Option<Arc<Console>>,
}

impl Watch {
    fn new(format: Format, paint: Paint, detail: Detail, progress: Progress) -> Self {
        Self {
            format,
            screen: Screen::new(std::io::stdout(), paint, detail, progress),
            console: None,
        }
    }

    pub(super) fn event(&mut self, event: &RunEvent, report: &Report) {
        if let Some(console) = &self.console {
            match event {
                RunEvent::Started(_) => self.screen.make_room(console.shows()),
                RunEvent::Test {
                    test: TestEvent::Terminal { taken, debugger },
                    ..
                } => {
                    drop(self.screen.pause(*taken && *debugger));
                    console.terminal_is(*taken, *debugger);
                }
                _ => {}
            }
        }
        match self.format {
            // A reader that went away does not end the run: its report is stored all the same.
            Format::Human => drop(self.screen.event(event, report)),
            Format::Jsonl => {
                if let Ok(value) = serde_json::to_value(event) {
                    print_json(&value, Format::Jsonl);
                }
                if matches!(event, RunEvent::Finished { .. }) {
                    print_json(&verdict(report), Format::Jsonl);
                }
            }
            Format::Json => {}
        }
    }
}
