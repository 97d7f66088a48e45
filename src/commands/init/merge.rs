//! Puts an entry into a client's file and leaves every other byte of it alone.

use serde_json::Value;

use super::clients::{Entry, KEY};
use super::jsonc::{self, Node, Object};

/// What became of a file's text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Merged {
    /// Everything is there already.
    Unchanged,
    Changed(String),
    /// It is not understood well enough to be touched. A clause that says why.
    Refused(String),
}

/// The text with the entry in it. Keys of an entry that is there already are kept, whatever their values; what they
/// lack is added.
pub(super) fn merge(text: &str, entry: &Entry) -> Merged {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Merged::Changed(entry.document());
    }
    let mut merged = text.to_owned();
    loop {
        match step(&merged, entry) {
            Err(why) => return Merged::Refused(why),
            Ok(Some(further)) => merged = further,
            Ok(None) if merged == text => return Merged::Unchanged,
            Ok(None) => return Merged::Changed(merged),
        }
    }
}

/// Keys of the entry that is there already and that say something else than the one that would be written.
pub(super) fn kept_keys(text: &str, entry: &Entry) -> Vec<String> {
    let Ok(Some(server)) = server(text, entry) else {
        return Vec::new();
    };
    let object = server.object.unwrap_or_default();
    let differs = |key: &str, value: &Value| {
        let written = object.get(key).ok().flatten();
        written.is_some_and(|member| {
            let text = &text[member.value.span.clone()];
            serde_json::from_str::<Value>(text).ok().as_ref() != Some(value)
        })
    };
    let keys = entry.value.iter().filter(|(key, value)| differs(key, value));
    keys.map(|(key, _)| key.clone()).collect()
}

/// The node of the entry that is there already.
fn server(text: &str, entry: &Entry) -> Result<Option<Node>, String> {
    let root = jsonc::parse(text)?;
    let root = as_object(&root, "it")?;
    let Some(list) = root.get(entry.list)? else {
        return Ok(None);
    };
    let list = as_object(&list.value, &format!("`{}`", entry.list))?;
    Ok(list.get(KEY)?.map(|member| member.value.clone()))
}

/// The text with one thing more, or `None` if nothing is missing.
fn step(text: &str, entry: &Entry) -> Result<Option<String>, String> {
    let root = jsonc::parse(text)?;
    let object = as_object(&root, "it")?;
    let whole = || Value::Object(entry.value.clone());
    let Some(list) = object.get(entry.list)? else {
        let value = serde_json::json!({ KEY: whole() });
        return Ok(Some(insert(text, &root, object, entry.list, &value)));
    };
    let servers = as_object(&list.value, &format!("`{}`", entry.list))?;
    let Some(server) = servers.get(KEY)? else {
        return Ok(Some(insert(text, &list.value, servers, KEY, &whole())));
    };
    let keys = as_object(&server.value, &format!("`{KEY}`"))?;
    // A server that is reached over HTTP is told of in other keys.
    if keys.get("url")?.is_some() {
        return Ok(None);
    }
    for (key, value) in &entry.value {
        if keys.get(key)?.is_none() {
            return Ok(Some(insert(text, &server.value, keys, key, value)));
        }
    }
    Ok(None)
}

fn as_object<'a>(node: &'a Node, name: &str) -> Result<&'a Object, String> {
    node.object
        .as_ref()
        .ok_or_else(|| format!("{name} is not an object"))
}

/// The text with `"key": value` as the last member of `object`, which is what stands at `node`.
fn insert(text: &str, node: &Node, object: &Object, key: &str, value: &Value) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let unit = unit(text);
    let outer = indent(text, node.span.start);
    let first_of_line = |at: usize| {
        text[..at].ends_with(|c: char| c.is_whitespace()) && {
            let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
            line > node.span.start && text[line..at].trim().is_empty()
        }
    };
    let inner = match object.members.first() {
        Some(member) if first_of_line(member.start) => indent(text, member.start).to_owned(),
        _ => format!("{outer}{unit}"),
    };
    let mut member = format!("{newline}{inner}{}: ", Value::from(key));
    for (number, line) in format!("{value:#}").lines().enumerate() {
        if number > 0 {
            member.push_str(newline);
            member.push_str(&inner);
        }
        let depth = (line.len() - line.trim_start().len()) / 2;
        member.push_str(&unit.repeat(depth));
        member.push_str(line.trim_start());
    }
    let rest = &text[object.filled_to..node.span.end];
    if !rest.contains('\n') {
        member.push_str(newline);
        member.push_str(outer);
    }
    let comma = match object.members.last() {
        Some(last) if !object.trailing_comma => Some(last.value.span.end),
        _ => None,
    };
    let head = comma.map_or_else(
        || text[..object.filled_to].to_owned(),
        |comma| format!("{},{}", &text[..comma], &text[comma..object.filled_to]),
    );
    format!("{head}{member}{}", &text[object.filled_to..])
}

/// The blanks at the beginning of the line of a place.
fn indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// What one level of indentation is in this file.
fn unit(text: &str) -> &str {
    let indents = text.lines().map(|line| indent(line, line.len()));
    match indents
        .filter(|indent| !indent.is_empty())
        .min_by_key(|indent| indent.len())
    {
        Some(tab) if tab.starts_with('\t') => "\t",
        Some(blanks) if matches!(blanks.len(), 2 | 4 | 8) => blanks,
        _ => "  ",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::super::clients::Way;
    use super::*;
    use crate::cli::Client;

    fn entry(client: Client) -> Entry {
        match client.way(Path::new("/r")) {
            Way::File(entry) => entry,
            Way::Paste { .. } => panic!("{client:?} has no file"),
        }
    }

    fn merged(text: &str) -> String {
        match merge(text, &entry(Client::Vscode)) {
            Merged::Changed(text) => text,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// The value of a text without regard to its comments (lists must have none).
    fn value(text: &str, node: &Node) -> Value {
        match &node.object {
            Some(object) => object
                .members
                .iter()
                .map(|member| (member.key.clone(), value(text, &member.value)))
                .collect(),
            None => serde_json::from_str(&text[node.span.clone()]).unwrap(),
        }
    }

    fn read(text: &str) -> Value {
        value(text, &jsonc::parse(text).unwrap())
    }

    /// Files as people and editors leave them.
    const FILES: [&str; 14] = [
        "{}",
        "{}\n",
        "{ }",
        "{\n}\n",
        "{\n  // nothing yet\n}\n",
        "{\"servers\": {}}",
        "{\"servers\":{\"other\":{\"command\":\"x\"}}}",
        "{\n  \"servers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"inputs\": []\n}\n",
        "{\n\t\"servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // mine\n\t},\n}\n",
        "{\r\n    \"inputs\": [],\r\n    \"servers\": {\r\n        \"other\": { \"command\": \"x\" } /* mine */\r\n    }\r\n}\r\n",
        "// top\n{\n  \"z\": 1,\n  \"servers\": { // all of them\n    \"other\": {\"command\": \"{}\"} // mine\n    // the end\n  }\n}\n// bottom",
        "\u{feff}{\"inputs\": [{\"id\": \"a\"}]}",
        "{\"servers\": {\"qaas\": {}}}",
        "{\n  \"servers\": {\n    \"qaas\": {\n      \"type\": \"stdio\", \"command\": \"/opt/qaas\", \"args\": [\"mcp\"], \"env\": {\"A\": \"b\"}\n    }\n  }\n}\n",
    ];

    #[test]
    fn the_entry_is_added_and_everything_else_means_what_it_did() {
        for text in FILES {
            let before = read(text);
            let mut expected = before.clone();
            let mut server = entry(Client::Vscode).value;
            for (key, value) in before["servers"]["qaas"].as_object().into_iter().flatten() {
                server.insert(key.clone(), value.clone());
            }
            expected["servers"]["qaas"] = Value::Object(server);
            assert_eq!(read(&merged(text)), expected, "{text}");
        }
    }

    #[test]
    fn every_byte_that_was_there_is_still_there_in_its_order() {
        for text in FILES {
            let merged = merged(text);
            let mut left = merged.chars();
            assert!(
                text.chars().all(|c| left.any(|other| other == c)),
                "{text}\n{merged}"
            );
            for comment in [
                "// mine",
                "/* mine */",
                "// the end",
                "// top",
                "// bottom",
                "// all of them",
            ] {
                assert_eq!(text.contains(comment), merged.contains(comment), "{merged}");
            }
            assert_eq!(text.contains('\r'), merged.contains('\r'));
        }
    }

    #[test]
    fn a_second_time_changes_nothing() {
        for text in FILES {
            let once = merged(text);
            assert_eq!(merge(&once, &entry(Client::Vscode)), Merged::Unchanged, "{once}");
        }
    }

    #[test]
    fn it_is_laid_out_as_the_file_is() {
        let text = "{\n    \"servers\": {\n        \"a\": {} // mine\n    }\n}\n";
        let expected = "{\n    \"servers\": {\n        \"a\": {}, // mine\n        \"qaas\": {\n            \"type\": \"stdio\",\n            \"command\": \"qaas\",\n            \"args\": [\n                \"mcp\"\n            ],\n            \"cwd\": \"${workspaceFolder}\"\n        }\n    }\n}\n";
        assert_eq!(merged(text), expected);
        let tabs = merged("{\n\t\"servers\": {\n\t}\n}\n");
        assert!(tabs.contains("\n\t\t\"qaas\": {\n\t\t\t\"type\""), "{tabs}");
    }

    #[test]
    fn an_empty_file_gets_the_whole() {
        for text in ["", " \n", "\u{feff}\n"] {
            assert_eq!(read(&merged(text))["servers"]["qaas"]["command"], "qaas");
        }
    }

    #[test]
    fn what_somebody_wrote_into_the_entry_stays_and_is_told() {
        let text =
            json!({"mcpServers": {"qaas": {"command": "/opt/qaas", "args": ["mcp"], "x": 1}}}).to_string();
        let entry = entry(Client::ClaudeCode);
        let Merged::Changed(merged) = merge(&text, &entry) else {
            panic!("nothing was added");
        };
        let server = &read(&merged)["mcpServers"]["qaas"];
        assert_eq!(
            (&server["command"], &server["x"]),
            (&json!("/opt/qaas"), &json!(1))
        );
        assert_eq!(server["timeout"], 3_600_000);
        assert_eq!(kept_keys(&text, &entry), ["command"]);
    }

    #[test]
    fn a_server_over_http_is_left_alone() {
        let text = json!({"mcpServers": {"qaas": {"url": "http://127.0.0.1:1/mcp"}}}).to_string();
        assert_eq!(merge(&text, &entry(Client::Cursor)), Merged::Unchanged);
    }

    #[test]
    fn what_is_not_understood_is_not_touched() {
        for text in [
            "[]",
            "nonsense",
            "{\"servers\": []}",
            "{\"servers\": {}, \"servers\": {}}",
            "{\"servers\": {\"qaas\": 1}}",
            "{\"servers\": {}",
        ] {
            let refused = merge(text, &entry(Client::Vscode));
            assert!(matches!(refused, Merged::Refused(_)), "{text}: {refused:?}");
        }
    }
}
