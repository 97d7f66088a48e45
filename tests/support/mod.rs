//! What the tests share: environments with pinned packages, small projects, and the binary under test.

mod client;
mod library;
mod node;
mod project;
mod venv;

pub(crate) use client::Client;
pub(crate) use library::{c_library, rust_library};
pub(crate) use node::{node_modules, packages};
pub(crate) use project::{Answer, Project, rows, with_toolchain};
pub(crate) use venv::{Pytest, venv};
