//! `qaas.toml` in two steps: `file` is what may be written, `settings` is what it means.

mod settings;

use std::path::{Path, PathBuf};

pub use settings::{CommandBackend, CoverageChoice, Env, McpSettings, Place, Settings, Suite};

/// A `qaas.toml` that cannot be used: what, where, why, and what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.render())]
pub struct ConfigError {
    pub file: PathBuf,
    /// Counted from 1. `None` if the file as a whole is the matter (unreadable, too large).
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// Dotted: `suite.unit.timeout`.
    pub key: Option<String>,
    pub message: String,
    pub hint: Option<String>,
}

impl ConfigError {
    fn render(&self) -> String {
        let mut text = self.file.display().to_string();
        if let Some(line) = self.line {
            text.push_str(&format!(":{line}:{}", self.column.unwrap_or(1)));
        }
        if let Some(key) = &self.key {
            text.push_str(&format!(": {key}"));
        }
        format!("{text}: {}", self.message)
    }
}

/// Reads the repository's configuration: `explicit` if given, else `qaas.toml` in `root`, else the defaults (no suites).
pub fn load(root: &Path, explicit: Option<&Path>) -> Result<Settings, ConfigError> {
    let _ = (root, explicit);
    todo!("config room")
}

/// The JSON schema of `qaas.toml`, generated from the types that parse it.
pub fn schema() -> serde_json::Value {
    todo!("config room")
}
