//! The preset for unittest, on real projects: what loading, sets of tests and their ends can do to a run.

use serde_json::{Value, json};

use crate::frameworks::{each_alone, expected, rows};
use crate::support::Project;

fn project(options: &str) -> Project {
    let options = if options.is_empty() {
        String::new()
    } else {
        format!("options = {{ args = {options} }}\n")
    };
    let toml = format!("[suite.unit]\nbackend = \"unittest\"\ncoverage = false\n{options}");
    Project::bare().file("qaas.toml", &toml)
}

fn run(project: &Project, arguments: &Value) -> Value {
    project.call("run_suite", arguments)
}

const FINE: &str = "import unittest\nclass A(unittest.TestCase):\n    def test_x(self): pass\n";

#[test]
fn a_file_given_alone_is_loaded_as_discovery_loads_it() {
    let project = project("")
        .file("test_syntax.py", "def x(:\n")
        .file("test_exits.py", "import sys\nsys.exit(0)\n")
        .file("pkg/__init__.py", "raise RuntimeError('no package')\n")
        .file("pkg/test_inside.py", FINE);
    for (file, words) in [
        ("test_syntax.py", "SyntaxError"),
        ("test_exits.py", "SystemExit"),
        ("pkg/test_inside.py", "no package"),
    ] {
        let answer = run(&project, &json!({"selector": file, "max_bytes": 0}));
        assert_eq!(answer["status"], "broken", "{answer:#}");
        assert_eq!(rows(&answer), expected(&[(file, "error")]), "{answer:#}");
        let text = answer["collection_errors"].to_string();
        assert!(text.contains(words) && !text.contains("unittest_load"), "{text}");
    }
}

#[test]
fn a_file_that_skips_itself_is_a_skip_however_it_is_selected() {
    let project = project("[\"-s\", \"src/checks\", \"-t\", \"src\"]")
        .file("src/checks/__init__.py", "")
        .file(
            "src/checks/test_a.py",
            "import unittest\nraise unittest.SkipTest('no lib')\n",
        );
    let all = expected(&[("src/checks/test_a.py", "skipped")]);
    for selector in [
        json!({}),
        json!({"selector": "src/checks/test_a.py"}),
        json!({"selector": "src/checks/test_a.py::A::test_x"}),
    ] {
        let answer = run(&project, &selector);
        assert_eq!(rows(&answer), all, "{selector}: {answer:#}");
        assert_eq!(answer["status"], "no_tests", "{answer:#}");
    }
}

#[test]
fn a_test_named_on_unittests_command_line_is_its_own_files() {
    let project = project("[\"pkg.test_a\", \"pkg.test_b.B.test_two\", \"pkg.nothing\"]")
        .file("pkg/__init__.py", "")
        .file("pkg/test_a.py", FINE)
        .file(
            "pkg/test_b.py",
            "import unittest\nclass B(unittest.TestCase):\n    def test_one(self): self.fail()\n    def test_two(self): pass\n",
        );
    let answer = run(&project, &json!({}));
    let all = expected(&[
        ("pkg/test_a.py::A::test_x", "passed"),
        ("pkg/test_b.py::B::test_two", "passed"),
        ("pkg.nothing", "error"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    let single = project.call("run_single", &json!({"test_id": "pkg/test_b.py::B::test_two"}));
    assert_eq!(single["outcome"], "passed", "{single:#}");
}

#[test]
fn two_files_of_one_name_in_folders_that_are_no_packages_are_two_files() {
    let bad = FINE.replace("pass", "self.fail('one')");
    let project = project("")
        .file("one/test_x.py", &bad)
        .file("two/test_x.py", FINE);
    let all = expected(&[
        ("one/test_x.py::A::test_x", "failed"),
        ("two/test_x.py::A::test_x", "passed"),
    ]);
    for selectors in [["one/test_x.py", "two/test_x.py"], ["one", "two"]] {
        let answer = run(&project, &json!({"selectors": selectors}));
        assert_eq!(rows(&answer), all, "{answer:#}");
    }
}

#[test]
fn a_name_that_is_no_utf_8_runs_alone() {
    let project = project("").file(
        "test_a.py",
        "import unittest\nclass A(unittest.TestCase): pass\nsetattr(A, 'test_\\udce9', lambda self: self.fail('x'))\nsetattr(A, 'test_\\udcea', lambda self: None)\n",
    );
    let answer = run(&project, &json!({}));
    assert_eq!(rows(&answer).len(), 2, "{answer:#}");
    each_alone(&project, &answer);
}

#[test]
fn what_hangs_or_ends_the_process_around_tests_is_named() {
    let hangs = format!(
        "{FINE}class B(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): import time; time.sleep(1000)\n    def test_y(self): pass\n"
    );
    let project = project("").file("test_a.py", &hangs);
    let answer = run(&project, &json!({"timeout_s": 3, "max_bytes": 0}));
    assert_eq!(answer["status"], "timed_out", "{answer:#}");
    assert_eq!(
        rows(&answer),
        expected(&[("test_a.py::A::test_x", "passed")]),
        "{answer:#}"
    );
    let hung = &answer["unfinished"][0];
    assert_eq!(hung["nodeid"], "test_a.py::B", "{answer:#}");
    assert!(hung["stack"].to_string().contains("in setUpClass"), "{hung:#}");

    project.write("test_a.py", "import time\ntime.sleep(1000)\n");
    let answer = run(&project, &json!({"timeout_s": 3, "max_bytes": 0}));
    assert_eq!(answer["unfinished"][0]["nodeid"], "test_a.py", "{answer:#}");
    assert_eq!(rows(&answer), expected(&[]), "{answer:#}");

    let leaves = "import sys, unittest\nclass A(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): sys.exit(0)\n    def test_x(self): pass\n";
    project.write("test_a.py", leaves);
    let answer = run(&project, &json!({}));
    assert_eq!(answer["status"], "broken", "{answer:#}");
    assert_eq!(answer["unfinished"][0]["nodeid"], "test_a.py::A", "{answer:#}");
}

#[test]
fn why_unittest_could_not_begin_is_said() {
    for (options, words) in [
        ("[\"--nonsense\"]", "unrecognized arguments: --nonsense"),
        ("[\"-s\", \"nowhere\"]", "Start directory is not importable"),
    ] {
        let answer = run(&project(options).file("test_a.py", FINE), &json!({}));
        assert_eq!(answer["status"], "broken", "{answer:#}");
        assert!(answer["reason"].to_string().contains(words), "{answer:#}");
    }
}

#[test]
fn a_test_that_replaces_what_the_reporter_uses_spoils_no_row() {
    let tests = "import os, time, unittest
from unittest import mock
class A(unittest.TestCase):
    def test_1(self):
        for name in ('json.dumps', 'os.write', 'os.ftruncate', 'time.perf_counter', 'os.path.relpath'):
            mock.patch(name).start()
    def test_2(self): self.fail('two')
    def test_3(self): pass
";
    let project = project("").file("test_a.py", tests);
    let answer = run(&project, &json!({}));
    let all = expected(&[
        ("test_a.py::A::test_1", "passed"),
        ("test_a.py::A::test_2", "failed"),
        ("test_a.py::A::test_3", "passed"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
}
