//! A suite asked for from a folder above, at and below its own: the words that its framework is given.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::Project;

const CONFTEST: &str = "import json, pathlib
def pytest_configure(config):
    words = [word for word in config.invocation_params.args if word.split('/')[-1] == 'tests']
    (pathlib.Path(__file__).parent / 'words.json').write_text(json.dumps(words))
";

const TEST: &str = "def test_it(): pass\n";

/// A suite `api` in `services/api`, beside tests that are not its own.
fn services(backend: &str) -> Project {
    let suite = format!(
        "[suite.api]\nbackend = \"{backend}\"\ndir = \"services/api\"\npaths = [\"tests\", \"more/tests\"]\n"
    );
    Project::new()
        .file("qaas.toml", &suite)
        .file("pytest.ini", "[pytest]\npython_files = test_*.py\n")
        .file("conftest.py", CONFTEST)
        .file("services/api/tests/test_a.py", TEST)
        .file("services/api/more/tests/test_b.py", TEST)
        .file("services/api/test_no_path_of_it.py", TEST)
        .file("services/web/test_w.py", TEST)
}

/// What a run from a folder passed, and the words that the framework was given.
fn run(project: &Project, cwd: &str) -> (u64, Vec<String>) {
    let answer = project
        .qaas(&[
            "call",
            "run_suite",
            "--args",
            &json!({"suite": "api", "cwd": cwd}).to_string(),
        ])
        .json();
    let passed = answer["totals"]["passed"].as_u64().unwrap_or_default();
    assert_eq!(answer["status"], "passed", "{cwd}: {answer:#}");
    let words = std::fs::read_to_string(project.root().join("words.json")).unwrap();
    let words: Value = serde_json::from_str(&words).unwrap();
    let words = words.as_array().unwrap().iter();
    (
        passed,
        words.map(|word| word.as_str().unwrap().to_owned()).collect(),
    )
}

/// From where, and what is asked for from there.
fn expected() -> BTreeMap<&'static str, &'static [&'static str]> {
    BTreeMap::from([
        (".", &["services/api/tests", "services/api/more/tests"] as &[_]),
        ("services", &["api/tests", "api/more/tests"]),
        ("services/api", &["tests", "more/tests"]),
        ("services/api/more", &["tests"]),
    ])
}

#[test]
fn the_paths_of_a_suite_are_narrowed_once_whatever_folder_it_is_run_from() {
    for backend in ["pytest-events", "pytest-json", "pytest-terminal"] {
        let project = services(backend);
        for (cwd, words) in expected() {
            let (passed, given) = run(&project, cwd);
            assert_eq!(given, words, "{backend} from {cwd}");
            assert_eq!(passed, words.len() as u64, "{backend} from {cwd}");
        }
        // Inside one of its paths, the folder itself is what was asked for.
        assert_eq!(run(&project, "services/api/tests"), (1, Vec::new()), "{backend}");
    }
}

/// A tool that keeps the words it was given, and passes a test for each.
const TOOL: &str = "import json, pathlib, sys
words = sys.argv[2:]
(pathlib.Path(__file__).parent / 'words.json').write_text(json.dumps(words))
cases = ''.join(f\"<testcase file='{word}/a' name='one'/>\" for word in words)
pathlib.Path(sys.argv[1]).write_text(f'<testsuite>{cases}</testsuite>')
";

#[test]
fn a_command_is_given_the_paths_of_its_suite_from_any_folder_and_never_runs_everything_in_silence() {
    let project = services("own");
    let tool = project.root().join("tool.py");
    let table = format!(
        "\n[backend.own]\nkind = \"command\"\nrun = [\"python3\", \"{}\", \"{{report}}\", \"{{ids...}}\"]\nreport = {{ \
         format = \"junit\" }}\n",
        tool.display()
    );
    let suites = std::fs::read_to_string(project.root().join("qaas.toml")).unwrap();
    project.write("qaas.toml", &(suites + &table));
    project.write("tool.py", TOOL);
    assert_eq!(project.qaas(&["trust", "--yes"]).code, Some(0));
    for (cwd, words) in expected() {
        let (passed, given) = run(&project, cwd);
        assert_eq!(given, words, "from {cwd}");
        assert_eq!(passed, words.len() as u64, "from {cwd}");
    }
}

#[test]
fn a_suite_of_the_root_is_not_widened_by_a_folder_above_its_paths() {
    let project = services("pytest-events");
    project.write(
        "qaas.toml",
        "[suite.api]\nbackend = \"pytest-events\"\npaths = [\"services/api/tests\"]\n",
    );
    assert_eq!(run(&project, "services"), (1, vec!["api/tests".to_owned()]));
}
