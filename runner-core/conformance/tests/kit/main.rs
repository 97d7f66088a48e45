//! The conformance kit must be able to fail: a sound backend holds all of it, and each broken one fails its own cases.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod faults;
mod sheet;
