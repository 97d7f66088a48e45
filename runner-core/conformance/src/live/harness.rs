//! The sample project as the engine runs it.

use std::sync::Arc;
use std::time::Duration;

use super::super::recording::{Recorder, rows};
use super::super::sample::{HostileCase, Sample};
use super::super::subject::Subject;
use super::{Recorded, Tried};
use engine::config::Suite;
use engine::environment::Environment;
use engine::policy::Policy;
use engine::project::{self, Overrides, ProjectError};
use engine::run::{Engine, RunSpec};
use engine::run_id::new_run_id;
use process::{Cancel, Supervisor};
use runner_core::backend::{BackendInfo, Capability, Filters, Mode, TestBackend};
use runner_core::event::{RunEvent, TestEvent};
use runner_core::facts::Project;
use runner_core::registry::Registry;
use runner_core::report::{Report, SharedReport};
use runner_core::selector::{Selection, Selector};

/// No run of a sample takes longer; one that does hangs.
const LIMIT: Duration = Duration::from_secs(300);

/// A sample project, found and looked at.
pub struct Harness {
    engine: Engine,
    sample: Sample,
    project: Project,
    suite: Suite,
    /// Why the backend cannot run here.
    unusable: Option<String>,
}

/// What a run of the sample is narrowed to.
#[derive(Default)]
pub(super) struct SampleRun {
    pub(super) list: bool,
    /// Files, folders or ids, as the sample writes them.
    pub(super) select: Vec<String>,
    pub(super) dir: Option<String>,
    pub(super) keyword: Option<String>,
    pub(super) max_failures: Option<u32>,
    pub(super) timeout: Option<Duration>,
    /// Cancel as soon as the first test began or ended, at the latest after this.
    pub(super) cancel_after: Option<Duration>,
}

impl SampleRun {
    pub(super) fn of(select: &[String]) -> Self {
        Self {
            select: select.to_vec(),
            ..Self::default()
        }
    }

    pub(super) fn hostile(hostile: &HostileCase) -> Self {
        Self {
            dir: hostile.dir.clone(),
            ..Self::of(&hostile.select)
        }
    }
}

/// A run, and when its rows came.
pub(super) struct Ran {
    pub(super) report: Arc<Report>,
    /// A test began or ended before the first step did.
    pub(super) live: bool,
}

impl Harness {
    /// Looks at the sample project as a suite of `backend` alone. A tool that is not there is no error: the cases that
    /// need it are skipped, and say so.
    pub async fn new(
        backend: &Arc<dyn TestBackend>,
        sample: Sample,
        supervisor: Supervisor,
        overrides: &Overrides,
        environment: &Environment,
    ) -> Result<Self, ProjectError> {
        let registry = Registry::new().with(Arc::clone(backend));
        let info = backend.info();
        let mut suite = Suite::new("conformance", vec![info.name.clone()]);
        suite.options.clone_from(&sample.file.options);
        suite.paths.clone_from(&sample.file.paths);
        let root = sample.root.clone();
        let mut found = project::discover(&root, &suite, &registry, &root, overrides, environment)?;
        if let Some(interpreter) = &found.interpreter
            && interpreter.packages.is_none()
        {
            found.interpreter = Some(project::ask(interpreter, &supervisor, environment).await?);
        }
        let overrides = Overrides {
            backend: None,
            ..overrides.clone()
        };
        let unusable = unusable(&registry, &suite, &found, &overrides, &info);
        Ok(Self {
            // Nothing is stored: these runs are nobody's history.
            engine: Engine::new(supervisor, None, environment.clone(), 2),
            sample,
            project: found,
            suite,
            unusable,
        })
    }

    /// Why nothing can be run here, in words.
    pub fn unusable(&self) -> Option<&str> {
        self.unusable.as_deref()
    }

    pub(in super::super) fn project(&self) -> &Project {
        &self.project
    }

    pub(super) fn sample(&self) -> &Sample {
        &self.sample
    }

    pub(super) async fn run(&self, subject: &Subject, wanted: &SampleRun) -> Result<Ran, String> {
        self.run_with(subject, Arc::clone(&subject.backend), wanted).await
    }

    pub(super) async fn record(&self, subject: &Subject, wanted: &SampleRun) -> Tried {
        let recorder = Arc::new(Recorder::new(Arc::clone(&subject.backend)));
        let ran = self.run_with(subject, recorder.clone(), wanted).await?;
        let Some(mut recording) = recorder.take() else {
            let why = ran.report.verdict().reason.unwrap_or_default();
            return Err(format!("nothing was started: {why}"));
        };
        recording.recorded = Some(rows(ran.report.first()));
        Ok(Box::new(Recorded { recording, ran }))
    }

    async fn run_with(
        &self,
        subject: &Subject,
        backend: Arc<dyn TestBackend>,
        wanted: &SampleRun,
    ) -> Result<Ran, String> {
        let spec = self.spec(subject, backend, wanted)?;
        let cancel = Cancel::new();
        let (mut live, mut ended) = (false, false);
        let waits = wanted.cancel_after.is_some();
        let asks = cancel.clone();
        let mut sink = |event: &RunEvent, _: &Report| {
            ended |= matches!(event, RunEvent::StepExited { .. });
            if let RunEvent::Test { test, .. } = event
                && matches!(test, TestEvent::Started { .. } | TestEvent::Finished(_))
            {
                live |= !ended;
                if waits {
                    asks.ask("the kit");
                }
            }
        };
        // Boxed: an engine's run is large, and the cases hold many.
        let growing = SharedReport::default();
        let cancelled = cancel.clone();
        let run = self.engine.run(new_run_id(), spec, cancelled, growing, &mut sink);
        let mut run = Box::pin(run);
        let report = match wanted.cancel_after {
            None => (&mut run).await,
            Some(after) => tokio::select! {
                report = &mut run => report,
                () = tokio::time::sleep(after) => {
                    cancel.ask("the kit");
                    (&mut run).await
                }
            },
        };
        drop(run);
        Ok(Ran { report, live })
    }

    fn spec(
        &self,
        subject: &Subject,
        backend: Arc<dyn TestBackend>,
        wanted: &SampleRun,
    ) -> Result<RunSpec, String> {
        let mut project = self.project.clone();
        if let Some(dir) = &wanted.dir {
            let place = project::resolve_dir(&project.root, dir);
            project.dir = place.map_err(|error| format!("the sample's `dir`: {}", error.message))?;
        }
        let mut suite = self.suite.clone();
        if wanted.dir.is_some() {
            suite.paths.clear();
        }
        let selectors = wanted.select.iter().map(|text| selector(subject, &project, text));
        let selection = Selection {
            selectors: selectors.collect::<Result<_, _>>()?,
        };
        // The caller's own environment, so that tools find their homes; but nothing left in the sample.
        let policy = Policy {
            private_folders: true,
            ..Policy::person()
        };
        let mode = if wanted.list { Mode::List } else { Mode::Run };
        Ok(RunSpec {
            selection,
            asked: wanted.select.clone(),
            filters: Filters {
                keyword: wanted.keyword.clone(),
                max_failures: wanted.max_failures,
                ..Filters::default()
            },
            timeout: Some(wanted.timeout.unwrap_or(LIMIT)),
            ..RunSpec::new("backend check", mode, suite, backend, project, policy)
        })
    }
}

/// What the sample wrote, as everybody's selectors are read.
fn selector(subject: &Subject, project: &Project, text: &str) -> Result<Selector, String> {
    let resolved = project::resolve_from(&project.root, &project.dir, None, &[], text);
    let name = || Selector::Node {
        path: String::new(),
        rest: text.to_owned(),
    };
    match resolved {
        Ok(Selector::Keyword { .. }) | Err(_) if subject.can(Capability::Names) => Ok(name()),
        Ok(Selector::Keyword { .. }) => Err(format!("`{text}` of the sample is no file and no test id")),
        other => other.map_err(|error| format!("`{text}` of the sample: {}", error.message)),
    }
}

fn unusable(
    registry: &Registry,
    suite: &Suite,
    project: &Project,
    overrides: &Overrides,
    info: &BackendInfo,
) -> Option<String> {
    if !info.can(Capability::Run) {
        return None;
    }
    let error = project::choose_backend(registry, suite, project, overrides).err()?;
    let first = error.message.lines().last().unwrap_or_default().to_owned();
    Some(format!(
        "its tool is not there: {}",
        if error.message.contains('\n') {
            first
        } else {
            error.message
        }
    ))
}
