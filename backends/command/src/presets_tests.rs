use runner_core::backend::{Capability, Mode, RunRequest, TestBackend};
use runner_core::event::{EndingKind, ExitMeaning, TestEvent};
use runner_core::plan::{Artifacts, Lines, StepExit, Stream};

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

/// The rows and failed collectors of what a preset's reporter said on the channel, in a run that exited with 1.
fn recorded(preset: &str, channel: &str) -> Vec<String> {
    let preset = presets().into_iter().find(|known| known.name == preset).unwrap();
    let mut reader = preset.reader(&RunRequest::new(Mode::Run, "/repo", "/scratch"));
    let lines = channel.lines().map(str::to_owned).collect();
    let (step, stream) = (0, Stream::Channel);
    let mut events = Vec::new();
    reader.read(&Lines { step, stream, lines }, &mut events);
    let exit = StepExit {
        step: preset.name.clone(),
        code: Some(1),
        ..StepExit::default()
    };
    let ending = reader
        .finish(&[exit], &Artifacts::default(), &mut events)
        .unwrap();
    assert_eq!(
        (ending.kind, ending.exit),
        (EndingKind::Completed, ExitMeaning::TestsFailed)
    );
    let rows = events.iter().filter_map(|event| match event {
        TestEvent::Finished(row) => Some(format!("{} {}", row.outcome, row.nodeid)),
        TestEvent::CollectFailed(error) => Some(format!(
            "broken {}: {}",
            error.nodeid,
            error.summary.as_deref().unwrap_or_default()
        )),
        TestEvent::Warning { message } => panic!("{message}"),
        _ => None,
    });
    // Files run in an order of the framework's own.
    let mut rows: Vec<String> = rows.collect();
    rows.sort();
    rows
}

const VITEST: [&str; 14] = [
    "broken broken.test.js: Error: no database",
    "broken empty.test.js: Error: No test suite found in file /repo/empty.test.js",
    "broken kinds.test.js::db: Error: cannot close",
    "failed kinds.test.js::an object",
    "failed kinds.test.js::half an emoji",
    "failed kinds.test.js::price::with tax::is wrong",
    "failed kinds.test.js::same[2]",
    "passed kinds.test.js::count > 3",
    "passed kinds.test.js::db::reads",
    "passed kinds.test.js::price::adds",
    "passed kinds.test.js::same",
    "passed kinds.test.js::third try",
    "skipped kinds.test.js::left out",
    "xfailed kinds.test.js::known",
];

const JEST: [&str; 14] = [
    "broken broken.test.js: no database",
    "broken empty.test.js: Your test suite must contain at least one test.",
    "broken kinds.test.js: Error: cannot close",
    "failed kinds.test.js::an object",
    "failed kinds.test.js::half an emoji",
    "failed kinds.test.js::price::with tax::is wrong",
    "failed kinds.test.js::same[2]",
    "passed kinds.test.js::count > 3",
    "passed kinds.test.js::db::reads",
    "passed kinds.test.js::price::adds",
    "passed kinds.test.js::same",
    "passed tries.test.js::third try",
    "skipped kinds.test.js::left out",
    "skipped kinds.test.js::some day",
];

const NODE: [&str; 17] = [
    "broken broken.test.js: Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/repo/nowhere.js' imported from /repo/broken.test.js",
    "broken exits.test.js: the file ended with exit code 0 before any of its tests had a result",
    "broken late.test.js: Error: Test \"late\" at late.test.js:2:1 generated asynchronous activity after the test ended. This \
     activity created the error \"Error: too late\" and would have caused the test to fail, but instead triggered an \
     uncaughtException event.",
    "error kinds.test.js::db",
    "failed kinds.test.js::an object",
    "failed kinds.test.js::half an emoji",
    "failed kinds.test.js::price::with tax::is wrong",
    "failed kinds.test.js::same[2]",
    "passed kinds.test.js::db::reads",
    "passed kinds.test.js::parent",
    "passed kinds.test.js::parent::kid",
    "passed kinds.test.js::price::adds",
    "passed kinds.test.js::same",
    "passed late.test.js::late",
    "passed late.test.js::waits",
    "skipped kinds.test.js::left out",
    "xfailed kinds.test.js::known",
];

/// Recorded: the reporters' own lines, of one project for each framework, with its paths and times made plain.
#[test]
fn every_version_of_a_framework_comes_to_the_same_rows() {
    let vitest = [
        include_str!("../fixtures/vitest-3.2.jsonl"),
        include_str!("../fixtures/vitest-5.1.jsonl"),
    ];
    let jest = [
        include_str!("../fixtures/jest-29.7.jsonl"),
        include_str!("../fixtures/jest-30.5.jsonl"),
    ];
    let node = [
        include_str!("../fixtures/node-20.20.jsonl"),
        include_str!("../fixtures/node-22.23.jsonl"),
        include_str!("../fixtures/node-24.21.jsonl"),
    ];
    for text in vitest {
        assert_eq!(recorded("vitest", text), VITEST);
    }
    for text in jest {
        assert_eq!(recorded("jest", text), JEST);
    }
    for text in node {
        assert_eq!(recorded("node-test", text), NODE);
    }
}
