//! The keys and values of a table, as they are written: each of the right type, or a fault that names the key.

use serde_json::{Map, Value};

use crate::fault::{Fault, suggest};

pub(crate) fn known_keys(parent: &str, table: &Map<String, Value>, known: &[&str]) -> Result<(), Fault> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(Fault::new(
            below(parent, key),
            format!("there is no key `{key}` here"),
            suggest(key, known, "keys that may stand here"),
        )),
    }
}

pub(crate) fn below(parent: &str, key: &str) -> String {
    if parent.is_empty() {
        key.to_owned()
    } else {
        format!("{parent}.{key}")
    }
}

pub(crate) fn string<'a>(key: &str, value: &'a Value) -> Result<&'a str, Fault> {
    value
        .as_str()
        .ok_or_else(|| Fault::new(key, "must be a string", "put it between double quotes"))
}

pub(crate) fn text(table: &Map<String, Value>, key: &str) -> Result<Option<String>, Fault> {
    let value = table.get(key).map(|value| string(key, value)).transpose()?;
    Ok(value.map(str::to_owned))
}

pub(crate) fn map<'a>(key: &str, value: &'a Value, example: &str) -> Result<&'a Map<String, Value>, Fault> {
    value.as_object().ok_or_else(|| {
        Fault::new(
            key,
            "must be a table",
            format!("write it as `{key} = {{ {example} }}`"),
        )
    })
}

pub(crate) fn strings<'a>(key: &str, value: &'a Value) -> Result<Vec<&'a str>, Fault> {
    let items = value.as_array().ok_or_else(|| {
        Fault::new(
            key,
            "must be a list of strings",
            format!("write `{key} = [\"…\"]`"),
        )
    })?;
    let item = |(number, item)| string(&format!("{key}[{number}]"), item);
    items.iter().enumerate().map(item).collect()
}
