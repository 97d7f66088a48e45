//! MCP over a pair of descriptors, one JSON message a line.

mod gate;
#[cfg(test)]
mod tests;
mod wire;

use std::io::{Read, Write};

use ops::Workspace;
use process::Cancel;
use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio_util::sync::CancellationToken;

use crate::ending::{self, ServerExit};
use crate::server::Server;
use gate::Gate;

/// Longer lines are dropped. No honest request comes near it.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// Serves one client until it is gone or the process is told to end; nothing of a run is alive afterwards.
///
/// `reader` and `writer` are private to this function: the process's own standard input and output must have been
/// moved away before, so that nothing a test prints can reach the client.
///
/// # Errors
/// If the process cannot be told of signals.
pub async fn serve_stdio(
    workspace: Workspace,
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
) -> std::io::Result<ServerExit> {
    let stop = Cancel::new();
    let (gone, silent) = (CancellationToken::new(), CancellationToken::new());
    let incoming = wire::incoming(reader, &gone);
    let (outgoing, written) = wire::outgoing(writer, &gone, silent.clone());
    let transport = AsyncRwTransport::new_server(incoming, outgoing).with_max_line_length(MAX_LINE_BYTES);
    let server = Server::new(workspace.clone(), stop.clone());
    let serving = tokio::spawn(async move {
        // An error here is a client that went away before it asked anything.
        if let Ok(running) = server.serve(Gate::new(transport)).await {
            let _ = running.waiting().await;
        }
    });
    let gone = async move {
        gone.cancelled().await;
        ServerExit::ClientGone
    };
    let last_words = async move {
        // What was answered is still written out.
        let _ = serving.await;
        let _ = written.await;
    };
    ending::wait(gone, &workspace.live, &stop, &silent, last_words).await
}
