//! Frameworks beside pytest, by the presets and by tables of a `qaas.toml`: real tools, through the real `qaas`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Project, node_modules, with_toolchain};

/// Every row of an answer, collection errors included, as `nodeid -> outcome`.
pub(crate) fn rows(answer: &Value) -> BTreeMap<String, String> {
    let text = |row: &Value, key: &str| row[key].as_str().map(str::to_owned);
    let lists = ["tests", "collection_errors"]
        .into_iter()
        .filter_map(|key| answer[key].as_array());
    lists
        .flatten()
        .map(|row| {
            (
                text(row, "nodeid").unwrap(),
                text(row, "outcome").unwrap_or("error".to_owned()),
            )
        })
        .collect()
}

pub(crate) fn expected(rows: &[(&str, &str)]) -> BTreeMap<String, String> {
    rows.iter()
        .map(|(id, outcome)| ((*id).to_owned(), (*outcome).to_owned()))
        .collect()
}

fn suite(project: &Project, arguments: &Value) -> Value {
    project.call("run_suite", arguments)
}

/// Each test that is not broken, run alone by its id, gives exactly that id and the outcome it had.
pub(crate) fn each_alone(project: &Project, answer: &Value) {
    for row in answer["tests"].as_array().unwrap() {
        let id = row["nodeid"].as_str().unwrap();
        let single = project.call("run_single", &json!({"test_id": id}));
        assert_eq!(single["nodeid"], id, "{single:#}");
        assert_eq!(single["outcome"], row["outcome"], "{single:#}");
    }
}

/// A JavaScript project with the pinned packages.
pub(crate) fn javascript(package_json: &str) -> Project {
    let project = Project::bare().file("package.json", package_json);
    std::os::unix::fs::symlink(node_modules(), project.root().join("node_modules")).unwrap();
    project
}

const VITEST: &str = "import { describe, expect, it, test } from 'vitest'
describe('math', () => {
  it('adds', () => { expect(1 + 1).toBe(2) })
  it('fails', () => { expect(1 + 1).toBe(3) })
  it.skip('is left out', () => {})
  it.fails('is known to fail', () => { throw new Error('known') })
})
test('top [a::b] \"quoted\" (x|y) $ é', () => {})
";

#[test]
fn vitest() {
    let project = javascript(r#"{"type": "module", "devDependencies": {"vitest": "*"}}"#)
        .file("src/math.test.js", VITEST);
    let answer = suite(&project, &json!({"max_bytes": 0}));
    let all = expected(&[
        ("src/math.test.js::math::adds", "passed"),
        ("src/math.test.js::math::fails", "failed"),
        ("src/math.test.js::math::is left out", "skipped"),
        ("src/math.test.js::math::is known to fail", "xfailed"),
        ("src/math.test.js::top [a::b] \"quoted\" (x|y) $ é", "passed"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    assert_eq!(
        (&answer["status"], &answer["parser"]),
        (&json!("failed"), &json!("vitest")),
        "{answer:#}"
    );
    each_alone(&project, &answer);

    let listed = project.call("list_tests", &json!({"max_bytes": 0}));
    let count = listed.to_string().matches("src/math.test.js::").count();
    assert!(count >= 4, "{listed:#}");

    project.write("src/broken.test.js", "import './nowhere.js'\n");
    let answer = suite(&project, &json!({"selector": "src/broken.test.js"}));
    assert_eq!(answer["status"], "broken", "{answer:#}");
    assert_eq!(
        rows(&answer),
        expected(&[("src/broken.test.js", "error")]),
        "{answer:#}"
    );
}

#[test]
fn jest() {
    let tests = "describe('math', () => {
  it('adds', () => { expect(1 + 1).toBe(2) })
  it('fails', () => { expect(1 + 1).toBe(3) })
  it.skip('is left out', () => {})
})
test('top [a::b] \"quoted\" (x|y) $ é', () => {})
";
    let project = javascript(r#"{"devDependencies": {"jest": "*"}}"#).file("src/math.test.js", tests);
    let answer = suite(&project, &json!({"max_bytes": 0}));
    let all = expected(&[
        ("src/math.test.js::math::adds", "passed"),
        ("src/math.test.js::math::fails", "failed"),
        ("src/math.test.js::math::is left out", "skipped"),
        ("src/math.test.js::top [a::b] \"quoted\" (x|y) $ é", "passed"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    assert_eq!(
        (&answer["status"], &answer["parser"]),
        (&json!("failed"), &json!("jest")),
        "{answer:#}"
    );
    each_alone(&project, &answer);
}

#[test]
fn jest_measures_coverage_itself() {
    let project = javascript(r#"{"devDependencies": {"jest": "*"}}"#)
        .file(
            "src/sum.js",
            "exports.sum = (a, b) => a + b\nexports.never = () => {\n  return 1\n}\n",
        )
        .file(
            "src/sum.test.js",
            "test('sum', () => { expect(require('./sum.js').sum(1, 1)).toBe(2) })\n",
        );
    let answer = project.call("get_coverage", &json!({}));
    assert_eq!(answer["status"], "passed", "{answer:#}");
    let percent = answer["files"]["src/sum.js"].as_f64().unwrap_or_default();
    assert!((50.0..100.0).contains(&percent), "{answer:#}");
}

#[test]
fn node_test() {
    let tests = "import { describe, it, test } from 'node:test'
import assert from 'node:assert'
describe('math', () => {
  it('adds', () => { assert.equal(1 + 1, 2) })
  it('fails', () => { assert.equal(1 + 1, 3) })
  it.skip('is left out', () => {})
})
test('top [a::b] \"quoted\" (x|y) $ é', () => {})
";
    let project = Project::bare()
        .file("package.json", r#"{"scripts": {"test": "node --test"}}"#)
        .file("test/math.test.mjs", tests);
    let answer = suite(&project, &json!({"max_bytes": 0}));
    let all = expected(&[
        ("test/math.test.mjs::math::adds", "passed"),
        ("test/math.test.mjs::math::fails", "failed"),
        ("test/math.test.mjs::math::is left out", "skipped"),
        ("test/math.test.mjs::top [a::b] \"quoted\" (x|y) $ é", "passed"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    assert_eq!(
        (&answer["status"], &answer["parser"]),
        (&json!("failed"), &json!("node-test")),
        "{answer:#}"
    );
    each_alone(&project, &answer);
}

const RUST_LIB: &str = "/// ```
/// assert_eq!(demo::one(), 1);
/// ```
/// ```
/// assert_eq!(demo::one(), 2);
/// ```
pub fn one() -> u32 { 1 }
#[cfg(test)]
mod tests {
    #[test]
    fn adds() {}
    #[test]
    fn fails() { assert_eq!(1 + 1, 3); }
    #[test]
    #[ignore]
    fn left_out() {}
}
";

fn rust() -> Project {
    Project::bare()
        .file(
            "Cargo.toml",
            "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
        )
        .file("src/lib.rs", RUST_LIB)
        .file("tests/it.rs", "#[test]\nfn adds() {}\n")
}

/// As a person: an agent's runs have no `RUSTUP_HOME`, which only this test needs.
fn person(project: &Project, words: &[&str]) -> Value {
    project
        .qaas(&[&["run", "--format", "json"], words].concat())
        .json()
}

#[test]
fn cargo_nextest_or_cargo_test_without_it() {
    let project = with_toolchain(rust());
    let answer = person(&project, &[]);
    if answer["parser"] == "cargo-test" {
        // Without nextest, `cargo test` serves, and the answer says why.
        assert!(
            answer.to_string().contains("`cargo-nextest` is not on PATH"),
            "{answer:#}"
        );
        assert_eq!(rows(&answer).len(), 6, "{answer:#}");
        test_skip::skip!(test_skip::Need::Nextest, "its rows were not looked at");
    }
    let all = expected(&[
        ("demo$tests::adds", "passed"),
        ("demo$tests::fails", "failed"),
        ("demo$tests::left_out", "skipped"),
        ("demo::it$adds", "passed"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    assert_eq!(
        (&answer["status"], &answer["parser"]),
        (&json!("failed"), &json!("nextest")),
        "{answer:#}"
    );
    for (id, outcome) in [("demo$tests::adds", "passed"), ("demo$tests::fails", "failed")] {
        let single = person(&project, &[id]);
        assert_eq!(rows(&single), expected(&[(id, outcome)]), "{single:#}");
    }
}

#[test]
fn cargo_test() {
    let project = with_toolchain(rust());
    let answer = person(&project, &["--backend", "cargo-test"]);
    let all = expected(&[
        ("demo$tests::adds", "passed"),
        ("demo$tests::fails", "failed"),
        ("demo$tests::left_out", "skipped"),
        ("demo::it$adds", "passed"),
        ("src/lib.rs - one (line 1)", "passed"),
        ("src/lib.rs - one (line 4)", "failed"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    assert_eq!(answer["status"], "failed", "{answer:#}");
    for (id, outcome) in all {
        let single = person(&project, &["--backend", "cargo-test", &id]);
        assert_eq!(rows(&single), BTreeMap::from([(id, outcome)]), "{single:#}");
    }
    let named = person(&project, &["--backend", "cargo-test", "tests::adds"]);
    assert_eq!(
        rows(&named),
        expected(&[("demo$tests::adds", "passed")]),
        "{named:#}"
    );
    let target = person(&project, &["--backend", "cargo-test", "tests/it.rs"]);
    assert_eq!(
        rows(&target),
        expected(&[("demo::it$adds", "passed")]),
        "{target:#}"
    );
    assert_eq!(target["status"], "passed", "{target:#}");
}

#[test]
fn unittest() {
    let tests = "import os
import unittest

class Sums(unittest.TestCase):
    def test_adds(self): self.assertEqual(1 + 1, 2)
    def test_fails(self): self.assertEqual(1 + 1, 3)
    @unittest.skip('slow')
    def test_left_out(self): pass
    @unittest.expectedFailure
    def test_known(self): self.fail('known')

class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError('no class')
    def test_x(self): pass
";
    let toml = "[suite.unit]\nbackend = \"unittest\"\ncoverage = false\n";
    let project = Project::bare()
        .file("qaas.toml", toml)
        .file("tests/__init__.py", "")
        .file("tests/test_a.py", tests);
    let answer = suite(&project, &json!({"max_bytes": 0}));
    let all = expected(&[
        ("tests/test_a.py::Sums::test_adds", "passed"),
        ("tests/test_a.py::Sums::test_fails", "failed"),
        ("tests/test_a.py::Sums::test_left_out", "skipped"),
        ("tests/test_a.py::Sums::test_known", "xfailed"),
        ("tests/test_a.py::Broken::test_x", "error"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    assert_eq!(answer["status"], "failed", "{answer:#}");
    each_alone(&project, &answer);

    project.write(
        "tests/test_b.py",
        "import os, unittest\nclass T(unittest.TestCase):\n    def test_dies(self): os._exit(0)\n",
    );
    let answer = suite(&project, &json!({"selector": "tests/test_b.py"}));
    assert_eq!(
        answer["status"], "broken",
        "a process that leaves midway with 0 is not green: {answer:#}"
    );
}

/// A project with the preset for unittest.
fn with_unittest(more: &str) -> Project {
    let toml = format!("[suite.unit]\nbackend = \"unittest\"\ncoverage = false\n{more}");
    Project::bare().file("qaas.toml", &toml)
}

#[test]
fn unittest_ids_belong_to_the_file_that_loads_the_tests() {
    let doctests = "import doctest, unittest
import base
def helper(): pass
def load_tests(loader, tests, pattern):
    tests.addTests(doctest.DocTestSuite(base))
    tests.addTest(unittest.FunctionTestCase(helper))
    tests.addTest(unittest.FunctionTestCase(helper))
    return tests
";
    let base = "import unittest
def one():
    \"\"\"
    >>> one()
    1
    \"\"\"
    return 2
class Base(unittest.TestCase):
    number = 1
    def test_number(self): self.assertEqual(self.number, 1)
";
    let project = with_unittest("")
        .file("base.py", base)
        .file("test_a.py", "from base import Base\nclass A(Base): number = 2\n")
        .file("test_b.py", "from base import Base\n")
        .file("test_d.py", doctests);
    let answer = suite(&project, &json!({"max_bytes": 0}));
    let all = expected(&[
        ("test_a.py::A::test_number", "failed"),
        ("test_a.py::Base::test_number", "passed"),
        ("test_b.py::Base::test_number", "passed"),
        ("test_d.py::base.one", "failed"),
        ("test_d.py::helper", "passed"),
        ("test_d.py::helper[2]", "passed"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    each_alone(&project, &answer);
    let answer = suite(&project, &json!({"selector": "test_a.py"}));
    assert_eq!(answer["status"], "failed", "{answer:#}");
}

#[test]
fn unittest_takes_its_own_options() {
    let options = "options = { args = [\"-s\", \"src/checks\", \"-t\", \"src\", \"-p\", \"check_*.py\", \"-b\", \"-k\", \"wanted\"] }\n";
    let tests = "import unittest
class A(unittest.TestCase):
    def test_wanted(self):
        print('printed once')
        self.fail('wanted and bad')
    def test_other(self): self.fail()
";
    let project = with_unittest(options)
        .file("src/checks/__init__.py", "")
        .file("src/checks/check_a.py", tests);
    let answer = suite(&project, &json!({"max_bytes": 0}));
    let all = expected(&[("src/checks/check_a.py::A::test_wanted", "failed")]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    let row = &answer["tests"][0];
    let text = row["message"].as_str().unwrap();
    assert!(
        text.contains("printed once") && text.contains("wanted and bad"),
        "{row:#}"
    );
    each_alone(&project, &answer);
}

#[test]
fn unittest_tells_of_text_that_is_no_utf_8_and_where_a_test_hangs() {
    let tests = "import os, time, unittest
class A(unittest.TestCase):
    def test_name(self): self.assertEqual(os.fsdecode(b'caf\\xe9'), 'x')
    def test_waits(self): self.wait()
    def wait(self): time.sleep(1000)
";
    let project = with_unittest("").file("test_a.py", tests);
    let answer = suite(&project, &json!({"timeout_s": 3, "max_bytes": 0}));
    assert_eq!(answer["status"], "timed_out", "{answer:#}");
    assert_eq!(
        rows(&answer),
        expected(&[("test_a.py::A::test_name", "failed")]),
        "{answer:#}"
    );
    let hung = &answer["unfinished"][0];
    assert_eq!(hung["nodeid"], "test_a.py::A::test_waits", "{answer:#}");
    assert!(hung.to_string().contains("in wait"), "{hung:#}");
}

#[test]
fn python_and_typescript_are_two_suites_and_the_path_decides() {
    let project = javascript(r#"{"type": "module", "devDependencies": {"vitest": "*"}}"#)
        .file(
            "web/math.test.js",
            "import { test } from 'vitest'\ntest('ok', () => {})\n",
        )
        .file("tests/test_a.py", "def test_a(): pass\n");
    let answer = suite(&project, &json!({}));
    let parts = answer["suites"].as_array().unwrap();
    let name = |part: &Value| (part["suite"].clone(), part["status"].clone());
    let names: Vec<_> = parts.iter().map(name).collect();
    let expected = [("pytest", "broken"), ("vitest", "passed")];
    assert_eq!(
        names,
        expected.map(|(name, status)| (json!(name), json!(status))),
        "{answer:#}"
    );
    assert_eq!(
        answer["status"], "broken",
        "there is no pytest in this environment: {answer:#}"
    );
    let answer = suite(&project, &json!({"selector": "web/math.test.js"}));
    assert_eq!(
        (&answer["status"], &answer["parser"]),
        (&json!("passed"), &json!("vitest")),
        "{answer:#}"
    );
}

/// A framework nobody heard of: a script that leaves a report.
const TOOL: &str = r#"import sys
out, ids = sys.argv[1], sys.argv[2:]
tests = {"checks/a.chk::one": "", "checks/a.chk::two": "<failure message='no'/>"}
with open(out, "w") as report:
    report.write("<testsuite>")
    for test, inner in tests.items():
        file, name = test.split("::")
        if not ids or test in ids or file in ids:
            report.write("<testcase file='%s' name='%s'>%s</testcase>" % (file, name, inner))
    report.write("</testsuite>" if "cut" not in ids else "")
bad = [t for t, inner in tests.items() if inner and (not ids or t in ids or t.split("::")[0] in ids)]
sys.exit(1 if bad else 0)
"#;

const OWN: &str = "[suite.checks]
backend = \"own\"

[backend.own]
kind = \"command\"
run = [\"python3\", \"tool.py\", \"{report}\", \"{ids...}\"]
report = { format = \"junit\" }
";

#[test]
fn a_framework_of_ones_own_from_the_file_alone() {
    let project = Project::bare()
        .file("qaas.toml", OWN)
        .file("tool.py", TOOL)
        .file("checks/a.chk", "");
    let answer = suite(&project, &json!({}));
    assert_eq!(
        answer["error"]["code"], "untrusted",
        "a command of the repository's needs consent: {answer:#}"
    );

    let trusted = |words: &[&str]| {
        project
            .qaas(&[&["run", "--trust", "--format", "json"], words].concat())
            .json()
    };
    let answer = trusted(&[]);
    let all = expected(&[("checks/a.chk::one", "passed"), ("checks/a.chk::two", "failed")]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    assert_eq!(answer["status"], "failed", "{answer:#}");
    let single = trusted(&["checks/a.chk::one"]);
    assert_eq!(
        rows(&single),
        expected(&[("checks/a.chk::one", "passed")]),
        "{single:#}"
    );
    assert_eq!(single["status"], "passed", "{single:#}");
}

#[test]
fn a_report_of_an_earlier_run_is_never_believed() {
    let toml = OWN
        .replace("tool.py\", \"{report}\", \"{ids...}\"", "-c\", \"pass\"")
        .replace("format = \\\"junit\\\" }", "");
    let toml = toml.replace(
        "{ format = \"junit\" }",
        "{ format = \"junit\", path = \"out.xml\" }",
    );
    let project = Project::bare()
        .file("qaas.toml", &toml)
        .file("out.xml", "<testsuite><testcase name='old'/></testsuite>");
    let answer = project.qaas(&["run", "--trust", "--format", "json"]).json();
    assert_eq!(answer["status"], "broken", "{answer:#}");
    assert!(answer["reason"].as_str().unwrap().contains("older"), "{answer:#}");
}

#[test]
fn a_wrong_table_is_an_error_with_its_place() {
    for (wrong, place, words) in [
        ("run = [\"tool\", \"{reprot}\"]", ":6:16:", "`report`"),
        ("run = \"tool --all\"", ":6:7:", "no shell"),
        ("runn = [\"tool\"]", ":6:", "`run`"),
    ] {
        let toml = format!(
            "[suite.a]\nbackend = \"own\"\n\n[backend.own]\nkind = \"command\"\n{wrong}\nreport = {{ format = \"junit\" }}\n"
        );
        let project = Project::bare().file("qaas.toml", &toml);
        let answer = project.qaas(&["check"]);
        assert_eq!(answer.code, Some(4), "{}", answer.stderr);
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(said.contains(place) && said.contains(words), "{wrong}: {said}");
    }
}

/// Plain TAP names no files: its ids are mere words.
const NAMELESS: &str = "[suite.checks]
backend = \"tap\"

[backend.tap]
kind = \"command\"
run = [\"sh\", \"checks.sh\", \"{ids...}\"]
report = { format = \"tap\", path = \"stdout\" }
exit = { ok = [0], failed = [1] }
";

fn nameless(script: &str) -> Project {
    let project = Project::bare()
        .file("qaas.toml", NAMELESS)
        .file("checks.sh", script);
    assert_eq!(project.qaas(&["trust", "--yes"]).code, Some(0));
    project
}

#[test]
fn an_id_that_was_handed_out_is_taken_back_although_it_names_no_file() {
    let project = nameless("echo 1..2; echo 'ok 1 - one is one'; echo 'not ok 2 - one is two'; exit 1\n");
    let answer = suite(&project, &json!({}));
    let all = expected(&[("one is one", "passed"), ("one is two", "failed")]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    each_alone(&project, &answer);
    let again = suite(&project, &json!({"failed_of": answer["run_id"]}));
    assert_eq!(rows(&again), expected(&[("one is two", "failed")]), "{again:#}");
}

#[test]
fn what_was_refused_is_an_argument_and_not_the_last_run() {
    let project = nameless("echo 1..1; echo 'not ok 1 - one is two'; exit 1\n");
    assert_eq!(project.qaas(&["run"]).code, Some(1));
    for refused in [["-k", "one"], ["-m", "slow"], ["-n", "2"], ["--maxfail", "2"]] {
        let answer = project.qaas(&[&["run"], &refused[..]].concat());
        assert_eq!(answer.code, Some(4), "{}", answer.stderr);
        assert!(answer.stderr.contains("next:"), "{}", answer.stderr);
    }
    let again = project.qaas(&["run", "--failed", "--format", "json"]).json();
    assert_eq!(rows(&again), expected(&[("one is two", "failed")]), "{again:#}");
}

#[test]
fn a_time_limit_before_the_first_row_is_told_to_a_person() {
    let project = nameless("echo began; sleep 30\n");
    let answer = project.qaas(&["run", "--timeout", "1s"]);
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.stdout.contains("the time limit of 1 s passed"),
        "{}",
        answer.stdout
    );
}
