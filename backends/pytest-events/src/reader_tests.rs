//! The reader against recordings of real pytests (`fixtures/record.py`), cut and mixed in every way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use runner_core::backend::Mode;
use runner_core::event::{EndingKind, RunEvent, StopReason};
use runner_core::plan::ArtifactState;
use runner_core::report::Report;
use serde::Deserialize;

use super::*;

const VERSIONS: [&str; 4] = ["6.2.5", "7.4.4", "8.4.2", "9.2.0"];

#[derive(Clone, Debug, Default, Deserialize)]
struct Recording {
    channel: Vec<String>,
    stdout: Vec<String>,
    stderr: Vec<String>,
    code: Option<i32>,
    signal: Option<i32>,
    phase: Option<String>,
}

impl Recording {
    fn exit(&self) -> StepExit {
        StepExit {
            step: STEP_NAME.to_owned(),
            code: self.code,
            signal: self.signal,
            ..StepExit::default()
        }
    }

    fn files(&self) -> Artifacts {
        let mut files = Artifacts::default();
        if let Some(phase) = &self.phase {
            files.insert(PHASE, ArtifactState::Bytes(phase.clone().into_bytes()));
        }
        files
    }

    fn lines(&self) -> Vec<(Stream, String)> {
        let of = |stream, lines: &[String]| {
            lines
                .iter()
                .map(|line| (stream, line.clone()))
                .collect::<Vec<_>>()
        };
        let mut all = of(Stream::Stdout, &self.stdout);
        all.extend(of(Stream::Stderr, &self.stderr));
        all.extend(of(Stream::Channel, &self.channel));
        all
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn recorded(version: &str, project: &str) -> Recording {
    let path = fixtures()
        .join("recorded")
        .join(version)
        .join(format!("{project}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn projects() -> Vec<String> {
    let entries = std::fs::read_dir(fixtures().join("projects")).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn request() -> RunRequest {
    RunRequest {
        nonce: "recorded".into(),
        ..RunRequest::new(Mode::Run, "/project", "/scratch")
    }
}

/// Reads batches of lines, then the end.
fn read(batches: &[(Stream, Vec<String>)], exit: &StepExit, files: &Artifacts) -> (Vec<TestEvent>, Ending) {
    let mut reader = Reader::new(&request());
    let mut events = Vec::new();
    for (stream, lines) in batches {
        let lines = Lines {
            step: 0,
            stream: *stream,
            lines: lines.clone(),
        };
        reader.read(&lines, &mut events);
    }
    let ending = reader
        .finish(std::slice::from_ref(exit), files, &mut events)
        .unwrap();
    (events, ending)
}

fn fold(events: Vec<TestEvent>, ending: Ending, exit: StepExit) -> Report {
    let mut record = vec![RunEvent::IterationStarted { iteration: 1 }];
    record.extend(
        events
            .into_iter()
            .map(|test| RunEvent::Test { iteration: 1, test }),
    );
    record.push(RunEvent::StepExited { iteration: 1, exit });
    record.push(RunEvent::IterationEnded {
        iteration: 1,
        ending: Some(ending),
        duration_s: 1.0,
        output_tail: String::new(),
    });
    record.push(RunEvent::Finished {
        cause: StopReason::Done,
        duration_s: 1.0,
    });
    Report::fold(&record)
}

fn report(recording: &Recording) -> Report {
    let batches: Vec<_> = recording
        .lines()
        .into_iter()
        .map(|(stream, line)| (stream, vec![line]))
        .collect();
    let (events, ending) = read(&batches, &recording.exit(), &recording.files());
    fold(events, ending, recording.exit())
}

/// A report in the words of an `expect.txt`, without the reason.
fn described(report: &Report) -> BTreeSet<String> {
    let iteration = report.first();
    let mut lines = BTreeSet::new();
    for row in &iteration.rows {
        let mut words = vec![row.nodeid.clone(), row.outcome.to_string()];
        if !row.attempts.is_empty() {
            words.push(format!("attempts {}", row.attempts.len()));
        }
        words.extend(row.phase.map(|phase| phase.as_str().to_owned()));
        // How a test with failed subtests words its own failure differs between pytest 9 and the plug-in.
        let failures = row.failures.iter().filter(|_| row.subtests.is_empty());
        words.extend(failures.map(|failure| failure.phase.as_str().to_owned()));
        lines.insert(words.join(" "));
    }
    lines.extend(
        iteration
            .collection_errors
            .iter()
            .map(|error| format!("collection {}", error.nodeid)),
    );
    for unfinished in iteration.unfinished() {
        let phase = unfinished
            .phase
            .map(|phase| format!(" {}", phase.as_str()))
            .unwrap_or_default();
        lines.insert(format!("unfinished {}{phase}", unfinished.nodeid));
    }
    let verdict = report.verdict();
    lines.insert(format!(
        "status {}{}",
        verdict.status,
        if verdict.stopped { " stopped" } else { "" }
    ));
    lines
}

fn check(version: &str, project: &str) {
    let report = report(&recorded(version, project));
    let expected =
        std::fs::read_to_string(fixtures().join("projects").join(project).join("expect.txt")).unwrap();
    let (reasons, rows): (Vec<&str>, Vec<&str>) =
        expected.lines().partition(|line| line.starts_with("reason "));
    let rows: BTreeSet<String> = rows.into_iter().map(str::to_owned).collect();
    assert_eq!(described(&report), rows, "{project} with pytest {version}");
    let said = report.verdict().reason.unwrap_or_default();
    for reason in reasons {
        let part = reason.strip_prefix("reason ").unwrap();
        assert!(
            said.contains(part),
            "{project} with pytest {version}: {said:?} lacks {part:?}"
        );
    }
}

#[test]
fn every_recorded_project_is_read_alike_with_every_pytest() {
    for project in projects() {
        for version in VERSIONS {
            check(version, &project);
        }
    }
}

#[test]
fn a_row_has_text_summary_place_output_and_duration() {
    for version in VERSIONS {
        let report = report(&recorded(version, "outcomes"));
        let row = report.first().row("test_outcomes.py::test_fails").unwrap();
        assert!(
            row.message.as_ref().unwrap().contains("numbers differ"),
            "{version}"
        );
        let failure = &row.failures[0];
        assert_eq!(
            failure.summary.as_deref(),
            Some("AssertionError: numbers differ"),
            "{version}"
        );
        assert_eq!(failure.location.as_ref().unwrap().file, "test_outcomes.py");
        let output = row.output.as_ref().unwrap();
        assert!(
            output.contains("printed by the test") && output.contains("and on stderr"),
            "{version}"
        );
        assert!(row.duration_s.unwrap() > 0.0);
        let place = row.location.as_ref().unwrap();
        assert_eq!((place.file.as_str(), place.line), ("test_outcomes.py", Some(23)));
        let skipped = report.first().row("test_outcomes.py::test_skip_mark").unwrap();
        assert_eq!(skipped.message.as_deref(), Some("not today"));
        let xfailed = report.first().row("test_outcomes.py::test_xfail_inside").unwrap();
        assert_eq!(xfailed.message.as_deref(), Some("found out"));
    }
}

#[test]
fn subtests_are_listed_and_make_their_test_failed() {
    for version in VERSIONS {
        let report = report(&recorded(version, "subtests"));
        let row = report.first().row("test_subtests.py::test_some").unwrap();
        let failed = row
            .subtests
            .iter()
            .filter(|subtest| subtest.outcome.is_bad())
            .count();
        assert_eq!((failed, row.outcome.as_str()), (2, "failed"), "{version}");
        assert!(
            row.subtests[1].description.contains("[step]"),
            "{:?}",
            row.subtests[1]
        );
        assert!(
            row.failures
                .iter()
                .any(|failure| failure.text.contains("number=1")),
            "{version}"
        );
    }
}

#[test]
fn xdist_rows_name_their_worker_and_the_dead_one_is_told() {
    for version in VERSIONS {
        let report = report(&recorded(version, "xdist"));
        let iteration = report.first();
        assert!(
            iteration
                .rows
                .iter()
                .all(|row| row.worker.as_ref().is_some_and(|w| w.starts_with("gw")))
        );
        assert!(
            iteration.warnings.iter().any(|warning| warning.contains("died")),
            "{:?}",
            iteration.warnings
        );
        assert_eq!(iteration.selected, Some(5));
    }
}

#[test]
fn every_attempt_of_a_rerun_test_is_kept() {
    for version in VERSIONS {
        let report = report(&recorded(version, "reruns"));
        let row = report.first().row("test_reruns.py::test_recovers").unwrap();
        assert_eq!(row.attempt, 3);
        let attempts: Vec<u32> = row.attempts.iter().map(|attempt| attempt.attempt).collect();
        assert_eq!(attempts, [1, 2]);
        assert!(
            row.attempts[0]
                .message
                .as_ref()
                .unwrap()
                .contains("assert 1 == 3")
        );
    }
}

#[test]
fn a_run_cut_anywhere_is_never_passed() {
    for project in ["green", "outcomes", "xdist"] {
        let whole = recorded("9.2.0", project);
        for end in 0..whole.channel.len() {
            let cut = Recording {
                channel: whole.channel[..end].to_vec(),
                ..whole.clone()
            };
            let status = report(&cut).status();
            assert!(
                !matches!(status.as_str(), "passed" | "failed" | "no_tests"),
                "{project} cut at {end}: {status}"
            );
        }
    }
}

#[test]
fn a_lost_line_is_noticed_by_the_counts() {
    let whole = recorded("9.2.0", "green");
    for lost in 2..whole.channel.len() {
        let mut cut = whole.clone();
        cut.channel.remove(lost);
        assert_ne!(
            report(&cut).status().as_str(),
            "passed",
            "without {}",
            whole.channel[lost]
        );
    }
}

#[test]
fn a_test_that_passed_but_could_not_say_so_keeps_its_row() {
    let mut died = recorded("9.2.0", "green");
    // The last pass waits for the session's end, and a crash came first.
    died.channel.truncate(died.channel.len() - 2);
    died.code = Some(7);
    died.phase = Some("p".into());
    let report = report(&died);
    assert_eq!(
        report.first().row("test_a.py::test_b").unwrap().outcome.as_str(),
        "passed"
    );
    assert!(report.first().unfinished().is_empty());
    assert_eq!(report.status().as_str(), "incomplete");
}

#[test]
fn another_runs_lines_are_not_believed() {
    let mut foreign = recorded("9.2.0", "green");
    foreign.channel[0] = foreign.channel[0].replace("\"recorded\"", "\"other\"");
    let report = report(&foreign);
    assert!(report.first().rows.is_empty());
    assert_eq!(report.status().as_str(), "broken");
}

#[test]
fn a_reporter_that_never_spoke_is_told_and_not_taken_for_no_tests() {
    let silent = Recording {
        stdout: vec!["2 passed in 0.01s".into()],
        code: Some(0),
        ..Recording::default()
    };
    let report = report(&silent);
    assert_eq!(report.status().as_str(), "broken");
    assert!(report.verdict().reason.unwrap().contains("reporter never spoke"));
}

#[test]
fn an_exit_code_that_contradicts_the_session_is_told() {
    let mut crashed = recorded("9.2.0", "green");
    (crashed.code, crashed.signal) = (None, Some(11));
    let report = report(&crashed);
    assert_eq!(report.status().as_str(), "incomplete");
    assert!(report.verdict().reason.unwrap().contains("SIGSEGV"));
}

#[test]
fn a_second_verdict_for_a_phase_is_a_warning() {
    let mut twice = recorded("9.2.0", "stops");
    let place = twice
        .channel
        .iter()
        .position(|line| line.contains("\"call\""))
        .unwrap();
    let again = twice.channel[place].replace("\"failed\"", "\"skipped\"");
    twice.channel.insert(place + 1, again);
    let report = report(&twice);
    assert_eq!(
        report
            .first()
            .row("test_stops.py::test_b")
            .unwrap()
            .outcome
            .as_str(),
        "failed"
    );
    assert!(
        report
            .first()
            .warnings
            .iter()
            .any(|warning| warning.contains("reported twice"))
    );
}

#[test]
fn several_sessions_end_as_their_worst_one() {
    let green = recorded("9.2.0", "green");
    let mut second = recorded("9.2.0", "os_exit");
    second.channel[0] = second.channel[0].replace("\"step\":\"pytest\"", "\"step\":\"pytest (2)\"");
    let mut reader = Reader::new(&request());
    let mut events = Vec::new();
    for (step, recording) in [(0, &green), (1, &second)] {
        let lines = Lines {
            step,
            stream: Stream::Channel,
            lines: recording.channel.clone(),
        };
        reader.read(&lines, &mut events);
    }
    let later = StepExit {
        step: "pytest (2)".into(),
        ..second.exit()
    };
    let coverage = StepExit {
        step: "coverage json".into(),
        code: Some(1),
        ..StepExit::default()
    };
    let ending = reader
        .finish(&[green.exit(), later, coverage], &second.files(), &mut events)
        .unwrap();
    assert_eq!(ending.kind, EndingKind::Cut);
}

#[test]
fn dumps_name_the_hanging_test_with_its_phase_and_frames() {
    let mut running = recorded("9.2.0", "os_exit");
    running.signal = Some(9);
    running.code = None;
    let pid: u32 = serde_json::from_str::<serde_json::Value>(&running.channel[0]).unwrap()["pid"]
        .as_u64()
        .unwrap() as u32;
    let mut files = running.files();
    files
        .dumps
        .insert(pid, include_str!("../fixtures/dumps/plain.txt").to_owned());
    let batches = vec![(Stream::Channel, running.channel.clone())];
    let (events, _) = read(&batches, &running.exit(), &files);
    let hung = events.iter().find_map(|event| match event {
        TestEvent::Hung {
            nodeid, phase, stack, ..
        } => Some((nodeid.clone(), *phase, stack.clone())),
        _ => None,
    });
    let (nodeid, phase, stack) = hung.unwrap();
    assert_eq!(nodeid, "test_os_exit.py::test_quits");
    assert_eq!(phase, Some(Phase::Call));
    assert!(stack.unwrap().contains("test_hang.py:16 in test_hangs"));
}

#[path = "reader_properties.rs"]
mod properties;

#[test]
fn a_coverage_threshold_is_named_and_is_no_verdict_on_a_part_of_the_suite() {
    use runner_core::model::Status;
    use runner_core::selector::{Selection, Selector};

    let mut recording = recorded("9.2.0", "green");
    let missed = "total coverage of 93.00 is less than fail-under=99";
    for line in &mut recording.channel {
        let Ok(mut fact) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        if fact["e"] == "finish" {
            fact["exit"] = 1.into();
            fact["threshold"] = missed.into();
            *line = fact.to_string();
        }
    }
    recording.code = Some(1);
    let verdict = |request: &RunRequest| {
        let mut reader = Reader::new(request);
        let mut events = Vec::new();
        for (stream, line) in recording.lines() {
            let lines = Lines {
                step: 0,
                stream,
                lines: vec![line],
            };
            reader.read(&lines, &mut events);
        }
        let exits = [recording.exit()];
        let ending = reader.finish(&exits, &recording.files(), &mut events).unwrap();
        fold(events, ending, recording.exit())
    };
    let whole = verdict(&request()).verdict();
    assert_eq!(whole.status, Status::Broken);
    assert!(whole.reason.unwrap().contains(missed));
    let part = verdict(&RunRequest {
        selection: Selection {
            selectors: vec![Selector::Path {
                path: "test_a.py".into(),
            }],
        },
        ..request()
    });
    assert_eq!(part.status(), Status::Passed);
    assert!(
        part.first()
            .warnings
            .iter()
            .any(|warning| warning.contains(missed))
    );
}
