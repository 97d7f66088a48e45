//! What to call next: ready calls, at most two in an answer.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Tool;

/// A call that can be made as it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NextCall {
    pub tool: Tool,
    pub arguments: Map<String, Value>,
    pub why: String,
}

impl NextCall {
    pub fn new(tool: Tool, why: impl Into<String>) -> Self {
        Self {
            tool,
            arguments: Map::new(),
            why: why.into(),
        }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.arguments.insert(name.to_owned(), value.into());
        self
    }

    /// Adds the argument if there is one.
    #[must_use]
    pub fn maybe(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}
