//! `nextest-list`: `cargo nextest list --message-format json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{ReportItem, json};
use crate::id::Fields;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct List {
    rust_suites: BTreeMap<String, Suite>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Suite {
    package_name: String,
    binary_name: String,
    testcases: BTreeMap<String, Value>,
}

pub(super) fn read(bytes: &[u8], said: &mut Vec<ReportItem>) -> Result<(), String> {
    let list: List = json::from_slice(bytes).map_err(|error| format!("is no such list: {error}"))?;
    for suite in list.rust_suites.into_values() {
        let binary = format!("{}::{}", suite.package_name, suite.binary_name);
        said.extend(suite.testcases.into_keys().map(|name| {
            ReportItem::Found(Fields {
                suite: binary.clone(),
                name,
                ..Fields::default()
            })
        }));
    }
    Ok(())
}
