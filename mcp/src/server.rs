//! The protocol: answers clients of both eras (`initialize`, and `server/discover` without a handshake).
//!
//! It holds no state of a connection. Every call runs in a task of its own, so that a panic in a tool becomes an
//! error answer and a cancelled call is waited for until its processes are gone.

use std::convert::Infallible;
use std::sync::Arc;

use engine::project;
use ops::{ErrorKind, OpError, Tool, Workspace};
use process::Cancel;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListResourceTemplatesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    Tool as ToolDefinition, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use runner_core::event::RunEvent;
use runner_core::report::Report;
use serde_json::{Map, Value};
use tokio::sync::{OnceCell, Semaphore, TryAcquireError};
use tokio_util::sync::CancellationToken;

use crate::offer::{self, Basis, ToolSpec};
use crate::progress::{self, Watched};
use crate::resources;
use crate::tools::{self, Face, Reply};

/// Calls that may be open at once. More are an accident: they would only queue.
const MOST_CALLS: usize = 64;

/// Serves one repository. Clones share everything, so that every HTTP session sees the same runs.
#[derive(Clone)]
pub(crate) struct Server {
    workspace: Workspace,
    /// Asks every call to end: the client is gone, or the process was told to stop.
    stop: Cancel,
    calls: Arc<Semaphore>,
    offered: Arc<OnceCell<Vec<ToolSpec>>>,
}

impl Server {
    pub(crate) fn new(workspace: Workspace, stop: Cancel) -> Self {
        Self {
            workspace,
            stop,
            calls: Arc::new(Semaphore::new(MOST_CALLS)),
            offered: Arc::default(),
        }
    }

    /// The tools on offer. Made when first asked for, as it may look at the directory, then kept.
    async fn offered(&self) -> &[ToolSpec] {
        self.offered
            .get_or_init(|| async {
                let workspace = self.workspace.clone();
                let made = tokio::task::spawn_blocking(move || offer_of(&workspace)).await;
                // Without a list nothing can be called; without detection everything can.
                made.unwrap_or_else(|_| offer_everything(&self.workspace))
            })
            .await
    }

    async fn tool(&self, name: &str) -> Result<Tool, ErrorData> {
        let offered = self.offered().await;
        let known = offered.iter().any(|spec| spec.name == name);
        Tool::named(name).filter(|_| known).ok_or_else(|| {
            let names: Vec<&str> = offered.iter().map(|spec| spec.name).collect();
            let name = ops::cut::quote_truncated(name);
            ErrorData::invalid_params(format!("no tool `{name}`; there are: {}", names.join(", ")), None)
        })
    }

    /// Runs a call in its own task until it is over, reporting progress and passing on what asks it to end.
    async fn run(
        &self,
        tool: Tool,
        arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Reply {
        let cancel = Cancel::new();
        let watched = Arc::new(Watched::default());
        let over = CancellationToken::new();
        let work = tokio::spawn(work(
            self.workspace.clone(),
            tool,
            arguments,
            cancel.clone(),
            Arc::clone(&watched),
        ));
        let work = async {
            let done = work.await;
            over.cancel();
            done
        };
        let silence = async {
            tokio::select! {
                () = over.cancelled() => {}
                () = context.ct.cancelled() => {}
                () = self.stop.asked() => {}
            }
        };
        let reporting = async {
            if let Some(token) = context.meta.get_progress_token() {
                progress::report(
                    context.peer.clone(),
                    token,
                    &watched,
                    &self.workspace.live,
                    silence,
                )
                .await;
            }
        };
        let ending = async {
            tokio::select! {
                () = over.cancelled() => {}
                never = pass_on(&context.ct, &self.stop, &cancel) => match never {},
            }
        };
        let (done, (), ()) = tokio::join!(work, reporting, ending);
        done.unwrap_or_else(|_| {
            Reply::failed(&panicked(tool), tools::usual_bytes(&self.workspace, Face::Mcp))
        })
    }
}

async fn work(
    workspace: Workspace,
    tool: Tool,
    arguments: Map<String, Value>,
    cancel: Cancel,
    watched: Arc<Watched>,
) -> Reply {
    let mut sink = |event: &RunEvent, report: &Report| watched.take(event, report);
    tools::call(&workspace, tool, &arguments, Face::Mcp, cancel, &mut sink).await
}

/// Hands every wish to end on to the call, for ever.
async fn pass_on(client: &CancellationToken, stop: &Cancel, call: &Cancel) -> Infallible {
    tokio::select! {
        () = client.cancelled() => call.ask("the client"),
        () = stop.asked() => call.ask(stop.by()),
    }
    stop.asked_at_once().await;
    call.at_once(stop.by());
    std::future::pending().await
}

fn panicked(tool: Tool) -> OpError {
    let message = format!("{} met a bug in qaas and was stopped", tool.name());
    OpError::new(ErrorKind::Broken, "internal", message)
        .with_hint("Other calls still work. Please report it with the arguments of this call.")
}

fn busy() -> OpError {
    let message = format!("{MOST_CALLS} calls are going on already");
    OpError::new(ErrorKind::BadRequest, "busy", message).with_hint("Wait for one of them, or cancel_run one.")
}

fn offer_of(workspace: &Workspace) -> Vec<ToolSpec> {
    let Ok(settings) = &workspace.settings else {
        return offer_everything(workspace);
    };
    let suites = project::suites(&workspace.root, settings, &workspace.registry);
    offer::offer(&Basis {
        settings: Some(settings),
        suites: &suites,
        backends: &workspace.registry.infos(),
    })
}

fn offer_everything(workspace: &Workspace) -> Vec<ToolSpec> {
    offer::offer(&Basis {
        settings: None,
        suites: &[],
        backends: &workspace.registry.infos(),
    })
}

fn definition(spec: &ToolSpec) -> ToolDefinition {
    let hints = spec.annotations;
    let annotations = ToolAnnotations::new()
        .read_only(hints.read_only_hint)
        .destructive(hints.destructive_hint)
        .idempotent(hints.idempotent_hint)
        .open_world(hints.open_world_hint);
    ToolDefinition::new(spec.name, spec.description, Arc::new(spec.input_schema.clone()))
        .with_title(spec.title)
        .with_raw_output_schema(Arc::new(spec.output_schema.clone()))
        .with_annotations(annotations)
}

fn result(reply: Reply) -> CallToolResponse {
    let content = vec![ContentBlock::text(reply.text)];
    let mut result = if reply.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = Some(Value::Object(reply.structured));
    result.into()
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        let identity = Implementation::new("qaas", env!("CARGO_PKG_VERSION"))
            .with_title("qaas: run this repository's tests");
        ServerConfig::new(capabilities)
            .with_server_info(identity)
            .with_instructions(offer::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.offered().await.iter().map(definition).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tool(&request.name).await?;
        let _permit = match self.calls.try_acquire() {
            Ok(permit) => permit,
            Err(TryAcquireError::NoPermits | TryAcquireError::Closed) => {
                return Ok(result(Reply::failed(
                    &busy(),
                    tools::usual_bytes(&self.workspace, Face::Mcp),
                )));
            }
        };
        let arguments = request.arguments.unwrap_or_default();
        Ok(result(self.run(tool, arguments, &context).await))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![
            resources::template(),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.workspace, &request.uri, context.protocol_version()).await
    }

    /// What the protocol library cannot read as one of its requests, a known method with wrong parameters included.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        const KNOWN: [&str; 5] = [
            "tools/call",
            "tools/list",
            "resources/list",
            "resources/read",
            "resources/templates/list",
        ];
        if KNOWN.contains(&request.method.as_str()) {
            let message = format!("the parameters of {} cannot be read", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }
}
