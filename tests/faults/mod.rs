//! Tests that are hostile by accident or by intent, run by the real server: nothing survives, nothing escapes, nothing
//! leaks, and the server goes on.

mod nasty;

mod concurrency;
mod environment;
mod lifecycle;
mod output;
mod processes;
mod repository;
