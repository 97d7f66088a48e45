//! Every run ends once, with what was seen before.

use std::time::{Duration, Instant};

use engine::run_id::new_run_id;
use process::Cancel;
use proptest::prelude::*;
use runner_core::event::RunEvent;
use runner_core::report::{Report, SharedReport};

use crate::scripted::{Harness, Scripted};

const GREEN: &str = "echo select 1; echo start t::a; echo passed t::a; echo stop";

#[tokio::test]
async fn a_green_script_passes() {
    let bench = Harness::new();
    let seen = bench.script(GREEN).await;
    assert_eq!(seen.status(), "passed");
    assert_eq!(seen.rows(), [("t::a", "passed")]);
    let facts = &seen.report.facts;
    assert_eq!(
        (facts.suite.as_str(), facts.backend.as_str()),
        ("unit", "scripted")
    );
    assert_eq!(facts.argv[..2], ["/bin/sh", "-c"]);
    assert!(seen.report.first().output_tail.ends_with("passed t::a\nstop"));
    let output = bench.store().output(&facts.root, &facts.run_id).unwrap();
    assert!(output.ends_with("passed t::a\nstop\n"));
}

#[tokio::test]
async fn failures_and_disagreements_are_told() {
    let bench = Harness::new();
    let red = bench.script("echo failed t::a; echo stop; exit 1").await;
    assert_eq!(
        (red.status(), red.warnings().contains("exit code")),
        ("failed", false)
    );
    let forged = bench.script("echo failed t::a; echo stop; exit 0").await;
    assert_eq!(
        (forged.status(), forged.warnings().contains("exit code")),
        ("failed", true)
    );
    let odd = bench.script("echo passed t::a; echo stop; exit 3").await;
    assert_eq!(odd.status(), "broken");
    let cut = bench
        .script("echo passed t::a; echo start t::b; kill -KILL $$")
        .await;
    assert_eq!(cut.status(), "incomplete");
    assert!(cut.reason().contains("t::b"), "{}", cut.reason());
    let nothing = bench.script("echo broken x.py; exit 2").await;
    assert_eq!(nothing.status(), "broken");
}

#[tokio::test]
async fn a_time_limit_keeps_what_was_seen() {
    let bench = Harness::new();
    let mut spec = bench.spec(Scripted::new(
        "echo select 3; echo passed t::a; echo start t::b; trap '' TERM; sleep 60",
    ));
    spec.timeout = Some(Duration::from_millis(700));
    spec.suite.grace = Some(Duration::from_millis(100));
    let began = Instant::now();
    let seen = bench.run(spec).await;
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(seen.status(), "timed_out");
    assert_eq!(seen.rows(), [("t::a", "passed")]);
    let reason = "the time limit of 0.7 s passed; still running: t::b; 1 never started";
    assert_eq!(seen.reason(), reason);
}

#[tokio::test]
async fn a_process_that_holds_the_pipes_does_not_hold_the_answer() {
    let bench = Harness::new();
    let began = Instant::now();
    let seen = bench.script(&format!("{GREEN}; sleep 60 & exit 0")).await;
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(seen.status(), "passed");
    assert_eq!(seen.report.first().exits[0].leaked.len(), 1);
}

#[tokio::test]
async fn iterations_share_one_id_and_one_that_hangs_does_not_stop_the_others() {
    let bench = Harness::new();
    let count = bench.folder.path().join("count");
    let script = format!(
        "echo x >> {0}; n=$(grep -c x {0}); [ $n = 2 ] && {{ echo start t::a; sleep 60; }}; echo passed t::a; echo stop",
        count.display()
    );
    let mut spec = bench.spec(Scripted::new(&script));
    spec.iterations = 3;
    spec.timeout = Some(Duration::from_millis(800));
    spec.suite.grace = Some(Duration::from_millis(100));
    let seen = bench.run(spec).await;
    assert_eq!(seen.status(), "timed_out");
    let finished: Vec<usize> = seen
        .report
        .iterations
        .iter()
        .map(runner_core::report::Iteration::finished_tests)
        .collect();
    assert_eq!(finished, [1, 0, 1]);
    assert!(seen.reason().contains("t::a"));
}

#[tokio::test]
async fn the_limit_of_all_iterations_ends_them() {
    let bench = Harness::new();
    let mut spec = bench.spec(Scripted::new(&format!("sleep 0.4; {GREEN}")));
    spec.iterations = 50;
    spec.total_timeout = Some(Duration::from_secs(1));
    let seen = bench.run(spec).await;
    assert_eq!(seen.status(), "timed_out");
    assert!(seen.report.iterations.len() < 6);
    assert!(seen.reason().contains("limit of 1 s"));
}

#[tokio::test]
async fn a_cancel_ends_a_running_run_and_names_who_asked() {
    let bench = Harness::new();
    let cancel = Cancel::new();
    let asker = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(500)).await;
        asker.ask("cancel_run");
    });
    let mut spec = bench.spec(Scripted::new("echo passed t::a; echo start t::b; sleep 60"));
    spec.iterations = 3;
    let seen = bench.run_until(spec, cancel).await;
    assert_eq!(
        (seen.status(), seen.reason().as_str()),
        ("cancelled", "cancelled by cancel_run")
    );
    assert_eq!(seen.rows(), [("t::a", "passed")]);
    assert_eq!(seen.report.iterations.len(), 1);
}

#[tokio::test]
async fn a_queued_run_can_be_seen_and_cancelled_and_the_queue_is_fair() {
    let bench = std::sync::Arc::new(Harness::new());
    let (engine, cancel) = (bench.engine.clone(), Cancel::new());
    let spec = bench.spec(Scripted::new("sleep 60"));
    let first_cancel = Cancel::new();
    let stop_first = first_cancel.clone();
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let first = tokio::spawn(async move {
        let mut begun = Some(begun);
        let mut sink = |event: &RunEvent, _: &Report| {
            if matches!(event, RunEvent::IterationStarted { .. }) {
                begun.take().unwrap().send(()).unwrap();
            }
        };
        engine
            .run(
                new_run_id(),
                spec,
                first_cancel,
                SharedReport::default(),
                &mut sink,
            )
            .await
    });
    has_begun.await.unwrap();
    let asker = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        asker.ask("the client");
        tokio::time::sleep(Duration::from_millis(100)).await;
        stop_first.ask("the test");
    });
    let mut statuses = Vec::new();
    let mut sink = |_: &RunEvent, report: &Report| statuses.push(report.status());
    let spec = bench.spec(Scripted::new(GREEN));
    let report = bench
        .engine
        .run(new_run_id(), spec, cancel, SharedReport::default(), &mut sink)
        .await;
    assert_eq!(report.status().as_str(), "cancelled");
    assert!(report.iterations.is_empty());
    assert_eq!(statuses[0].as_str(), "queued");
    assert_eq!(first.await.unwrap().status().as_str(), "cancelled");
}

#[tokio::test]
async fn a_backend_that_panics_ends_the_run_not_the_caller() {
    let bench = Harness::new();
    let seen = bench
        .script("echo passed t::a; sleep 0.2; echo panic; echo passed t::b; echo stop")
        .await;
    assert_eq!(seen.status(), "incomplete");
    assert_eq!(seen.rows(), [("t::a", "passed")]);
    assert!(seen.reason().contains("the reader is bad"), "{}", seen.reason());
    let seen = bench.script("echo passed t::a; sleep 0.2; echo stop panic").await;
    assert_eq!(seen.status(), "incomplete");
    let mut backend = Scripted::new(GREEN);
    backend.plan_panics = true;
    let seen = bench.run(bench.spec(backend)).await;
    assert_eq!(seen.status(), "broken");
    assert!(seen.reason().contains("the plan is bad"));
}

#[tokio::test]
async fn a_caller_that_panics_loses_its_events_and_the_run_goes_on() {
    let bench = Harness::new();
    let mut count = 0;
    let mut sink = |_: &RunEvent, _: &Report| {
        count += 1;
        assert!(count < 3, "the caller is bad");
    };
    let spec = bench.spec(Scripted::new(GREEN));
    let report = bench
        .engine
        .run(
            new_run_id(),
            spec,
            Cancel::new(),
            SharedReport::default(),
            &mut sink,
        )
        .await;
    assert_eq!(report.status().as_str(), "passed");
}

#[tokio::test]
async fn a_caller_that_stops_waiting_ends_the_record() {
    let bench = Harness::new();
    let run_id = new_run_id();
    let mut sink = |_: &RunEvent, _: &Report| {};
    let spec = bench.spec(Scripted::new("echo passed t::a; sleep 60"));
    let root = spec.project.root.clone();
    let run = bench.engine.run(
        run_id.clone(),
        spec,
        Cancel::new(),
        SharedReport::default(),
        &mut sink,
    );
    let waited = tokio::time::timeout(Duration::from_millis(500), run).await;
    assert!(waited.is_err());
    let stored = bench.store().load(&root, &run_id).unwrap();
    assert_eq!(stored.status().as_str(), "cancelled");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_broken_with_the_reason() {
    let bench = Harness::new();
    let mut backend = Scripted::new(GREEN);
    backend.program = Some("/no/such/python".into());
    let seen = bench.run(bench.spec(backend)).await;
    assert_eq!(seen.status(), "broken");
    assert!(seen.reason().contains("/no/such/python"), "{}", seen.reason());
    let mut spec = bench.spec(Scripted::new(GREEN));
    spec.cwd = "/no/such/folder".into();
    let seen = bench.run(spec).await;
    assert_eq!(seen.status(), "broken");
    assert!(seen.reason().contains("/no/such/folder"), "{}", seen.reason());
}

#[tokio::test]
async fn without_a_store_tests_run_all_the_same() {
    let mut bench = Harness::new();
    let tmp = bench.folder.path().join("tmp");
    std::fs::create_dir(&tmp).unwrap();
    let mut environment = (*bench.engine.environment).clone();
    environment
        .vars
        .insert("TMPDIR".into(), tmp.to_string_lossy().into_owned());
    bench.engine.store = None;
    bench.engine.environment = std::sync::Arc::new(environment);
    let spec = bench.spec(Scripted::new(&format!("{GREEN}; echo $TMPDIR; touch $TMPDIR/x")));
    let report = bench
        .engine
        .run(
            new_run_id(),
            spec,
            Cancel::new(),
            SharedReport::default(),
            &mut |_: &RunEvent, _: &Report| {},
        )
        .await;
    assert_eq!(report.status().as_str(), "passed");
    assert!(report.first().output_tail.contains(&*tmp.to_string_lossy()));
    assert_eq!(std::fs::read_dir(&tmp).unwrap().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// `check` holds the books of whatever a framework says.
    #[test]
    fn the_report_is_the_fold_of_the_events(
        words in prop::collection::vec((prop::sample::select(vec![
            "start", "passed", "failed", "error", "skipped", "broken", "select 4", "found", "stop", "stop interrupted",
            "panic", "noise",
        ]), 0..3_u8), 0..12),
        code in 0..4,
    ) {
        let lines: Vec<String> = words.iter().map(|(word, id)| match *word {
            "stop" | "stop interrupted" | "select 4" | "panic" => format!("echo {word}"),
            _ => format!("echo '{word} t::{id}'"),
        }).collect();
        let script = format!("{}\nexit {code}", lines.join("\n"));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async { Harness::new().script(&script).await });
    }
}
