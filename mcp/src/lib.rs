//! qaas's MCP server: which tools are offered, calling them, fitting their answers into a byte budget, and the
//! protocol itself over stdio or HTTP.

mod ending;
mod excerpt;
mod http;
mod offer;
mod progress;
mod resources;
mod server;
mod stdio;
#[cfg(test)]
mod testing;
mod tools;

pub use ending::ServerExit;
pub use http::{HttpError, HttpOptions, Listening, serve_http};
pub use offer::{Annotations, Basis, INSTRUCTIONS, ToolSpec, offer};
pub use stdio::serve_stdio;
pub use tools::{Face, Reply, call};
