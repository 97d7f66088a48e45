//! `qaas.toml` in two steps: `file` is what may be written, `settings` is what it means.

mod check;
mod decode;
mod fault;
mod file;
mod node;
mod read;
mod resolve;
mod schema;
mod settings;
mod units;
mod values;
mod words;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use fault::Fault;
use node::Node;

pub use read::FILE_NAME;
pub use schema::schema;
pub use settings::{CommandBackend, CoverageChoice, Env, McpSettings, Place, PluginFile, Settings, Suite};
pub use units::{duration, duration_meant};

/// A `qaas.toml` that cannot be used: what, where, why, and what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.render())]
pub struct ConfigError {
    pub file: PathBuf,
    /// Counted from 1. `None` if the file as a whole is the matter (unreadable, too large).
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// Dotted: `suite.unit.timeout`.
    pub key: Option<String>,
    pub message: String,
    pub hint: Option<String>,
}

impl ConfigError {
    fn render(&self) -> String {
        let file = self.file.display();
        let place = self
            .line
            .map(|line| format!(":{line}:{}", self.column.unwrap_or(1)));
        let key = self.key.as_ref().map(|key| format!(" {key}:"));
        let (place, key) = (place.unwrap_or_default(), key.unwrap_or_default());
        format!("{file}{place}:{key} {}", self.message)
    }
}

/// Reads the repository's configuration: `explicit` if given, else `qaas.toml` in `root`, else the defaults (no
/// suites). Backends, options and tools that it names are checked by [`Settings::check_backends`],
/// [`Settings::check_options`] and [`Settings::check_tools`], once it is known which there are.
pub fn load(root: &Path, explicit: Option<&Path>) -> Result<Settings, ConfigError> {
    let file = match explicit {
        Some(file) => file.to_owned(),
        None => root.join(FILE_NAME),
    };
    if explicit.is_none() && !read::is_there(root, &file).map_err(|fault| locate_fault(&file, fault))? {
        return Ok(Settings::default());
    }
    let text = read::read(&file).map_err(|fault| locate_fault(&file, fault))?;
    parse(&file, &text)
}

/// Reads a configuration's text. `file` is where it comes from, for errors.
pub fn parse(file: &Path, text: &str) -> Result<Settings, ConfigError> {
    let settings = Node::parse(text).and_then(|node| resolve::resolve(decode::decode(&node)?, node.places()));
    let mut settings = settings.map_err(|fault| locate_fault(file, fault))?;
    settings.file = Some(file.to_owned());
    Ok(settings)
}

fn locate_fault(file: &Path, fault: Fault) -> ConfigError {
    ConfigError {
        file: file.to_owned(),
        line: fault.place.map(|place| place.line),
        column: fault.place.map(|place| place.column),
        key: fault.key,
        message: fault.message,
        hint: fault.hint,
    }
}
