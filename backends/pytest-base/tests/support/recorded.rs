//! Recorded output of real pytest runs, replayed through a backend's reader and compared with the expected rows.
//!
//! The projects stand in `backends/pytest-base/tests/projects`: their files, `versions` (where not every pytest can
//! run them) and `cwd` (where they are run in a folder below). What was recorded stands once, in
//! `backends/pytest-base/tests/recorded`: runs as `pytest-json` plans them leave the text that `pytest-terminal` reads,
//! too, but for two lines of the report's plug-in, which are left out for it. What each backend makes of them stands in its
//! own `tests/recorded`, and a recording that is of use to it alone (`no_terminal`: only without a report pytest says nothing).
//!
//! To record a new project, or one whose folder of recordings was deleted: `script/test` once (it makes the
//! environments), then `cargo test -p BACKEND -- --ignored record`; to accept what the reader makes of the recordings:
//! `cargo test -p BACKEND -- --ignored accept`. Then read the difference.

#![expect(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use runner_core::backend::{Mode, RunRequest, TestBackend};
use runner_core::event::{RunEvent, StopReason, TestEvent};
use runner_core::facts::{Interpreter, Project};
use runner_core::plan::{ArtifactState, Artifacts, Lines, StepExit, Stream};
use runner_core::report::Report;

const VERSIONS: [&str; 4] = ["6.2", "7.4", "8.4", "9.2"];

/// Of these only the text is of interest: `pytest-terminal` records them.
const TEXT_ONLY: [&str; 6] = ["below", "live_log", "nested", "quiet", "torn", "uncaptured"];
/// The report of these is changed by the project: to the text they are runs like others.
const REPORT_ONLY: [&str; 3] = ["reshaped", "reshaped_lies", "reshaped_quietly"];

/// Whether a backend's reader is held to the runs of a project.
fn concerns(backend: &dyn TestBackend, project: &str) -> bool {
    match backend.info().name.as_str() {
        "pytest-json" => !TEXT_ONLY.contains(&project),
        _ => !REPORT_ONLY.contains(&project),
    }
}

/// Where recordings say that the project was.
const CWD: &str = "/project";

/// What the last line of a recording begins with.
const EXIT: &str = "exit code: ";

/// One recorded run.
pub(crate) struct Recording {
    /// `.../recorded/PROJECT/VERSION`, without the extension.
    pub(crate) base: PathBuf,
    pub(crate) project: String,
}

impl Recording {
    fn file(&self, extension: &str) -> PathBuf {
        PathBuf::from(format!("{}.{extension}", self.base.display()))
    }

    pub(crate) fn lines(&self, extension: &str) -> Vec<String> {
        let bytes = fs::read(self.file(extension)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        // As the engine cuts a stream into lines.
        let whole = |line: &str| line.strip_suffix('\r').unwrap_or(line).to_owned();
        let mut lines: Vec<String> = text.split('\n').map(whole).collect();
        lines.pop_if(|last| last.is_empty());
        lines
    }

    /// What this backend makes of it.
    fn rows_file(&self) -> PathBuf {
        let version = self.base.file_name().unwrap().to_string_lossy();
        own_folder().join(&self.project).join(format!("{version}.rows"))
    }

    fn expected(&self) -> String {
        fs::read_to_string(self.rows_file()).unwrap_or_default()
    }

    /// The recording's last line, which is none of pytest's.
    pub(crate) fn exit_code(&self) -> i32 {
        let lines = self.lines("out");
        let code = lines.last().and_then(|line| line.strip_prefix(EXIT));
        code.expect("every recording ends so")
            .parse()
            .expect("it is a number")
    }

    fn stdout(&self) -> Vec<String> {
        let mut lines = self.lines("out");
        lines.pop();
        lines
    }

    /// The text of a run without a report.
    fn text_alone(&self) -> Vec<String> {
        let mut lines = self.stdout();
        let is_head = |line: &String| line.trim_matches('-') == " JSON report ";
        let is_section = |pair: &[String]| is_head(&pair[0]) && pair[1].starts_with("report saved to: ");
        if let Some(at) = lines.windows(2).position(is_section) {
            lines.drain(at..at + 2);
        }
        lines
    }

    pub(crate) fn request(&self) -> RunRequest {
        let below = fs::read_to_string(projects().join(&self.project).join("cwd")).unwrap_or_default();
        RunRequest::new(Mode::Run, Path::new(CWD).join(below.trim()), "/scratch")
    }

    fn artifacts(&self, backend: &dyn TestBackend) -> Artifacts {
        let mut files = Artifacts::default();
        let plan = backend
            .plan(&self.request(), &project(Path::new("/venv/bin/python")))
            .unwrap();
        for artifact in plan.artifacts {
            if let Ok(bytes) = fs::read(self.file("json")) {
                files.insert(artifact.name, ArtifactState::Bytes(bytes));
            }
        }
        files
    }

    /// The events of the whole run, and how many of them came while it ran. `batches` cuts each stream anew.
    pub(crate) fn events(
        &self,
        backend: &dyn TestBackend,
        batches: &mut dyn FnMut(usize) -> usize,
    ) -> (Vec<TestEvent>, usize, Report) {
        let mut reader = backend.reader(&self.request());
        let mut events = Vec::new();
        let reads_report = backend.info().name == "pytest-json";
        let text = if reads_report {
            self.stdout()
        } else {
            self.text_alone()
        };
        let mut streams = [(Stream::Stdout, text), (Stream::Stderr, self.lines("err"))];
        while streams.iter().any(|(_, lines)| !lines.is_empty()) {
            for (stream, lines) in &mut streams {
                let count = batches(lines.len()).min(lines.len());
                let lines = lines.drain(..count).collect();
                let stream = *stream;
                reader.read(
                    &Lines {
                        step: 0,
                        stream,
                        lines,
                    },
                    &mut events,
                );
            }
        }
        let live = events.len();
        let exit = StepExit {
            step: "pytest".to_owned(),
            code: Some(self.exit_code()),
            ..StepExit::default()
        };
        let ending = reader
            .finish(std::slice::from_ref(&exit), &self.artifacts(backend), &mut events)
            .unwrap();
        let report = fold(&events, exit, ending);
        (events, live, report)
    }

    /// What a reader makes of the run, one fact a line.
    fn rows(&self, backend: &dyn TestBackend) -> String {
        let (events, live, report) = self.events(backend, &mut |all| all);
        let live = events[..live]
            .iter()
            .filter(|event| matches!(event, TestEvent::Finished(_)))
            .count();
        let verdict = report.verdict();
        let mut text = format!("{} ({live} rows while it ran)\n", verdict.status);
        for (name, value) in [("reason", &verdict.reason), ("hint", &verdict.hint)] {
            if let Some(value) = value {
                writeln!(text, "{name}: {value:?}").unwrap();
            }
        }
        let run = report.first();
        for row in &run.rows {
            write!(text, "{} {:?}", row.outcome, row.nodeid).unwrap();
            if let Some(phase) = row.phase {
                write!(text, " ({})", phase.as_str()).unwrap();
            }
            // A failed row's message is its failures' text; those stand below.
            let reason = row.message.as_ref().filter(|_| row.failures.is_empty());
            writeln!(
                text,
                "{}",
                reason.map(|reason| format!(" | {reason:?}")).unwrap_or_default()
            )
            .unwrap();
            if let Some(worker) = &row.worker {
                writeln!(text, "    on {worker}").unwrap();
            }
            for attempt in &row.attempts {
                writeln!(text, "    attempt {}: {}", attempt.attempt, attempt.outcome).unwrap();
            }
            for part in &row.subtests {
                writeln!(
                    text,
                    "    part {:?}: {} | {:?}",
                    part.description, part.outcome, part.message
                )
                .unwrap();
            }
            for failure in &row.failures {
                let at = failure
                    .location
                    .as_ref()
                    .map(|at| format!("{}:{}", at.file, at.line.unwrap_or(0)));
                writeln!(
                    text,
                    "    {} | {:?} | {at:?} | {} lines",
                    failure.phase.as_str(),
                    failure.summary,
                    failure.text.lines().count()
                )
                .unwrap();
            }
            if let Some(output) = &row.output {
                writeln!(text, "    output {output:?}").unwrap();
            }
        }
        for error in &run.collection_errors {
            writeln!(
                text,
                "not collected {:?} | {:?}",
                error.nodeid,
                error.message.lines().last()
            )
            .unwrap();
        }
        for test in run.unfinished() {
            writeln!(text, "unfinished {:?} {:?}", test.nodeid, test.phase).unwrap();
        }
        for warning in &run.warnings {
            writeln!(text, "warning {warning:?}").unwrap();
        }
        text
    }
}

pub(crate) fn fold(events: &[TestEvent], exit: StepExit, ending: runner_core::event::Ending) -> Report {
    let mut report = Report::default();
    report.add(&RunEvent::IterationStarted { iteration: 1 });
    for test in events {
        report.add(&RunEvent::Test {
            iteration: 1,
            test: test.clone(),
        });
    }
    report.add(&RunEvent::StepExited { iteration: 1, exit });
    report.add(&RunEvent::IterationEnded {
        iteration: 1,
        ending: Some(ending),
        duration_s: 0.0,
        output_tail: String::new(),
    });
    report.add(&RunEvent::Finished {
        cause: StopReason::Done,
        duration_s: 0.0,
    });
    report
}

fn projects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pytest-base/tests/projects")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pytest-base/tests/recorded")
}

fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("it can be listed")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// All that concern a backend.
pub(crate) fn recordings(backend: &dyn TestBackend) -> Vec<Recording> {
    let mut found = Vec::new();
    for project in names(&folder())
        .into_iter()
        .filter(|name| concerns(backend, name))
    {
        for file in names(&folder().join(&project)) {
            if let Some(version) = file.strip_suffix(".out") {
                let shared = folder().join(&project).join(version);
                let own = own_folder().join(&project);
                let has_own = own.join(&file).exists();
                found.push(Recording {
                    base: if has_own { own.join(version) } else { shared },
                    project: project.clone(),
                });
            }
        }
    }
    assert!(found.len() > 20, "the recordings are there");
    found
}

pub(crate) fn compare(backend: &dyn TestBackend) {
    let mut wrong = String::new();
    for recording in recordings(backend) {
        let (is, expected) = (recording.rows(backend), recording.expected());
        if is != expected {
            writeln!(
                wrong,
                "{}:\n--- expected\n{expected}--- is\n{is}",
                recording.base.display()
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

pub(crate) fn accept(backend: &dyn TestBackend) {
    for recording in recordings(backend) {
        let file = recording.rows_file();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, recording.rows(backend)).unwrap();
    }
}

fn project(python: &Path) -> Project {
    Project {
        interpreter: Some(Interpreter {
            path: python.to_owned(),
            ..Interpreter::default()
        }),
        ..Project::default()
    }
}

/// Runs every project that has no recordings, and is not left to the other backend, with every pytest and keeps what they
/// print.
pub(crate) fn record(backend: &dyn TestBackend) {
    let records_text = backend.info().name != "pytest-json";
    let is_own = |name: &String| TEXT_ONLY.contains(&name.as_str()) == records_text;
    let wanted = |name: &String| is_own(name) && !folder().join(name).exists();
    for name in names(&projects()).into_iter().filter(wanted) {
        let versions = fs::read_to_string(projects().join(&name).join("versions"));
        for version in VERSIONS {
            if versions.as_ref().map_or(true, |versions| {
                versions.split_whitespace().any(|one| one == version)
            }) {
                record_one(backend, &name, version);
            }
        }
    }
}

fn record_one(backend: &dyn TestBackend, name: &str, version: &str) {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let venv = top.join("target/venvs").join(format!("pytest-{version}"));
    let work = top.join("target/recording");
    let _ = fs::remove_dir_all(&work);
    copy(&projects().join(name), &work.join("project"));
    let below = fs::read_to_string(projects().join(name).join("cwd")).unwrap_or_default();
    let request = RunRequest::new(Mode::Run, work.join("project").join(below.trim()), &work);
    let plan = backend
        .plan(&request, &project(&venv.join("bin/python")))
        .unwrap();
    let step = &plan.steps[0];
    #[expect(clippy::disallowed_methods, reason = "records real runs")]
    let mut command = Command::new(&step.program);
    command
        .args(&step.argv()[1..])
        .current_dir(&step.cwd)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env_remove("CI");
    let output = command.output().unwrap();
    let base = folder().join(name);
    fs::create_dir_all(&base).unwrap();
    let home = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&work.join("project").display().to_string(), CWD);
        let text = text.replace(&venv.display().to_string(), "/venv");
        // The interpreter that the environment was made with, and this checkout: as if recorded anywhere.
        let python = venv.join("bin/python").canonicalize().unwrap();
        let lib = python.ancestors().nth(2).unwrap().join("lib/");
        let text = text.replace(&lib.display().to_string(), "/usr/lib/");
        text.replace(&top.display().to_string(), "/qaas")
    };
    let file = |extension: &str| base.join(format!("{version}.{extension}"));
    let code = output.status.code().unwrap();
    fs::write(file("out"), format!("{}\n{EXIT}{code}\n", home(&output.stdout))).unwrap();
    if !output.stderr.is_empty() {
        fs::write(file("err"), home(&output.stderr)).unwrap();
    }
    for artifact in &plan.artifacts {
        if let Ok(bytes) = fs::read(&artifact.path) {
            fs::write(file("json"), home(&bytes) + "\n").unwrap();
        }
    }
    let _ = fs::remove_dir_all(&work);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for name in names(from)
        .into_iter()
        .filter(|name| !["versions", "cwd", "__pycache__", ".pytest_cache"].contains(&name.as_str()))
    {
        if from.join(&name).is_dir() {
            copy(&from.join(&name), &to.join(&name));
        } else {
            fs::copy(from.join(&name), to.join(&name)).unwrap();
        }
    }
}
