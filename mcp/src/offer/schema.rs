//! The words of each tool: descriptions and flat schemas. Together they stay under 8 kB.

use engine::config::Suite;
use serde_json::{Map, Value, json};

use super::{Hints, ToolSpec};

/// What the schemas say about this repository.
pub(super) struct Words {
    /// Named only when there is a choice.
    suites: Vec<String>,
}

impl Words {
    pub(super) fn of(suites: &[Suite]) -> Self {
        let names: Vec<String> = suites.iter().map(|suite| suite.name.clone()).collect();
        Self {
            suites: if names.len() > 1 { names } else { Vec::new() },
        }
    }
}

/// The definition of one of [`super::TOOL_NAMES`].
pub(super) fn spec(name: &'static str, words: &Words) -> ToolSpec {
    let (title, description, hints) = about(name);
    ToolSpec {
        name,
        title,
        description,
        input_schema: input(name, words),
        output_schema: output(),
        annotations: hints,
    }
}

fn about(name: &str) -> (&'static str, &'static str, Hints) {
    match name {
        "run_suite" => (
            "Run tests",
            "Run all tests or a selection. Returns status, exact totals and a row per test, failures first. \
             Use it instead of a test runner's terminal output.",
            Hints::RUNS,
        ),
        "run_single" => (
            "Run one test",
            "Run one test by nodeid and get its whole failure output. Use it to look into a failure.",
            Hints::RUNS,
        ),
        "run_n_times" => (
            "Repeat one test",
            "Run one test n times and measure its flake rate. Use it when a test fails only sometimes.",
            Hints::RUNS,
        ),
        "affected_tests" => (
            "Tests for a change",
            "Which test files a change to these paths reaches, best first, with reasons. Runs nothing. \
             A heuristic: run everything before concluding that nothing broke.",
            Hints::READS,
        ),
        "get_coverage" => (
            "Measure coverage",
            "Run the tests under the coverage tool and return measured line coverage per file.",
            Hints::READS,
        ),
        "list_tests" => (
            "List tests",
            "List the nodeids there are, without running them. Use it to find a test_id or selector.",
            Hints::READS,
        ),
        "get_run" => (
            "Read a run",
            "Read a run: wait for its end, page through its rows, get one test's text or the raw output.",
            Hints::READS,
        ),
        _ => (
            "Cancel a run",
            "Stop a run that goes on. What finished is kept: read it with get_run.",
            Hints::RUNS,
        ),
    }
}

/// The arguments of each tool; the first `required` of them must be given.
fn arguments(name: &str) -> (&'static [&'static str], usize) {
    match name {
        "run_suite" => (
            &[
                "selector",
                "selectors",
                "failed_of",
                "max_failures",
                "cwd",
                "timeout_s",
                "suite",
                "background",
                "max_bytes",
            ],
            0,
        ),
        "run_single" => (
            &["test_id", "cwd", "timeout_s", "suite", "background", "max_bytes"],
            1,
        ),
        "run_n_times" => (
            &[
                "test_id",
                "n",
                "cwd",
                "timeout_s",
                "suite",
                "background",
                "max_bytes",
            ],
            2,
        ),
        "affected_tests" => (&["paths", "cwd", "max_bytes"], 1),
        "get_coverage" => (
            &[
                "paths",
                "selector",
                "cwd",
                "timeout_s",
                "suite",
                "background",
                "max_bytes",
            ],
            0,
        ),
        "list_tests" => (&["selector", "cwd", "timeout_s", "suite", "max_bytes"], 0),
        "get_run" => (
            &[
                "run_id",
                "wait_s",
                "part",
                "nodeid",
                "outcome",
                "cursor",
                "max_bytes",
            ],
            1,
        ),
        _ => (&["run_id"], 1),
    }
}

fn input(tool: &str, words: &Words) -> Map<String, Value> {
    let (names, required) = arguments(tool);
    let mut properties = Map::new();
    for name in names
        .iter()
        .filter(|name| **name != "suite" || !words.suites.is_empty())
    {
        properties.insert((*name).to_owned(), property(tool, name, words));
    }
    let mut schema = object(properties, &names[..required]);
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

fn object(properties: Map<String, Value>, required: &[&str]) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

fn property(tool: &str, name: &str, words: &Words) -> Value {
    let strings = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    let string = |about: &str| json!({"type": "string", "description": about});
    let integer = |about: &str| json!({"type": "integer", "description": about});
    match (name, tool) {
        ("selector", _) => string("Path, nodeid or keyword expression"),
        ("selectors", _) => strings("Several selectors in one run"),
        ("failed_of", _) => string("run_id: only what failed there"),
        ("max_failures", _) => integer("Stop after so many failures"),
        ("cwd", _) => string("Folder in the repository"),
        ("timeout_s", _) => json!({"type": "number", "description": "Time limit, default 300"}),
        ("suite", _) => {
            json!({"type": "string", "enum": words.suites, "description": "Suite of qaas.toml"})
        }
        ("background", _) => {
            json!({"type": "boolean", "description": "Answer at once with a run_id"})
        }
        ("max_bytes", _) => integer("Answer size, default 20000"),
        ("test_id", _) => string("Nodeid: tests/test_a.py::test_x"),
        ("n", _) => json!({"type": "integer", "description": "Number of runs, 1 to 20"}),
        ("paths", "affected_tests") => strings("Changed files, relative to the root"),
        ("paths", _) => strings("Source paths to measure"),
        ("run_id", _) => string("From an earlier answer"),
        ("wait_s", _) => json!({"type": "number", "description": "Wait so long for its end"}),
        ("part", _) => json!({
            "type": "string",
            "enum": ["tests", "failures", "output"],
            "description": "What to read; default tests"
        }),
        ("nodeid", _) => string("Only this test, with its text"),
        ("outcome", _) => json!({
            "type": "string",
            "enum": ["passed", "failed", "error", "skipped", "xfailed", "xpassed"],
            "description": "Only rows of this outcome"
        }),
        _ => string("`cursor` of the page before"),
    }
}

/// Every answer, an error included, has a `status`; the rest depends on what is known.
fn output() -> Map<String, Value> {
    let mut properties = Map::new();
    properties.insert("status".to_owned(), json!({"type": "string"}));
    object(properties, &["status"])
}
