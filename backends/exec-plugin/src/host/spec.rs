//! What is known of a backend: before it is started, and once it spoke for itself.

use std::path::PathBuf;
use std::time::Duration;

use runner_core::backend::{BackendError, BackendInfo};
use serde_json::{Map, Value};

/// What is known of a backend before it is started.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// As in `backend = "…"`; what it calls itself does not count.
    pub name: String,
    /// The repository's root, real path.
    pub root: PathBuf,
    /// `config` of its table.
    pub config: Map<String, Value>,
    /// For the answer to one call.
    pub timeout: Duration,
    /// How long a process is kept that waits for the next question.
    pub idle: Duration,
    /// What it said of itself an earlier time, if it is still the same program; and its words then that were left out.
    pub known: Option<(BackendInfo, Vec<String>)>,
}

/// What a backend said of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    pub info: BackendInfo,
    /// The protocol version that was chosen.
    pub protocol: u32,
    pub features: Vec<String>,
    /// Words of it that this qaas does not know, and leaves out.
    pub left_out: Vec<String>,
}

/// Whether the program may be started now. Asked each time: a person's trust may come or go.
pub type Gate = Box<dyn Fn() -> Result<(), BackendError> + Send + Sync>;
