//! The presets: tables like anybody's, embedded.

use std::sync::LazyLock;

use runner_core::registry::Detection;
use serde_json::{Map, Value};

use crate::Command;

/// Name and table of each preset, in the order in which they are preferred.
const TABLES: [(&str, &str); 6] = [
    ("vitest", include_str!("../presets/vitest.toml")),
    ("jest", include_str!("../presets/jest.toml")),
    ("node-test", include_str!("../presets/node-test.toml")),
    ("nextest", include_str!("../presets/nextest.toml")),
    ("cargo-test", include_str!("../presets/cargo-test.toml")),
    ("unittest", include_str!("../presets/unittest.toml")),
];

/// Programs and reporters of our own that presets lay into the scratch, by the name that a table's `files` gives.
const FILES: [(&str, &str); 12] = [
    ("launch.mjs", include_str!("../presets/launch.mjs")),
    ("inner.mjs", include_str!("../presets/inner.mjs")),
    ("frameworks.mjs", include_str!("../presets/frameworks.mjs")),
    ("script.mjs", include_str!("../presets/script.mjs")),
    ("files.mjs", include_str!("../presets/files.mjs")),
    ("tell.cjs", include_str!("../presets/tell.cjs")),
    ("vitest.mjs", include_str!("../presets/vitest.mjs")),
    ("jest.cjs", include_str!("../presets/jest.cjs")),
    ("node-test.mjs", include_str!("../presets/node-test.mjs")),
    (
        "unittest_events.py",
        include_str!("../presets/unittest_events.py"),
    ),
    ("unittest_load.py", include_str!("../presets/unittest_load.py")),
    ("unittest_tell.py", include_str!("../presets/unittest_tell.py")),
];

static PRESETS: LazyLock<Vec<Command>> =
    LazyLock::new(|| TABLES.iter().map(|(name, text)| preset(name, text)).collect());

/// The backends for common frameworks.
pub fn presets() -> Vec<Command> {
    PRESETS.clone()
}

/// What a repository without a configuration is looked at for.
pub fn detections() -> Vec<Detection> {
    let mut detections: Vec<Detection> = Vec::new();
    for preset in PRESETS.iter() {
        for marker in preset.markers() {
            match detections.iter_mut().find(|known| known.marker == *marker) {
                // Two ways to run the same tests are one suite.
                Some(known) => known.backends.push(preset.name.clone()),
                None => detections.push(Detection {
                    suite: preset.spec.framework.clone(),
                    marker: marker.clone(),
                    backends: vec![preset.name.clone()],
                }),
            }
        }
    }
    detections
}

fn preset(name: &str, text: &str) -> Command {
    let table: toml::Table = text.parse().expect("presets are tested");
    let table = serde_json::to_value(table).expect("toml's values are JSON's");
    let Value::Object(mut table) = table else {
        unreachable!("a toml file is a table");
    };
    fill_files(&mut table);
    Command::from_table(name, &table).expect("presets are tested")
}

/// `files = ["reporter.mjs"]` in a preset names files of ours; in anybody's table `files` has the contents.
fn fill_files(table: &mut Map<String, Value>) {
    let Some(Value::Array(names)) = table.get("files") else {
        return;
    };
    let contents = names.iter().filter_map(Value::as_str).map(|name| {
        let found = FILES.iter().find(|(known, _)| *known == name);
        let (_, contents) = found.expect("presets are tested");
        (name.to_owned(), Value::from(*contents))
    });
    let contents: Map<String, Value> = contents.collect();
    table.insert("files".to_owned(), Value::Object(contents));
}

#[cfg(test)]
#[path = "presets_tests.rs"]
mod tests;
