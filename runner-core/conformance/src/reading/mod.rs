//! What a reader makes of broken input: made-up input for every backend, and the recorded bytes of real runs, damaged.

mod damage;
mod harm;
mod order;
mod synthetic;

use super::case_log::{CaseLog, Finding, Group};
use super::live::Tapes;
use super::recording::{Recording, Replay};
use super::subject::Subject;

type Case = fn(&Subject) -> Result<String, String>;

/// The case that the other ones on such input need.
const ENDINGS: &str = "endings";
const NO_ENDINGS: &str = "it answers every reading with an error";

/// Name, what is expected, and the case; on input that needs no real run.
const SYNTHETIC: [(&str, &str, Case); 8] = [
    (
        ENDINGS,
        "not every reading ends in an error: what cannot be read is an ending, `broken` or `cut`, with its reason",
        synthetic::endings,
    ),
    (
        "silence",
        "nothing printed and nothing left is never passed, whatever the exit code",
        synthetic::silence,
    ),
    (
        "no-exit",
        "a run whose steps never started is never passed",
        synthetic::no_exit,
    ),
    (
        "garbage",
        "text, control characters, NUL and damaged bytes make no rows and no panic",
        synthetic::garbage,
    ),
    (
        "shapes",
        "JSON, XML and TAP of unexpected shapes make nothing green and no panic",
        synthetic::shapes,
    ),
    (
        "long-line",
        "a line of 10 MB on each stream is survived, and is not green",
        synthetic::long_line,
    ),
    (
        "many-lines",
        "20,000 lines of noise are survived, and are not green",
        synthetic::many_lines,
    ),
    (
        "bad-reports",
        "a report that is missing, old, unusable, empty or garbage is never passed",
        synthetic::reports,
    ),
];

type OnTape = fn(&Subject, &Recording, &Replay) -> Result<String, String>;

/// The same on the recorded run of all tests, some of which fail.
const ON_ALL: [(&str, &str, OnTape); 8] = [
    (
        "replay",
        "the recorded bytes give the same rows and status as the run did",
        order::replay,
    ),
    (
        "batches",
        "the same report however the lines are split into batches",
        order::batches,
    ),
    (
        "streams",
        "the same report however the streams are interleaved",
        order::streams,
    ),
    (
        "cut",
        "cut in the middle at any point, a run that was not passed never is",
        damage::cut,
    ),
    (
        "green-exit",
        "failed tests with an exit code of 0 are never passed",
        damage::green_exit,
    ),
    (
        "limits",
        "a run ended by the time limit or a cancel keeps its rows and is known as such",
        damage::limits,
    ),
    (
        "damaged-reports",
        "with its reports missing, old, unusable, empty or cut a run that was not passed never is",
        damage::reports,
    ),
    (
        "noise",
        "garbage between its lines makes no rows and nothing green",
        damage::noise,
    ),
];

/// The same on the recorded run of passing tests alone.
const ON_GREEN: [(&str, &str, OnTape); 5] = [
    (
        "cut-green",
        "cut in the middle, a green run is passed with all its rows or not at all",
        damage::cut,
    ),
    (
        "bad-exit",
        "passing tests with an exit code that is not 0 are never passed",
        damage::bad_exit,
    ),
    (
        "killed",
        "passing tests of a process that a signal ended are never passed",
        damage::killed,
    ),
    (
        "damaged-green-reports",
        "with its reports missing, old, unusable, empty or cut a green run is passed with all its rows or not at all",
        damage::reports,
    ),
    (
        "noise-green",
        "garbage between its lines makes no rows; it is passed with all its rows or not at all",
        damage::noise,
    ),
];

const SWAPPED: &str = "failing lines and exit code beside the reports of a green run are never passed";
const READERS: &str = "two readers at once read as each would alone";
const LISTING: &str = "a listing that a signal cut is never whole";

pub(super) fn check(subject: &Subject, recordings: &Tapes, log: &mut CaseLog<'_>) {
    let mut reads = true;
    for (name, expected, case) in SYNTHETIC {
        if reads {
            log.hold(Group::Reading, name, expected, || case(subject).into());
        } else {
            log.add(
                Group::Reading,
                name,
                expected,
                Finding::Skipped(NO_ENDINGS.to_owned()),
            );
        }
        reads = reads && !(name == ENDINGS && log.has_just_failed());
    }
    let mut on = |cases: &[(&'static str, &'static str, OnTape)], recording: Result<&Recording, &str>| {
        for &(name, expected, case) in cases {
            match recording {
                Ok(recording) => log.hold(Group::Reading, name, expected, || {
                    let whole = recording.play(subject.backend.as_ref());
                    case(subject, recording, &whole).into()
                }),
                Err(why) => log.add(Group::Reading, name, expected, Finding::Skipped(why.to_owned())),
            }
        }
    };
    on(&ON_ALL, recordings.all());
    on(&ON_GREEN, recordings.green());
    let both = recordings.all().and_then(|all| Ok((all, recordings.green()?)));
    match both {
        Ok((all, green)) => {
            log.hold(Group::Reading, "swapped-reports", SWAPPED, || {
                damage::swapped(subject, all, green)
            });
            log.hold(Group::Reading, "two-readers", READERS, || {
                order::readers(subject, all, green).into()
            });
        }
        Err(why) => {
            for (name, expected) in [("swapped-reports", SWAPPED), ("two-readers", READERS)] {
                log.add(Group::Reading, name, expected, Finding::Skipped(why.to_owned()));
            }
        }
    }
    match recordings.list() {
        Ok(recording) => log.hold(Group::Reading, "killed-listing", LISTING, || {
            damage::listing(subject, recording).into()
        }),
        Err(why) => log.add(
            Group::Reading,
            "killed-listing",
            LISTING,
            Finding::Skipped(why.to_owned()),
        ),
    }
}
