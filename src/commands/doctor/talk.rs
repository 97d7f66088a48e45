//! One conversation of a client with a server of our own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use process::Session;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::commands::Context;
use crate::world;

/// For the whole of a conversation.
const LIMIT: Duration = Duration::from_secs(10);
/// For a server to end when its client is gone.
const PARTING: Duration = Duration::from_secs(2);

/// How a client and a server get to know each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// With a handshake.
    Initialize,
    /// Without one: every request says who asks.
    Discover,
}

impl Era {
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::Initialize => "2025-11-25",
            Self::Discover => "2026-07-28",
        }
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::Discover => "server/discover",
        }
    }

    fn hello(self) -> Value {
        match self {
            Self::Initialize => json!({
                "protocolVersion": self.version(), "capabilities": {}, "clientInfo": client(),
            }),
            Self::Discover => self.with_meta(json!({})),
        }
    }

    fn with_meta(self, mut params: Value) -> Value {
        if self == Self::Discover {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.version(),
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": client(),
            });
        }
        params
    }

    /// Whether the server agrees to speak as we do.
    fn agrees(self, answer: &Value) -> bool {
        match self {
            Self::Initialize => answer["protocolVersion"] == self.version(),
            Self::Discover => {
                let versions = answer["supportedVersions"].as_array();
                versions.is_some_and(|versions| versions.iter().any(|version| version == self.version()))
            }
        }
    }
}

fn client() -> Value {
    json!({"name": "qaas doctor", "version": env!("CARGO_PKG_VERSION")})
}

/// What came of a conversation.
pub(super) struct Talk {
    /// From the start of the process to the answer of its first question.
    pub(super) hello: Duration,
    pub(super) list: Duration,
    pub(super) tools: Vec<Value>,
}

/// Starts a server for `root`, greets it, and asks for its tools. The error is a clause that says what went wrong.
pub(super) async fn talk(context: &Context, root: &Path, era: Era) -> Result<Talk, String> {
    let mut args: Vec<OsString> = vec!["mcp".into(), "--no-exec".into(), "--root".into(), root.into()];
    if let Some(config) = &context.global.config {
        args.extend(["--config".into(), config.into()]);
    }
    let vars = &context.environment.vars;
    let env: BTreeMap<OsString, OsString> = vars.iter().map(|(k, v)| (k.into(), v.into())).collect();
    let begun = Instant::now();
    let session = Session::start(&world::own_program(), &args, &env, &context.environment.cwd);
    let mut session = session.map_err(|error| error.to_string())?;
    let talked = timeout(LIMIT, converse(&mut session, era, begun)).await;
    let parting = session.part(PARTING).await;
    match talked.unwrap_or_else(|_| Err(format!("no answer within {} s", LIMIT.as_secs()))) {
        Err(why) if !parting.stderr.trim().is_empty() => Err(format!("{why}\n{}", parting.stderr.trim())),
        Ok(_) if parting.code.is_none() => Err("the server did not end when its client left".to_owned()),
        talked => talked,
    }
}

async fn converse(session: &mut Session, era: Era, begun: Instant) -> Result<Talk, String> {
    let answer = ask(session, 1, era.method(), era.hello()).await?;
    let hello = begun.elapsed();
    if !era.agrees(&answer) {
        return Err(format!("the server does not speak {}: {answer}", era.version()));
    }
    if era == Era::Initialize {
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        session
            .send(&ready.to_string())
            .await
            .map_err(|error| error.to_string())?;
    }
    let begun = Instant::now();
    let answer = ask(session, 2, "tools/list", era.with_meta(json!({}))).await?;
    let tools = answer["tools"].as_array().cloned();
    Ok(Talk {
        hello,
        list: begun.elapsed(),
        tools: tools.ok_or("tools/list: the answer has no list of tools")?,
    })
}

async fn ask(session: &mut Session, id: u64, method: &str, params: Value) -> Result<Value, String> {
    let question = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let fault = |error: std::io::Error| format!("{method}: {error}");
    session.send(&question.to_string()).await.map_err(fault)?;
    while let Some(line) = session.line().await.map_err(fault)? {
        let message: Value = serde_json::from_str(&line).map_err(|_| {
            format!("{method}: something other than JSON came on standard output: {line:.60}")
        })?;
        if message["id"] != id {
            continue;
        }
        return match message.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(format!("{method}: {}", message["error"])),
        };
    }
    Err(format!("{method}: the server ended without an answer"))
}
