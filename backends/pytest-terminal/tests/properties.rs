//! What holds for any cut of the output into reads, and for anything that tests may print.

#[path = "../../pytest-base/tests/support/recorded.rs"]
#[expect(dead_code, reason = "the other tests of this crate use the rest")]
mod recorded;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use pytest_terminal::PytestTerminal;
use recorded::{Recording, recordings};
use runner_core::backend::{Mode, RunRequest, TestBackend};
use runner_core::event::TestEvent;
use runner_core::plan::{Artifacts, Lines, StepExit, Stream};

fn named(project: &str, version: &str) -> Recording {
    let mut all = recordings(&PytestTerminal).into_iter();
    all.find(|one| one.project == project && one.base.ends_with(version))
        .expect("it was recorded")
}

fn read(lines: Vec<String>, code: i32) -> Vec<TestEvent> {
    let mut reader = PytestTerminal.reader(&RunRequest::new(Mode::Run, "/project", "/scratch"));
    let mut events = Vec::new();
    let stream = Stream::Stdout;
    reader.read(
        &Lines {
            step: 0,
            stream,
            lines,
        },
        &mut events,
    );
    let exit = StepExit {
        step: "pytest".to_owned(),
        code: Some(code),
        ..StepExit::default()
    };
    let ending = reader.finish(&[exit], &Artifacts::default(), &mut events);
    assert!(ending.is_ok());
    events
}

fn rows(events: &[TestEvent]) -> Vec<(String, String)> {
    let row = |event: &TestEvent| match event {
        TestEvent::Finished(row) => Some((row.nodeid.clone(), row.outcome.to_string())),
        _ => None,
    };
    events.iter().filter_map(row).collect()
}

/// Lines that look like pytest's own, and others.
fn print() -> impl Strategy<Value = String> {
    let id = prop_oneof![
        Just("test_prints.py::test_after"),
        Just("ghost.py::test_x[a b]"),
        Just("README.md")
    ];
    let word = prop_oneof![
        Just("PASSED"),
        Just("FAILED"),
        Just("ERROR"),
        Just("SKIPPED (why)"),
        Just("SUBFAILED[x]")
    ];
    let end = prop_oneof![
        Just(""),
        Just(" "),
        Just("   [1/4]"),
        Just(" [ 25%]"),
        Just(" - boom")
    ];
    prop_oneof![
        (id.clone(), word.clone(), end.clone()).prop_map(|(id, word, end)| format!("{id} {word}{end}")),
        (id, word, end).prop_map(|(id, word, end)| format!("{word} {id}{end}")),
        Just("=== 4 passed in 0.01s ===".to_owned()),
        Just("=== short test summary info ===".to_owned()),
        Just("=== FAILURES ===".to_owned()),
        Just("=== slowest durations ===".to_owned()),
        Just("!!! stopping after 1 failures !!!".to_owned()),
        "[ -~]{0,40}",
        "\\PC{0,20}",
    ]
}

#[test]
fn any_cut_into_reads_gives_the_same_events() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for recording in recordings(&PytestTerminal) {
        let (whole, ..) = recording.events(&PytestTerminal, &mut |all| all);
        for _ in 0..4 {
            let sizes = prop::collection::vec(0_usize..9, 64)
                .new_tree(&mut runner)
                .unwrap()
                .current();
            let mut sizes = sizes.into_iter().chain([1]).cycle();
            let (cut, ..) = recording.events(&PytestTerminal, &mut |_| sizes.next().unwrap());
            assert_eq!(cut, whole, "{}", recording.base.display());
        }
    }
}

proptest! {
    #[test]
    fn prints_of_a_test_without_capture_never_make_or_change_a_row(
        prints in prop::collection::vec(print(), 0..12),
        version in prop_oneof![Just("6.2"), Just("9.2")],
    ) {
        let recording = named("uncaptured", version);
        let mut lines = recording.lines("out");
        let mut expected = rows(&read(lines.clone(), 1));
        let begins = lines.iter().position(|line| line.starts_with("test_prints.py::test_prints glued")).unwrap();
        lines.splice(begins + 1..=begins + 1, prints);
        let mut is = rows(&read(lines, 1));
        expected.sort();
        is.sort();
        prop_assert_eq!(is, expected);
    }

    #[test]
    fn a_run_that_is_cut_anywhere_keeps_only_rows_that_are_true(at in 0_usize..200, name in prop_oneof![Just("mix"), Just("live_log"), Just("xdist")]) {
        let recording = named(name, "8.4");
        let lines = recording.lines("out");
        let all = rows(&read(lines.clone(), 1));
        let cut = rows(&read(lines.into_iter().take(at).collect(), 137));
        for row in cut {
            // Its teardown may have failed behind the cut.
            let known = all.iter().any(|(nodeid, outcome)| *nodeid == row.0 && (*outcome == row.1 || row.1 == "passed"));
            prop_assert!(known, "{:?}", row);
        }
    }

    #[test]
    fn nothing_that_is_printed_makes_the_reader_panic(
        lines in prop::collection::vec(prop_oneof![print(), "\\PC{0,60}", "[=_!-]{1,20}( \\PC{1,20} [=_!-]{1,20})?"], 0..60),
        code in 0_i32..7,
    ) {
        let mut text = vec!["=== test session starts ===".to_owned(), "collected 4 items".to_owned()];
        text.extend(lines);
        read(text, code);
    }
}
