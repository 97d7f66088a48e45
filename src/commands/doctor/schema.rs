//! What every client can read of a list of tools: the strictest rules of all of them together.

use std::collections::BTreeSet;

use serde_json::Value;

/// Words that some client refuses or throws away.
const REFUSED: [&str; 6] = ["$ref", "anyOf", "oneOf", "allOf", "nullable", "format"];
const LONGEST_NAME: usize = 40;

/// What is wrong with the tools, a line each.
pub(super) fn faults(tools: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    for tool in tools {
        let name = tool["name"].as_str().unwrap_or_default();
        if !is_plain(name) {
            faults.push(format!("{name:?} is no plain name"));
        }
        if !names.insert(name) {
            faults.push(format!("{name} is there twice"));
        }
        let schema = &tool["inputSchema"];
        if schema["type"] != "object" || schema["additionalProperties"] != false {
            faults.push(format!(
                "{name}: its arguments are not an object of known properties"
            ));
        }
        for (property, schema) in schema["properties"].as_object().into_iter().flatten() {
            let place = format!("{name}.{property}");
            if schema["description"].as_str().unwrap_or_default().is_empty() {
                faults.push(format!("{place}: no description"));
            }
            of_property(&place, schema, &mut faults);
        }
        for word in REFUSED.iter().filter(|word| schema.get(**word).is_some()) {
            faults.push(format!("{name}: {word}"));
        }
    }
    faults
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(plain)
}

fn of_property(place: &str, schema: &Value, faults: &mut Vec<String>) {
    if !schema["type"].is_string() {
        faults.push(format!("{place}: not of one type"));
    }
    if schema["type"] == "array" && !schema["items"].is_object() {
        faults.push(format!("{place}: a list of unknown items"));
    }
    for word in REFUSED.iter().filter(|word| schema.get(**word).is_some()) {
        faults.push(format!("{place}: {word}"));
    }
    if let Some(items) = schema.get("items") {
        of_property(&format!("{place}[]"), items, faults);
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        of_property(&format!("{place}.{name}"), schema, faults);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, property: &Value) -> Value {
        json!({"name": name, "inputSchema": {
            "type": "object", "additionalProperties": false, "properties": {"x": property},
        }})
    }

    #[test]
    fn a_plain_tool_has_no_fault() {
        let list = json!({"type": "array", "items": {"type": "string"}, "description": "some"});
        assert_eq!(faults(&[tool("run_suite", &list)]), [""; 0]);
    }

    #[test]
    fn whatever_some_client_refuses_is_named() {
        let good = json!({"type": "string", "description": "one"});
        for (tools, fault) in [
            (vec![tool("Run", &good)], "\"Run\" is no plain name"),
            (vec![tool("a", &good), tool("a", &good)], "a is there twice"),
            (
                vec![json!({"name": "a", "inputSchema": {"type": "object"}})],
                "a: its arguments",
            ),
            (vec![tool("a", &json!({"type": "string"}))], "a.x: no description"),
            (
                vec![tool(
                    "a",
                    &json!({"type": ["string", "null"], "description": "d"}),
                )],
                "a.x: not of one",
            ),
            (
                vec![tool("a", &json!({"type": "array", "description": "d"}))],
                "a.x: a list of unknown",
            ),
            (
                vec![tool(
                    "a",
                    &json!({"type": "integer", "format": "uint", "description": "d"}),
                )],
                "a.x: format",
            ),
            (
                vec![tool(
                    "a",
                    &json!({"type": "array", "items": {"$ref": "#/b"}, "description": "d"}),
                )],
                "a.x[]: not of one",
            ),
        ] {
            let found = faults(&tools);
            assert!(
                found.iter().any(|text| text.starts_with(fault)),
                "{fault}: {found:?}"
            );
        }
    }
}
