//! Puts an entry into a client's file and leaves every other byte of it alone.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::clients::{Entry, KEY};

const BYTE_ORDER_MARK: char = '\u{feff}';

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
    // Editors on Windows write the mark; it is not JSON.
    let json = text.trim_start_matches(BYTE_ORDER_MARK);
    if json.trim().is_empty() {
        return Merged::Changed(entry.document());
    }
    let mark = &text[..text.len() - json.len()];
    match merged(json, entry) {
        Err(why) => Merged::Refused(why),
        Ok(None) => Merged::Unchanged,
        Ok(Some(merged)) => Merged::Changed(format!("{mark}{merged}")),
    }
}

/// Keys of the entry that is there already and that say something else than the one that would be written.
pub(super) fn kept_keys(text: &str, entry: &Entry) -> Vec<String> {
    let Ok(Some(server)) = server(text.trim_start_matches(BYTE_ORDER_MARK), entry) else {
        return Vec::new();
    };
    let differs = |key: &str, value: &Value| {
        let written = member(&server, key).ok().flatten();
        written.is_some_and(|written| written.to_serde_value().as_ref() != Some(value))
    };
    let keys = entry.value.iter().filter(|(key, value)| differs(key, value));
    keys.map(|(key, _)| key.clone()).collect()
}

/// The object of the entry that is there already.
fn server(json: &str, entry: &Entry) -> Result<Option<CstObject>, String> {
    let root = parse(json)?;
    let Some(list) = member(&object_of_root(&root)?, entry.list)? else {
        return Ok(None);
    };
    let server = member(&object(&list, entry.list)?, KEY)?;
    server.map(|server| object(&server, KEY)).transpose()
}

/// The text with what is missing, or `None` if nothing is.
fn merged(json: &str, entry: &Entry) -> Result<Option<String>, String> {
    let root = parse(json)?;
    let top = object_of_root(&root)?;
    let whole = || input(&Value::Object(entry.value.clone()));
    let Some(list) = member(&top, entry.list)? else {
        let list = CstInputValue::Object(vec![(KEY.to_owned(), whole())]);
        top.append(entry.list, list);
        return Ok(Some(root.to_string()));
    };
    let list = object(&list, entry.list)?;
    let Some(server) = member(&list, KEY)? else {
        list.append(KEY, whole());
        return Ok(Some(root.to_string()));
    };
    let server = object(&server, KEY)?;
    // A server that is reached over HTTP is told of in other keys.
    if member(&server, "url")?.is_some() {
        return Ok(None);
    }
    let mut is_changed = false;
    for (key, value) in &entry.value {
        if member(&server, key)?.is_none() {
            server.append(key, input(value));
            is_changed = true;
        }
    }
    Ok(is_changed.then(|| root.to_string()))
}

/// JSON with comments and trailing commas, as editors read it, and nothing looser.
fn parse(json: &str) -> Result<CstRootNode, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(json, &options).map_err(|error| format!("it is not JSON: {error}"))
}

fn object_of_root(root: &CstRootNode) -> Result<CstObject, String> {
    root.object_value()
        .ok_or_else(|| "it is not an object".to_owned())
}

fn object(member: &CstObjectProp, name: &str) -> Result<CstObject, String> {
    member
        .object_value()
        .ok_or_else(|| format!("`{name}` is not an object"))
}

/// The member of this name. Of two of one name nobody knows which is meant.
fn member(object: &CstObject, key: &str) -> Result<Option<CstObjectProp>, String> {
    let members = object.properties().into_iter();
    let mut found = members.filter(|member| member.decoded_name().as_deref() == Some(key));
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(format!("`{key}` is in it twice")),
        (found, _) => Ok(found),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            let members = members.iter();
            CstInputValue::Object(members.map(|(key, value)| (key.clone(), input(value))).collect())
        }
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

    /// The value of a text without regard to its comments.
    fn read(text: &str) -> Value {
        let root = parse(text.trim_start_matches(BYTE_ORDER_MARK)).unwrap();
        root.to_serde_value().unwrap()
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
        let expected = "{\n    \"servers\": {\n        \"a\": {}, // mine\n        \"qaas\": {\n            \"type\": \"stdio\",\n            \"command\": \"qaas\",\n            \"args\": [\"mcp\"],\n            \"cwd\": \"${workspaceFolder}\"\n        }\n    }\n}\n";
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
            "{\"a\" 1}",
            "{\"a\": 1 \"b\": 2}",
            "{,}",
            "{\"a\": }",
            "{\"a\": nul}",
            "{\"a\": [1 2]}",
            "{a: 1}",
            "{} {}",
            "{ /* }",
            "{'a': 1}",
            &"[".repeat(100_000),
        ] {
            let refused = merge(text, &entry(Client::Vscode));
            assert!(matches!(refused, Merged::Refused(_)), "{text}: {refused:?}");
        }
    }
}
