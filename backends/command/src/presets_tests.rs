use runner_core::backend::{Capability, TestBackend};

use super::*;

#[test]
fn every_preset_is_a_right_table_and_lays_the_files_it_names() {
    let names: Vec<String> = presets().iter().map(|preset| preset.info().name).collect();
    assert_eq!(names, TABLES.map(|(name, _)| name));
    for preset in presets() {
        for file in &preset.spec.files {
            assert!(!file.contents.is_empty(), "{}", file.path.display());
        }
        assert!(preset.info().can(Capability::Single), "{}", preset.info().name);
    }
}

#[test]
fn two_ways_to_run_the_same_tests_are_one_suite() {
    let detections = detections();
    let cargo: Vec<&Detection> = detections.iter().filter(|found| found.suite == "cargo").collect();
    assert_eq!(cargo.len(), 1);
    assert_eq!(cargo[0].backends, ["nextest", "cargo-test"]);
    let suites: Vec<&str> = detections.iter().map(|found| found.suite.as_str()).collect();
    assert_eq!(suites, ["vitest", "jest", "node-test", "cargo"]);
}

/// Every table of the documentation is right, so that what is copied from there works.
#[test]
fn the_documentations_tables_are_right() {
    let text = include_str!("../../../docs/backends.md");
    let mut read = 0;
    for block in text.split("```toml\n").skip(1) {
        let table: toml::Table = block.split("```").next().unwrap_or_default().parse().unwrap();
        // Blocks of other files, and of plug-ins, are for others to read.
        let tables = table.get("backend").and_then(toml::Value::as_table);
        for (name, table) in tables.into_iter().flatten() {
            if table["kind"].as_str() != Some(crate::KIND) {
                continue;
            }
            let Value::Object(mut table) = serde_json::to_value(table).unwrap() else {
                panic!("{name} is no table");
            };
            table.remove("kind");
            Command::from_table(name, &table).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            read += 1;
        }
    }
    assert!(read >= 8, "{read} tables were found");
}
