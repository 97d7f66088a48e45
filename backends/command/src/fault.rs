//! What is wrong with a `[backend.NAME]` table.

use std::fmt;

pub(crate) use runner_core::words::suggest;

/// One fault of a table, before it is known in which file the table stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Dotted below the table, items of lists as `run[0]`. Empty for the table itself.
    pub key: String,
    pub message: String,
    pub hint: String,
}

impl Fault {
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
            hint: hint.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.key, self.message, self.hint)
    }
}

impl std::error::Error for Fault {}
