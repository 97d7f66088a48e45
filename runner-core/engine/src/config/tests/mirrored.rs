use super::*;
use serde_json::Value;

const EXAMPLE: &str = include_str!("../../../../../qaas.toml.example");
const SCHEMA: &str = include_str!("../../../../../qaas.schema.json");

fn current_schema() -> String {
    serde_json::to_string_pretty(&schema()).unwrap() + "\n"
}

#[test]
fn the_committed_schema_is_the_one_of_the_types() {
    assert!(
        current_schema() == SCHEMA,
        "qaas.schema.json is not what the types say; to write it anew: \
         cargo test -p engine write_the_schema -- --ignored"
    );
}

#[test]
#[ignore = "writes qaas.schema.json"]
fn write_the_schema() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../qaas.schema.json");
    std::fs::write(file, current_schema()).unwrap();
}

#[test]
fn the_example_is_a_good_configuration() {
    let settings = parse(Path::new("qaas.toml.example"), EXAMPLE).unwrap();
    assert_eq!(settings.suites.len(), 2);
}

#[test]
fn the_example_shows_every_key_of_the_schema() {
    let settings = parse(Path::new("qaas.toml.example"), EXAMPLE).unwrap();
    let schema = schema();
    let mut keys = Vec::new();
    collect_keys(&schema, &schema, "", &mut keys);
    assert!(keys.contains(&"suite.*.limits.memory".to_owned()), "{keys:?}");
    for key in keys {
        let shown = settings.places.keys().any(|place| matches(&key, place));
        assert!(shown, "qaas.toml.example does not show `{key}`");
    }
}

/// Dotted keys of a schema; `*` for a name that the writer chooses.
fn collect_keys(whole: &Value, schema: &Value, key: &str, keys: &mut Vec<String>) {
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => whole.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    let below = |name: &str| {
        if key.is_empty() {
            name.to_owned()
        } else {
            format!("{key}.{name}")
        }
    };
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        keys.push(below(name));
        collect_keys(whole, inner, &below(name), keys);
    }
    for inner in schema["anyOf"].as_array().into_iter().flatten() {
        collect_keys(whole, inner, key, keys);
    }
    if schema["additionalProperties"].is_object() {
        collect_keys(whole, &schema["additionalProperties"], &below("*"), keys);
    }
}

fn matches(pattern: &str, key: &str) -> bool {
    let (pattern, key): (Vec<&str>, Vec<&str>) = (pattern.split('.').collect(), key.split('.').collect());
    pattern.len() == key.len() && pattern.iter().zip(&key).all(|(p, k)| *p == "*" || p == k)
}

#[test]
fn the_schema_names_the_bounds_and_the_default_of_an_answers_size_that_hold() {
    use crate::policy::{ANSWER_BYTES, LEAST_ANSWER_BYTES, MOST_ANSWER_BYTES};
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let key = &schema["$defs"]["McpTable"]["properties"]["max_bytes"];
    assert_eq!(
        (&key["minimum"], &key["maximum"]),
        (&Value::from(LEAST_ANSWER_BYTES), &Value::from(MOST_ANSWER_BYTES))
    );
    let default = format!("Default: {ANSWER_BYTES}.");
    assert!(key["description"].as_str().unwrap().ends_with(&default), "{key}");
}
