//! Every nodeid that qaas hands out, given back from the same folder, runs exactly that test.

use serde_json::{Value, json};

use crate::support::{Project, rows};

const BACKENDS: [&str; 3] = ["pytest-events", "pytest-json", "pytest-terminal"];

/// Ids that a careless reader splits, trims, matches by suffix or takes for an option.
const ODD: &str = r#"
import pytest

ODD = ["", " ", "a b", "a - b", "a::b", "[", "]", "x[1]", "a/b", "..", "-k", "@x", "é", "\n", "PASSED", "x PASSED [ 50%]"]

@pytest.mark.parametrize("v", ODD)
def test_odd(v): assert v != "a::b"

def test_a(): pass
def test_not_test_a(): assert False

class TestGroup:
    def test_a(self): assert False
    def test_b(self): pytest.skip("not here")

@pytest.mark.parametrize("v", [1, 2])
def test_skipped(v): pytest.skip("never")
"#;

/// Items of a project's own, whose names need not be identifiers.
const COLLECTOR: &str = r#"
import pytest

def pytest_collect_file(parent, file_path):
    if file_path.suffix == ".yaml":
        return Cases.from_parent(parent, path=file_path)

class Cases(pytest.File):
    def collect(self):
        for name in ["adds", "adds ", " adds", "tab\t"]:
            yield Case.from_parent(self, name=name)

class Case(pytest.Item):
    def runtest(self):
        assert self.name != "adds "
"#;

fn call(project: &Project, tool: &str, backend: &str, arguments: &Value) -> Value {
    let arguments = arguments.to_string();
    project
        .qaas(&["call", tool, "--backend", backend, "--args", &arguments])
        .json()
}

/// Runs everything in `cwd`, then each test alone.
fn check(project: &Project, cwd: &str, backend: &str) {
    let all = call(
        project,
        "run_suite",
        backend,
        &json!({"cwd": cwd, "max_bytes": 0}),
    );
    let rows = rows(&all);
    assert!(rows.len() > 3, "{all:#}");
    for (nodeid, outcome) in rows {
        let answer = call(
            project,
            "run_single",
            backend,
            &json!({"test_id": nodeid, "cwd": cwd}),
        );
        assert_eq!(answer["nodeid"], *nodeid, "{backend}: {answer:#}");
        assert_eq!(answer["outcome"], *outcome, "{backend}: {answer:#}");
        assert!(answer["tests"].is_null(), "only that test: {answer:#}");
    }
}

#[test]
fn odd_ids_come_back_to_their_test() {
    check(&Project::new().file("test_a.py", ODD), ".", "pytest-events");
}

#[test]
fn ids_of_a_root_above_the_folder_come_back() {
    let tests = "import pytest\n\n@pytest.mark.parametrize('v', ['a b', 'c::d'])\ndef test_p(v): assert v == 'a b'\n\
                 def test_q(): pass\nclass TestC:\n    def test_q(self): assert 0\n";
    for backend in BACKENDS {
        let project = Project::new()
            .file("pytest.ini", "[pytest]\n")
            .file("pkg/tests/test_a.py", tests);
        check(&project, "pkg", backend);
    }
}

#[test]
fn unescaped_control_characters_stay_in_the_id() {
    let project = Project::new()
        .file(
            "pytest.ini",
            "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = True\n",
        )
        .file(
            "test_a.py",
            "import pytest\n\n@pytest.mark.parametrize('v', ['\\x1b[31m', '\\u202e', '\\x85', 'é', 'a\\nb', 'a\\r\\n', '\\n-x'])\n\
             def test_c(v): assert v != '\\x85'\n",
        );
    let all = call(&project, "run_suite", "pytest-events", &json!({}));
    assert_eq!(rows(&all)["test_a.py::test_c[\u{85}]"], "failed", "{all:#}");
    check(&project, ".", "pytest-events");
    let shown = project.qaas(&["list"]).stdout;
    assert!(shown.contains("test_a.py::test_c[\\x1b[31m]"), "{shown}");
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
        "{shown:?}"
    );
}

#[test]
fn items_whose_names_end_with_a_blank_are_not_those_without_it() {
    let project = Project::new()
        .file("conftest.py", COLLECTOR)
        .file("cases.yaml", "");
    check(&project, ".", "pytest-events");
}

#[test]
fn a_base_id_stands_for_all_its_tests_and_takes_the_worst_outcome() {
    let project = Project::new().file("test_a.py", ODD);
    for backend in BACKENDS {
        let single = |id: &str| call(&project, "run_single", backend, &json!({"test_id": id}));
        let odd = single("test_a.py::test_odd");
        assert_eq!(odd["outcome"], "failed", "{backend}: {odd:#}");
        assert_eq!(odd["tests"].as_array().unwrap().len(), 16, "{backend}: {odd:#}");
        assert_eq!(
            single("test_a.py::test_skipped")["outcome"],
            "skipped",
            "{backend}"
        );
        assert_eq!(single("test_a.py::test_a")["outcome"], "passed", "{backend}");
        let unknown = single("test_a.py::not_test_a");
        assert!(unknown["error"].is_object(), "never by suffix: {unknown:#}");
    }
}

#[test]
fn a_repeated_id_runs_exactly_that_test() {
    let project = Project::new().file("test_a.py", ODD);
    let answer = call(
        &project,
        "run_n_times",
        "pytest-events",
        &json!({"test_id": "test_a.py::test_odd[a::b]", "n": 2}),
    );
    assert_eq!(answer["outcomes"], json!(["failed", "failed"]), "{answer:#}");
}
