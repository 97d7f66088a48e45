//! Calling a tool by name: JSON in, an answer that fits out. The server and `qaas call` both go through here.

use engine::policy::{LEAST_ANSWER_BYTES, MOST_ANSWER_BYTES};
use engine::run::EventSink;
use ops::{OpError, Tool, Workspace};
use process::Cancel;
use serde_json::{Map, Value};

use crate::excerpt::{self, Excerpt};

/// Who reads the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// A client over MCP: the answer is always bounded.
    Mcp,
    /// `qaas call` and `--format json`: `max_bytes = 0` asks for everything.
    CommandLine,
}

/// What a tool answers, in both of its forms. Each says everything that matters on its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub structured: Map<String, Value>,
    pub text: String,
    /// The question could not be answered. Failing tests are an answer.
    pub is_error: bool,
}

impl Reply {
    fn answered(excerpt: Excerpt) -> Self {
        Self {
            structured: excerpt.structured,
            text: excerpt.text,
            is_error: false,
        }
    }

    /// An answer or an error answer, within `max_bytes` (`None`: whole).
    pub fn of(answer: Result<ops::Answer, OpError>, max_bytes: Option<usize>) -> Self {
        match answer {
            Ok(answer) => Self::answered(excerpt::of(answer, max_bytes)),
            Err(error) => Self::failed(&error, max_bytes),
        }
    }

    /// The error answer, within `max_bytes` (`None`: whole).
    pub fn failed(error: &OpError, max_bytes: Option<usize>) -> Self {
        let excerpt = excerpt::of_error(error, max_bytes);
        Self {
            is_error: true,
            ..Self::answered(excerpt)
        }
    }
}

/// Calls a tool.
pub async fn call(
    workspace: &Workspace,
    tool: Tool,
    arguments: &Map<String, Value>,
    face: Face,
    cancel: Cancel,
    sink: EventSink<'_>,
) -> Reply {
    let usual = usual_bytes(workspace, face);
    let max_bytes = match max_bytes(arguments.get("max_bytes"), face, usual) {
        Ok(max_bytes) => max_bytes,
        Err(error) => return Reply::failed(&error, usual),
    };
    // A future of this size belongs on the heap.
    Reply::of(
        Box::pin(ops::call(workspace, tool, arguments, cancel, sink)).await,
        max_bytes,
    )
}

/// The size of answers to calls that name none: `[mcp] max_bytes`, else the policy's.
pub(crate) fn usual_bytes(workspace: &Workspace, face: Face) -> Option<usize> {
    let configured = workspace
        .settings
        .as_ref()
        .ok()
        .and_then(|settings| settings.mcp.max_bytes);
    let usual = configured
        .or(workspace.policy.max_bytes)
        .filter(|bytes| *bytes > 0);
    match face {
        Face::CommandLine => usual,
        Face::Mcp => Some(
            usual
                .unwrap_or(MOST_ANSWER_BYTES)
                .clamp(LEAST_ANSWER_BYTES, MOST_ANSWER_BYTES),
        ),
    }
}

/// The size that a call asks for, or the usual one if it does not say. `None`: everything.
fn max_bytes(value: Option<&Value>, face: Face, usual: Option<usize>) -> Result<Option<usize>, OpError> {
    let most = match face {
        Face::Mcp => MOST_ANSWER_BYTES,
        Face::CommandLine => usize::MAX,
    };
    let bytes = match value {
        None | Some(Value::Null) => return Ok(usual),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(value) => whole(value),
    };
    match bytes {
        Some(0) if face == Face::CommandLine => Ok(None),
        Some(bytes) if (LEAST_ANSWER_BYTES..=most).contains(&bytes) => Ok(Some(bytes)),
        _ => Err(OpError::bad_argument(format!(
            "`max_bytes` must be a whole number from {LEAST_ANSWER_BYTES} to {MOST_ANSWER_BYTES}"
        ))
        .with_hint("Leave it out for the usual size; get_run reads a run page by page.")),
    }
}

/// Also `20000.0`: JSON does not tell the two apart, and some clients write every number so.
fn whole(value: &Value) -> Option<usize> {
    let float = value
        .as_f64()
        .filter(|number| number.fract() == 0.0 && *number >= 0.0)?;
    (float <= u32::MAX.into()).then_some(float as usize)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sizes_are_whole_numbers_within_bounds() {
        for good in [json!(2000), json!(20000.0), json!("5000"), json!(1_000_000)] {
            assert!(
                max_bytes(Some(&good), Face::Mcp, None).unwrap().is_some(),
                "{good}"
            );
        }
        for bad in [
            json!(1999),
            json!(0),
            json!(-1),
            json!(2000.5),
            json!("x"),
            json!([]),
            json!(1e300),
        ] {
            assert!(max_bytes(Some(&bad), Face::Mcp, None).is_err(), "{bad}");
        }
        assert_eq!(max_bytes(None, Face::Mcp, Some(7)).unwrap(), Some(7));
    }

    #[test]
    fn only_the_command_line_may_ask_for_everything() {
        assert_eq!(
            max_bytes(Some(&json!(0)), Face::CommandLine, Some(7)).unwrap(),
            None
        );
        assert!(max_bytes(Some(&json!(0)), Face::Mcp, Some(7)).is_err());
    }
}
