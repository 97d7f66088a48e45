//! What holds for any cut of the streams, and for lines that no reporter writes.
//!
//! To look longer: `PROPTEST_CASES=100000 cargo test --release -p pytest-events properties`.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// Any way to mix the streams that keeps each one's own order, in batches of any size.
fn mixed(lines: &[(Stream, String)], choices: &[u8]) -> Vec<(Stream, Vec<String>)> {
    let mut queues: Vec<(Stream, std::collections::VecDeque<String>)> = Vec::new();
    for (stream, line) in lines {
        match queues.iter_mut().find(|(known, _)| known == stream) {
            Some((_, queue)) => queue.push_back(line.clone()),
            None => queues.push((*stream, [line.clone()].into())),
        }
    }
    let mut batches = Vec::new();
    let mut choices = choices.iter().cycle();
    while !queues.is_empty() {
        let choice = usize::from(*choices.next().unwrap());
        let place = choice % queues.len();
        let (stream, queue) = &mut queues[place];
        let count = (choice / 4 % 7 + 1).min(queue.len());
        batches.push((*stream, queue.drain(..count).collect()));
        // Each turn takes a line, so that any choices come to an end.
        queues.retain(|(_, queue)| !queue.is_empty());
    }
    batches
}

proptest! {
    #[test]
    fn however_streams_interleave_the_events_are_the_same(
        choices in proptest::collection::vec(any::<u8>(), 8..64),
        project in proptest::sample::select(vec!["outcomes", "xdist", "subtests", "conftest_error", "reruns"]),
    ) {
        let recording = recorded("9.2.0", project);
        let plain: Vec<_> = recording.lines().into_iter().map(|(stream, line)| (stream, vec![line])).collect();
        let batches = mixed(&recording.lines(), &choices);
        let (exit, files) = (recording.exit(), recording.files());
        prop_assert_eq!(read(&plain, &exit, &files), read(&batches, &exit, &files));
    }

    #[test]
    fn arbitrary_lines_never_panic_and_never_pass(lines in proptest::collection::vec(".{0,80}", 0..20)) {
        let recording = Recording { channel: lines, code: Some(0), ..Recording::default() };
        prop_assert_ne!(report(&recording).status().as_str(), "passed");
    }

    #[test]
    fn of_a_damaged_recording_no_test_has_two_rows(
        place in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        text in ".{0,6}",
        project in proptest::sample::select(vec!["outcomes", "xdist", "subtests", "reruns"]),
    ) {
        let mut recording = recorded("9.2.0", project);
        let line = place.index(recording.channel.len());
        let mut chars: Vec<char> = recording.channel[line].chars().collect();
        let at = at.index(chars.len());
        chars.splice(at..(at + 3).min(chars.len()), text.chars());
        recording.channel[line] = chars.into_iter().collect();
        let report = report(&recording);
        let rows = &report.first().rows;
        prop_assert_eq!(rows.len(), rows.iter().map(|row| &row.nodeid).collect::<BTreeSet<_>>().len());
    }

    #[test]
    fn arbitrary_dumps_never_panic(dump in "(Thread 0x|File \"|[a-z ,/\n\"]|line [0-9]| in ){0,60}") {
        let _ = stack::read(&dump, Path::new("/project"));
    }

    #[test]
    fn arbitrary_bytes_behind_a_greeting_never_panic_and_never_pass(
        lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 0..20),
    ) {
        let hello = r#"{"e":"hello","nonce":"recorded","step":"pytest","pid":1}"#.to_owned();
        let lines = lines.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let lines = std::iter::once(hello).chain(lines).collect();
        let exit = StepExit { step: STEP_NAME.to_owned(), code: Some(0), ..StepExit::default() };
        let (events, ending) = read(&[(Stream::Channel, lines)], &exit, &Artifacts::default());
        prop_assert_ne!(fold(events, ending, exit).status(), runner_core::model::Status::Passed);
    }

    #[test]
    fn recordings_with_any_byte_or_line_changed_never_panic(
        changes in proptest::collection::vec((any::<Index>(), any::<Index>(), change()), 1..6),
        project in proptest::sample::select(vec!["outcomes", "xdist", "subtests", "reruns", "green", "internal", "deselected"]),
        version in proptest::sample::select(VERSIONS.to_vec()),
    ) {
        let mut recording = recorded(version, project);
        for (line, byte, change) in changes {
            alter(&mut recording.channel, line, byte, &change);
        }
        let report = report(&recording);
        let first = report.first();
        prop_assert_eq!(first.rows.len(), first.rows.iter().map(|row| &row.nodeid).collect::<BTreeSet<_>>().len());
        let _ = report.verdict();
    }
}

/// One thing that is done to the lines.
#[derive(Clone, Debug)]
enum Change {
    Put(u8),
    Insert(String),
    DropByte,
    DropLine,
    Again,
    Cut,
    Swap,
}

fn change() -> impl Strategy<Value = Change> {
    let tokens = [
        "\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "-1",
        "1e999",
        "null",
        "\\u0000",
        "\\ud800",
        "\"e\":\"passed\",",
        "99999999999999999999",
    ];
    prop_oneof![
        any::<u8>().prop_map(Change::Put),
        proptest::sample::select(tokens.to_vec()).prop_map(|token| Change::Insert(token.to_owned())),
        Just(Change::DropByte),
        Just(Change::DropLine),
        Just(Change::Again),
        Just(Change::Cut),
        Just(Change::Swap),
    ]
}

fn alter(lines: &mut Vec<String>, line: Index, byte: Index, change: &Change) {
    if lines.is_empty() {
        return;
    }
    let at = line.index(lines.len());
    let mut bytes = lines[at].clone().into_bytes();
    let place = byte.index(bytes.len() + 1);
    match change {
        Change::DropLine => {
            lines.remove(at);
            return;
        }
        Change::Again => {
            let (place, again) = (byte.index(lines.len()), lines[at].clone());
            return lines.insert(place, again);
        }
        Change::Swap => {
            let other = byte.index(lines.len());
            return lines.swap(at, other);
        }
        Change::Put(byte) if place < bytes.len() => bytes[place] = *byte,
        Change::Put(byte) => bytes.push(*byte),
        Change::Insert(token) => drop(bytes.splice(place..place, token.bytes())),
        Change::DropByte if place < bytes.len() => drop(bytes.remove(place)),
        Change::DropByte => {}
        Change::Cut => bytes.truncate(place),
    }
    lines[at] = String::from_utf8_lossy(&bytes).into_owned();
}
