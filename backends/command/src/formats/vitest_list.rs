//! `vitest-list`: `vitest list --json`, with the parts of a name joined by ` > `.

use serde::Deserialize;

use super::{ReportItem, json};
use crate::id::Fields;

#[derive(Deserialize)]
struct Test {
    name: String,
    file: String,
}

pub(super) fn read(bytes: &[u8], said: &mut Vec<ReportItem>) -> Result<(), String> {
    // A configuration file may print before it.
    let start = bytes.iter().position(|byte| *byte == b'[').unwrap_or_default();
    let list: Vec<Test> =
        json::from_slice(&bytes[start..]).map_err(|error| format!("is no such list: {error}"))?;
    said.extend(list.into_iter().map(|test| {
        ReportItem::Found(Fields {
            file: test.file,
            name: test.name.replace(" > ", "::"),
            ..Fields::default()
        })
    }));
    Ok(())
}
