//! The engine, tried on scripts: what it promises of every run, however the run goes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod ask;
mod ends;
mod environment;
mod scripted;
mod steps;
mod strings;
