//! The bytes of a run as they passed through the seam: recorded once, read again in every damaged form.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use runner_core::backend::{
    BackendError, BackendInfo, Mode, OutputReader, RunRequest, StillWanted, TestBackend,
};
use runner_core::event::{Ending, EndingKind, ExitMeaning, RunEvent, StopReason, TestEvent};
use runner_core::facts::{Project, RunFacts};
use runner_core::model::{Outcome, Status};
use runner_core::panic::lock;
use runner_core::plan::{Artifacts, Lines, Plan, StepExit};
use runner_core::report::{Iteration, Report};

/// Everything one reader was given.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    pub(super) request: RunRequest,
    pub(super) calls: Vec<Lines>,
    pub(super) exits: Vec<StepExit>,
    pub(super) files: Artifacts,
    /// The names of the planned reports.
    pub(super) names: Vec<String>,
    /// The rows of the run that it was recorded from.
    pub(super) recorded: Option<BTreeMap<String, Outcome>>,
}

impl Recording {
    /// A tape with nothing on it: what `request` gets if its steps print nothing and leave nothing.
    pub(super) fn silent(request: RunRequest, plan: &Plan, code: Option<i32>) -> Self {
        let exit = |name: &String| StepExit {
            step: name.clone(),
            code,
            ..StepExit::default()
        };
        Self {
            request,
            calls: Vec::new(),
            exits: plan.steps.iter().map(|step| exit(&step.name)).collect(),
            files: Artifacts::default(),
            names: plan
                .artifacts
                .iter()
                .map(|artifact| artifact.name.clone())
                .collect(),
            recorded: None,
        }
    }

    /// Each line as a call of its own.
    pub(super) fn single_lines(&self) -> Vec<Lines> {
        let mut single = Vec::new();
        for call in &self.calls {
            single.extend(call.lines.iter().map(|line| Lines {
                lines: vec![line.clone()],
                ..*call
            }));
        }
        single
    }

    /// The same run with other lines.
    pub(super) fn with(&self, calls: Vec<Lines>) -> Self {
        Self {
            calls,
            ..self.clone()
        }
    }

    /// Reads it with a fresh reader.
    pub(super) fn play(&self, backend: &dyn TestBackend) -> Replay {
        let mut playing = Playing::new(backend, &self.request);
        for call in &self.calls {
            playing.read(call);
        }
        playing.finish(&self.exits, &self.files)
    }
}

/// A reader at work.
pub(super) struct Playing {
    reader: Box<dyn OutputReader>,
    listing: bool,
    events: Vec<TestEvent>,
}

impl Playing {
    pub(super) fn new(backend: &dyn TestBackend, request: &RunRequest) -> Self {
        Self {
            reader: backend.reader(request),
            listing: request.mode == Mode::List,
            events: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, call: &Lines) {
        self.reader.read(call, &mut self.events);
    }

    pub(super) fn finish(mut self, exits: &[StepExit], files: &Artifacts) -> Replay {
        let ended = self.reader.finish(exits, files, &mut self.events);
        let crash = ended
            .as_ref()
            .err()
            .filter(|error| is_crash(error))
            .map(ToString::to_string);
        let error = ended.as_ref().err().map(ToString::to_string);
        let ending =
            ended.unwrap_or_else(|error| Ending::because(EndingKind::Cut, ExitMeaning::Other, error.message));
        Replay {
            report: report(self.listing, self.events, exits, ending),
            crash,
            error,
        }
    }
}

/// What is said of a backend in another process that panicked, died, hung or answered nonsense.
fn is_crash(error: &BackendError) -> bool {
    match error.code.as_str() {
        "hangs" | "bad_answer" | "not_a_backend" | "panicked" => true,
        // Also a backend's own word for a tool that crashed.
        "crashed" => error.message.starts_with("backend \""),
        _ => false,
    }
}

/// The report that the engine would make.
fn report(listing: bool, events: Vec<TestEvent>, exits: &[StepExit], ending: Ending) -> Report {
    let facts = RunFacts {
        listing,
        ..RunFacts::default()
    };
    let mut record = vec![
        RunEvent::Started(Box::new(facts)),
        RunEvent::IterationStarted { iteration: 1 },
    ];
    record.extend(
        events
            .into_iter()
            .map(|test| RunEvent::Test { iteration: 1, test }),
    );
    record.extend(exits.iter().map(|exit| RunEvent::StepExited {
        iteration: 1,
        exit: exit.clone(),
    }));
    record.push(RunEvent::IterationEnded {
        iteration: 1,
        ending: Some(ending),
        duration_s: 0.0,
        output_tail: String::new(),
    });
    let cause = if exits.iter().any(|exit| exit.cancelled) {
        StopReason::Cancelled {
            by: "the kit".to_owned(),
        }
    } else if exits.iter().any(|exit| exit.timed_out) {
        StopReason::TimedOut {
            limit_ms: 1_000,
            unanswered: None,
        }
    } else {
        StopReason::Done
    };
    record.push(RunEvent::Finished {
        cause,
        duration_s: 0.0,
    });
    Report::fold(&record)
}

/// What a reader made of a tape.
pub(super) struct Replay {
    pub(super) report: Report,
    /// The backend's own word for a panic in another process.
    pub(super) crash: Option<String>,
    /// Why it gave no ending at all.
    pub(super) error: Option<String>,
}

impl Replay {
    pub(super) fn status(&self) -> Status {
        self.report.status()
    }

    pub(super) fn passed(&self) -> bool {
        self.status() == Status::Passed
    }

    pub(super) fn rows(&self) -> BTreeMap<String, Outcome> {
        rows(self.report.first())
    }

    /// Everything that must not depend on how the bytes came in, sorted.
    pub(super) fn essence(&self) -> Value {
        let iteration = self.report.first();
        let sorted = |values: Vec<Value>| {
            let mut texts: Vec<String> = values.iter().map(Value::to_string).collect();
            texts.sort();
            texts
        };
        let values = |list: &dyn Fn() -> Vec<Value>| sorted(list());
        json!({
            "status": self.status(),
            "reason": self.report.verdict().reason,
            "rows": values(&|| iteration.rows.iter().map(|row| json!(row)).collect()),
            "collection_errors": values(&|| iteration.collection_errors.iter().map(|e| json!(e)).collect()),
            "found": values(&|| iteration.found.iter().map(|found| json!(found)).collect()),
            "unfinished": values(&|| iteration.unfinished().iter().map(|u| json!(u)).collect()),
        })
    }

    /// In a few words, for a case's answer.
    pub(super) fn words(&self) -> String {
        words(&self.report)
    }
}

/// A report in a few words.
pub(super) fn words(report: &Report) -> String {
    let iteration = report.first();
    let what = if report.facts.listing {
        format!("{} tests", iteration.found.len())
    } else {
        format!("{} rows", iteration.rows.len())
    };
    let verdict = report.verdict();
    let reason = verdict
        .reason
        .map(|reason| format!(": {reason}"))
        .unwrap_or_default();
    format!("{} with {what}{reason}", verdict.status)
}

/// Every finished test with its outcome.
pub(super) fn rows(iteration: &Iteration) -> BTreeMap<String, Outcome> {
    let rows = iteration.rows.iter();
    rows.map(|row| (row.nodeid.clone(), row.outcome)).collect()
}

/// Passes everything on to a backend, and keeps what its reader is given.
pub(super) struct Recorder {
    backend: Arc<dyn TestBackend>,
    names: Arc<Mutex<Vec<String>>>,
    recording: Arc<Mutex<Option<Recording>>>,
}

impl Recorder {
    pub(super) fn new(backend: Arc<dyn TestBackend>) -> Self {
        Self {
            backend,
            names: Arc::default(),
            recording: Arc::default(),
        }
    }

    /// What was recorded, once the run is over. `None` if there was no reader.
    pub(super) fn take(&self) -> Option<Recording> {
        let mut recording = lock(&self.recording).take()?;
        recording.names.clone_from(&lock(&self.names));
        Some(recording)
    }
}

impl TestBackend for Recorder {
    fn info(&self) -> BackendInfo {
        self.backend.info()
    }

    fn plan(&self, request: &RunRequest, project: &Project) -> Result<Plan, BackendError> {
        let plan = self.backend.plan(request, project)?;
        *lock(&self.names) = plan
            .artifacts
            .iter()
            .map(|artifact| artifact.name.clone())
            .collect();
        Ok(plan)
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        let recording = Recording::silent(request.clone(), &Plan::default(), None);
        *lock(&self.recording) = Some(recording);
        Box::new(RecordingReader {
            reader: self.backend.reader(request),
            recording: Arc::clone(&self.recording),
        })
    }

    fn for_run(&self, wanted: &StillWanted) -> Option<Arc<dyn TestBackend>> {
        Some(Arc::new(Self {
            backend: self.backend.for_run(wanted)?,
            names: Arc::clone(&self.names),
            recording: Arc::clone(&self.recording),
        }))
    }
}

struct RecordingReader {
    reader: Box<dyn OutputReader>,
    recording: Arc<Mutex<Option<Recording>>>,
}

impl OutputReader for RecordingReader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        if let Some(recording) = lock(&self.recording).as_mut() {
            recording.calls.push(lines.clone());
        }
        self.reader.read(lines, events);
    }

    fn is_lost(&self) -> bool {
        self.reader.is_lost()
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        if let Some(recording) = lock(&self.recording).as_mut() {
            recording.exits = exits.to_vec();
            recording.files = files.clone();
        }
        self.reader.finish(exits, files, events)
    }
}
