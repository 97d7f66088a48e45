//! qaas's core.
//!
//! Lower floor (always built): values and seams. No async, no processes, no I/O; alone it is the SDK for
//! backend authors. Upper floor (feature `engine`): the world those values describe. The lower floor never
//! imports the upper one.

// -- lower floor --
pub mod affected;
pub mod backend;
pub mod event;
pub mod facts;
pub mod model;
pub mod panic;
pub mod plan;
pub mod registry;
pub mod report;
pub mod selector;
pub mod verdict;
pub mod visible;
pub mod wire;

// -- upper floor --
#[cfg(feature = "engine")]
mod clock;
#[cfg(feature = "engine")]
pub mod config;
#[cfg(feature = "engine")]
pub mod digest;
#[cfg(feature = "engine")]
pub mod engine;
#[cfg(feature = "engine")]
pub mod environment;
#[cfg(feature = "engine")]
pub mod junit;
#[cfg(feature = "engine")]
pub mod policy;
#[cfg(feature = "engine")]
pub mod process;
#[cfg(feature = "engine")]
pub mod project;
#[cfg(feature = "engine")]
pub mod run_id;
#[cfg(feature = "engine")]
pub mod secrets;
#[cfg(feature = "engine")]
pub mod store;
#[cfg(feature = "engine")]
pub mod trust;
