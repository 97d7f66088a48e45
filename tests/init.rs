//! `qaas init`: what it writes, what it leaves alone.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::Project;

/// A repository with a Python test.
fn project() -> Project {
    Project::bare().file("tests/test_a.py", "def test_a(): pass\n")
}

fn read(project: &Project, path: &str) -> String {
    std::fs::read_to_string(project.root().join(path)).unwrap()
}

fn files(root: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_first_file_is_right_and_says_what_was_found() {
    let project = project();
    let answer = project.qaas(&["init"]);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    let text = read(&project, "qaas.toml");
    assert!(text.contains("#   pytest, in ., by pytest-events"), "{text}");
    assert!(!text.contains("#:schema"), "no schema lies there: {text}");
    assert_eq!(
        project.qaas(&["check", "--format", "json"]).json()["config"],
        json!(project.root().join("qaas.toml"))
    );
}

#[test]
fn a_file_that_is_there_is_never_overwritten() {
    let project = project().file("qaas.toml", "# mine\n");
    for words in [&["init"][..], &["init", "--dry-run"]] {
        let answer = project.qaas(words);
        assert_eq!(answer.code, Some(4));
        assert!(answer.stderr.contains("never overwritten"), "{}", answer.stderr);
        assert_eq!(read(&project, "qaas.toml"), "# mine\n");
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_not_written_through() {
    let project = project();
    let target = project.outside().join("target");
    std::os::unix::fs::symlink(&target, project.root().join("qaas.toml")).unwrap();
    assert_eq!(project.qaas(&["init"]).code, Some(4));
    assert!(!target.exists());
}

#[test]
fn a_dry_run_prints_exactly_what_would_be_written_and_writes_nothing() {
    let project = project();
    let dry = project.qaas(&["init", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{}", dry.stderr);
    assert_eq!(files(&project.root()), ["tests"]);
    project.qaas(&["init"]);
    assert_eq!(dry.stdout, read(&project, "qaas.toml"));
}

#[test]
fn services_with_projects_of_their_own_become_suites_that_can_be_planned() {
    let project = Project::bare()
        .file("services/api/pytest.ini", "[pytest]\n")
        .file("services/api/test_a.py", "def test_a(): pass\n")
        .file("services/web/uv.lock", "")
        .file("services/web/tests/test_w.py", "def test_w(): pass\n");
    assert_eq!(project.qaas(&["init"]).code, Some(0));
    let checked = project.qaas(&["check", "--format", "json"]).json();
    let suites: Vec<&str> = checked["suites"]
        .as_array()
        .unwrap()
        .iter()
        .map(|suite| suite["suite"].as_str().unwrap())
        .collect();
    assert_eq!(suites, ["services-api", "services-web"], "{checked:#}");
}

#[test]
fn a_schema_beside_the_file_is_named_in_its_first_line() {
    let project = project().file("qaas.schema.json", "{}");
    project.qaas(&["init"]);
    assert!(read(&project, "qaas.toml").starts_with("#:schema ./qaas.schema.json\n"));
}

#[test]
fn a_client_is_told_beside_others_and_a_second_time_changes_nothing() {
    let others = "{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\", \"args\": []}\n  },\n  \"unknown\": [1]\n}\n";
    for (client, path, list) in [
        ("claude-code", ".mcp.json", "mcpServers"),
        ("vscode", ".vscode/mcp.json", "servers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
    ] {
        let project = project().file(path, &others.replace("mcpServers", list));
        let answer = project.qaas(&["init", "--client", client]);
        assert_eq!(answer.code, Some(0), "{}", answer.stderr);
        let text = read(&project, path);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["unknown"], json!([1]));
        assert_eq!(value[list]["other"], json!({"command": "x", "args": []}));
        assert_eq!(value[list]["qaas"]["command"], "qaas", "{text}");
        assert_eq!(value[list]["qaas"]["args"][0], "mcp", "{text}");
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(keys, [list, "unknown"]);

        let toml = read(&project, "qaas.toml");
        let again = project.qaas(&["init", "--client", client]);
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        assert_eq!(read(&project, path), text);
        assert_eq!(read(&project, "qaas.toml"), toml);
    }
}

#[test]
fn a_clients_file_is_made_where_there_is_none() {
    let project = project();
    project.qaas(&["init", "--client", "vscode", "--client", "claude-code"]);
    for path in [".vscode/mcp.json", ".mcp.json"] {
        let value: Value = serde_json::from_str(&read(&project, path)).unwrap();
        assert_eq!(value.as_object().unwrap().len(), 1, "{value}");
    }
}

#[test]
fn comments_stay_and_a_dry_run_shows_the_difference() {
    let text =
        "// editors read this\n{\n\t\"servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // mine\n\t},\n}\n";
    let project = project().file(".vscode/mcp.json", text);
    let dry = project.qaas(&["init", "--dry-run", "--client", "vscode"]);
    assert_eq!(dry.code, Some(0), "{}", dry.stderr);
    assert_eq!(read(&project, ".vscode/mcp.json"), text);
    let diff = &dry.stdout[dry.stdout.find("--- .vscode/mcp.json").expect("a difference")..];
    assert!(diff.contains("+\t\t\"qaas\": {"), "{diff}");
    assert!(!diff.lines().skip(2).any(|line| line.starts_with('-')), "{diff}");

    project.qaas(&["init", "--client", "vscode"]);
    let merged = read(&project, ".vscode/mcp.json");
    for kept in text.lines() {
        assert!(
            merged.lines().any(|line| line == kept),
            "{kept} is gone: {merged}"
        );
    }
}

#[test]
fn a_file_that_is_not_understood_is_not_touched_and_the_entry_is_printed() {
    let project = project().file(".mcp.json", "{\"mcpServers\": [}\n");
    let answer = project.qaas(&["init", "--client", "claude-code"]);
    assert_eq!(answer.code, Some(4));
    assert!(answer.stderr.contains("line 1"), "{}", answer.stderr);
    assert_eq!(answer.json()["mcpServers"]["qaas"]["timeout"], 3_600_000);
    assert_eq!(read(&project, ".mcp.json"), "{\"mcpServers\": [}\n");
}

#[test]
fn clients_with_files_elsewhere_get_something_to_paste() {
    let project = project().file("qaas.toml", "");
    for (client, list) in [
        ("gemini", "mcpServers"),
        ("zed", "context_servers"),
        ("windsurf", "mcpServers"),
    ] {
        let answer = project.qaas(&["init", "--client", client]);
        assert_eq!(answer.code, Some(0), "{}", answer.stderr);
        assert_eq!(answer.json()[list]["qaas"]["command"], "qaas");
    }
    let codex = project.qaas(&["init", "--client", "codex"]).stdout;
    for line in [
        "[mcp_servers.qaas]",
        "tool_timeout_sec = 3600",
        "startup_timeout_sec = 30",
    ] {
        assert!(codex.lines().any(|other| other == line), "{codex}");
    }
    let sdk = project.qaas(&["init", "--client", "agent-sdk"]).stdout;
    assert!(sdk.contains(project.root().to_str().unwrap()), "{sdk}");
    assert_eq!(files(&project.root()), ["qaas.toml", "tests"]);
}

/// The page is what `qaas init` prints.
#[test]
fn the_page_about_clients_shows_every_entry_as_it_is() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients.md");
    let page = std::fs::read_to_string(page).unwrap();
    let project = project().file("qaas.toml", "");
    for client in [
        "claude-code",
        "vscode",
        "cursor",
        "codex",
        "gemini",
        "zed",
        "windsurf",
        "agent-sdk",
    ] {
        let answer = project
            .qaas(&["init", "--dry-run", "--client", client, "--format", "json"])
            .json();
        let shown = answer["files"][1]["shown"].as_str().unwrap();
        // A new file's difference is its lines with a sign before each.
        let entry: String = match shown.strip_prefix("--- /dev/null\n") {
            Some(diff) => {
                let lines: Vec<&str> = diff.lines().skip(2).map(|line| &line[1..]).collect();
                lines.join("\n")
            }
            None => shown.to_owned(),
        };
        for part in entry.split("\n\n") {
            let part = part.replace(project.root().to_str().unwrap(), "/path/to/repository");
            // Languages are told by the page's fences instead of by a comment.
            let part = part
                .trim_start_matches("# Python\n")
                .trim_start_matches("// TypeScript\n");
            assert!(
                page.contains(part.trim_end()),
                "{client}: not in docs/clients.md:\n{part}"
            );
        }
        assert!(page.contains(&format!("qaas init --client {client}")), "{client}");
    }
}
