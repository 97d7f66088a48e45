//! The tools without a process: arguments, orders for the engine, and answers from hand-made records.

mod answers;
mod arguments;
mod coverage;
mod pages;
mod single;
mod specs;
mod spread;

use std::path::Path;
use std::sync::Arc;

use super::{ErrorKind, LiveRuns, OpError, ToolAnswer, Workspace};
use engine::config::{ConfigError, Settings, Suite};
use engine::environment::Environment;
use engine::policy::Policy;
use engine::project::Overrides;
use engine::run::Engine;
use process::Supervisor;
use runner_core::affected::{AffectedFinder, AffectedTests, Question};
use runner_core::backend::{BackendError, BackendInfo, Capability, OutputReader, RunRequest, TestBackend};
use runner_core::event::{Ending, EndingKind, ExitMeaning, RunEvent, StopReason, TestEvent};
use runner_core::facts::{Project, RunFacts};
use runner_core::model::{CollectionError, Failure, Outcome, Phase, TestResult};
use runner_core::plan::{Plan, StepExit};
use runner_core::registry::Registry;
use runner_core::report::Report;

/// A backend that can do everything and is never started.
struct Paper;

impl TestBackend for Paper {
    fn info(&self) -> BackendInfo {
        use Capability::{Coverage, Keyword, List, MaxFailures, Run, Single};
        BackendInfo {
            name: "paper".into(),
            framework: "paper".into(),
            language: String::new(),
            capabilities: [Run, List, Single, Keyword, MaxFailures, Coverage].into(),
            needs: Vec::new(),
            options: Vec::new(),
        }
    }

    fn plan(&self, _: &RunRequest, _: &Project) -> Result<Plan, BackendError> {
        Ok(Plan::default())
    }

    fn reader(&self, _: &RunRequest) -> Box<dyn OutputReader> {
        unreachable!("nothing is started")
    }
}

/// Knows of no history.
struct NoChanges;

impl runner_core::change::ChangeReader for NoChanges {
    fn read(
        &self,
        _: &Path,
        _: Option<&str>,
    ) -> Result<runner_core::change::Change, runner_core::change::NoBase> {
        Err(runner_core::change::NoBase {
            message: "no history here".into(),
            hint: None,
        })
    }
}

/// Two test files, whatever the change.
struct Finder;

impl AffectedFinder for Finder {
    fn find(&self, _: &Path, _: &Question) -> Result<AffectedTests, runner_core::change::NoBase> {
        Ok(AffectedTests {
            searched: 2,
            ..AffectedTests::default()
        })
    }
}

fn workspace_of(root: &Path, suites: Vec<Suite>) -> Workspace {
    let environment = Environment::default();
    let supervisor = Supervisor {
        program: "/nonexistent".into(),
        args: Vec::new(),
    };
    Workspace {
        root: root.canonicalize().unwrap(),
        here: None,
        settings: Ok(Arc::new(Settings {
            suites,
            ..Settings::default()
        })),
        registry: Arc::new(Registry::new().with(Arc::new(Paper))),
        engine: Engine::new(supervisor, None, environment.clone(), 1),
        affected: Arc::new(Finder),
        changes: Arc::new(NoChanges),
        policy: Policy::agent(),
        overrides: Overrides::default(),
        environment: Arc::new(environment),
        onlooker: None,
        live: LiveRuns::default(),
        notes: Arc::default(),
        session_trust: false,
    }
}

/// A repository with `tests/test_a.py`, and a workspace for it with one suite.
fn workspace() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tests")).unwrap();
    std::fs::write(folder.path().join("tests/test_a.py"), "").unwrap();
    let workspace = workspace_of(folder.path(), vec![Suite::new("unit", vec!["paper".into()])]);
    (folder, workspace)
}

/// Writes a record by hand.
struct Script {
    events: Vec<RunEvent>,
    iteration: u32,
}

impl Script {
    fn new(workspace: &Workspace, tool: &str, selection: &[&str]) -> Self {
        let facts = RunFacts {
            run_id: "r1".into(),
            suite: "unit".into(),
            backend: "paper".into(),
            tool: tool.into(),
            asked: selection.iter().map(|&word| word.to_owned()).collect(),
            root: workspace.root.clone(),
            cwd: workspace.root.clone(),
            timeout_s: Some(300.0),
            dropped_variables: vec!["DATABASE_URL".into(), "OTHER".into()],
            ..RunFacts::default()
        };
        Self {
            events: vec![RunEvent::Started(Box::new(facts))],
            iteration: 1,
        }
    }

    fn tell(mut self, test: TestEvent) -> Self {
        let iteration = self.iteration;
        self.events.push(RunEvent::Test { iteration, test });
        self
    }

    fn row(self, nodeid: &str, outcome: Outcome) -> Self {
        self.tell(TestEvent::Finished(Box::new(TestResult {
            duration_s: Some(0.123_456),
            ..TestResult::new(nodeid, outcome)
        })))
    }

    fn failed(self, nodeid: &str, text: &str) -> Self {
        let failure = Failure {
            phase: Phase::Call,
            text: text.into(),
            summary: None,
            location: None,
        };
        self.tell(TestEvent::Finished(Box::new(TestResult {
            message: Some(text.into()),
            failures: vec![failure],
            ..TestResult::new(nodeid, Outcome::Failed)
        })))
    }

    fn started(self, nodeid: &str) -> Self {
        self.tell(TestEvent::Started {
            nodeid: nodeid.into(),
            worker: None,
        })
    }

    fn collector(self, nodeid: &str, message: &str) -> Self {
        self.tell(TestEvent::CollectFailed(CollectionError {
            nodeid: nodeid.into(),
            message: message.into(),
            summary: None,
            location: None,
        }))
    }

    /// Ends the iteration: exit code, the backend's reading, the last output.
    fn end(mut self, exit: StepExit, ending: Ending, output: &str) -> Self {
        let iteration = self.iteration;
        self.events.push(RunEvent::StepExited { iteration, exit });
        self.events.push(RunEvent::IterationEnded {
            iteration,
            ending: Some(ending),
            duration_s: 1.0,
            output_tail: output.into(),
        });
        self.iteration += 1;
        self
    }

    /// Ends the iteration as a framework does that ran everything.
    fn completed(self, code: i32) -> Self {
        let meaning = match code {
            0 => ExitMeaning::Ok,
            1 => ExitMeaning::TestsFailed,
            5 => ExitMeaning::NoTests,
            _ => ExitMeaning::Other,
        };
        let ending = match code {
            5 => Ending::because(EndingKind::NoTests, meaning, "nothing was collected"),
            _ => Ending::completed(meaning),
        };
        self.end(exit(code), ending, "the last lines\n")
    }

    fn done(self) -> Report {
        self.cause(StopReason::Done)
    }

    fn cause(mut self, cause: StopReason) -> Report {
        self.events.push(RunEvent::Finished {
            cause,
            duration_s: 1.234_56,
        });
        Report::fold(&self.events)
    }
}

fn exit(code: i32) -> StepExit {
    StepExit {
        step: "paper".into(),
        code: Some(code),
        ..StepExit::default()
    }
}

fn killed(timed_out: bool) -> StepExit {
    StepExit {
        step: "paper".into(),
        signal: Some(9),
        timed_out,
        ..StepExit::default()
    }
}

fn json(value: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(value).unwrap()
}

/// What is wrong with a `qaas.toml`.
fn misspelt_key() -> ConfigError {
    ConfigError {
        file: "qaas.toml".into(),
        line: Some(3),
        column: Some(1),
        key: Some("suite.unit.timeot".into()),
        message: "unknown key".into(),
        hint: Some("did you mean `timeout`?".into()),
    }
}

/// Kind, code and exit code of an error answer.
fn errors(error: &OpError) -> (ErrorKind, &str, u8) {
    (error.kind, error.error.code.as_str(), error.exit().code())
}
