//! What JavaScript frameworks say at their end, by the real ones: each test is named after what went wrong.

use serde_json::{Value, json};

use crate::frameworks::{each_alone, expected, javascript, rows};
use crate::support::Project;

const VITEST: &str = r#"{"private": true, "type": "module", "devDependencies": {"vitest": "*"}}"#;
const JEST: &str = r#"{"private": true, "devDependencies": {"jest": "*"}}"#;
const NODE: &str = r#"{"private": true, "type": "module", "scripts": {"test": "node --test"}}"#;

fn suite(project: &Project, arguments: &Value) -> Value {
    project.call("run_suite", arguments)
}

#[test]
fn a_vitest_file_without_tests_and_one_that_does_not_load_are_errors_with_the_reason() {
    let project = javascript(VITEST)
        .file(
            "good.test.js",
            "import { test } from 'vitest'\ntest('good', () => {})\n",
        )
        .file("forgotten.test.js", "export const x = 1\n")
        .file("bad.test.js", "throw new Error('no database')\n");
    let answer = suite(&project, &json!({}));
    let all = expected(&[
        ("good.test.js::good", "passed"),
        ("forgotten.test.js", "error"),
        ("bad.test.js", "error"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    assert_eq!(answer["status"], "failed", "{answer:#}");
    let reasons = answer["collection_errors"].to_string();
    assert!(reasons.contains("Error: no database"), "{reasons}");
    assert!(
        answer["environment"]["versions"]["vitest"].is_string(),
        "{answer:#}"
    );
}

#[test]
fn what_vitest_lists_is_what_runs_whatever_is_in_the_titles() {
    let tests = "import { describe, test } from 'vitest'
test('count > 3', () => {})
test.each([['a', 1], ['b', 2]])('each %s gives %i', () => {})
describe.concurrent('group', () => {
  test('same', async () => { await new Promise((r) => setTimeout(r, 40)) })
  test('same', async () => { throw new Error('always') })
})
test('half ' + '😀'.slice(0, 1), () => { throw new Error('cut ' + '😀'.slice(1)) })
";
    let project = javascript(VITEST).file("o.test.js", tests);
    let answer = suite(&project, &json!({"max_bytes": 0}));
    let all = expected(&[
        ("o.test.js::count > 3", "passed"),
        ("o.test.js::each a gives 1", "passed"),
        ("o.test.js::each b gives 2", "passed"),
        ("o.test.js::group::same", "passed"),
        ("o.test.js::group::same[2]", "failed"),
        ("o.test.js::half \u{fffd}", "failed"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    each_alone(&project, &answer);
    let listed = project.call("list_tests", &json!({"max_bytes": 0}));
    let mut ids: Vec<&str> = listed["nodeids"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    ids.sort_unstable();
    assert_eq!(
        ids,
        all.keys().map(String::as_str).collect::<Vec<_>>(),
        "{listed:#}"
    );
}

#[test]
fn of_two_selected_vitest_tests_the_one_that_is_gone_is_named_and_nothing_is_green() {
    let project = javascript(VITEST).file(
        "a.test.js",
        "import { test } from 'vitest'\ntest('there', () => {})\n",
    );
    let asked = json!({"selectors": ["a.test.js::there", "a.test.js::gone"]});
    let answer = suite(&project, &asked);
    assert_eq!(answer["status"], "incomplete", "{answer:#}");
    assert!(
        answer["reason"].as_str().unwrap().contains("a.test.js::gone"),
        "{answer:#}"
    );
}

#[test]
fn the_projects_script_gives_vitest_its_configuration_and_variables_and_a_project_is_part_of_an_id() {
    let package = r#"{"private": true, "type": "module", "devDependencies": {"vitest": "*"},
        "scripts": {"test": "npm run unit", "unit": "KIND=x vitest --config unit.config.js"}}"#;
    let config = "export default { test: { projects: [
  { test: { name: 'one', include: ['**/*.unit.js'], env: { N: '1' } } },
  { test: { name: 'two', include: ['**/*.unit.js'], env: { N: '2' } } },
] } }
";
    let tests = "import { expect, test } from 'vitest'
test('env', () => { expect([process.env.KIND, process.env.N]).toEqual(['x', '1']) })
";
    let project = javascript(package)
        .file("unit.config.js", config)
        .file("a.unit.js", tests)
        .file("b.test.js", "throw new Error('of no project')\n");
    let answer = suite(&project, &json!({}));
    let all = expected(&[
        ("a.unit.js::|one|::env", "passed"),
        ("a.unit.js::|two|::env", "failed"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    each_alone(&project, &answer);
}

#[test]
fn the_last_of_jests_tries_counts_and_jest_lists_what_it_runs() {
    let tests = "jest.retryTimes(2)
let n = 0
test('third', () => { if (++n < 3) throw new Error('try ' + n) })
test('never', () => { throw new Error('no', { cause: new Error('the real reason') }) })
test.skip('later', () => {})
";
    let project = javascript(JEST).file("r.test.js", tests);
    let answer = suite(&project, &json!({}));
    let all = expected(&[
        ("r.test.js::third", "passed"),
        ("r.test.js::never", "failed"),
        ("r.test.js::later", "skipped"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    assert!(
        answer.to_string().contains("caused by: Error: the real reason"),
        "{answer:#}"
    );
    let listed = project.call("list_tests", &json!({}));
    assert_eq!(listed["total"], 3, "{listed:#}");
    let again = project.call("run_n_times", &json!({"test_id": "r.test.js::later", "n": 2}));
    assert_eq!(
        (&again["failed"], &again["majority_outcome"]),
        (&json!(0), &json!("skipped")),
        "{again:#}"
    );
}

#[test]
fn jest_that_finds_no_test_has_no_tests_and_is_not_broken() {
    let project = javascript(JEST).file("src/a.js", "");
    let answer = suite(&project, &json!({}));
    assert_eq!(answer["status"], "no_tests", "{answer:#}");
}

#[test]
fn coverage_of_some_paths_is_the_share_of_their_lines_also_where_a_test_failed() {
    let two = "module.exports = (x) => {\n  if (x) {\n    x = 1\n    return x\n  }\n  return 2\n}\n";
    let test = "const one = require('./one'), two = require('./two')
test('c', () => { one(); expect(two(0)).toBe(3) })
";
    let project = javascript(JEST)
        .file("one.js", "module.exports = () => 1\n")
        .file("two.js", two)
        .file("c.test.js", test);
    let answer = project.call("get_coverage", &json!({"paths": ["two.js"]}));
    assert_eq!(
        (&answer["status"], &answer["overall_percent"]),
        (&json!("failed"), &json!(60.0)),
        "{answer:#}"
    );
}

#[test]
fn a_node_file_that_ended_itself_or_did_not_load_or_failed_late_is_never_green() {
    let project = Project::bare()
        .file("package.json", NODE)
        .file("ok.test.js", "import test from 'node:test'\ntest('ok', () => {})\n")
        .file(
            "exits.test.js",
            "import test from 'node:test'\ntest('leaves', () => { process.exit(0) })\n",
        )
        .file("loads.test.js", "import './not-there.js'\n")
        .file(
            "late.test.js",
            "import test from 'node:test'\ntest('late', () => { setTimeout(() => { throw new Error('too late') }, 20) })
test('waits', async () => { await new Promise((r) => setTimeout(r, 150)) })\n",
        );
    let answer = suite(&project, &json!({}));
    let all = expected(&[
        ("ok.test.js::ok", "passed"),
        ("late.test.js::late", "passed"),
        ("late.test.js::waits", "passed"),
        ("exits.test.js", "error"),
        ("loads.test.js", "error"),
        ("late.test.js", "error"),
    ]);
    assert_eq!(rows(&answer), all, "{answer:#}");
    assert_eq!(answer["status"], "failed", "{answer:#}");
    let text = answer.to_string();
    assert!(
        text.contains("not-there.js") && text.contains("too late"),
        "{answer:#}"
    );
}

#[test]
fn nodes_flags_and_files_are_those_of_the_projects_script_and_a_folder_is_its_test_files() {
    let package = r#"{"private": true, "type": "module", "scripts": {"test": "A=1 node --test --import ./setup.mjs checks/*.js"}}"#;
    let check = "import test from 'node:test'
import assert from 'node:assert'
test('is set up', () => { console.log('seen by the user'); assert.deepEqual([globalThis.ready, process.env.A], [true, '2']) })
";
    let project = Project::bare()
        .file("package.json", package)
        .file("setup.mjs", "globalThis.ready = true\n")
        .file("checks/a.js", check)
        .file("other.test.js", "throw new Error('not of the script')\n");
    for arguments in [json!({}), json!({"selector": "checks"})] {
        let answer = suite(&project, &arguments);
        let all = expected(&[("checks/a.js::is set up", "failed")]);
        assert_eq!(rows(&answer), all, "{answer:#}");
        // The variable and the flag came; only the value is another one.
        assert!(answer.to_string().contains("'1'"), "{answer:#}");
    }
    let single = project.call("run_single", &json!({"test_id": "checks/a.js::is set up"}));
    let output = single["output"].as_str().unwrap();
    assert!(output.contains("seen by the user"), "{single:#}");
}

#[test]
fn a_package_of_a_workspace_is_found_by_the_working_folder() {
    let project = javascript(r#"{"private": true, "workspaces": ["packages/*"]}"#)
        .file("packages/a/package.json", VITEST)
        .file("packages/b/package.json", VITEST)
        .file(
            "packages/a/src/a.test.js",
            "import { test } from 'vitest'\ntest('right', () => {})\n",
        );
    let answer = suite(&project, &json!({"cwd": "packages/a"}));
    assert_eq!(
        rows(&answer),
        expected(&[("src/a.test.js::right", "passed")]),
        "{answer:#}"
    );
    let answer = suite(&project, &json!({"selector": "packages/a/src/a.test.js"}));
    assert_eq!(answer["status"], "passed", "{answer:#}");
}
