//! What good files mean; what is wrong with bad ones is in the modules.

mod faults;
mod files;
mod known;
mod mirrored;

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::*;
use process::Limits;

fn good(text: &str) -> Settings {
    parse(Path::new("qaas.toml"), text).unwrap()
}

#[test]
fn an_empty_file_means_the_defaults() {
    let settings = good("");
    assert_eq!(settings.suites, []);
    assert_eq!(settings.mcp, McpSettings::default());
    assert_eq!(settings.file.as_deref(), Some(Path::new("qaas.toml")));
}

#[test]
fn every_key_of_a_suite_arrives() {
    let settings = good(
        r#"
        [suite.unit]
        backend = ["a", "b"]
        coverage = "cov"
        dir = "./services/api/"
        paths = ["tests", "./more tests"]
        timeout = "1h30m"
        max_timeout = 7200
        grace = 0.5
        options = { python = ".venv/bin/python", args = ["-x"], deep = { n = [1, 2.5, true] } }
        limits = { processes = 100, memory = "1GiB", file_size = 1000, cpu = "1500ms" }
        "#,
    );
    let suite = &settings.suites[0];
    assert_eq!(suite.name, "unit");
    assert_eq!(suite.backend, ["a", "b"]);
    assert_eq!(suite.coverage, CoverageChoice::Named("cov".to_owned()));
    assert_eq!(suite.dir, Path::new("services/api"));
    assert_eq!(suite.paths, ["tests", "./more tests"]);
    assert_eq!(suite.timeout, Some(Duration::from_secs(5400)));
    assert_eq!(suite.max_timeout, Some(Duration::from_secs(7200)));
    assert_eq!(suite.grace, Some(Duration::from_millis(500)));
    let options = json!({"python": ".venv/bin/python", "args": ["-x"], "deep": {"n": [1, 2.5, true]}});
    assert_eq!(json!(suite.options), options);
    let limits = Limits {
        processes: Some(100),
        memory_bytes: Some(1 << 30),
        file_bytes: Some(1000),
        cpu_seconds: Some(2),
    };
    assert_eq!(suite.limits, limits);
    assert!(!suite.detected);
}

#[test]
fn what_a_suite_leaves_out_stays_unsaid() {
    let settings = good("[suite.unit]");
    assert_eq!(settings.suites[0], Suite::new("unit", Vec::new()));
    let settings = good("[suite.unit]\nbackend = \"one\"\ncoverage = false");
    assert_eq!(settings.suites[0].backend, ["one"]);
    assert_eq!(settings.suites[0].coverage, CoverageChoice::Off);
}

#[test]
fn suites_keep_the_order_of_the_file() {
    let settings = good("[suite.zeta]\n[suite.alpha.limits]\n[suite.\"0.1\"]\n[suite.beta]");
    let names: Vec<&str> = settings.suites.iter().map(|suite| suite.name.as_str()).collect();
    assert_eq!(names, ["zeta", "alpha", "0.1", "beta"]);
}

#[test]
fn a_backend_table_keeps_the_places_of_its_keys() {
    let settings = good(
        "\n[backend.rspec]\nkind = \"command\"\nrun = [\"a\",\n  \"b\"]\nreport = { format = \"junit\" }\n",
    );
    let backend = &settings.backends["rspec"];
    assert_eq!((backend.kind.as_str(), backend.line), ("command", 2));
    assert_eq!(
        json!(backend.table),
        json!({"run": ["a", "b"], "report": {"format": "junit"}})
    );
    assert_eq!(backend.places["run[1]"], Place { line: 5, column: 3 });
    assert_eq!(backend.places["report.format"], Place { line: 6, column: 21 });
}

#[test]
fn environment_and_mcp_arrive() {
    let settings = good(
        "[env]\npass = [\"DATABASE_URL\"]\nset = { APP_ENV = \"test\" }\n[mcp]\ntools = [\"run_suite\"]\nmax_bytes = 5000",
    );
    assert_eq!(settings.env.pass, ["DATABASE_URL"]);
    assert_eq!(settings.env.set["APP_ENV"], "test");
    assert_eq!(settings.mcp.tools.unwrap(), ["run_suite"]);
    assert_eq!(settings.mcp.max_bytes, Some(5000));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic_and_every_fault_is_located(text in ".{0,80}") {
        if let Err(error) = parse(Path::new("qaas.toml"), &text) {
            proptest::prop_assert!(error.line.is_some(), "{}", error);
        }
    }
}
