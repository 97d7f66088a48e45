//! The seam: a backend says which command to run and what its output means.
//!
//! A backend never spawns, never waits, never touches the clock or the environment. So time limits, killing, output
//! caps, cancelling, decoding and cleaning exist once (in the engine), and every backend can be tested from recorded
//! bytes. All synchronous: object-safe, and fit for a C ABI.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::{Ending, TestEvent};
use crate::facts::Project;
use crate::plan::{Artifacts, Lines, Plan, StepExit};
use crate::selector::{Selection, Selector};

/// Turns a request into a plan, and output into events.
pub trait TestBackend: Send + Sync {
    /// What it is and can do. The same at every call, and cheap: it is asked often.
    fn info(&self) -> BackendInfo;

    /// The command lines that carry out `request`. Pure: same input, same plan.
    fn plan(&self, request: &RunRequest, project: &Project) -> Result<Plan, BackendError>;

    /// Puts this backend's measuring around another backend's plan (capability `coverage`).
    fn wrap(&self, request: &RunRequest, project: &Project, inner: Plan) -> Result<Plan, BackendError> {
        let _ = (request, project, inner);
        Err(BackendError::unsupported(&self.info().name, Capability::Coverage))
    }

    /// What the words that a person has for the framework itself want to see of it.
    fn shows(&self, words: &[String]) -> Shows {
        let _ = words;
        Shows::Results
    }

    /// A reader with fresh state, for one iteration.
    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader>;

    /// This backend for one run, which may be over (cancelled, out of time) before the backend has answered. Only for one
    /// that itself waits for somebody else, such as another process; the others answer at once, and say `None`.
    fn for_run(&self, wanted: &StillWanted) -> Option<Arc<dyn TestBackend>> {
        let _ = wanted;
        None
    }
}

/// What is to be seen of a framework.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shows {
    /// What its tests come to.
    #[default]
    Results,
    /// What it prints, as it prints it; its tests run as ever.
    Itself,
    /// What it prints, and nothing else: it is asked for something else than running tests (its help, its markers).
    Instead,
}

/// Whether a backend or a suite may be called that, in a table, installed, or on PATH: it becomes a key and the name of
/// a file.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len())
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// The rule of [`is_name`], for messages.
pub const NAMES: &str = "letters, digits, `-`, `_` and `.`, a letter or digit first, at most 64 of them";

/// Understands the output of one iteration.
pub trait OutputReader: Send {
    /// All complete lines that one read brought. May be called with any interleaving of streams.
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>);

    /// Whether nothing more of this run can be understood, whatever comes: a backend in another process is gone. Then there
    /// is no use in the run's going on.
    fn is_lost(&self) -> bool {
        false
    }

    /// Called once, after the last step. `exits` has one entry for each step that was started.
    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError>;
}

/// What a backend says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackendInfo {
    /// As written in `backend = "…"`.
    pub name: String,
    /// What it drives, for people: `pytest`, `vitest`.
    pub framework: String,
    /// `python`, `javascript`, `rust`, or empty.
    pub language: String,
    /// What may be asked of it. Anything else is refused before it is asked ([`BackendInfo::check`]).
    pub capabilities: BTreeSet<Capability>,
    /// What must be there for it to be usable. All of them.
    pub needs: Vec<Need>,
    /// What may stand under `options` of a suite.
    pub options: Vec<OptionSpec>,
}

impl BackendInfo {
    /// Whether it says that it can do this.
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// Whether a Python interpreter is part of what it does.
    pub fn uses_python(&self) -> bool {
        let python = |need: &Need| matches!(need, Need::Python | Need::PythonPackage(_));
        self.language == "python" || self.needs.iter().any(python)
    }

    /// The error for a request that asks for more than the backend says it can: it must not be carried out in part.
    pub fn check(&self, request: &RunRequest) -> Result<(), BackendError> {
        let selected = |wanted: fn(&Selector) -> bool| request.selection.selectors.iter().any(wanted);
        let asked = [
            (Capability::List, request.mode == Mode::List),
            (Capability::Run, request.mode == Mode::Run),
            (
                Capability::Keyword,
                request.filters.keyword.is_some() || selected(|one| matches!(one, Selector::Keyword { .. })),
            ),
            (
                Capability::Single,
                selected(|one| matches!(one, Selector::Node { .. })),
            ),
            (Capability::MaxFailures, request.filters.max_failures.is_some()),
        ];
        match asked
            .iter()
            .find(|(capability, asked)| *asked && !self.can(*capability))
        {
            Some((capability, _)) => Err(BackendError::unsupported(&self.name, *capability)),
            None => Ok(()),
        }
    }
}

/// Something that a backend may be able to do, and must not be asked for if it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Runs tests.
    Run,
    /// Lists tests without running them.
    List,
    /// Runs exactly one test by its id.
    Single,
    /// Selects by a keyword expression.
    Keyword,
    /// Rows arrive while the tests run.
    Stream,
    /// Wraps another backend's plan and measures coverage.
    Coverage,
    /// Stops after a number of failures.
    MaxFailures,
    /// Its ids are names that need not begin with a file (`crate::module::test`), so an id is taken as it is written.
    Names,
}

impl Capability {
    /// The word in `capabilities`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::List => "list",
            Self::Single => "single",
            Self::Keyword => "keyword",
            Self::Stream => "stream",
            Self::Coverage => "coverage",
            Self::MaxFailures => "max_failures",
            Self::Names => "names",
        }
    }
}

/// One thing a backend cannot do without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// A Python interpreter.
    Python,
    /// A distribution in that interpreter's environment.
    PythonPackage(String),
    /// A program on PATH.
    Program(String),
    /// A package of the JavaScript project.
    NodePackage(String),
}

/// One key that may stand under a suite's `options`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionSpec {
    /// The key.
    pub name: String,
    /// What its value has to be.
    pub kind: OptionKind,
    /// What it does, in one line for people.
    pub about: String,
}

/// The type of an option's value, as TOML and JSON know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Integer,
    /// One string.
    String,
    /// An array of strings.
    Strings,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Run tests. Every run but one that lists.
    Run,
    /// Say which tests there are, and run none.
    List,
}

/// Whether somebody still waits for what a backend does: not any more once the run was cancelled or its time is over.
#[derive(Clone, Default)]
pub struct StillWanted(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl StillWanted {
    /// As long as `still` says so.
    pub fn while_true(still: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(still)))
    }

    /// `true` unless somebody said otherwise.
    pub fn still(&self) -> bool {
        self.0.as_ref().is_none_or(|still| still())
    }
}

impl std::fmt::Debug for StillWanted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "StillWanted({})", self.still())
    }
}

/// What narrows or shapes a run beyond its selection: from a tool's arguments or a person's flags to the framework's
/// own words, unchanged by whoever hands it on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Filters {
    /// Words for the framework, typed by a person after `--`.
    pub extra_args: Vec<String>,
    /// A keyword expression on top of the selection (`-k`).
    pub keyword: Option<String>,
    /// A marker expression (`-m`).
    pub markers: Option<String>,
    /// Stop after this many failures.
    pub max_failures: Option<u32>,
    /// Parallel workers, in the framework's own words (`-n auto`).
    pub workers: Option<String>,
    /// Whether failure texts are wanted whole where the framework would shorten them (pytest's comparisons).
    #[serde(default)]
    pub full_texts: bool,
    /// Source paths to measure, empty for the backend's default. Only with a coverage backend.
    pub coverage_paths: Vec<String>,
}

/// What is asked of a backend: everything its plan may depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// Run, or list.
    pub mode: Mode,
    /// What is asked for. Where it names files or tests, `paths` does not count.
    pub selection: Selection,
    /// The suite's `options`, checked against [`BackendInfo::options`].
    pub options: Map<String, Value>,
    /// What to run when nothing is selected: files and folders, relative to `cwd`. Empty means everything in `cwd`. Those
    /// of the suite that lie outside `cwd` are gone already, so a backend takes them as they are.
    pub paths: Vec<String>,
    /// On the wire its fields stand among the others.
    #[serde(flatten)]
    pub filters: Filters,
    /// Where the steps run, absolute and real.
    pub cwd: PathBuf,
    /// This run's private folder, absolute and short. The plan's files are laid here.
    pub scratch: PathBuf,
    /// A folder that lives longer than a run, for the framework's own cache. `None` leaves the framework's alone.
    pub cache_dir: Option<PathBuf>,
    /// A random word of this run, so that an older report cannot be taken for this one's.
    pub nonce: String,
    /// The other side of a terminal at which a person sits, for tests that talk to one. Not on the wire.
    #[serde(skip)]
    pub terminal: Option<PathBuf>,
}

impl RunRequest {
    /// Whether all of the suite is to run: nothing is selected, filtered or stopped early. What stands behind `--` may
    /// narrow a run too: it is in the framework's own words, so it is taken to.
    pub fn is_whole(&self) -> bool {
        let Filters {
            keyword,
            markers,
            max_failures,
            extra_args,
            ..
        } = &self.filters;
        let unfiltered =
            keyword.is_none() && markers.is_none() && max_failures.is_none() && extra_args.is_empty();
        unfiltered && self.selection.selectors.is_empty()
    }

    /// A request for everything in `cwd`; callers change what they need.
    pub fn new(mode: Mode, cwd: impl Into<PathBuf>, scratch: impl Into<PathBuf>) -> Self {
        Self {
            mode,
            selection: Selection::default(),
            options: Map::new(),
            paths: Vec::new(),
            filters: Filters::default(),
            cwd: cwd.into(),
            scratch: scratch.into(),
            cache_dir: None,
            nonce: String::new(),
            terminal: None,
        }
    }

    /// A string option of the suite.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).and_then(Value::as_str)
    }

    /// An array-of-strings option of the suite, empty if absent.
    pub fn option_list(&self, name: &str) -> Vec<String> {
        let values = self.options.get(name).and_then(Value::as_array);
        values
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }
}

/// The code of a request that a backend does not carry out. Whoever asked has to ask for something else.
pub const UNSUPPORTED: &str = "unsupported";

/// The code of the error of a backend in another process that had not answered when nobody waited any more: the run was
/// cancelled, or its time was over.
pub const UNANSWERED: &str = "unanswered";

/// The code of the error of a plug-in whose process a command that starts nothing does not start.
pub const NOT_STARTED: &str = "not_started";

/// A request that a backend cannot carry out, or a result it cannot read at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct BackendError {
    /// A stable word for programs: `unsupported`, `no_interpreter`, `bad_option`, `crashed`.
    pub code: String,
    /// What is wrong, in one sentence for people.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl BackendError {
    /// An error without a hint.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            hint: None,
        }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error for a request that needs what the backend cannot do (code [`UNSUPPORTED`]).
    pub fn unsupported(backend: &str, capability: Capability) -> Self {
        Self::new(
            UNSUPPORTED,
            format!("backend `{backend}` cannot do `{}`", capability.as_str()),
        )
    }
}
