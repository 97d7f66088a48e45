//! The JSON schema of `qaas.toml`.

use serde_json::Value;

use super::file::File;

/// Generated from the types that parse the file, so the two cannot disagree.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(File);
    schema.insert("title".to_owned(), "qaas.toml".into());
    let mut schema = schema.to_value();
    tidy(&mut schema);
    schema
}

/// TOML has no null, so an optional key is one that may be absent; and a text is one paragraph, however its
/// comment is wrapped.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            if map.get("default").is_some_and(Value::is_null) {
                map.shift_remove("default");
            }
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    map.insert("type".to_owned(), only);
                }
            }
            map.values_mut().for_each(tidy);
            if let Some(Value::Array(ways)) = map.get_mut("anyOf") {
                ways.retain(|way| way["type"] != "null");
                if let [Value::Object(only)] = ways.as_slice() {
                    let only = only.clone();
                    map.shift_remove("anyOf");
                    for (key, value) in only {
                        map.entry(key).or_insert(value);
                    }
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}
