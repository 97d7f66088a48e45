//! Real runs of pytest 6.2 to 9.2, replayed.

#[path = "../../pytest-base/tests/support/recorded.rs"]
mod recorded;

use pytest_json::PytestJson;

#[test]
fn recorded_runs_give_the_expected_rows() {
    recorded::compare(&PytestJson);
}

#[test]
#[ignore = "runs pytest and writes tests/recorded"]
fn record() {
    // The text itself is the other backend's matter.
    let text_only = ["below", "live_log", "nested", "quiet", "torn", "uncaptured"];
    recorded::record(&PytestJson, &|name| !text_only.contains(&name));
}

#[test]
#[ignore = "writes tests/recorded"]
fn accept() {
    recorded::accept(&PytestJson);
}
