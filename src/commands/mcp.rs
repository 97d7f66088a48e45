//! `qaas mcp`: serves the tools to agents.

use engine::policy::Policy;
use mcp::{HttpOptions, serve_http, serve_stdio};
use process::{guard_memory, private_stdio};

use super::output::print_stderr;
use super::run::fail;
use super::{Context, block_on};
use crate::cli::{Format, Mcp};
use ops::ExitCode;

pub(super) fn run(context: &Context, command: Mcp) -> ExitCode {
    if context.global.trust {
        print_stderr("qaas: a server takes no --trust: agree once with `qaas trust`");
        return ExitCode::Usage;
    }
    // What the tests do not get by their environment they must not read from this process's either.
    guard_memory();
    let workspace = if command.no_exec {
        context.no_exec_workspace(Policy::agent())
    } else {
        context.workspace(Policy::agent())
    };
    let mut workspace = match workspace {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, Format::Human, context.paint()),
    };
    if !command.no_warm {
        workspace.engine = workspace.engine.keeping_spares();
    }
    match command.http {
        Some(address) => {
            let options = HttpOptions {
                address,
                allow_remote: command.http_any_address,
                token_file: command.http_token_file,
            };
            block_on(async {
                let announce = |at: &mcp::Listening| {
                    print_stderr(&format!(
                        "qaas: serving {} (token in {})",
                        at.url,
                        at.token_file.display()
                    ));
                };
                match serve_http(workspace, options, announce).await {
                    Ok(_) => ExitCode::Passed,
                    Err(error) => {
                        print_stderr(&format!("qaas: {error}\nnext: {}", error.hint()));
                        ExitCode::Usage
                    }
                }
            })
        }
        None => stdio(workspace),
    }
}

/// The real descriptors are moved away first: nothing that is started can reach the protocol.
fn stdio(workspace: ops::Workspace) -> ExitCode {
    let (reader, writer) = match private_stdio() {
        Ok(pair) => pair,
        Err(error) => {
            print_stderr(&format!(
                "qaas: standard input and output cannot be used: {error}"
            ));
            return ExitCode::Usage;
        }
    };
    let (reader, writer) = (std::fs::File::from(reader), std::fs::File::from(writer));
    block_on(async {
        match serve_stdio(workspace, reader, writer).await {
            Ok(_) => ExitCode::Passed,
            Err(error) => {
                print_stderr(&format!("qaas: signals cannot be taken over: {error}"));
                ExitCode::NotJudged
            }
        }
    })
}
