//! `qaas call`: a tool, exactly as an agent would call it. One JSON value on standard output.

use engine::policy::Policy;
use mcp::{Face, Reply};
use ops::{ExitCode, OpError, Tool, Workspace};
use process::guard_memory;
use runner_core::registry::nearest;
use serde_json::{Map, Value};

use super::output::{print_json, print_stderr};
use super::{Context, signals};
use crate::cli::{Call, Format};

/// 0 when answered, 1 when the answer is an error.
pub(super) async fn run(context: &Context, command: Call) -> ExitCode {
    // What the tests do not get by their environment they must not read from this process's either.
    guard_memory();
    if context.global.trust {
        print_stderr(
            "note: `--trust` has no effect on `qaas call`, which acts as an agent does, and no agent agrees for a person: \
             `qaas trust` records your own consent",
        );
    }
    let reply = match question(&command) {
        Ok((tool, arguments)) => match workspace(context, tool) {
            Ok(workspace) => {
                let cancel = signals::cancel();
                mcp::call(
                    &workspace,
                    tool,
                    &arguments,
                    Face::CommandLine,
                    cancel,
                    &mut |_, _| {},
                )
                .await
            }
            Err(error) => Reply::failed(&error, None),
        },
        Err(error) => Reply::failed(&error, None),
    };
    print_json(
        &Value::Object(reply.structured),
        if context.global.format == Format::Human {
            Format::Jsonl
        } else {
            context.global.format
        },
    );
    if reply.is_error {
        ExitCode::Failed
    } else {
        ExitCode::Passed
    }
}

/// Tools that run no tests start nothing else either.
fn workspace(context: &Context, tool: Tool) -> Result<Workspace, OpError> {
    if tool.definition().starts_something() {
        context.workspace(Policy::agent())
    } else {
        context.no_exec_workspace(Policy::agent())
    }
}

fn question(command: &Call) -> Result<(Tool, Map<String, Value>), OpError> {
    let tool = Tool::named(&command.tool).ok_or_else(|| {
        let names: Vec<&str> = Tool::ALL.iter().map(|tool| tool.name()).collect();
        let hint = match nearest(&command.tool, names.iter().copied()) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("There are: {}.", names.join(", ")),
        };
        OpError::bad_argument(format!("there is no tool `{}`", command.tool)).with_hint(hint)
    })?;
    match serde_json::from_str(&command.args) {
        // The run would end with this process, before its first test.
        Ok(Value::Object(arguments)) if arguments.get("background") == Some(&Value::Bool(true)) => {
            Err(OpError::bad_argument("`background` needs a server that lives on")
                .with_hint("Leave it out here, or call the tool over `qaas mcp`."))
        }
        Ok(Value::Object(arguments)) => Ok((tool, arguments)),
        Ok(_) => Err(OpError::bad_argument("`--args` must be one JSON object")),
        Err(error) => Err(OpError::bad_argument(format!("`--args` is not JSON: {error}"))
            .with_hint("Give one object, for instance '{\"selector\": \"tests\"}'.")),
    }
}
