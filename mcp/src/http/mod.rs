//! MCP over Streamable HTTP, for clients that cannot start a process. Off unless asked for.
//!
//! Loopback only unless forced; a bearer token always; `Host` and `Origin` are checked against DNS rebinding.

#[cfg(test)]
mod tests;
mod token;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use ops::Workspace;
use process::Cancel;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::ending::{self, ServerExit};
use crate::server::Server;
use token::{Token, TokenFile};

const MAX_BODY_BYTES: usize = 1024 * 1024;
/// A client that has not sent its headers by then is cut off.
const HEADER_TIME: Duration = Duration::from_secs(10);
const MAX_CONNECTIONS: usize = 64;

/// Where and for whom to serve.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    pub address: SocketAddr,
    /// Serve on an address that other machines can reach.
    pub allow_remote: bool,
    /// Where the token is kept: read if it exists, else made. `None`: a new token, in the state folder.
    pub token_file: Option<PathBuf>,
}

/// A server that listens.
#[derive(Clone, Debug)]
pub struct Listening {
    pub url: String,
    pub token_file: PathBuf,
}

/// Why no server could be started.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("{address} can be reached from other machines")]
    NotLoopback { address: SocketAddr },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("the token file {path} cannot be used: {source}")]
    Token { path: PathBuf, source: io::Error },
    #[error("there is no state folder to keep the token in")]
    NoStateFolder,
    #[error("signals cannot be taken over: {0}")]
    Signals(io::Error),
}

impl HttpError {
    fn token(path: &Path, source: io::Error) -> Self {
        Self::Token {
            path: path.to_owned(),
            source,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotLoopback { .. } => "Listen on 127.0.0.1, or say that it is meant.",
            Self::Listen { .. } => "Name another port; port 0 takes any free one.",
            Self::Token { .. } => {
                "Name a file that you own, holding one word, or one that does not exist yet."
            }
            Self::NoStateFolder => "Name a file with --http-token-file, or set QAAS_STATE_DIR.",
            Self::Signals(_) => "This system does not let qaas serve.",
        }
    }
}

/// Serves until the process is told to end; nothing of a run is alive afterwards. `announce` is called once
/// clients can connect.
pub async fn serve_http(
    workspace: Workspace,
    options: HttpOptions,
    announce: impl FnOnce(&Listening),
) -> Result<ServerExit, HttpError> {
    let loopback = options.address.ip().to_canonical().is_loopback();
    if !loopback && !options.allow_remote {
        return Err(HttpError::NotLoopback {
            address: options.address,
        });
    }
    let listen = |source| HttpError::Listen {
        address: options.address,
        source,
    };
    let listener = TcpListener::bind(options.address).await.map_err(listen)?;
    let address = listener.local_addr().map_err(listen)?;
    let (token, token_file, _gone_with_the_server) = token(&workspace, &options, address)?;
    let stop = Cancel::new();
    let closing = CancellationToken::new();
    let server = Server::new(workspace.clone(), stop.clone());
    let router = router(server, token, address.ip(), closing.clone());
    let accepting = tokio::spawn(accept(listener, router, closing.clone()));
    announce(&Listening {
        url: format!("http://{address}/mcp"),
        token_file,
    });
    let nobody = std::future::pending();
    let ended = ending::wait(nobody, &workspace.live, &stop, &closing, std::future::ready(())).await;
    closing.cancel();
    accepting.abort();
    ended.map_err(HttpError::Signals)
}

fn token(
    workspace: &Workspace,
    options: &HttpOptions,
    address: SocketAddr,
) -> Result<(Token, PathBuf, Option<TokenFile>), HttpError> {
    if let Some(path) = &options.token_file {
        return Ok((Token::from_file(path)?, path.clone(), None));
    }
    let store = workspace.engine.store.as_ref().ok_or(HttpError::NoStateFolder)?;
    let path = store
        .state()
        .join("http")
        .join(format!("{}.token", address.port()));
    let token = Token::renew(&path)?;
    Ok((token, path.clone(), Some(TokenFile(path))))
}

fn router(server: Server, token: Token, own: IpAddr, closing: CancellationToken) -> Router {
    let mut config = StreamableHttpServerConfig::default()
        .enforce_origin_validation()
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_cancellation_token(closing);
    if !own.is_loopback() && !own.is_unspecified() {
        config.allowed_hosts.push(own.to_string());
    } else if own.is_unspecified() {
        // Listening on every address: its names cannot be known here, and the token still guards it.
        config = config.disable_allowed_hosts();
    }
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn_with_state(token, guard))
}

/// Lets nobody in without the token.
async fn guard(State(token): State<Token>, request: Request, next: Next) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION);
    if token.is_shown_by(shown.map(header::HeaderValue::as_bytes)) {
        return next.run(request).await;
    }
    let ask = [(header::WWW_AUTHENTICATE, "Bearer realm=\"qaas\"")];
    (StatusCode::UNAUTHORIZED, ask, "a bearer token is needed\n").into_response()
}

async fn accept(listener: TcpListener, router: Router, closing: CancellationToken) {
    /// After an error such as too many open files.
    const PAUSE: Duration = Duration::from_millis(100);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let serving = serve_connection(stream, router.clone(), closing.clone());
                tokio::spawn(async move {
                    serving.await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn serve_connection(stream: TcpStream, router: Router, closing: CancellationToken) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    tokio::select! {
        // A client that breaks off is no matter of ours; its calls are cancelled as their streams are dropped.
        _ = connection => {}
        () = closing.cancelled() => {}
    }
}
