//! Strings are clean once they leave the engine, in every place.

use engine::policy::Policy;

use crate::scripted::{Harness, Scripted, as_json};

const SECRET: &str = "correct-horse-battery";

#[tokio::test]
async fn secrets_and_escapes_are_gone_from_all_places_and_counted() {
    let bench = Harness::with_environment(&[("MY_TOKEN", SECRET)]);
    let script = format!(
        "printf 'failed t::a | \\033[31m{SECRET}\\033[0m \\342\\200\\256gnp\\n'; echo '{SECRET}' >&2; printf '\\033]52;c;aGk=\\007stop\\n'; exit 1"
    );
    let seen = bench.script(&script).await;
    let row = &seen.report.first().rows[0];
    assert_eq!(row.message.as_deref(), Some("[redacted] gnp"));
    assert_eq!(row.failures[0].text, "[redacted] gnp");
    assert!(
        seen.warnings().contains("secrets in what the tests printed"),
        "{}",
        seen.warnings()
    );
    let facts = &seen.report.facts;
    let mut report = as_json(&seen.report);
    // The command line is the test's own script here.
    report["facts"]["argv"] = serde_json::Value::Null;
    let everything = format!(
        "{report} {}",
        bench.store().output(&facts.root, &facts.run_id).unwrap()
    );
    for gone in [SECRET, "\u{1b}", "\\u001b", "\u{202e}", "aGk="] {
        assert!(!everything.contains(gone), "{gone:?} in {everything}");
    }
}

#[tokio::test]
async fn a_persons_own_output_is_not_redacted() {
    let bench = Harness::with_environment(&[("MY_TOKEN", SECRET)]);
    let mut spec = bench.spec(Scripted::new(&format!(
        "echo 'failed t::a | {SECRET}'; echo stop; exit 1"
    )));
    spec.policy = Policy::person();
    let seen = bench.run(spec).await;
    assert_eq!(seen.report.first().rows[0].message.as_deref(), Some(SECRET));
    assert_eq!(seen.report.warnings, Vec::<String>::new());
}

#[tokio::test]
async fn ids_are_verbatim_and_never_redacted() {
    let bench = Harness::with_environment(&[("MY_TOKEN", SECRET)]);
    let script =
        format!("echo 'passed t::a[{SECRET}]'; printf 'passed t::a[\\033[1m]\\npassed t::a[]\\n'; echo stop");
    let seen = bench.script(&script).await;
    let token = format!("t::a[{SECRET}]");
    assert_eq!(
        seen.rows(),
        [
            (token.as_str(), "passed"),
            ("t::a[\u{1b}[1m]", "passed"),
            ("t::a[]", "passed")
        ]
    );
}

#[tokio::test]
async fn much_output_is_bounded_and_its_end_is_kept() {
    let bench = Harness::new();
    let seen = bench
        .script("yes 'a line of text' | head -n 200000; echo passed t::a; echo stop")
        .await;
    assert_eq!(seen.status(), "passed");
    let tail = &seen.report.first().output_tail;
    assert!(tail.ends_with("passed t::a\nstop") && tail.chars().count() <= 6000);
    let facts = &seen.report.facts;
    let output = bench.store().output(&facts.root, &facts.run_id).unwrap();
    assert!(output.len() < 1024 * 1024);
    assert!(output.contains("bytes left out") && output.ends_with("stop\n"));
}
