//! Coverage through the binary: true numbers, failing tests visible, nothing listed that is not the project's.

use serde_json::{Value, json};

use crate::support::{Project, Pytest, venv};

const CODE: &str = "def f(x):\n    if x:\n        return 1\n    return 2\n";
const TEST: &str = "from app.a import f\n\ndef test_a(): assert f(1) == 1\n";

fn project() -> Project {
    Project::new()
        .file("app/__init__.py", "")
        .file("app/a.py", CODE)
        .file("app/never.py", "x = 1\ny = 2\n")
        .file("test_a.py", TEST)
}

fn files(answer: &Value) -> Vec<&str> {
    let files = answer["files"].as_object();
    files
        .unwrap_or_else(|| panic!("{answer:#}"))
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn lines_are_counted_and_the_reporter_is_not_listed() {
    for version in [Pytest::V7_4, Pytest::V9_2] {
        let project = Project::with_pytest(version)
            .file("app/__init__.py", "")
            .file("app/a.py", CODE)
            .file("test_a.py", TEST);
        let answer = project.call("get_coverage", &json!({}));
        assert_eq!(answer["files"]["app/a.py"], 75.0, "{answer:#}");
        assert_eq!(answer["tests_exit_code"], 0);
        let known = ["app/__init__.py", "app/a.py", "test_a.py"];
        assert_eq!(files(&answer), known, "{answer:#}");
        assert_eq!(answer["overall_percent"], 83.33, "{answer:#}");
    }
}

#[test]
fn failing_tests_are_visible_and_the_numbers_are_given() {
    let project = project().file(
        "test_b.py",
        "from app.a import f\n\ndef test_b(): assert f(0) == 1\n",
    );
    let answer = project.call("get_coverage", &json!({}));
    assert_eq!(answer["files"]["app/a.py"], 100.0, "{answer:#}");
    assert_eq!(answer["tests_exit_code"], 1, "{answer:#}");
    assert_eq!(answer["status"], "failed", "{answer:#}");
}

#[test]
fn branches_and_files_that_nothing_imports_count() {
    let project = project().file(".coveragerc", "[run]\nbranch = True\nsource = app\n");
    let answer = project.call("get_coverage", &json!({}));
    assert_eq!(answer["files"]["app/a.py"], 66.67, "{answer:#}");
    assert_eq!(answer["files"]["app/never.py"], 0.0, "{answer:#}");
}

#[test]
fn processes_measured_apart_are_combined() {
    let project = project()
        .file(
            ".coveragerc",
            "[run]\nparallel = True\nsource = app\nconcurrency = multiprocessing\n",
        )
        .file(
            "test_a.py",
            "import multiprocessing\nfrom app.a import f\n\ndef test_a():\n    process = \
             multiprocessing.get_context('fork').Process(target=f, args=(0,))\n    process.start()\n    \
             process.join()\n    f(1)\n",
        );
    let answer = project.call("get_coverage", &json!({}));
    assert_eq!(answer["files"]["app/a.py"], 100.0, "{answer:#}");
}

#[test]
fn paths_are_matched_by_whole_components() {
    let project = project()
        .file("app2/b.py", "z = 1\n")
        .file("test_b.py", "import app2.b\n\ndef test_b(): pass\n");
    let answer = project.call("get_coverage", &json!({"paths": ["app"]}));
    let found = files(&answer);
    assert!(found.contains(&"app/a.py"), "{answer:#}");
    assert!(!found.iter().any(|file| file.starts_with("app2")), "{answer:#}");
}

#[test]
fn a_path_that_matches_nothing_is_said() {
    let answer = project().call("get_coverage", &json!({"paths": ["no/such/folder"]}));
    assert!(answer["error"].is_object(), "{answer:#}");
    assert!(answer.to_string().contains("no/such/folder"), "{answer:#}");
}

#[test]
fn coverage_that_is_not_installed_is_an_error_with_the_command_to_mend_it() {
    let python = venv("bare");
    let home = python.ancestors().nth(2).unwrap().to_str().unwrap();
    let project = Project::bare()
        .env("VIRTUAL_ENV", home)
        .file("test_a.py", "def test_a(): pass\n");
    let answer = project.call("get_coverage", &json!({}));
    assert!(answer["error"].is_object(), "{answer:#}");
    assert!(answer.to_string().contains("install"), "{answer:#}");
}
