//! Input that no framework wrote.

use super::super::recording::Recording;
use super::super::subject::Subject;
use super::harm::harmless;
use runner_core::backend::{Capability, Mode};
use runner_core::plan::{ArtifactState, Lines, Plan, Stream};

const STREAMS: [Stream; 3] = [Stream::Stdout, Stream::Stderr, Stream::Channel];

/// Noise that no tool means anything by. Bytes that are no UTF-8 reach a reader as U+FFFD.
pub(super) const GARBAGE: [&str; 12] = [
    "",
    " ",
    "\u{0}\u{0}\u{0}",
    "\u{fffd}\u{fffd}{\u{fffd}",
    "\u{1b}[31m\u{1b}]0;title\u{7}",
    "\u{202e}\u{200b}\u{feff}",
    "{",
    "}{][",
    "{\"half\": ",
    "<half attribute=\"",
    "&&&%%%===:::",
    "日本語 😀 é",
];

/// Well-formed, and nothing that a reader waits for.
const SHAPES: [&str; 22] = [
    "null",
    "0",
    "-1e999",
    "\"text\"",
    "[]",
    "[[]]",
    "{}",
    "{\"event\": null}",
    "{\"event\": \"finished\"}",
    "{\"event\": \"finished\", \"nodeid\": 5, \"outcome\": []}",
    "{\"event\": \"nonsense\", \"nodeid\": \"x\"}",
    "{\"type\": \"test\"}",
    "{\"type\": \"suite\", \"event\": \"ok\"}",
    "{\"Action\": \"pass\"}",
    "{\"nodeid\": {\"a\": 1}}",
    "<testsuite/>",
    "<testsuites><testsuite tests='x'/></testsuites>",
    "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "1..0",
    "TAP version 99",
    "=== 1 nonsense in 0.1s ===",
    "test result: perhaps. x passed",
];

fn plan(subject: &Subject) -> Result<Plan, String> {
    let request = subject.request(Mode::Run);
    let plan = subject.inner(&request);
    let plan = plan.and_then(|inner| {
        if subject.can(Capability::Run) {
            return Ok(inner);
        }
        subject.backend.wrap(&request, &subject.project, inner)
    });
    plan.map_err(|error| format!("no plan to read the output of: {error} ({})", error.code))
}

fn silent(subject: &Subject, code: Option<i32>) -> Result<Recording, String> {
    Ok(Recording::silent(
        subject.request(Mode::Run),
        &plan(subject)?,
        code,
    ))
}

/// Plays a tape on which nothing is right.
fn try_one(subject: &Subject, recording: &Recording, what: &str) -> Result<String, String> {
    let played = recording.play(subject.backend.as_ref());
    harmless(&played, None, what)?;
    Ok(played.words())
}

/// A reader may refuse what it cannot read, but one that refuses whatever comes reads nothing.
pub(super) fn endings(subject: &Subject) -> Result<String, String> {
    if !subject.can(Capability::Run) {
        return Ok("it reads what was measured, and no tests".to_owned());
    }
    let silent = silent(subject, Some(0))?;
    let mut recordings = vec![silent.clone()];
    for text in GARBAGE.iter().chain(&SHAPES) {
        let mut recording = silent.with(STREAMS.map(|stream| lines(stream, &[text])).into());
        for name in &silent.names {
            let report = ArtifactState::Bytes(text.as_bytes().to_vec());
            recording.files.insert(name.clone(), report);
        }
        recordings.push(recording);
    }
    let mut first = None;
    for recording in &recordings {
        match recording.play(subject.backend.as_ref()).error {
            None => return Ok("an ending".to_owned()),
            Some(error) => first = first.or(Some(error)),
        }
    }
    let first = first.unwrap_or_default();
    Err(format!(
        "an error for each of {} inputs: {first}",
        recordings.len()
    ))
}

pub(super) fn silence(subject: &Subject) -> Result<String, String> {
    let mut came = String::new();
    for code in [1, 2, 5, 101, 0] {
        let what = format!("exit code {code} and no output");
        came = try_one(subject, &silent(subject, Some(code))?, &what)?;
    }
    try_one(subject, &silent(subject, None)?, "no exit code and no output")?;
    Ok(came)
}

pub(super) fn no_exit(subject: &Subject) -> Result<String, String> {
    let mut recording = silent(subject, None)?;
    recording.exits.clear();
    try_one(subject, &recording, "no step was started")
}

/// Lines on one stream of the first step.
fn lines(stream: Stream, lines: &[&str]) -> Lines {
    Lines {
        step: 0,
        stream,
        lines: lines.iter().map(|&line| line.to_owned()).collect(),
    }
}

/// Each line alone and all together, on all streams, and as each report.
fn all_places(subject: &Subject, noise: &[&str]) -> Result<String, String> {
    let base = silent(subject, Some(0))?;
    for line in noise {
        let recording = base.with(STREAMS.map(|stream| lines(stream, &[line])).into());
        let start: String = line.chars().take(40).collect();
        try_one(subject, &recording, &format!("{start:?} on each stream"))?;
    }
    let together = base.with(STREAMS.map(|stream| lines(stream, noise)).into());
    try_one(subject, &together, "all of it on all streams")?;
    for text in noise
        .iter()
        .map(|line| (*line).to_owned())
        .chain([noise.join("\n")])
    {
        let mut recording = together.clone();
        for name in &base.names {
            recording
                .files
                .insert(name.clone(), ArtifactState::Bytes(text.clone().into_bytes()));
        }
        try_one(
            subject,
            &recording,
            &format!("{:?} as the report", text.chars().take(40).collect::<String>()),
        )?;
    }
    Ok(format!("{} lines, nothing green", noise.len()))
}

pub(super) fn garbage(subject: &Subject) -> Result<String, String> {
    all_places(subject, &GARBAGE)
}

pub(super) fn shapes(subject: &Subject) -> Result<String, String> {
    let deep = ["[".repeat(50_000), "<a>".repeat(20_000), "{\"a\":".repeat(20_000)];
    let deep: Vec<&str> = deep.iter().map(String::as_str).collect();
    all_places(subject, &deep)?;
    all_places(subject, &SHAPES)
}

pub(super) fn long_line(subject: &Subject) -> Result<String, String> {
    let base = silent(subject, Some(0))?;
    let json = format!("{{\"event\": \"{}", "x".repeat(10 << 20));
    for stream in STREAMS {
        let recording = base.with(vec![lines(stream, &[&json])]);
        try_one(subject, &recording, &format!("10 MB in one line of {stream:?}"))?;
    }
    Ok("three lines, nothing green".to_owned())
}

pub(super) fn many_lines(subject: &Subject) -> Result<String, String> {
    let noise: Vec<&str> = GARBAGE.iter().copied().cycle().take(20_000).collect();
    let base = silent(subject, Some(0))?;
    let calls = noise.chunks(500).zip(STREAMS.iter().cycle());
    let recording = base.with(calls.map(|(chunk, stream)| lines(*stream, chunk)).collect());
    try_one(subject, &recording, "20,000 lines of noise")
}

pub(super) fn reports(subject: &Subject) -> Result<String, String> {
    let base = silent(subject, Some(0))?;
    if base.names.is_empty() {
        return Ok("its plan leaves no reports".to_owned());
    }
    let bytes = |bytes: &[u8]| ArtifactState::Bytes(bytes.to_vec());
    let states = [
        ("missing", ArtifactState::Missing),
        ("old", ArtifactState::Stale),
        (
            "unusable",
            ArtifactState::Unusable("is a symbolic link".to_owned()),
        ),
        ("empty", bytes(b"")),
        ("of bytes that are no UTF-8", bytes(b"\xff\xfe\x00\xc3\x28")),
        ("of NULs", bytes(&[0; 4096])),
    ];
    let count = states.len();
    for (word, state) in states {
        let mut recording = base.clone();
        for name in &base.names {
            recording.files.insert(name.clone(), state.clone());
        }
        try_one(subject, &recording, &format!("a report that is {word}"))?;
    }
    Ok(format!("{count} states, nothing green"))
}
