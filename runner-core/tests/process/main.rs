//! Supervision, tried on real programs.

mod common;
mod plain;
