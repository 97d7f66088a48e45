//! `get_coverage`: coverage per file, measured by a run of the tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::{Sums, ToolAnswer};
use super::arguments::Reader;
use super::asked::RunArguments;
use super::definition::shared::{CWD, SELECTOR, SELECTORS, SUITE, TIMEOUT};
use super::definition::{Action, Argument, Called, Definition, Hints, Kind, Needs, Pending};
use super::rows::{self, round, warnings};
use super::several::{EachSuite, Runs, each, specs};
use super::unanswered::unanswered;
use super::{
    EnvironmentFacts, ErrorKind, NextCall, OpError, Row, Scope, Tool, Totals, Workspace, cut, words,
};
use engine::config::CoverageChoice;
use engine::project;
use engine::run::{EventSink, RunSpec};
use process::Cancel;
use runner_core::backend::{Capability, Filters, Mode, Need, TestBackend};
use runner_core::model::{CollectionError, Coverage, Status, Unfinished};
use runner_core::report::Report;
use runner_core::selector::Selector;

/// How many of the least covered files the headline names.
const LOWEST: usize = 5;

/// The tool.
pub static DEFINITION: Definition = Definition {
    tool: Tool::GetCoverage,
    title: "Measure coverage",
    description: "Run the tests under the coverage tool: measured line coverage per file.",
    hints: Hints::RUNS,
    needs: Needs::Coverage,
    own: &[
        Argument::new("paths", Kind::Strings, "Source to measure"),
        SELECTOR,
        SELECTORS,
        CWD,
        TIMEOUT,
        SUITE,
    ],
    action: Action::Run {
        specs: |workspace, arguments| {
            Box::pin(async move { specs(workspace, &Arguments::from_json(arguments)?).await })
        },
        call: |call| {
            Box::pin(async move {
                let arguments = Arguments::from_json(call.arguments)?;
                let runs = run(call.workspace, &arguments, call.cancel, call.sink).await?;
                Ok(Called::Answer(runs.answer()?))
            })
        },
        answer: |workspace, report| Ok(Box::new(answer(workspace, report)?)),
    },
};

/// What may be asked.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// Source files or folders to measure. Empty: what the project's own configuration says.
    pub paths: Vec<String>,
    pub selectors: Vec<String>,
    pub scope: Scope,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new(&DEFINITION, map);
        let arguments = Self {
            paths: reader.strings("paths")?,
            selectors: reader.selectors()?,
            scope: Scope::read(&mut reader)?,
        };
        reader.finish()?;
        Ok(arguments)
    }
}

/// Coverage, and how the tests went while it was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    pub run_id: String,
    /// Of the tests. Failing tests give figures all the same.
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// 2 digits. Null where nothing was measured.
    pub overall_percent: Option<f64>,
    /// Percent by file, 2 digits.
    pub files: BTreeMap<String, f64>,
    /// `lines`, or `lines and branches` where the project measures both together.
    pub measures: &'static str,
    pub tests_exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    pub totals: Totals,
    /// The tests that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collection_errors: Vec<CollectionError>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<Unfinished>,
    pub timed_out: bool,
    pub duration_s: f64,
    pub parser: String,
    pub cwd: String,
    pub selector: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tail: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
    pub environment: EnvironmentFacts,
    /// Everything that was measured.
    #[serde(skip)]
    pub measured: Coverage,
}

/// Runs in each suite that the call is about, and waits for the end.
pub async fn run(
    workspace: &Workspace,
    arguments: &Arguments,
    cancel: Cancel,
    sink: EventSink<'_>,
) -> Result<Runs<Answer>, OpError> {
    each(workspace, arguments, cancel, sink).await
}

impl EachSuite for Arguments {
    type Answer = Answer;

    fn asked(&self) -> RunArguments {
        RunArguments::of(&self.scope, &self.selectors)
    }

    fn spec<'a>(
        &'a self,
        workspace: &'a Workspace,
        share: RunArguments,
        _: Option<u32>,
    ) -> Pending<'a, Result<RunSpec, OpError>> {
        Box::pin(spec(workspace, self, share))
    }

    fn answer(&self, workspace: &Workspace, report: &Report, filters: &Filters) -> Result<Answer, OpError> {
        let mut answer = answer(workspace, report)?;
        keep_wanted(&mut answer, &filters.coverage_paths)?;
        Ok(answer)
    }
}

/// What the engine is to do in one suite.
async fn spec(workspace: &Workspace, arguments: &Arguments, share: RunArguments) -> Result<RunSpec, OpError> {
    let mut spec = share.spec(workspace, Tool::GetCoverage, Mode::Run).await?;
    spec.coverage = Some(coverage_backend(workspace, &spec)?);
    for path in &arguments.paths {
        spec.filters
            .coverage_paths
            .push(source_path(workspace, &spec.cwd, path)?);
    }
    Ok(spec)
}

/// The suite's coverage backend, with everything it needs.
fn coverage_backend(workspace: &Workspace, spec: &RunSpec) -> Result<Arc<dyn TestBackend>, OpError> {
    let suite = &spec.suite.name;
    let unsupported = |message: String| OpError::new(ErrorKind::BadRequest, "no_coverage", message);
    let backend = match &spec.suite.coverage {
        CoverageChoice::Off => {
            return Err(unsupported(format!("suite `{suite}` has coverage turned off"))
                .with_hint("Take `coverage = false` out of `qaas.toml` to measure it."));
        }
        CoverageChoice::Named(name) => workspace
            .registry
            .get(name)
            .filter(|backend| backend.info().can(Capability::Coverage)),
        CoverageChoice::Default => {
            let language = spec.backend.info().language;
            let fits = |name: &String| {
                workspace.registry.get(name).filter(|backend| {
                    let info = backend.info();
                    // One that runs tests measures its own runs only.
                    let fits = info.language == language && !info.can(Capability::Run);
                    info.can(Capability::Coverage) && (fits || info.name == spec.backend.info().name)
                })
            };
            workspace.registry.names().iter().find_map(fits)
        }
    };
    let backend =
        backend.ok_or_else(|| unsupported(format!("no backend measures coverage for suite `{suite}`")))?;
    for need in backend.info().needs {
        let Need::PythonPackage(package) = need else {
            continue;
        };
        let packages = spec
            .project
            .interpreter
            .as_ref()
            .and_then(|python| python.packages.as_ref());
        if packages.is_some_and(|packages| !packages.contains_key(&package)) {
            return Err(not_installed(spec, &package));
        }
    }
    Ok(Arc::clone(backend))
}

fn not_installed(spec: &RunSpec, package: &str) -> OpError {
    let python = spec
        .project
        .interpreter
        .as_ref()
        .map(|python| python.path.display().to_string());
    let python = python.unwrap_or_else(|| "the project's Python".to_owned());
    OpError::new(
        ErrorKind::Broken,
        "missing_package",
        format!("{package} is not installed for {python}, so there is no figure to give"),
    )
    .with_hint(format!(
        "Install it: `{python} -m pip install {package}`. Coverage cannot be told by reading the code."
    ))
}

/// A path to measure, relative to `cwd`. It must exist: a name that measures nothing must not look like 0 %.
fn source_path(workspace: &Workspace, cwd: &Path, text: &str) -> Result<String, OpError> {
    let root = &workspace.root;
    let seen = workspace.seen(text);
    let text = &seen.map_or_else(|| text.to_owned(), |place| place.to_string_lossy().into_owned());
    let relative = |base: &Path| {
        let text = base.join(text);
        project::resolve(root, cwd, &text.to_string_lossy())
    };
    // Options and argument files are refused for what they are, before they are looked for as files.
    project::resolve(root, cwd, text)?;
    let base = if cwd.join(text).exists() { cwd } else { root };
    match relative(base)? {
        Selector::Path { path } => Ok(path),
        _ => Err(OpError::new(
            ErrorKind::BadRequest,
            "no_such_path",
            format!(
                "`{}` is neither a file nor a folder to measure",
                cut::quote_truncated(text)
            ),
        )),
    }
}

/// The answer that a report comes to.
pub(super) fn answer(workspace: &Workspace, report: &Report) -> Result<Answer, OpError> {
    if let Some(error) = unanswered(workspace, report) {
        return Err(error);
    }
    let verdict = report.verdict();
    let facts = &report.facts;
    let iteration = report.first();
    let timed_out = verdict.status == Status::TimedOut;
    let whole = verdict.status.is_complete();
    let rows = rows::rows_of(iteration);
    let measured = iteration.coverage.clone().unwrap_or_default();
    let tail = Some(iteration.output_tail.clone()).filter(|text| !text.trim().is_empty());
    let stopped = timed_out || verdict.status == Status::Cancelled;
    if !stopped && (iteration.finished_tests() == 0 || iteration.coverage.is_none()) {
        return Err(no_figure(workspace, report));
    }
    let exit = iteration.exits.first();
    Ok(Answer {
        run_id: facts.run_id.clone(),
        status: verdict.status,
        reason: verdict.reason,
        hint: verdict
            .hint
            .or_else(|| timed_out.then(|| "Narrow it with `selector`.".to_owned())),
        overall_percent: measured.percent.map(|percent| round(percent, 2)),
        files: percents(&measured),
        measures: if measured.files.iter().any(|file| file.branches > 0) {
            "lines and branches"
        } else {
            "lines"
        },
        tests_exit_code: exit.filter(|exit| !exit.was_ended()).and_then(|exit| exit.code),
        signal: exit.and_then(|exit| exit.signal),
        totals: Totals(iteration.totals()),
        next: next(&rows, facts.run_id.as_str()),
        tests: rows.into_iter().filter(Row::is_bad).collect(),
        collection_errors: iteration.collection_errors.clone(),
        unfinished: iteration.unfinished().to_vec(),
        timed_out,
        duration_s: round(report.duration_s, 3),
        parser: facts.backend.clone(),
        cwd: facts.cwd.to_string_lossy().into_owned(),
        selector: words::selection(&facts.asked),
        output_tail: tail.filter(|_| !whole),
        warnings: warnings(report, iteration),
        environment: EnvironmentFacts::of(report, &workspace.registry),
        measured,
    })
}

/// The tests did not run, or ran and left no figures.
fn no_figure(workspace: &Workspace, report: &Report) -> OpError {
    let verdict = report.verdict();
    let iteration = report.first();
    let (code, message) = if iteration.finished_tests() == 0 {
        let reason = verdict.reason.clone().unwrap_or_else(|| "no test ran".to_owned());
        (
            "broken",
            format!("no test ran, so there is no coverage figure: {reason}"),
        )
    } else {
        let why = warnings(report, iteration).join("; ");
        let why = if why.is_empty() {
            "the report of the coverage tool is not there".to_owned()
        } else {
            why
        };
        (
            "no_coverage",
            format!("the tests ran, but coverage gave no figures: {why}"),
        )
    };
    OpError::new(ErrorKind::Broken, code, message).with_report(&workspace.registry, report)
}

fn percents(coverage: &Coverage) -> BTreeMap<String, f64> {
    coverage
        .files
        .iter()
        .map(|file| (file.path.clone(), round(file.percent, 2)))
        .collect()
}

/// Keeps the files below the wanted paths, part by part. A wanted path without any file is named.
pub(super) fn keep_wanted(answer: &mut Answer, wanted: &[String]) -> Result<(), OpError> {
    if wanted.is_empty() || answer.timed_out {
        return Ok(());
    }
    let below = |file: &str, path: &str| path == "." || PathBuf::from(file).starts_with(path);
    let empty: Vec<&str> = wanted
        .iter()
        .filter(|path| !answer.files.keys().any(|file| below(file, path)))
        .map(String::as_str)
        .collect();
    if empty.len() == wanted.len() {
        let message = format!("nothing was measured below {}", empty.join(", "));
        let mut error = OpError::new(ErrorKind::BadRequest, "nothing_measured", message)
            .with_hint("Name source files or folders of code that the tests' Python can load.");
        error.known.run_id = Some(answer.run_id.clone());
        error.known.cwd = Some(answer.cwd.clone());
        error.known.environment = Some(answer.environment.clone());
        return Err(error);
    }
    if !empty.is_empty() {
        answer
            .warnings
            .push(format!("nothing was measured below {}", empty.join(", ")));
    }
    answer
        .files
        .retain(|file, _| wanted.iter().any(|path| below(file, path)));
    answer
        .measured
        .files
        .retain(|file| wanted.iter().any(|path| below(&file.path, path)));
    // The whole is that of the files asked for: a tool may have measured more.
    answer.measured.percent = Coverage::percent_of(&answer.measured.files);
    answer.overall_percent = answer.measured.percent.map(|percent| round(percent, 2));
    Ok(())
}

fn next(rows: &[Row], run_id: &str) -> Vec<NextCall> {
    if rows.iter().any(Row::is_bad) {
        let call = NextCall::new(Tool::RunSuite, "run the failing tests again").with("failed_of", run_id);
        vec![call]
    } else {
        Vec::new()
    }
}

impl ToolAnswer for Answer {
    /// `Coverage (lines) 62.5 % over 3 files. Lowest: …`, and how the tests went unless they passed.
    fn headline(&self) -> String {
        let first = match self.overall_percent {
            Some(percent) => {
                let files = words::count(self.files.len() as u64, "file");
                format!("Coverage ({}) {percent} % over {files}.", self.measures)
            }
            None => "No coverage figure.".to_owned(),
        };
        let mut sentences = vec![first];
        let mut lowest: Vec<(&String, &f64)> = self
            .files
            .iter()
            .filter(|(_, percent)| **percent < 100.0)
            .collect();
        lowest.sort_by(|one, other| one.1.total_cmp(other.1));
        let lowest: Vec<String> = lowest
            .into_iter()
            .take(LOWEST)
            .map(|(file, percent)| format!("{file} {percent} %"))
            .collect();
        if !lowest.is_empty() {
            sentences.push(format!("Lowest: {}.", lowest.join(", ")));
        }
        if !self.status.is_green() {
            let reason = words::aside(self.reason.as_ref());
            sentences.push(format!(
                "The tests: {}, status {}{reason}.",
                self.totals.words(),
                self.status
            ));
            sentences.extend(self.hint.clone());
        }
        sentences.join(" ")
    }

    fn status(&self) -> Option<Status> {
        Some(self.status)
    }

    fn sums(&self) -> Sums {
        Sums {
            totals: Some(self.totals.clone()),
            duration_s: self.duration_s,
            ..Sums::default()
        }
    }

    fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.tests)
    }

    fn take_next(&mut self) -> Vec<NextCall> {
        std::mem::take(&mut self.next)
    }
}
