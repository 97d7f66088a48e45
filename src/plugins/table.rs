//! The table of a plug-in: `path`, `config`, `timeout`, `detect`. The same for every kind.

use std::time::Duration;

use engine::config::{CommandBackend, duration, duration_meant};
use runner_core::registry::{Marker, nearest};
use serde_json::{Map, Value};

/// For the answer to one call.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);
/// A backend that takes longer than this for one answer hangs.
const LONGEST: Duration = Duration::from_secs(3600);

const KEYS: [&str; 4] = ["path", "config", "timeout", "detect"];

/// What a table says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// As written. `None`: a plug-in of this name that is installed or on PATH.
    pub(crate) path: Option<String>,
    /// Handed to the plug-in as it is.
    pub(crate) config: Map<String, Value>,
    pub(crate) timeout: Duration,
    pub(crate) detect: Vec<Marker>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            path: None,
            config: Map::new(),
            timeout: TIMEOUT,
            detect: Vec::new(),
        }
    }
}

/// What is wrong with a key of the table: key, message, hint.
pub(crate) type Wrong = (String, String, String);

impl Table {
    pub(crate) fn read(table: &CommandBackend) -> Result<Self, Wrong> {
        let wrong =
            |key: &str, message: &str, hint: &str| (key.to_owned(), message.to_owned(), hint.to_owned());
        let table = &table.table;
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let hint = match nearest(key, KEYS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("keys that may stand here: {}", KEYS.join(", ")),
            };
            return Err((key.clone(), format!("there is no key `{key}` here"), hint));
        }
        let path = match table.get("path") {
            None => None,
            Some(Value::String(path)) => Some(path.clone()),
            Some(_) => return Err(wrong("path", "must be a string", "write the path of the program")),
        };
        let config = match table.get("config") {
            None => Map::new(),
            Some(Value::Object(config)) => config.clone(),
            Some(_) => return Err(wrong("config", "must be a table", "write `config = { … }`")),
        };
        let detect = command::detect(table).map_err(|fault| (fault.key, fault.message, fault.hint))?;
        Ok(Self {
            path,
            config,
            timeout: timeout(table.get("timeout"))?,
            detect,
        })
    }
}

fn timeout(value: Option<&Value>) -> Result<Duration, Wrong> {
    let (found, meant) = match value {
        None => return Ok(TIMEOUT),
        Some(Value::String(text)) => (duration(text), duration_meant(text)),
        Some(Value::Number(seconds)) => (seconds.as_u64().map(Duration::from_secs), None),
        Some(_) => (None, None),
    };
    let sensible = found.filter(|found| !found.is_zero() && *found <= LONGEST);
    sensible.ok_or_else(|| {
        let hint = meant.map_or_else(
            || "write for example `timeout = \"10s\"`; at most an hour".to_owned(),
            |meant| format!("write `timeout = \"{meant}\"`"),
        );
        ("timeout".to_owned(), "must be a time above zero".to_owned(), hint)
    })
}
