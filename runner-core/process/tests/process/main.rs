//! Supervision, tried on real programs. Linux: elsewhere there is no supervising process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod attack;
mod common;
mod mark;
mod nasty;
mod parked;
mod peer;
mod plain;
mod session;
mod view;
