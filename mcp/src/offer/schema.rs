//! A tool's definition as clients see it: flat schemas. They stay near 1 kB each.

use engine::config::{Settings, Suite};
use engine::policy::ANSWER_BYTES;
use ops::{Argument, Definition, Kind};
use serde_json::{Map, Value, json};

use super::{Annotations, ToolSpec};

/// What the schemas say about this repository.
pub(super) struct Words {
    /// Named only when there is a choice.
    suites: Vec<String>,
    /// The size of an answer to a call that names none.
    answer_bytes: usize,
}

impl Words {
    pub(super) fn of(settings: Option<&Settings>, suites: &[Suite]) -> Self {
        let names: Vec<String> = suites.iter().map(|suite| suite.name.clone()).collect();
        let configured = settings.and_then(|settings| settings.mcp.max_bytes);
        Self {
            suites: if names.len() > 1 { names } else { Vec::new() },
            answer_bytes: configured.unwrap_or(ANSWER_BYTES),
        }
    }
}

pub(super) fn spec(definition: &Definition, words: &Words) -> ToolSpec {
    ToolSpec {
        name: definition.tool.name(),
        title: definition.title,
        description: definition.description,
        input_schema: input(definition, words),
        output_schema: output(),
        annotations: Annotations::from(definition.hints),
    }
}

fn input(definition: &Definition, words: &Words) -> Map<String, Value> {
    let shown = |argument: &&Argument| !matches!(argument.kind, Kind::Suite) || !words.suites.is_empty();
    let arguments = definition.arguments().filter(shown);
    let required: Vec<&str> = arguments
        .clone()
        .filter(|argument| argument.required)
        .map(|argument| argument.name)
        .collect();
    let properties = arguments.map(|argument| (argument.name.to_owned(), property(argument, words)));
    let mut schema = object(properties.collect(), &required);
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

fn object(properties: Map<String, Value>, required: &[&str]) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn property(argument: &Argument, words: &Words) -> Value {
    let about = about(argument, words);
    match argument.kind {
        Kind::String => json!({"type": "string", "description": about}),
        Kind::Strings => json!({"type": "array", "items": {"type": "string"}, "description": about}),
        Kind::Flag => json!({"type": "boolean", "description": about}),
        Kind::Count { .. } | Kind::Bytes => json!({"type": "integer", "description": about}),
        Kind::Seconds { .. } => json!({"type": "number", "description": about}),
        Kind::Choice(choices) => json!({"type": "string", "enum": choices(), "description": about}),
        Kind::Suite => json!({"type": "string", "enum": words.suites, "description": about}),
    }
}

/// What it is, its bounds where a client might cross them, and its default.
fn about(argument: &Argument, words: &Words) -> String {
    let mut about = argument.doc.to_owned();
    if let (Kind::Count { least, .. }, (_, Some(most))) = (argument.kind, argument.kind.bounds())
        && argument.default.is_none()
    {
        about.push_str(&format!(", {least} to {most}"));
    }
    match (argument.kind, argument.default) {
        (Kind::Bytes, _) => about.push_str(&format!(", default {}", words.answer_bytes)),
        (_, Some(default)) => about.push_str(&format!(", default {default}")),
        (_, None) => {}
    }
    about
}

/// Every answer, an error included, has a `status`; the rest depends on what is known.
fn output() -> Map<String, Value> {
    let mut properties = Map::new();
    properties.insert("status".to_owned(), json!({"type": "string"}));
    object(properties, &["status"])
}

/// The arguments as a table of the documents.
#[cfg(test)]
pub(super) fn table(definition: &Definition) -> String {
    let words = Words::of(None, &[]);
    let mut table = "| argument | type | |\n| --- | --- | --- |\n".to_owned();
    for argument in definition.arguments() {
        let kind = match argument.kind {
            Kind::String | Kind::Suite => "string".to_owned(),
            Kind::Strings => "array of strings".to_owned(),
            Kind::Flag => "boolean".to_owned(),
            Kind::Count { .. } | Kind::Bytes => "integer".to_owned(),
            Kind::Seconds { .. } => "number".to_owned(),
            Kind::Choice(words) => format!("`{}`", words().join("`, `")),
        };
        let required = if argument.required { ", required" } else { "" };
        let about = about(argument, &words);
        table.push_str(&format!("| `{}` | {kind}{required} | {about} |\n", argument.name));
    }
    table
}
