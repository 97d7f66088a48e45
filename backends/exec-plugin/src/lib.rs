//! Backends in a process of their own, which speak the protocol of [`runner_core::wire`].
//!
//! [`serve`] is for their authors: it makes a program of any [`TestBackend`](runner_core::backend::TestBackend).
//! [`host`] (feature `host`) is qaas's side: it makes a `TestBackend` of any such program.
//!
//! ```no_run
//! # use runner_core::backend::*;
//! # use runner_core::{facts::Project, plan::Plan};
//! # struct MyBackend;
//! # impl TestBackend for MyBackend {
//! #     fn info(&self) -> BackendInfo { unreachable!("only shown") }
//! #     fn plan(&self, _: &RunRequest, _: &Project) -> Result<Plan, BackendError> { unreachable!("only shown") }
//! #     fn reader(&self, _: &RunRequest) -> Box<dyn OutputReader> { unreachable!("only shown") }
//! # }
//! fn main() -> std::process::ExitCode {
//!     exec_plugin::serve(MyBackend)
//! }
//! ```

#[cfg(feature = "host")]
pub mod host;
mod serve;

pub use serve::{serve, serve_answers, serve_on, serve_with};
