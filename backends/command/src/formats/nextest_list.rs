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
    /// Missing in lists of before 0.9.
    binary_id: Option<String>,
    testcases: BTreeMap<String, Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Case {
    #[serde(default)]
    filter_match: Value,
}

impl Case {
    /// Whether a run would tell of it. Ignored tests it tells of, too.
    fn is_run(&self) -> bool {
        self.filter_match["status"] != "mismatch" || self.filter_match["reason"] == "ignored"
    }
}

pub(super) fn read(bytes: &[u8], said: &mut Vec<ReportItem>) -> Result<(), String> {
    let list: List = json::from_slice(bytes).map_err(|error| format!("is no such list: {error}"))?;
    for suite in list.rust_suites.into_values() {
        let usual = || format!("{}::{}", suite.package_name, suite.binary_name);
        let binary = suite.binary_id.unwrap_or_else(usual);
        said.extend(
            suite
                .testcases
                .into_iter()
                .filter(|(_, case)| case.is_run())
                .map(|(name, _)| {
                    ReportItem::Found(Fields {
                        suite: binary.clone(),
                        name,
                        ..Fields::default()
                    })
                }),
        );
    }
    Ok(())
}
