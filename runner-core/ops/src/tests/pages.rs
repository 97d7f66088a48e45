//! `get_run` and `cancel_run` on runs of this process.

use std::any::Any;
use std::time::Duration;

use super::*;
use crate::answer_of;
use crate::definition::Called;
use crate::{cancel_run, get_run};
use engine::run_id::new_run_id;
use process::Cancel;
use runner_core::model::Status;

fn events(report_of: Script, run_id: &str) -> Vec<RunEvent> {
    let mut events = report_of.events;
    if let Some(RunEvent::Started(facts)) = events.first_mut() {
        facts.run_id = run_id.to_owned();
    }
    events
}

/// Enters a run with the record so far.
fn enter(workspace: &Workspace, script: Script) -> (String, crate::live::Recording, Cancel) {
    let (run_id, cancel) = (new_run_id(), Cancel::new());
    let recording = workspace.live.begin(&run_id, "run_suite", cancel.clone());
    for event in events(script, &run_id) {
        recording.report().add(&event);
    }
    (run_id, recording, cancel)
}

async fn page(workspace: &Workspace, arguments: get_run::Arguments) -> Result<get_run::Page, OpError> {
    let Called::Answer(answer) = get_run::run(workspace, arguments, Cancel::new()).await? else {
        panic!("a whole run");
    };
    let page: Box<dyn Any> = answer;
    Ok(*page.downcast().expect("a page"))
}

fn of(run_id: &str) -> get_run::Arguments {
    get_run::Arguments {
        run_id: run_id.to_owned(),
        ..get_run::Arguments::default()
    }
}

fn three(workspace: &Workspace) -> Script {
    Script::new(workspace, "run_suite", &[])
        .tell(TestEvent::Counted {
            selected: 9,
            deselected: 0,
        })
        .row("a.py::one", Outcome::Passed)
        .failed("a.py::two", "boom")
        .row("a.py::three", Outcome::Passed)
}

#[tokio::test]
async fn a_run_that_goes_on_tells_how_far_it_is_and_shows_its_failures() {
    let (_folder, workspace) = workspace();
    let (run_id, _recording, _cancel) = enter(&workspace, three(&workspace).started("a.py::four"));
    let page = page(&workspace, of(&run_id)).await.unwrap();
    assert_eq!(page.status, Status::Running);
    let progress = page.progress.clone().unwrap();
    assert_eq!(
        (progress.finished, progress.selected, progress.failures),
        (3, Some(9), 1)
    );
    assert_eq!(progress.running, ["a.py::four"]);
    assert_eq!(page.tests.len(), 1);
    assert_eq!(
        page.headline(),
        format!("Run {run_id}: running. 3 of 9 tests finished, 1 failed so far.")
    );
}

#[tokio::test]
async fn waiting_ends_with_the_run_or_with_the_patience() {
    let (_folder, workspace) = workspace();
    let (run_id, recording, _cancel) = enter(&workspace, three(&workspace));
    let patient = |wait| get_run::Arguments { wait, ..of(&run_id) };
    let impatient = page(&workspace, patient(Duration::from_millis(10)))
        .await
        .unwrap();
    assert_eq!(impatient.status, Status::Running);
    let ended = async {
        recording.report().add(&RunEvent::Finished {
            cause: StopReason::Done,
            duration_s: 1.0,
        });
        drop(recording);
    };
    let (answer, ()) = tokio::join!(
        get_run::run(&workspace, patient(Duration::from_secs(60)), Cancel::new()),
        ended
    );
    assert!(
        matches!(answer.unwrap(), Called::WholeRun(_)),
        "an ended run answers as its own tool"
    );
}

#[tokio::test]
async fn pages_reach_every_row_once() {
    let (_folder, workspace) = workspace();
    let (run_id, recording, _cancel) = enter(&workspace, three(&workspace));
    drop(recording);
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let arguments = get_run::Arguments {
            part: Some(get_run::Part::Tests),
            limit: Some(2),
            cursor,
            ..of(&run_id)
        };
        let page = page(&workspace, arguments).await.unwrap();
        assert_eq!(page.matching, Some(3));
        seen.extend(page.tests.into_iter().map(|row| row.nodeid));
        match page.cursor {
            Some(next) => cursor = Some(next.parse().unwrap()),
            None => break,
        }
    }
    assert_eq!(seen, ["a.py::one", "a.py::two", "a.py::three"]);
}

#[tokio::test]
async fn rows_are_found_by_outcome_by_part_and_by_id() {
    let (_folder, workspace) = workspace();
    let (run_id, recording, _cancel) = enter(&workspace, three(&workspace));
    drop(recording);
    let failures = get_run::Arguments {
        part: Some(get_run::Part::Failures),
        ..of(&run_id)
    };
    assert_eq!(
        page(&workspace, failures).await.unwrap().tests[0].nodeid,
        "a.py::two"
    );
    let passed = get_run::Arguments {
        outcome: Some(Outcome::Passed),
        ..of(&run_id)
    };
    assert_eq!(page(&workspace, passed).await.unwrap().matching, Some(2));
    let one = get_run::Arguments {
        nodeid: Some("a.py::one".into()),
        ..of(&run_id)
    };
    assert_eq!(page(&workspace, one).await.unwrap().matching, Some(1));
    let typo = get_run::Arguments {
        nodeid: Some("a.py::twoo".into()),
        ..of(&run_id)
    };
    let error = page(&workspace, typo).await.unwrap_err();
    assert_eq!(error.error.hint.as_deref(), Some("Did you mean `a.py::two`?"));
}

#[tokio::test]
async fn ids_that_are_none_never_come_near_the_disk() {
    let (_folder, workspace) = workspace();
    for bad in ["../../etc", "", "x y", &new_run_id(), "last"] {
        let error = get_run::run(&workspace, of(bad), Cancel::new())
            .await
            .unwrap_err();
        assert_eq!(
            (error.error.code.as_str(), error.exit().code()),
            ("no_such_run", 4),
            "{bad}"
        );
    }
}

#[tokio::test]
async fn cancelling_waits_for_the_end_and_a_second_time_tells_that_it_had_ended() {
    let (_folder, workspace) = workspace();
    let (run_id, recording, cancel) = enter(&workspace, three(&workspace));
    let work = async {
        cancel.asked().await;
        drop(recording);
    };
    let arguments = || cancel_run::Arguments {
        run_id: run_id.clone(),
    };
    let (answer, ()) = tokio::join!(cancel_run::run(&workspace, arguments()), work);
    let answer = answer.unwrap();
    assert_eq!((answer.status, answer.cancelled), (Status::Cancelled, true));
    let again = cancel_run::run(&workspace, arguments()).await.unwrap();
    assert_eq!((again.status, again.cancelled), (Status::Cancelled, false));
    let kept = get_run::run(&workspace, of(&run_id), Cancel::new())
        .await
        .unwrap();
    let Called::WholeRun(kept) = kept else {
        panic!("no whole run")
    };
    let mut kept = answer_of(&workspace, &kept).unwrap();
    assert_eq!(kept.take_rows().len(), 3, "what had finished is kept");
}
