//! What a `qaas.toml` means: everything resolved, defaults filled in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::process::Limits;

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
}

/// One named set of tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    pub name: String,
    /// In order of preference. Never empty.
    pub backend: Vec<String>,
    /// The coverage backend; `None` for `coverage = false`.
    pub coverage: Option<String>,
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
            coverage: None,
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

/// A `[backend.NAME]` table as written; the backend that its `kind` names reads the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandBackend {
    pub kind: String,
    pub table: Map<String, Value>,
    /// Where the table stands in the file, for errors of its reader.
    pub line: usize,
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
