//! Loads real libraries, good and bad: compiled here with the C compiler that Rust links with, and by Cargo.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod copies;
mod guard;
mod headers;
mod replies;
mod support;
mod tables;
