//! `get_coverage` and `list_tests`: answers from hand-made records.

use super::*;
use crate::{get_coverage, list_tests};
use runner_core::model::{Coverage, FileCoverage};

fn measured(percents: &[(&str, f64)]) -> TestEvent {
    let file = |(path, percent): &(&str, f64)| FileCoverage {
        path: (*path).into(),
        percent: *percent,
        covered_lines: 1,
        statements: 2,
        missing_lines: Vec::new(),
        covered_branches: 0,
        branches: 0,
    };
    TestEvent::Coverage(Coverage {
        percent: Some(61.236),
        files: percents.iter().map(file).collect(),
    })
}

#[test]
fn coverage_answers_with_rounded_percents_and_shows_failing_tests() {
    let (_folder, workspace) = workspace();
    let report = Script::new(&workspace, "get_coverage", &[])
        .failed("tests/test_a.py::t", "boom")
        .tell(measured(&[("src/b.py", 62.499), ("src/a.py", 100.0)]))
        .completed(1)
        .done();
    let answer = get_coverage::answer(&workspace, &report).unwrap();
    let json = json(&answer);
    assert_eq!(json["overall_percent"], 61.24);
    assert_eq!(
        json["files"],
        serde_json::json!({ "src/a.py": 100.0, "src/b.py": 62.5 })
    );
    assert_eq!(
        (&json["tests_exit_code"], &json["status"]),
        (&1.into(), &"failed".into())
    );
    assert_eq!(json["tests"][0]["nodeid"], "tests/test_a.py::t");
    assert_eq!(
        answer.headline(),
        "Coverage (lines) 61.24 % over 2 files. Lowest: src/b.py 62.5 %. The tests: 1 failed, status failed."
    );
}

#[test]
fn coverage_below_wanted_paths_goes_by_whole_path_parts() {
    let (_folder, workspace) = workspace();
    let answer = || {
        let report = Script::new(&workspace, "get_coverage", &[])
            .row("tests/test_a.py::t", Outcome::Passed)
            .tell(measured(&[("src/a/x.py", 50.0), ("src/ab.py", 10.0)]))
            .completed(0)
            .done();
        get_coverage::answer(&workspace, &report).unwrap()
    };
    let wanted = |paths: &[&str]| {
        let mut answer = answer();
        let paths: Vec<String> = paths.iter().map(|&path| path.into()).collect();
        get_coverage::keep_wanted(&mut answer, &paths).map(|()| answer)
    };
    let kept = wanted(&["src/a"]).unwrap();
    assert_eq!(kept.files.keys().collect::<Vec<_>>(), ["src/a/x.py"]);
    assert!(kept.warnings.is_empty());
    assert_eq!(wanted(&["."]).unwrap().files.len(), 2);
    assert_eq!(
        wanted(&["src/a", "lib"]).unwrap().warnings,
        ["nothing was measured below lib"]
    );
    let error = wanted(&["lib", "other"]).unwrap_err();
    assert_eq!(errors(&error), (ErrorKind::BadRequest, "nothing_measured", 4));
    assert!(
        error.error.message.contains("lib, other"),
        "{}",
        error.error.message
    );
}

#[test]
fn coverage_without_figures_is_an_error_and_over_the_limit_an_answer_without_files() {
    let (_folder, workspace) = workspace();
    let start = || Script::new(&workspace, "get_coverage", &[]).row("tests/test_a.py::t", Outcome::Passed);
    let none = get_coverage::answer(&workspace, &start().completed(0).done()).unwrap_err();
    assert_eq!(errors(&none), (ErrorKind::Broken, "no_coverage", 2));
    let cut = Ending::because(EndingKind::Cut, ExitMeaning::Other, "killed");
    let report = start().end(killed(true), cut, "").cause(StopReason::TimedOut {
        limit_ms: 1000,
        unanswered: None,
    });
    let answer = get_coverage::answer(&workspace, &report).unwrap();
    assert!(answer.timed_out && answer.files.is_empty() && answer.overall_percent.is_none());
    assert_eq!(answer.hint.as_deref(), Some("Narrow it with `selector`."));
    assert_eq!(answer.totals.total(), 1);
}

#[test]
fn a_list_names_the_tests_and_what_could_not_be_collected() {
    let (_folder, workspace) = workspace();
    let found = |nodeid: &str| TestEvent::Found {
        nodeid: nodeid.into(),
        location: None,
    };
    let start = || {
        Script::new(&workspace, "list_tests", &[])
            .tell(found("a.py::t[x::y]"))
            .tell(found("a.py::u"))
    };
    let whole = list_tests::answer(&workspace, &start().completed(0).done()).unwrap();
    assert_eq!(whole.headline(), "2 tests in 1 file.");
    assert_eq!((whole.status, whole.exit().code()), ("done", 0));
    let part = start().collector("b.py", "SyntaxError").completed(2).done();
    let part = list_tests::answer(&workspace, &part).unwrap();
    assert_eq!((part.status, part.exit().code()), ("incomplete", 2));
    let nothing = Script::new(&workspace, "list_tests", &[]).completed(5).done();
    assert_eq!(
        list_tests::answer(&workspace, &nothing)
            .unwrap_err()
            .exit()
            .code(),
        5
    );
}
