//! What may be written in `qaas.toml`. The JSON schema is made from these types, their doc comments are its texts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::words::{BackendTable, CoverageWord, DurationWord, NameList, SizeWord};
use crate::policy::{LEAST_ANSWER_BYTES, MOST_ANSWER_BYTES};

/// Configuration of qaas: what the tests of this repository are and how they are run. Everything is optional;
/// without the file, qaas looks at the directory and decides for itself.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    /// Named sets of tests: `[suite.NAME]`. Without any, suites are found by looking at the directory.
    pub(super) suite: BTreeMap<String, SuiteTable>,
    /// Backends of your own: `[backend.NAME]`, usable as `backend = "NAME"` in a suite.
    pub(super) backend: BTreeMap<String, BackendTable>,
    /// The environment of the tests.
    pub(super) env: EnvTable,
    /// What the MCP server offers and how large its answers get.
    pub(super) mcp: McpTable,
}

/// One set of tests.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SuiteTable {
    /// What runs the tests: one name, or several in order of preference; the first that can be used is. Without
    /// it, the backends that suit the directory. `qaas backend list` names them.
    pub(super) backend: Option<NameList>,
    /// What measures coverage: a backend's name, or `false` for no coverage at all.
    pub(super) coverage: Option<CoverageWord>,
    /// The folder the tests run in, relative to this file's folder. Default: ".".
    pub(super) dir: Option<String>,
    /// Where the tests are when nothing is selected, relative to `dir`. Default: what the framework's own
    /// configuration says.
    pub(super) paths: Option<Vec<String>>,
    /// How long one run may take. Default: 5 minutes for agents, no limit for people.
    pub(super) timeout: Option<DurationWord>,
    /// The longest time limit that an agent may ask for. Default: 15 minutes.
    pub(super) max_timeout: Option<DurationWord>,
    /// How long the tests get to end by themselves once the time limit has passed. Default: 2 seconds.
    pub(super) grace: Option<DurationWord>,
    /// Options of the backend; `qaas backend list` names them. `python` is the interpreter.
    pub(super) options: Map<String, Value>,
    /// Limits on what the tests may use. Default: none.
    pub(super) limits: LimitsTable,
}

/// Limits on what the tests of a suite may use. Each is passed to the operating system.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LimitsTable {
    /// How many processes and threads there may be at once.
    #[schemars(range(min = 1))]
    pub(super) processes: Option<u64>,
    /// Memory.
    pub(super) memory: Option<SizeWord>,
    /// The largest file that a test may write.
    pub(super) file_size: Option<SizeWord>,
    /// Processor time of one process.
    pub(super) cpu: Option<DurationWord>,
}

/// The environment of the tests. People's runs inherit everything; an agent's runs get a short list of harmless
/// variables, and what stands here.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct EnvTable {
    /// Names of variables that an agent's runs get too, with the value they have where qaas was started.
    pub(super) pass: Vec<String>,
    /// Variables that are set for every run.
    pub(super) set: BTreeMap<String, String>,
}

/// What the MCP server offers and how large its answers get.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct McpTable {
    /// Names of the tools to offer. Default: all that the backends can serve.
    pub(super) tools: Option<Vec<String>>,
    /// The size of an answer in bytes, all parts together. Default: 20000.
    #[schemars(range(min = LEAST_ANSWER_BYTES, max = MOST_ANSWER_BYTES))]
    pub(super) max_bytes: Option<u64>,
}
