//! The offer as data.

use std::collections::BTreeSet;

use engine::config::{CoverageChoice, Settings, Suite};
use ops::Tool;
use runner_core::backend::{BackendInfo, Capability};
use serde_json::Value;

use super::{Basis, INSTRUCTIONS, ToolSpec, offer};

fn backend(name: &str, language: &str, capabilities: &[Capability]) -> BackendInfo {
    BackendInfo {
        name: name.into(),
        framework: name.into(),
        language: language.into(),
        capabilities: capabilities.iter().copied().collect(),
        needs: Vec::new(),
        options: Vec::new(),
    }
}

fn backends() -> Vec<BackendInfo> {
    use Capability::{Coverage, Keyword, List, MaxFailures, Run, Single, Stream};
    vec![
        backend(
            "pytest-events",
            "python",
            &[Run, List, Single, Keyword, Stream, MaxFailures],
        ),
        backend("vitest", "javascript", &[Run, Single]),
        backend("report-only", "", &[Run]),
        backend("coverage-py", "python", &[Coverage]),
    ]
}

fn suite(name: &str, backend: &str) -> Suite {
    Suite::new(name, vec![backend.into()])
}

fn offered(settings: &Settings, suites: &[Suite]) -> Vec<ToolSpec> {
    offer(&Basis {
        settings: Some(settings),
        suites,
        backends: &backends(),
    })
}

fn names(tools: &[ToolSpec]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name).collect()
}

fn all_names() -> Vec<&'static str> {
    Tool::ALL.iter().map(|tool| tool.name()).collect()
}

fn has_suite_argument(tool: &ToolSpec) -> bool {
    tool.input_schema["properties"].get("suite").is_some()
}

#[test]
fn one_python_suite_offers_everything_and_no_choice_of_suites() {
    let tools = offered(&Settings::default(), &[suite("default", "pytest-events")]);
    assert_eq!(names(&tools), all_names());
    assert!(!tools.iter().any(has_suite_argument));
}

#[test]
fn no_suite_at_all_offers_everything() {
    assert_eq!(names(&offered(&Settings::default(), &[])), all_names());
}

#[test]
fn coverage_turned_off_means_no_get_coverage() {
    let mut off = suite("default", "pytest-events");
    off.coverage = CoverageChoice::Off;
    let tools = offered(&Settings::default(), &[off]);
    assert!(!names(&tools).contains(&"get_coverage"));
    assert_eq!(tools.len(), Tool::ALL.len() - 1);
}

#[test]
fn coverage_needs_a_backend_that_measures_the_suites_language() {
    let vitest = suite("web", "vitest");
    assert!(!names(&offered(&Settings::default(), std::slice::from_ref(&vitest))).contains(&"get_coverage"));
    let both = [vitest, suite("api", "pytest-events")];
    assert!(names(&offered(&Settings::default(), &both)).contains(&"get_coverage"));
    let mut unknown = suite("api", "pytest-events");
    unknown.coverage = CoverageChoice::Named("no-such-backend".into());
    assert!(!names(&offered(&Settings::default(), &[unknown])).contains(&"get_coverage"));
}

#[test]
fn several_suites_can_be_chosen_by_name() {
    let suites = [suite("api", "pytest-events"), suite("web", "vitest")];
    let tools = offered(&Settings::default(), &suites);
    let run = tools.iter().find(|tool| tool.name == "run_suite").unwrap();
    let choices = &run.input_schema["properties"]["suite"]["enum"];
    assert_eq!(*choices, serde_json::json!(["api", "web"]));
}

#[test]
fn a_backend_that_can_only_run_offers_no_single_test_and_no_list() {
    let tools = offered(&Settings::default(), &[suite("default", "report-only")]);
    assert_eq!(
        names(&tools),
        [
            "run_suite",
            "affected_tests",
            "compare_with_base",
            "get_run",
            "cancel_run"
        ]
    );
}

#[test]
fn the_configuration_narrows_the_list_and_keeps_its_order() {
    let mut settings = Settings::default();
    settings.mcp.tools = Some(vec!["run_single".into(), "run_suite".into(), "unheard_of".into()]);
    let tools = offered(&settings, &[suite("default", "pytest-events")]);
    assert_eq!(names(&tools), ["run_suite", "run_single"]);
}

#[test]
fn a_broken_configuration_offers_everything() {
    let tools = offer(&Basis {
        settings: None,
        suites: &[],
        backends: &[],
    });
    assert_eq!(names(&tools), all_names());
}

/// All that a client is sent about the tools, with a choice of suites.
fn everything() -> Vec<ToolSpec> {
    offered(
        &Settings::default(),
        &[
            suite("services-api", "pytest-events"),
            suite("frontend", "vitest"),
        ],
    )
}

#[test]
fn the_definitions_are_small() {
    let definitions = serde_json::to_value(everything()).unwrap();
    // Also as a client may write it, with a blank after every comma and colon.
    let bytes = crate::excerpt::size_of(&definitions);
    assert!(bytes < 1_060 * Tool::ALL.len(), "{bytes} bytes");
    assert!(INSTRUCTIONS.len() < 1_000, "{} bytes", INSTRUCTIONS.len());
}

#[test]
fn names_titles_descriptions_and_hints_are_there() {
    let tools = everything();
    let distinct: BTreeSet<&str> = names(&tools).into_iter().collect();
    assert_eq!(distinct.len(), tools.len());
    for tool in &tools {
        let name = tool.name;
        assert!(
            name.len() <= 40 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
            "{name}"
        );
        assert!(!tool.title.is_empty() && tool.description.len() > 40, "{name}");
        let reads = ["affected_tests", "get_run"].contains(&name);
        assert_eq!(tool.annotations.read_only_hint, reads, "{name}");
        assert!(
            !tool.annotations.destructive_hint && !tool.annotations.open_world_hint,
            "{name}"
        );
    }
}

#[test]
fn input_schemas_are_flat_and_every_property_is_described() {
    for tool in everything() {
        let name = tool.name;
        assert_eq!(tool.input_schema["type"], "object", "{name}");
        assert_eq!(tool.input_schema["additionalProperties"], false, "{name}");
        for (property, schema) in tool.input_schema["properties"].as_object().unwrap() {
            let kind = schema["type"]
                .as_str()
                .unwrap_or_else(|| panic!("{name}.{property} has no one type"));
            assert!(
                schema["description"].as_str().is_some_and(|text| text.len() > 5),
                "{name}.{property}"
            );
            assert!(
                kind != "array" || schema["items"]["type"] == "string",
                "{name}.{property}"
            );
            for key in schema.as_object().unwrap().keys() {
                let plain = ["type", "description", "items", "enum", "minimum", "maximum"];
                assert!(plain.contains(&key.as_str()), "{name}.{property}: {key}");
            }
        }
        let required = tool.input_schema.get("required").and_then(Value::as_array);
        for property in required.into_iter().flatten() {
            assert!(
                tool.input_schema["properties"]
                    .get(property.as_str().unwrap())
                    .is_some(),
                "{name}"
            );
        }
    }
}

#[test]
fn answers_must_have_a_status_and_nothing_else() {
    for tool in everything() {
        assert_eq!(tool.output_schema["type"], "object");
        assert_eq!(tool.output_schema["required"], serde_json::json!(["status"]));
    }
}

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/mcp.md");

/// The document with the tables of arguments that the definitions come to.
fn with_tables(document: &str) -> String {
    const END: &str = "<!-- end -->";
    let mut text = document.to_owned();
    for &tool in Tool::ALL {
        let mark = format!("<!-- arguments: {} -->\n", tool.name());
        let begin = text
            .find(&mark)
            .unwrap_or_else(|| panic!("no place for {tool:?}"))
            + mark.len();
        let length = text[begin..].find(END).expect("the table has an end");
        text.replace_range(begin..begin + length, &super::schema::table(tool.definition()));
    }
    text
}

#[test]
fn the_documents_tables_are_those_of_the_definitions() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    assert!(
        document == with_tables(&document),
        "docs/mcp.md is out of date; write it with `cargo test -p mcp write_the_tables -- --ignored`"
    );
}

#[test]
#[ignore = "writes docs/mcp.md"]
fn write_the_tables() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    std::fs::write(DOCUMENT, with_tables(&document)).unwrap();
}
