//! The values and seams of qaas, and all that an author of a backend needs. No async, no processes, no I/O, no clock.

#![warn(missing_docs)]

pub mod affected;
pub mod backend;
pub mod change;
pub mod event;
pub mod facts;
pub mod language;
pub mod model;
pub mod nodeid;
pub mod panic;
pub mod paths;
pub mod plan;
pub mod registry;
pub mod report;
pub mod selector;
pub mod verdict;
pub mod visible;
pub mod wire;
pub mod words;
