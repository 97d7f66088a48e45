//! A backend whose framework is a shell script that prints simple lines, and how the tests run orders with it.
//!
//! ```text
//! start NODEID        a test began                 stop WORD           the framework's own end
//! passed NODEID       it finished (any outcome)    panic               the reader panics
//! select N            how many are to run          found NODEID        a test exists
//! broken NODEID TEXT  a collector failed
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::config::Suite;
use engine::environment::Environment;
use engine::policy::Policy;
use engine::run::{Engine, RunSpec};
use engine::run_id::new_run_id;
use engine::store::Store;
use process::{Cancel, Supervisor};
use runner_core::backend::{
    BackendError, BackendInfo, Capability, Mode, OutputReader, RunRequest, TestBackend,
};
use runner_core::event::{Ending, EndingKind, ExitMeaning, RunEvent, TestEvent};
use runner_core::facts::Project;
use runner_core::model::{CollectionError, Coverage, Failure, Outcome, Phase, TestResult};
use runner_core::plan::{Artifact, Artifacts, Lines, Plan, ScratchFile, Step, StepExit};
use runner_core::report::{Report, SharedReport};

pub(crate) fn supervisor() -> Supervisor {
    Supervisor {
        program: env!("CARGO_BIN_EXE_qaas-engine-supervisor").into(),
        args: vec!["__supervise".into()],
    }
}

/// Runs `script` with `sh`; `more` are later steps: name, script, always.
#[derive(Clone, Default)]
pub(crate) struct Scripted {
    pub(crate) script: String,
    pub(crate) more: Vec<(String, String, bool)>,
    pub(crate) plan_panics: bool,
    pub(crate) program: Option<PathBuf>,
    /// Read back as a warning.
    pub(crate) artifact: Option<PathBuf>,
}

impl Scripted {
    pub(crate) fn new(script: &str) -> Self {
        Self {
            script: script.to_owned(),
            ..Self::default()
        }
    }
}

fn info(name: &str, capability: Capability) -> BackendInfo {
    BackendInfo {
        name: name.to_owned(),
        framework: "sh".to_owned(),
        language: String::new(),
        capabilities: BTreeSet::from([capability]),
        needs: Vec::new(),
        options: Vec::new(),
    }
}

fn sh(name: &str, script: &str, request: &RunRequest) -> Step {
    Step {
        name: name.to_owned(),
        program: "/bin/sh".into(),
        args: vec!["-c".to_owned(), script.to_owned()],
        cwd: request.cwd.clone(),
        env: BTreeMap::from([(
            "SCRATCH".to_owned(),
            Some(request.scratch.to_string_lossy().into_owned()),
        )]),
        ..Step::default()
    }
}

impl TestBackend for Scripted {
    fn info(&self) -> BackendInfo {
        info("scripted", Capability::Run)
    }

    fn plan(&self, request: &RunRequest, _project: &Project) -> Result<Plan, BackendError> {
        assert!(!self.plan_panics, "the plan is bad");
        let mut first = sh("script", &self.script, request);
        if let Some(program) = &self.program {
            first.program.clone_from(program);
        }
        let mut steps = vec![first];
        for (name, script, always) in &self.more {
            let mut step = sh(name, script, request);
            step.always = *always;
            if name == "missing" {
                step.program = "/no/such/program".into();
            }
            steps.push(step);
        }
        let artifact = self
            .artifact
            .clone()
            .unwrap_or_else(|| request.scratch.join("report"));
        Ok(Plan {
            files: vec![ScratchFile {
                path: "sub/laid".into(),
                contents: "laid".to_owned(),
            }],
            steps,
            artifacts: vec![Artifact {
                name: "report".to_owned(),
                path: artifact,
            }],
        })
    }

    fn reader(&self, _request: &RunRequest) -> Box<dyn OutputReader> {
        Box::<Reader>::default()
    }
}

#[derive(Default)]
struct Reader {
    end: Option<EndingKind>,
}

impl OutputReader for Reader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        for line in &lines.lines {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let nodeid = rest.to_owned();
            match word {
                "panic" => panic!("the reader is bad"),
                "start" => events.push(TestEvent::Started { nodeid, worker: None }),
                "found" => events.push(TestEvent::Found {
                    nodeid,
                    location: None,
                }),
                "select" => events.push(TestEvent::Counted {
                    selected: rest.parse().unwrap(),
                    deselected: 0,
                }),
                "broken" => events.push(TestEvent::CollectFailed(CollectionError {
                    nodeid,
                    message: "does not import".to_owned(),
                    summary: None,
                    location: None,
                })),
                "stop" => {
                    self.end = Some(match rest {
                        "panic" => panic!("the reader is bad at the end"),
                        "interrupted" => EndingKind::Interrupted,
                        _ => EndingKind::Completed,
                    });
                }
                _ => events.extend(row(word, rest)),
            }
        }
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        let names: Vec<&str> = exits.iter().map(|exit| exit.step.as_str()).collect();
        let report = files.bytes("report").map(String::from_utf8_lossy);
        let report = report.map_or_else(|why| why, std::borrow::Cow::into_owned);
        let message = format!("exits {}; report {report}", names.join(" "));
        events.push(TestEvent::Warning { message });
        let meaning = match exits.first().and_then(|exit| exit.code) {
            Some(0) => ExitMeaning::Ok,
            Some(1) => ExitMeaning::TestsFailed,
            _ => ExitMeaning::Other,
        };
        match self.end {
            Some(EndingKind::Completed) => Ok(Ending::completed(meaning)),
            Some(kind) => Ok(Ending::because(kind, meaning, "as the script said")),
            None => Err(BackendError::new("cut", "the script did not say its end").with_hint("say stop")),
        }
    }
}

fn row(word: &str, rest: &str) -> Option<TestEvent> {
    let outcome = Outcome::ALL
        .into_iter()
        .find(|outcome| outcome.as_str() == word)?;
    let (nodeid, text) = rest.split_once(" | ").unwrap_or((rest, ""));
    let mut result = TestResult::new(nodeid, outcome);
    if !text.is_empty() {
        result.message = Some(text.to_owned());
        result.failures.push(Failure {
            phase: Phase::Call,
            text: text.to_owned(),
            summary: Some(text.to_owned()),
            location: None,
        });
    }
    Some(TestEvent::Finished(Box::new(result)))
}

/// Adds a step of its own, and reports what its reader got.
pub(crate) struct Measuring;

impl TestBackend for Measuring {
    fn info(&self) -> BackendInfo {
        info("measuring", Capability::Coverage)
    }

    fn plan(&self, _request: &RunRequest, _project: &Project) -> Result<Plan, BackendError> {
        Err(BackendError::unsupported("measuring", Capability::Run))
    }

    fn wrap(&self, request: &RunRequest, _project: &Project, mut inner: Plan) -> Result<Plan, BackendError> {
        let mut own = sh("measure", "echo passed t::forged; echo 75", request);
        own.always = true;
        inner.steps.push(own);
        Ok(inner)
    }

    fn reader(&self, _request: &RunRequest) -> Box<dyn OutputReader> {
        Box::<MeasuringReader>::default()
    }
}

#[derive(Default)]
struct MeasuringReader {
    percent: Option<f64>,
}

impl OutputReader for MeasuringReader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        for line in &lines.lines {
            self.percent = line.parse().ok().or(self.percent);
            events.extend(line.split_once(' ').and_then(|(word, rest)| row(word, rest)));
        }
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        _files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        events.push(TestEvent::Coverage(Coverage {
            percent: self.percent,
            files: Vec::new(),
        }));
        let code = exits.last().and_then(|exit| exit.code);
        assert_eq!(code, Some(0), "the measuring step ran");
        Ok(Ending::completed(ExitMeaning::Ok))
    }
}

/// An engine with a state folder of its own, and a repository.
pub(crate) struct Harness {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) engine: Engine,
}

impl Harness {
    pub(crate) fn new() -> Self {
        Self::with_environment(&[])
    }

    pub(crate) fn with_environment(vars: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("repo")).unwrap();
        let mut environment = Environment::default();
        environment
            .vars
            .insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        for (name, value) in vars {
            environment.vars.insert((*name).to_owned(), (*value).to_owned());
        }
        let store = Store::open(&folder.path().join("state")).unwrap();
        let engine = Engine::new(supervisor(), Some(store), environment, 1);
        Self { folder, engine }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    pub(crate) fn store(&self) -> &Store {
        self.engine.store.as_ref().unwrap()
    }

    /// An agent's spec for everything.
    pub(crate) fn spec(&self, backend: Scripted) -> RunSpec {
        let project = Project {
            root: self.root(),
            dir: self.root(),
            ..Project::default()
        };
        let suite = Suite::new("unit", vec!["scripted".to_owned()]);
        let backend = Arc::new(backend);
        RunSpec {
            timeout: Some(Duration::from_secs(20)),
            ..RunSpec::new("run_suite", Mode::Run, suite, backend, project, Policy::agent())
        }
    }

    pub(crate) async fn run(&self, spec: RunSpec) -> Seen {
        self.run_until(spec, Cancel::new()).await
    }

    pub(crate) async fn run_until(&self, spec: RunSpec, cancel: Cancel) -> Seen {
        let mut events = Vec::new();
        let run_id = new_run_id();
        let mut sink = |event: &RunEvent, _: &Report| events.push(event.clone());
        let report = self
            .engine
            .run(run_id, spec, cancel, SharedReport::default(), &mut sink)
            .await;
        let seen = Seen { report, events };
        seen.check(self);
        seen
    }

    /// A script under an agent's policy.
    pub(crate) async fn script(&self, script: &str) -> Seen {
        self.run(self.spec(Scripted::new(script))).await
    }
}

/// What a run gave.
pub(crate) struct Seen {
    pub(crate) report: Arc<Report>,
    pub(crate) events: Vec<RunEvent>,
}

impl Seen {
    /// What must hold for every run, however it went.
    fn check(&self, bench: &Harness) {
        let ends = self
            .events
            .iter()
            .filter(|event| matches!(event, RunEvent::Finished { .. }));
        assert_eq!(ends.count(), 1, "one end");
        assert!(
            matches!(self.events.last(), Some(RunEvent::Finished { .. })),
            "the end is last"
        );
        assert!(
            matches!(self.events.first(), Some(RunEvent::Started(_))),
            "the start is first"
        );
        assert_eq!(
            as_json(&Report::fold(&self.events)),
            as_json(&self.report),
            "report == fold(events)"
        );
        let stored = bench
            .store()
            .load(&self.report.facts.root, &self.report.facts.run_id)
            .unwrap();
        assert_eq!(
            as_json(&stored),
            as_json(&self.report),
            "the stored record says the same"
        );
        assert_eq!(
            scratches(bench.store().state()),
            Vec::<PathBuf>::new(),
            "no scratch is left"
        );
        assert_eq!(
            std::fs::read_dir(bench.root()).unwrap().count(),
            0,
            "nothing is written into the repository"
        );
    }

    pub(crate) fn status(&self) -> &'static str {
        self.report.status().as_str()
    }

    pub(crate) fn reason(&self) -> String {
        self.report.verdict().reason.unwrap_or_default()
    }

    pub(crate) fn rows(&self) -> Vec<(&str, &str)> {
        let rows = self.report.first().rows.iter();
        rows.map(|row| (row.nodeid.as_str(), row.outcome.as_str()))
            .collect()
    }

    pub(crate) fn warnings(&self) -> String {
        let iterations = self
            .report
            .iterations
            .iter()
            .flat_map(|iteration| &iteration.warnings);
        let all: Vec<&str> = self
            .report
            .warnings
            .iter()
            .chain(iterations)
            .map(String::as_str)
            .collect();
        all.join("\n")
    }
}

pub(crate) fn as_json(report: &Report) -> serde_json::Value {
    serde_json::to_value(report).unwrap()
}

fn scratches(state: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(state.join("s")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
