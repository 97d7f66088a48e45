//! The recorded bytes of a run, damaged.

use super::super::case_log::Finding;
use super::super::recording::{Recording, Replay};
use super::super::subject::Subject;
use super::harm::{harmless, not_green};
use super::synthetic::GARBAGE;
use runner_core::model::Status;
use runner_core::plan::{ArtifactState, Artifacts, Lines};

/// At how many places a tape is cut.
const CUTS: usize = 40;

/// Places within something of this length: all of a short one, spread over a long one.
fn places(length: usize) -> Vec<usize> {
    if length <= CUTS {
        return (0..length).collect();
    }
    (0..CUTS).map(|place| place * length / CUTS).collect()
}

pub(super) fn cut(subject: &Subject, recording: &Recording, whole: &Replay) -> Result<String, String> {
    let single = recording.single_lines();
    let mut tried = 0;
    for place in places(single.len()) {
        let line = &single[place].lines[0];
        let half = Lines {
            lines: vec![line.chars().take(line.chars().count() / 2).collect()],
            ..single[place]
        };
        for last in [None, Some(half)] {
            let calls = single[..place].iter().cloned().chain(last).collect();
            let mut damaged = recording.with(calls);
            let what = format!("cut at line {} of {}", place + 1, single.len());
            not_green(&damaged.play(subject.backend.as_ref()), Some(whole), &what)?;
            damaged.files = Artifacts::default();
            not_green(
                &damaged.play(subject.backend.as_ref()),
                Some(whole),
                &format!("{what}, no reports"),
            )?;
            tried += 2;
        }
    }
    Ok(format!(
        "{tried} cuts of {} lines, none of them green with rows lost",
        single.len()
    ))
}

/// The tape with another end of all its steps.
fn ended(recording: &Recording, code: Option<i32>, signal: Option<i32>) -> Recording {
    let mut recording = recording.clone();
    for exit in &mut recording.exits {
        exit.code = code;
        exit.signal = signal;
    }
    recording
}

fn never_passed(subject: &Subject, recording: &Recording, what: &str) -> Result<String, String> {
    let played = recording.play(subject.backend.as_ref());
    match &played.crash {
        Some(crash) => Err(format!("{what}: {crash}")),
        None if played.passed() => Err(format!("{what}: {}", played.words())),
        None => Ok(played.words()),
    }
}

pub(super) fn green_exit(subject: &Subject, recording: &Recording, whole: &Replay) -> Result<String, String> {
    if whole.passed() {
        return Ok("none of the sample's tests fails".to_owned());
    }
    never_passed(subject, &ended(recording, Some(0), None), "exit code 0")
}

pub(super) fn bad_exit(subject: &Subject, recording: &Recording, _: &Replay) -> Result<String, String> {
    let mut came = String::new();
    // Tests that were not selected may have run too, and failed: then a failing exit is explained.
    let own = |code: &i32| recording.exits.iter().all(|exit| exit.code != Some(*code));
    for code in [2, 3, 4, 70, 100, 101, 139, 255, 1].into_iter().filter(own) {
        came = never_passed(
            subject,
            &ended(recording, Some(code), None),
            &format!("exit code {code}"),
        )?;
    }
    never_passed(subject, &ended(recording, None, None), "no exit code")?;
    Ok(came)
}

pub(super) fn killed(subject: &Subject, recording: &Recording, _: &Replay) -> Result<String, String> {
    let mut came = String::new();
    for signal in [6, 11, 15, 9] {
        came = never_passed(
            subject,
            &ended(recording, None, Some(signal)),
            &format!("signal {signal}"),
        )?;
    }
    Ok(came)
}

pub(super) fn limits(subject: &Subject, recording: &Recording, whole: &Replay) -> Result<String, String> {
    for (word, status) in [("time limit", Status::TimedOut), ("cancel", Status::Cancelled)] {
        let mut limited = ended(recording, None, Some(15));
        for exit in &mut limited.exits {
            exit.timed_out = status == Status::TimedOut;
            exit.cancelled = status == Status::Cancelled;
        }
        let played = limited.play(subject.backend.as_ref());
        let (rows, known) = (played.rows(), whole.rows());
        if let Some(crash) = &played.crash {
            return Err(format!("{word}: {crash}"));
        }
        if played.status() != status || rows != known {
            return Err(format!(
                "{word}: {} instead of {} rows",
                played.words(),
                known.len()
            ));
        }
    }
    Ok(format!(
        "timed_out and cancelled with {} rows",
        whole.rows().len()
    ))
}

/// A report's states that are not what a run left.
fn states(recording: &Recording, name: &str) -> Vec<(String, ArtifactState)> {
    let mut states = vec![
        ("missing".to_owned(), ArtifactState::Missing),
        ("old".to_owned(), ArtifactState::Stale),
        (
            "unusable".to_owned(),
            ArtifactState::Unusable("is not a regular file".to_owned()),
        ),
    ];
    if let ArtifactState::Bytes(bytes) = recording.files.get(name) {
        for place in places(bytes.len()) {
            let cut = ArtifactState::Bytes(bytes[..place].to_vec());
            states.push((format!("cut after {place} of {} bytes", bytes.len()), cut));
        }
    }
    states
}

pub(super) fn reports(subject: &Subject, recording: &Recording, whole: &Replay) -> Result<String, String> {
    let mut tried = 0;
    for name in &recording.names {
        for (word, state) in states(recording, name) {
            let mut damaged = recording.clone();
            damaged.files.insert(name.clone(), state);
            let played = damaged.play(subject.backend.as_ref());
            not_green(&played, Some(whole), &format!("the report `{name}` {word}"))?;
            tried += 1;
        }
    }
    Ok(match tried {
        0 => "its plan leaves no reports".to_owned(),
        tried => format!("{tried} states, none of them green with rows lost"),
    })
}

pub(super) fn noise(subject: &Subject, recording: &Recording, whole: &Replay) -> Result<String, String> {
    let single = recording.single_lines();
    let noise = GARBAGE.iter().cycle();
    let mut tried = 0;
    for (place, noise) in places(single.len()).into_iter().zip(noise) {
        let line = Lines {
            lines: vec![(*noise).to_owned()],
            ..single[place]
        };
        let mut lines = single.clone();
        lines.insert(place + 1, line);
        let played = recording.with(lines).play(subject.backend.as_ref());
        let before = &single[place].lines[0];
        harmless(&played, Some(whole), &format!("{noise:?} after {before:?}"))?;
        tried += 1;
    }
    Ok(format!("{tried} lines of noise, none of them a row"))
}

/// The lines and exits of the failing run with the reports of the green one.
pub(super) fn swapped(subject: &Subject, all: &Recording, green: &Recording) -> Finding {
    if all.names.is_empty() {
        return Finding::Passed("its plan leaves no reports".to_owned());
    }
    if all.play(subject.backend.as_ref()).passed() {
        return Finding::Skipped("none of the sample's tests fails".to_owned());
    }
    let mut swapped = all.clone();
    swapped.files = green.files.clone();
    never_passed(subject, &swapped, "the other run's reports").into()
}

pub(super) fn listing(subject: &Subject, recording: &Recording) -> Result<String, String> {
    let single = recording.single_lines();
    for place in places(single.len()) {
        let cut = ended(&recording.with(single[..place].to_vec()), None, Some(9));
        never_passed(
            subject,
            &cut,
            &format!("killed at line {} of {}", place + 1, single.len()),
        )?;
    }
    never_passed(subject, &ended(recording, None, Some(9)), "killed at its end")
}
