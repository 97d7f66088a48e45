//! Steps in order, files laid and read back, coverage around it.

use std::sync::Arc;
use std::time::Duration;

use crate::scripted::{Harness, Measuring, Scripted};

const GREEN: &str = "echo passed t::a; echo stop";

fn later(name: &str, always: bool) -> (String, String, bool) {
    (name.to_owned(), format!("echo passed t::{name}"), always)
}

#[tokio::test]
async fn a_later_step_runs_after_success_or_always() {
    let bench = Harness::new();
    for (script, expected) in [
        (
            GREEN.to_owned(),
            "exits script plain kept; report was not written",
        ),
        (
            format!("{GREEN}; exit 1"),
            "exits script kept; report was not written",
        ),
    ] {
        let mut backend = Scripted::new(&script);
        backend.more = vec![later("plain", false), later("kept", true)];
        let seen = bench.run(bench.spec(backend)).await;
        assert!(seen.warnings().contains(expected), "{}", seen.warnings());
    }
}

#[tokio::test]
async fn no_step_runs_after_a_time_limit_and_all_share_one() {
    let bench = Harness::new();
    let mut backend = Scripted::new(&format!("{GREEN}; sleep 60"));
    backend.more = vec![later("kept", true)];
    let mut spec = bench.spec(backend);
    spec.timeout = Some(Duration::from_millis(500));
    let seen = bench.run(spec).await;
    assert_eq!(seen.status(), "timed_out");
    assert!(seen.warnings().contains("exits script;"), "{}", seen.warnings());

    let mut backend = Scripted::new(GREEN);
    backend.more = vec![("slow".to_owned(), "sleep 60".to_owned(), false)];
    let mut spec = bench.spec(backend);
    spec.timeout = Some(Duration::from_millis(500));
    let seen = bench.run(spec).await;
    assert_eq!(
        (seen.status(), seen.rows()),
        ("timed_out", vec![("t::a", "passed")])
    );
}

#[tokio::test]
async fn a_later_step_that_cannot_start_costs_only_itself() {
    let bench = Harness::new();
    let mut backend = Scripted::new(GREEN);
    backend.more = vec![later("missing", false), later("kept", true)];
    let seen = bench.run(bench.spec(backend)).await;
    assert_eq!(seen.status(), "passed");
    let warnings = seen.warnings();
    assert!(
        warnings.contains("missing: could not start /no/such/program"),
        "{warnings}"
    );
    assert!(warnings.contains("exits script missing kept"), "{warnings}");
}

#[tokio::test]
async fn a_coverage_backend_wraps_the_plan_and_makes_no_rows() {
    let bench = Harness::new();
    for (script, status) in [
        (GREEN.to_owned(), "passed"),
        ("echo failed t::a; echo stop; exit 1".to_owned(), "failed"),
    ] {
        let mut spec = bench.spec(Scripted::new(&script));
        spec.coverage = Some(Arc::new(Measuring));
        let seen = bench.run(spec).await;
        assert_eq!(seen.status(), status);
        assert_eq!(seen.rows().len(), 1);
        let coverage = seen.report.first().coverage.as_ref().unwrap();
        assert_eq!(coverage.percent, Some(75.0));
        assert!(
            seen.warnings().contains("exits script;"),
            "only its own exits: {}",
            seen.warnings()
        );
        assert_eq!(seen.report.facts.coverage_backend.as_deref(), Some("measuring"));
    }
}

#[tokio::test]
async fn only_a_file_that_this_run_wrote_is_its_report() {
    let bench = Harness::new();
    let seen = bench
        .script(&format!("cat $SCRATCH/sub/laid > $SCRATCH/report; {GREEN}"))
        .await;
    assert!(seen.warnings().contains("report laid"), "{}", seen.warnings());

    let outside = bench.folder.path().join("old-report");
    std::fs::write(&outside, "yesterday's").unwrap();
    let mut backend = Scripted::new(GREEN);
    backend.artifact = Some(outside.clone());
    let seen = bench.run(bench.spec(backend.clone())).await;
    assert!(seen.warnings().contains("is older"), "{}", seen.warnings());
    backend.script = format!("echo today > {}; {GREEN}", outside.display());
    let seen = bench.run(bench.spec(backend)).await;
    assert!(seen.warnings().contains("report today"), "{}", seen.warnings());

    let seen = bench
        .script(&format!("ln -s {} $SCRATCH/report; {GREEN}", outside.display()))
        .await;
    assert!(
        seen.warnings().contains("is a symbolic link"),
        "{}",
        seen.warnings()
    );
    let seen = bench.script(&format!("mkfifo $SCRATCH/report; {GREEN}")).await;
    assert!(
        seen.warnings().contains("not a regular file"),
        "{}",
        seen.warnings()
    );
}

#[tokio::test]
async fn each_iteration_begins_with_a_clean_folder() {
    let bench = Harness::new();
    let script = format!("[ -e $SCRATCH/report ] && echo failed t::old; echo x > $SCRATCH/report; {GREEN}");
    let mut spec = bench.spec(Scripted::new(&script));
    spec.iterations = 3;
    let seen = bench.run(spec).await;
    assert_eq!(seen.status(), "passed");
    assert_eq!(seen.report.iterations.len(), 3);
}
