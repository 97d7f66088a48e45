//! What each client has to be told about qaas. The one source: `docs/clients.md` shows the same words, and a test
//! compares them.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::cli::Client;

/// An hour, in milliseconds and in seconds: longer than any limit that an agent may ask a run for, so that it is
/// always qaas that ends a run, with a report, and never the client, with nothing.
const LONG_MS: u64 = 3_600_000;
const LONG_S: u64 = LONG_MS / 1_000;

/// How a client is told.
pub(super) enum Way {
    /// An entry of a project's JSON file, which `qaas init` writes.
    File(Entry),
    /// Something to be pasted, and where.
    Paste { place: &'static str, text: String },
}

/// `{"<list>": {"qaas": <value>}}` in the file `path` of the repository.
pub(super) struct Entry {
    pub(super) path: &'static str,
    pub(super) list: &'static str,
    pub(super) value: Map<String, Value>,
}

/// The key of the entry.
pub(super) const KEY: &str = "qaas";

impl Client {
    /// For people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Vscode => "VS Code",
            Self::Cursor => "Cursor",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Zed => "Zed",
            Self::Windsurf => "Windsurf",
            Self::AgentSdk => "the Claude Agent SDK",
        }
    }

    /// What it has to be told, for the repository at `root`.
    pub(super) fn way(self, root: &Path) -> Way {
        let root = root.to_string_lossy();
        match self {
            Self::ClaudeCode => {
                let server = json!({"type": "stdio", "command": "qaas", "args": ["mcp"], "timeout": LONG_MS});
                file(".mcp.json", "mcpServers", &server)
            }
            Self::Vscode => {
                let server = json!({
                    "type": "stdio", "command": "qaas", "args": ["mcp"], "cwd": "${workspaceFolder}",
                });
                file(".vscode/mcp.json", "servers", &server)
            }
            Self::Cursor => {
                let args = ["mcp", "--root", "${workspaceFolder}"];
                let server = json!({"type": "stdio", "command": "qaas", "args": args});
                file(".cursor/mcp.json", "mcpServers", &server)
            }
            Self::Codex => paste(
                "~/.codex/config.toml, or .codex/config.toml of a project you trust",
                codex(),
            ),
            Self::Gemini => {
                let server = json!({"command": "qaas", "args": ["mcp"], "timeout": LONG_MS});
                paste(".gemini/settings.json", document("mcpServers", &server))
            }
            Self::Zed => {
                let server = json!({"command": "qaas", "args": ["mcp"], "env": {}});
                paste(
                    "Zed's settings.json, or .zed/settings.json",
                    document("context_servers", &server),
                )
            }
            Self::Windsurf => {
                // Started by the editor, not in the repository: it has to be named.
                let server = json!({"command": "qaas", "args": ["mcp", "--root", root]});
                paste(
                    "~/.codeium/windsurf/mcp_config.json",
                    document("mcpServers", &server),
                )
            }
            Self::AgentSdk => paste("the program that uses the SDK", agent_sdk(&root)),
        }
    }
}

impl Entry {
    /// The file as it is when it holds nothing else.
    pub(super) fn document(&self) -> String {
        document(self.list, &Value::Object(self.value.clone()))
    }
}

fn file(path: &'static str, list: &'static str, server: &Value) -> Way {
    let value = server.as_object().cloned().unwrap_or_default();
    Way::File(Entry { path, list, value })
}

fn paste(place: &'static str, text: String) -> Way {
    Way::Paste { place, text }
}

fn document(list: &str, server: &Value) -> String {
    format!("{:#}\n", json!({ list: { KEY: server } }))
}

fn codex() -> String {
    format!(
        "[mcp_servers.{KEY}]\ncommand = \"qaas\"\nargs = [\"mcp\"]\nstartup_timeout_sec = 30\ntool_timeout_sec = {LONG_S}\n"
    )
}

fn agent_sdk(root: &str) -> String {
    // A JSON string is also one of Python and of TypeScript.
    let root = Value::from(root);
    format!(
        "# Python
options = ClaudeAgentOptions(
    mcp_servers={{\"{KEY}\": {{\"type\": \"stdio\", \"command\": \"qaas\", \"args\": [\"mcp\", \"--root\", {root}]}}}},
    allowed_tools=[\"mcp__{KEY}__*\"],
    env={{\"MCP_TOOL_TIMEOUT\": \"{LONG_MS}\"}},
)

// TypeScript
const options = {{
  mcpServers: {{ {KEY}: {{ type: \"stdio\", command: \"qaas\", args: [\"mcp\", \"--root\", {root}] }} }},
  allowedTools: [\"mcp__{KEY}__*\"],
  env: {{ ...process.env, MCP_TOOL_TIMEOUT: \"{LONG_MS}\" }},
}};
"
    )
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    fn text(client: Client, root: &str) -> String {
        match client.way(Path::new(root)) {
            Way::File(entry) => entry.document(),
            Way::Paste { text, .. } => text,
        }
    }

    #[test]
    fn every_json_entry_parses_and_starts_the_server() {
        for (client, list) in [
            (Client::ClaudeCode, "mcpServers"),
            (Client::Vscode, "servers"),
            (Client::Cursor, "mcpServers"),
            (Client::Gemini, "mcpServers"),
            (Client::Zed, "context_servers"),
            (Client::Windsurf, "mcpServers"),
        ] {
            let value: Value = serde_json::from_str(&text(client, "/a \"b\"")).unwrap();
            let server = &value[list][KEY];
            assert_eq!(server["command"], "qaas", "{client:?}");
            assert_eq!(server["args"][0], "mcp", "{client:?}");
        }
    }

    #[test]
    fn limits_are_raised_where_a_client_has_one() {
        let json = |client| serde_json::from_str::<Value>(&text(client, "/r")).unwrap();
        assert_eq!(json(Client::ClaudeCode)["mcpServers"][KEY]["timeout"], LONG_MS);
        assert_eq!(json(Client::Gemini)["mcpServers"][KEY]["timeout"], LONG_MS);
        let codex = text(Client::Codex, "/r");
        for limit in ["startup_timeout_sec = 30", "tool_timeout_sec = 3600"] {
            assert!(codex.lines().any(|line| line == limit), "{codex}");
        }
        assert!(text(Client::AgentSdk, "/r").contains("MCP_TOOL_TIMEOUT"));
    }

    #[test]
    fn vs_code_names_the_type_and_the_folder() {
        let value: Value = serde_json::from_str(&text(Client::Vscode, "/r")).unwrap();
        assert_eq!(value["servers"][KEY]["type"], "stdio");
        assert_eq!(value["servers"][KEY]["cwd"], "${workspaceFolder}");
    }

    #[test]
    fn clients_that_start_it_elsewhere_are_told_the_root() {
        for client in [Client::Windsurf, Client::AgentSdk] {
            assert!(text(client, "/a b").contains("\"--root\""), "{client:?}");
            assert!(text(client, "/a b").contains("\"/a b\""), "{client:?}");
        }
    }

    #[test]
    fn every_client_has_a_name_of_its_own_on_the_command_line() {
        let names: std::collections::BTreeSet<String> = Client::value_variants()
            .iter()
            .filter_map(Client::to_possible_value)
            .map(|value| value.get_name().to_owned())
            .collect();
        assert_eq!(names.len(), 8, "{names:?}");
    }
}
