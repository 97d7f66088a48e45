//! What a `qaas.toml` means: everything resolved, defaults filled in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use process::Limits;

/// A repository's configuration, ready to use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The file it came from; `None` for the defaults.
    pub file: Option<PathBuf>,
    /// In the file's order. Empty: suites are detected ([`crate::project::suites`]).
    pub suites: Vec<Suite>,
    /// `[backend.NAME]` tables, by name.
    pub backends: BTreeMap<String, CommandBackend>,
    pub env: Env,
    pub mcp: McpSettings,
    /// Where every key stands in the file, dotted; list items as `key[0]`.
    pub places: BTreeMap<String, Place>,
}

/// One named set of tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    pub name: String,
    /// In order of preference. Empty: nobody said, and detection ([`crate::project::suites`]) decides.
    pub backend: Vec<String>,
    pub coverage: CoverageChoice,
    /// Relative to the root, `.` by default.
    pub dir: PathBuf,
    /// Relative to `dir`.
    pub paths: Vec<String>,
    /// `None`: the policy's.
    pub timeout: Option<Duration>,
    /// The longest limit an agent may ask for. `None`: the policy's.
    pub max_timeout: Option<Duration>,
    /// Between SIGTERM and SIGKILL at the time limit. `None`: 2 s.
    pub grace: Option<Duration>,
    /// `options = { … }`, for the backend. `python` is read by discovery.
    pub options: Map<String, Value>,
    pub limits: Limits,
    /// Found by looking at the directory, not written by anybody.
    pub detected: bool,
}

impl Suite {
    /// A suite with the defaults of the field, for detection and tests.
    pub fn new(name: impl Into<String>, backend: Vec<String>) -> Self {
        Self {
            name: name.into(),
            backend,
            coverage: CoverageChoice::Default,
            dir: PathBuf::from("."),
            paths: Vec::new(),
            timeout: None,
            max_timeout: None,
            grace: None,
            options: Map::new(),
            limits: Limits::default(),
            detected: false,
        }
    }
}

/// What a suite says about measuring coverage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CoverageChoice {
    /// Nothing: the first backend with the capability and the language of the suite's test backend.
    #[default]
    Default,
    /// `coverage = false`.
    Off,
    /// `coverage = "NAME"`.
    Named(String),
}

/// A `[backend.NAME]` table as written; the backend that its `kind` names reads the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandBackend {
    pub kind: String,
    /// All other keys.
    pub table: Map<String, Value>,
    /// The plug-in file that the table names, as it was when it was read. Set by whoever loads plug-ins, before the
    /// trust of the table is looked at: consent is bound to it.
    pub file: Option<PluginFile>,
    /// Where the table stands in the file, for errors of its reader. Counted from 1.
    pub line: u32,
    /// Where each key stands, dotted below the table (`report.format`; array items as `run[0]`).
    pub places: BTreeMap<String, Place>,
}

/// A file that a table names, and its content's hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFile {
    /// As it is written.
    pub path: String,
    /// In hexadecimal.
    pub sha256: String,
}

/// A place in `qaas.toml`. Counted from 1; `column` counts characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Place {
    pub(super) fn new(line: usize, column: usize) -> Self {
        Self {
            line: line as u32,
            column: column as u32,
        }
    }
}

/// `[env]`: what the tests of an agent's run get beside the allowlist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env {
    pub pass: Vec<String>,
    pub set: BTreeMap<String, String>,
}

/// `[mcp]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpSettings {
    /// Names of the tools to offer. `None`: all that the backends can serve.
    pub tools: Option<Vec<String>>,
    pub max_bytes: Option<usize>,
}
