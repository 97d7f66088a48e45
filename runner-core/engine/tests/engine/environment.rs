//! What the tests of each caller get.

use engine::policy::Policy;

use crate::scripted::{Harness, Scripted};

const VARS: &[(&str, &str)] = &[
    ("HOME", "/home/somebody"),
    ("API_TOKEN", "hunter2hunter2"),
    ("PYTEST_CURRENT_TEST", "outer"),
    ("TMPDIR", "/outer"),
    ("LATER", "x"),
];

#[tokio::test]
async fn an_agents_tests_get_an_allowlist_and_folders_of_their_own() {
    let bench = Harness::with_environment(VARS);
    let mut spec = bench.spec(Scripted::new(
        "env; [ -d $TMPDIR ] && echo passed t::tmp; echo stop",
    ));
    spec.env.pass = vec!["LATER".to_owned()];
    spec.env.set.insert("APP_ENV".to_owned(), "test".to_owned());
    let seen = bench.run(spec).await;
    assert_eq!(seen.status(), "passed");
    let printed = &seen.report.first().output_tail;
    for expected in [
        "HOME=/home/somebody",
        "LATER=x",
        "APP_ENV=test",
        "PATH=/usr/bin:/bin",
    ] {
        assert!(
            printed.lines().any(|line| line == expected),
            "{expected} in {printed}"
        );
    }
    for missing in ["API_TOKEN", "PYTEST_CURRENT_TEST", "/outer"] {
        assert!(!printed.contains(missing), "{missing} in {printed}");
    }
    assert_eq!(seen.report.facts.dropped_variables, ["API_TOKEN"]);
}

#[tokio::test]
async fn a_persons_tests_get_nearly_all() {
    let bench = Harness::with_environment(VARS);
    let mut spec = bench.spec(Scripted::new("env; echo passed t::a; echo stop"));
    spec.policy = Policy::person();
    let seen = bench.run(spec).await;
    let printed = &seen.report.first().output_tail;
    for expected in ["API_TOKEN=hunter2hunter2", "TMPDIR=/outer", "LATER=x"] {
        assert!(
            printed.lines().any(|line| line == expected),
            "{expected} in {printed}"
        );
    }
    assert!(!printed.contains("PYTEST_CURRENT_TEST"));
    assert!(seen.report.facts.dropped_variables.is_empty());
}

#[tokio::test]
async fn what_failed_tests_left_moves_to_the_runs_folder() {
    let bench = Harness::new();
    let leave = "mkdir -p $TMPDIR/pytest-of-me/a; echo evidence > $TMPDIR/pytest-of-me/a/file";
    let red = bench
        .script(&format!("{leave}; echo failed t::a; echo stop; exit 1"))
        .await;
    let facts = &red.report.facts;
    let kept = bench.store().kept_files(&facts.root, &facts.run_id).unwrap();
    assert!(kept.join("pytest-of-me/a/file").is_file());
    let green = bench
        .script(&format!("{leave}; echo passed t::a; echo stop"))
        .await;
    let facts = &green.report.facts;
    assert_eq!(bench.store().kept_files(&facts.root, &facts.run_id), None);
}
