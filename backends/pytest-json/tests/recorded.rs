//! Real runs of pytest 6.2 to 9.2, replayed.

#[path = "../../pytest-base/tests/support/recorded.rs"]
mod recorded;

use pytest_json::PytestJson;

#[test]
fn recorded_runs_give_the_expected_rows() {
    recorded::compare(&PytestJson);
}

#[test]
#[ignore = "runs pytest and writes its recordings"]
fn record() {
    recorded::record(&PytestJson);
}

#[test]
#[ignore = "writes tests/recorded"]
fn accept() {
    recorded::accept(&PytestJson);
}
