//! From arguments to an order for the engine: suite, folder, interpreter, backend, selection, time limit.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::live::Recording;
use super::suites::{self, Wish};
use super::trust;
use super::{Answer, Desk, ErrorKind, NextCall, OpError, Scope, Started, Tool, cut, known, locate};
use engine::config::{Env, Suite};
use engine::environment::Environment;
use engine::project::{self, Choice, ProjectError};
use engine::run::{EventSink, Order, child_environment};
use engine::run_id::new_run_id;
use process::Cancel;
use runner_core::backend::{BackendInfo, Capability, Mode};
use runner_core::facts::{Project, RunFacts};
use runner_core::model::Status;
use runner_core::report::Report;
use runner_core::selector::{Selection, Selector};

/// What all tools that run something have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Common {
    pub(super) scope: Scope,
    /// As they were written.
    pub(super) selectors: Vec<String>,
    /// Taken as nodeids, whatever they look like.
    pub(super) ids: Vec<String>,
    /// Whether some of the ids may be gone.
    pub(super) lenient: bool,
}

impl Common {
    pub(super) fn of(scope: &Scope, selectors: &[String]) -> Self {
        Self {
            scope: scope.clone(),
            selectors: selectors.to_vec(),
            ..Self::default()
        }
    }

    /// One test, by its id.
    pub(super) fn of_test(scope: &Scope, id: &str) -> Self {
        Self {
            scope: scope.clone(),
            ids: vec![id.to_owned()],
            ..Self::default()
        }
    }

    /// Everything that an order needs from the arguments alone.
    pub(super) async fn order(&self, desk: &Desk, tool: Tool, mode: Mode) -> Result<Order, OpError> {
        self.make(desk, tool, mode).await.map_err(|mut error| {
            error.known.cwd.get_or_insert_with(|| match &self.scope.cwd {
                Some(cwd) => cut::echo(cwd),
                None => desk.root.display().to_string(),
            });
            let asked = self.selectors.first().or(self.ids.first());
            error.known.selector = asked.map(|text| cut::echo(text));
            error
        })
    }

    async fn make(&self, desk: &Desk, tool: Tool, mode: Mode) -> Result<Order, OpError> {
        let settings = desk.settings()?;
        let asked_cwd = match &self.scope.cwd {
            Some(text) => Some(project::resolve_dir(&desk.root, text)?),
            None => None,
        };
        let asked: Vec<String> = self.selectors.iter().chain(&self.ids).cloned().collect();
        let wish = Wish {
            suite: self.scope.suite.as_deref(),
            cwd: asked_cwd.as_deref(),
            selectors: &asked,
        };
        let mut suite = suites::choose(&desk.root, &desk.registry, suites::all(desk)?, &wish)?;
        let timeout = time_limit(desk, &suite, self.scope.timeout)?;
        let folder = project::resolve_dir(&desk.root, &suite.dir.to_string_lossy())?;
        let cwd = asked_cwd.unwrap_or_else(|| folder.clone());
        let mut paths = Vec::with_capacity(suite.paths.len());
        for path in &suite.paths {
            paths.push(project::resolve_suite_path(&desk.root, &folder, path)?);
        }
        suite.paths = narrow(&paths, &folder, &cwd);

        let trust::Usable {
            env,
            left_out: mut warnings,
        } = trust::usable(desk, settings, &mut suite)?;
        let mut gone = None;
        let place = Place::of(desk, &suite, &cwd, &folder);
        let mut selectors = Vec::with_capacity(asked.len());
        for text in &self.selectors {
            selectors.push(place.selector(text)?);
        }
        for id in &self.ids {
            let test = place
                .test(id)
                .or_else(|error| known::handed_out(desk, &suite, id).ok_or(error));
            match test {
                Ok(selector) => selectors.push(selector),
                Err(error) if self.lenient => {
                    warnings.push(format!("`{}` was left out: {error}", cut::echo(id)));
                    gone.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        if let (true, Some(error)) = (selectors.is_empty(), gone) {
            return Err(error);
        }
        let (project, choice) = tools(desk, &suite, &cwd, &env).await?;
        warnings.extend(desk.notes_of(&choice.backend.info().name));
        Ok(Order {
            tool: tool.name(),
            mode,
            suite,
            backend: choice.backend,
            coverage: None,
            coverage_paths: Vec::new(),
            passed_over: choice.passed_over,
            project,
            selection: Selection { selectors },
            asked,
            keyword: None,
            markers: None,
            max_failures: None,
            workers: None,
            extra_args: Vec::new(),
            cwd,
            iterations: 1,
            timeout,
            total_timeout: None,
            policy: desk.policy.clone(),
            env,
            warnings,
        })
    }
}

/// The time limit of a run: the call's, else the suite's, else the policy's; never over the cap.
fn time_limit(desk: &Desk, suite: &Suite, asked: Option<Duration>) -> Result<Option<Duration>, OpError> {
    let policy = &desk.policy;
    let cap = policy.max_timeout.map(|cap| {
        let cap = suite.max_timeout.unwrap_or(cap);
        // Who writes a longer limit into the suite means it.
        suite.timeout.map_or(cap, |written| cap.max(written))
    });
    match (asked, cap) {
        (Some(asked), Some(cap)) if asked > cap => Err(OpError::bad_argument(format!(
            "`timeout_s` may be at most {} here, not {}",
            cap.as_secs_f64(),
            asked.as_secs_f64()
        ))
        .with_hint(format!(
            "Narrow the run with a selector, or raise `max_timeout` of suite `{}` in `qaas.toml`.",
            suite.name
        ))),
        (Some(asked), _) => Ok(Some(asked)),
        (None, _) => {
            let limit = suite.timeout.or(policy.default_timeout);
            Ok(limit.map(|limit| cap.map_or(limit, |cap| limit.min(cap))))
        }
    }
}

/// A suite's paths as seen from `cwd`: those below it, relative to it. None where `cwd` lies inside one of them, or
/// elsewhere: then `cwd` itself is what was asked for.
fn narrow(paths: &[String], folder: &Path, cwd: &Path) -> Vec<String> {
    if folder == cwd {
        return paths.to_vec();
    }
    let below = paths.iter().filter_map(|path| {
        let path = folder.join(path);
        let relative = path.strip_prefix(cwd).ok()?;
        Some(relative.to_string_lossy().into_owned()).filter(|relative| !relative.is_empty())
    });
    below.collect()
}

/// What runs the suite: its project with an interpreter whose packages are known, and the first usable backend.
async fn tools(desk: &Desk, suite: &Suite, cwd: &Path, env: &Env) -> Result<(Project, Choice), OpError> {
    let mut project = project::discover(
        &desk.root,
        suite,
        &desk.registry,
        cwd,
        &desk.overrides,
        &desk.environment,
    )?;
    if let Some(interpreter) = &project.interpreter
        && interpreter.packages.is_none()
    {
        // Started as the tests will be: with their environment, not with the caller's secrets.
        let vars = child_environment(&desk.policy, &desk.environment, env, None, None).vars;
        let environment = Environment {
            vars,
            ..(*desk.environment).clone()
        };
        let asked = project::ask(interpreter, &desk.engine.supervisor, &environment).await;
        match asked {
            Ok(asked) => project.interpreter = Some(asked),
            // What has nothing to do with Python does not fail by it.
            Err(_) if !wants_python(desk, suite) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let choice = project::choose_backend(&desk.registry, suite, &project, &desk.overrides)
        .map_err(|error| without_backend(desk, suite, error))?;
    Ok((project, choice))
}

/// An interpreter that is not there is the project's trouble, unless somebody named it: then it is theirs to mend.
fn without_backend(desk: &Desk, suite: &Suite, error: ProjectError) -> OpError {
    let mut error = OpError::from(error);
    if error.error.code == "no_interpreter" {
        if desk.overrides.python.is_some() {
            error.kind = ErrorKind::BadRequest;
        } else if suite.options.contains_key("python") {
            error.kind = ErrorKind::Config;
        }
    }
    error
}

/// Where selectors are looked for.
struct Place<'a> {
    root: &'a Path,
    cwd: &'a Path,
    /// The suite's.
    folder: &'a Path,
    /// Whether ids of the suite are names that need not begin with a file.
    names: bool,
    /// Whether its tests can be listed.
    lists: bool,
    /// Whether a selector may be a keyword expression.
    keywords: bool,
}

/// What the suite's backends say of themselves.
fn infos<'a>(desk: &'a Desk, suite: &'a Suite) -> impl Iterator<Item = BackendInfo> + 'a {
    let named = match &desk.overrides.backend {
        Some(name) => std::slice::from_ref(name),
        None => suite.backend.as_slice(),
    };
    let backends = named.iter().filter_map(|name| desk.registry.get(name));
    backends.map(|backend| backend.info())
}

/// Whether one of the suite's backends can do it.
fn suite_can(desk: &Desk, suite: &Suite, capability: Capability) -> bool {
    infos(desk, suite).any(|info| info.can(capability))
}

fn wants_python(desk: &Desk, suite: &Suite) -> bool {
    infos(desk, suite).any(|info| info.uses_python())
}

impl<'a> Place<'a> {
    fn of(desk: &'a Desk, suite: &Suite, cwd: &'a Path, folder: &'a Path) -> Self {
        Self {
            root: &desk.root,
            cwd,
            folder,
            names: suite_can(desk, suite, Capability::Names),
            lists: suite_can(desk, suite, Capability::List),
            keywords: suite_can(desk, suite, Capability::Keyword),
        }
    }
}

impl Place<'_> {
    fn selector(&self, text: &str) -> Result<Selector, ProjectError> {
        let resolved = project::resolve_from(self.root, self.cwd, &[self.folder], text);
        match resolved {
            Err(error) if self.names && matches!(error.code.as_str(), "no_such_path" | "bad_selector") => {
                locate::name(text).ok_or(error)
            }
            // Where there are no keywords, a word that is no file is a name.
            Ok(keyword @ Selector::Keyword { .. }) if self.names && !self.keywords => {
                Ok(locate::name(text).unwrap_or(keyword))
            }
            other => other,
        }
    }

    /// A test by its id: a file, or something in a file. Never a keyword, never a folder.
    ///
    /// Frameworks have roots of their own, so an id may be relative to a folder that nobody names here. If exactly one
    /// folder of the repository has its file, it is that one; the rows of the run then have to bear the very id.
    fn test(&self, id: &str) -> Result<Selector, OpError> {
        let shape = self.shape();
        let no_test = |what: &str| {
            let message = format!("`{}` {what}", cut::echo(id));
            OpError::new(ErrorKind::BadRequest, "no_such_test", message).with_hint(&*shape)
        };
        let selector = match self.selector(id) {
            Err(error) if error.code == "no_such_path" => self.elsewhere(id, error)?,
            other => other.map_err(|error| OpError::from(error).or_hint(&*shape))?,
        };
        match selector {
            Selector::Keyword { .. } if self.names => {
                locate::name(id).ok_or_else(|| no_test("is not the id of a test"))
            }
            Selector::Keyword { .. } => Err(no_test("is not the id of a test")),
            Selector::Path { path } if self.cwd.join(&path).is_dir() => {
                Err(no_test("is a folder, not a test"))
            }
            other => Ok(other),
        }
    }

    /// What ids look like here, and where they are to be had.
    fn shape(&self) -> String {
        let looks = if self.names {
            "Ids are the tests' whole names, as a run gives them"
        } else {
            "Ids look like `path/to/test_file.py::test_name`"
        };
        if self.lists {
            format!("{looks}; `list_tests` gives them.")
        } else {
            format!("{looks}; the rows of a run give them.")
        }
    }

    fn elsewhere(&self, id: &str, error: ProjectError) -> Result<Selector, OpError> {
        let (file, rest) = locate::split(id);
        let bases = locate::below(self.root, file);
        match bases.as_slice() {
            [] => Err(error.into()),
            [base] => {
                let path = base.join(file);
                Ok(self.selector(&format!("{}{rest}", path.display()))?)
            }
            many => Err(several_files(self.root, file, many)),
        }
    }
}

fn several_files(root: &Path, file: &str, bases: &[PathBuf]) -> OpError {
    let names = bases.iter().take(5).map(|base| {
        let base = base.strip_prefix(root).unwrap_or(base);
        base.join(file).display().to_string()
    });
    let names: Vec<String> = names.collect();
    OpError::new(
        ErrorKind::BadRequest,
        "no_such_path",
        format!(
            "{} does not exist here; there are {}",
            cut::echo(file),
            names.join(", ")
        ),
    )
    .with_hint("Name one of them, or give its folder as `cwd`.")
}

/// Runs an order, and lets it be asked about and ended while it goes on.
pub(super) async fn perform(
    desk: &Desk,
    run_id: String,
    order: Order,
    cancel: Cancel,
    sink: EventSink<'_>,
) -> Arc<Report> {
    let recording = desk.live.begin(&run_id, order.tool, cancel.clone());
    carry_out(desk, run_id, order, cancel, recording, sink).await
}

async fn carry_out(
    desk: &Desk,
    run_id: String,
    order: Order,
    cancel: Cancel,
    mut recording: Recording,
    sink: EventSink<'_>,
) -> Arc<Report> {
    let growing = recording.report().clone();
    // Boxed: an engine's future is large, and every tool's contains one.
    let report = Box::pin(desk.engine.run(run_id, order, cancel, growing, sink)).await;
    let is_it = |facts: &RunFacts| facts.run_id == report.facts.run_id;
    let store = desk.engine.store.as_ref();
    if store.is_some_and(|store| store.latest(&desk.root, is_it).is_some()) {
        recording.is_stored();
    }
    report
}

/// Runs an order in the background and says where to ask for it.
pub(super) fn start(desk: &Desk, order: Order) -> Answer {
    let (run_id, cancel) = (new_run_id(), Cancel::new());
    // Entered before the task first runs, so that the id is known as soon as it is handed out.
    let recording = desk.live.begin(&run_id, order.tool, cancel.clone());
    let (desk, id) = (desk.clone(), run_id.clone());
    tokio::spawn(async move {
        carry_out(&desk, id, order, cancel, recording, &mut |_| {}).await;
    });
    let next = NextCall::new(Tool::GetRun, "wait for its end, or see how far it is")
        .with("run_id", run_id.as_str())
        .with("wait_s", 60);
    Answer::Started(Box::new(Started {
        run_id,
        status: Status::Queued,
        next: vec![next],
    }))
}
