//! What to start and what it leaves behind: written by backends, carried out by the engine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Command lines to run one after another, files to lay in the scratch first, files they leave behind.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan {
    /// Laid into the scratch before the first step.
    #[serde(default)]
    pub files: Vec<ScratchFile>,
    /// In the order in which they run.
    pub steps: Vec<Step>,
    /// Read back for the reader's `finish`, by name.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
}

/// One step, no files.
impl From<Step> for Plan {
    fn from(step: Step) -> Self {
        Self {
            steps: vec![step],
            ..Self::default()
        }
    }
}

/// A file that a plan needs. The path is relative to the scratch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScratchFile {
    /// Relative to the scratch, without `..`.
    pub path: PathBuf,
    /// The whole file.
    pub contents: String,
}

/// A file that a step is expected to leave. Believed only if it is a regular file that changed since the plan began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// What the reader asks for it by.
    pub name: String,
    /// Absolute, mostly inside the scratch.
    pub path: PathBuf,
}

/// One command line. Never a shell's.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Step {
    /// For people and for [`StepExit`]: `pytest`, `coverage json`.
    pub name: String,
    /// An absolute path, or a name to be looked for on PATH.
    pub program: PathBuf,
    /// What stands between the program and `args`: `-m pytest`, or `-m coverage run -m pytest` once wrapped.
    #[serde(default)]
    pub launcher: Vec<String>,
    /// One word each, never taken apart by a shell.
    #[serde(default)]
    pub args: Vec<String>,
    /// Set on top of the run's environment; `None` removes the variable.
    #[serde(default)]
    pub env: BTreeMap<String, Option<String>>,
    /// Put in front of path lists (`PYTHONPATH`): what the run's environment (and [`Step::env`]) holds stays behind
    /// it, after the platform's separator. A variable that is absent or empty becomes the entry alone. A plan cannot
    /// see the environment, so it cannot do this itself.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env_prepend: BTreeMap<String, String>,
    /// Where it runs, absolute.
    pub cwd: PathBuf,
    /// What becomes of what it prints.
    #[serde(default)]
    pub stdout: StdoutUse,
    /// Whether the step's standard input is the private event channel (else it is null).
    #[serde(default)]
    pub channel: bool,
    /// What to ask of the running processes when the time limit comes, before they are ended.
    #[serde(default)]
    pub on_deadline: Option<Dump>,
    /// Run even if an earlier step did not exit with 0 (a report after failed tests).
    #[serde(default)]
    pub always: bool,
    /// How the step can be started before it is known what is asked of it. `None`: it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub park: Option<Park>,
}

impl Step {
    /// The whole command line, as it is started.
    pub fn argv(&self) -> Vec<String> {
        let mut argv = vec![self.program.to_string_lossy().into_owned()];
        argv.extend(self.launcher.iter().cloned());
        argv.extend(self.args.iter().cloned());
        argv
    }
}

/// The name of a step that is one of several of a kind, by its number from 0: `pytest`, `pytest (2)`.
pub fn step_name(name: &str, number: usize) -> String {
    match number {
        0 => name.to_owned(),
        later => format!("{name} ({})", later + 1),
    }
}

/// A start ahead of time: the program does all of its own start-up that no selection and no code of the project has a part
/// in, waits there, and goes on with the arguments of the run that takes it. Everything else about the step (program,
/// launcher, environment, working folder, files) is the same as when it is started at once.
///
/// The program speaks over the step's channel, one line of JSON each: `{"parked": {"files": […]}}` when it waits, with the
/// absolute paths of all that it was made of (if one of them changes, it is thrown away); then it reads one line
/// `{"args": […]}`, the step's [`Step::args`]; then it answers `"resumed"` and, when it reads `"go"`, goes on; at the end of
/// its input without that it ends. Instead of either word it may say `{"refused": "why"}` and end: the step is then started
/// at once, as if there had been no such program. It must do nothing before it goes on that a run would notice, and refuse
/// wherever it is in doubt.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct Park {
    /// In place of [`Step::args`]: those that are the same for every run of the suite.
    pub args: Vec<String>,
    /// Set on top of [`Step::env`]. It must be gone from the environment when the program goes on.
    pub env: BTreeMap<String, String>,
}

/// How a step came to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// By a process that was waiting in its start-up.
    Warm,
    /// By a new process.
    Cold,
}

impl Start {
    /// The word for it in an answer.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }
}

/// What a step's standard output is for.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StdoutUse {
    /// Read as lines while the step runs.
    #[default]
    Lines,
    /// Kept whole as the artifact of this name (a tool that can only print its report).
    File(String),
}

/// How to ask hanging processes for their stacks: a signal to every descendant that owns one of the files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dump {
    /// Counted from the end of the real-time signals: the signal sent is `SIGRTMAX - from_rtmax`.
    pub from_rtmax: u8,
    /// Folder (absolute) and prefix of the files `PREFIX<pid>` that the processes write.
    pub folder: PathBuf,
    /// How the names of those files begin.
    pub prefix: String,
}

/// How one step ended.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StepExit {
    /// The step's name.
    pub step: String,
    /// `None` after a signal, or if it never started.
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Ended by qaas because the time limit had passed.
    #[serde(default)]
    pub timed_out: bool,
    /// Ended by qaas because somebody asked for it.
    #[serde(default)]
    pub cancelled: bool,
    /// Seconds.
    pub duration_s: f64,
    /// Processes that outlived the step's main process and were ended: `name (pid)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaked: Vec<String>,
    /// Something that the supervision itself has to say (it was killed by a test, a limit was hit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl StepExit {
    /// Whether qaas ended it: its exit code then says how it took that, and nothing of its tests.
    pub fn was_ended(&self) -> bool {
        self.timed_out || self.cancelled
    }
}

/// The name of a signal that a process may die of, on this system.
pub fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        // The numbers of these differ.
        7 if cfg!(target_os = "linux") => "SIGBUS",
        31 if cfg!(target_os = "linux") => "SIGSYS",
        10 if cfg!(target_os = "macos") => "SIGBUS",
        12 if cfg!(target_os = "macos") => "SIGSYS",
        _ => return None,
    })
}

/// Where lines came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The private event channel.
    Channel,
}

/// All complete lines that one read brought, without their line ends, decoded lossily.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lines {
    /// Index into [`Plan::steps`].
    pub step: usize,
    /// Which one.
    pub stream: Stream,
    /// In the order in which they came.
    pub lines: Vec<String>,
}

/// The planned files as the engine found them after the last step.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Artifacts {
    files: BTreeMap<String, ArtifactState>,
    /// Contents of the stack files asked for by [`Dump`], by process id.
    pub dumps: BTreeMap<u32, String>,
}

/// What became of one planned file.
#[derive(Clone, Debug, PartialEq)]
pub enum ArtifactState {
    /// It is there, whole.
    Bytes(Vec<u8>),
    /// It is not there.
    Missing,
    /// It is there, but no step of this plan wrote it.
    Stale,
    /// Not a regular file, too large, not readable: why, in words.
    Unusable(String),
}

impl Artifacts {
    /// Sets what became of a file.
    pub fn insert(&mut self, name: impl Into<String>, state: ArtifactState) {
        self.files.insert(name.into(), state);
    }

    /// The state of a planned file; `Missing` for a name that was not planned.
    pub fn get(&self, name: &str) -> &ArtifactState {
        self.files.get(name).unwrap_or(&ArtifactState::Missing)
    }

    /// All planned files, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ArtifactState)> {
        self.files.iter().map(|(name, state)| (name.as_str(), state))
    }

    /// The contents, or why there are none, as a sentence's end ("was not written").
    pub fn bytes(&self, name: &str) -> Result<&[u8], String> {
        match self.get(name) {
            ArtifactState::Bytes(bytes) => Ok(bytes),
            ArtifactState::Missing => Err("was not written".to_owned()),
            ArtifactState::Stale => Err("was not written by this run (it is older)".to_owned()),
            ArtifactState::Unusable(why) => Err(why.clone()),
        }
    }
}
