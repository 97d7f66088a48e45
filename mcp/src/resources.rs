//! Stored runs as resources, for clients that read them. Nothing depends on it: `get_run` reaches the same.

use engine::policy::MOST_ANSWER_BYTES;
use ops::{Tool, Workspace};
use process::Cancel;
use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, ProtocolVersion, ReadResourceResponse, ReadResourceResult, ResourceContents, ResourceTemplate,
};
use serde_json::{Map, Value, json};

use crate::tools::{self, Face};

const PREFIX: &str = "qaas://runs/";
const SUFFIX: &str = "/report";
const MIME: &str = "application/json";

pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{run_id}}{SUFFIX}"), "report")
        .with_title("Report of a run")
        .with_description("What get_run answers for a run_id, failures first, up to 1 MB of JSON.")
        .with_mime_type(MIME)
}

/// The run id in a URI of the template's form.
fn run_id(uri: &str) -> Option<&str> {
    let id = uri.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (!id.is_empty() && id.bytes().all(plain)).then_some(id)
}

/// # Errors
/// For a URI that names no stored run, with the code that the client's protocol version has for it.
pub(crate) async fn read(
    workspace: &Workspace,
    uri: &str,
    version: Option<ProtocolVersion>,
) -> Result<ReadResourceResponse, ErrorData> {
    let id = run_id(uri).ok_or_else(|| not_found(uri, version.as_ref()))?;
    let mut arguments = Map::new();
    arguments.insert("run_id".to_owned(), json!(id));
    // A report as a resource is as large as an answer may be.
    arguments.insert("max_bytes".to_owned(), json!(MOST_ANSWER_BYTES));
    let reply = tools::call(
        workspace,
        Tool::GetRun,
        &arguments,
        Face::Mcp,
        Cancel::new(),
        &mut |_, _| {},
    )
    .await;
    if reply.is_error && code(&reply.structured) == Some("no_such_run") {
        return Err(not_found(uri, version.as_ref()));
    }
    let text = Value::Object(reply.structured).to_string();
    let contents = ResourceContents::text(text, uri).with_mime_type(MIME);
    Ok(ReadResourceResult::new(vec![contents]).into())
}

fn code(answer: &Map<String, Value>) -> Option<&str> {
    answer.get("error")?.get("code")?.as_str()
}

fn not_found(uri: &str, version: Option<&ProtocolVersion>) -> ErrorData {
    let modern = version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    let code = if modern {
        ErrorCode::INVALID_PARAMS
    } else {
        ErrorCode::RESOURCE_NOT_FOUND
    };
    let uri = ops::cut::quote_truncated(uri);
    ErrorData::new(code, format!("no resource {uri}"), Some(json!({ "uri": uri })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_templates_form_names_a_run() {
        assert_eq!(run_id("qaas://runs/r-1a/report"), Some("r-1a"));
        for bad in [
            "qaas://runs//report",
            "qaas://runs/../x/report",
            "qaas://runs/a",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(run_id(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_unknown_resource_has_the_code_of_the_clients_era() {
        let legacy = not_found("qaas://x", Some(&ProtocolVersion::V_2025_06_18));
        let modern = not_found("qaas://x", Some(&ProtocolVersion::V_2026_07_28));
        assert_eq!((legacy.code.0, modern.code.0), (-32002, -32602));
    }
}
