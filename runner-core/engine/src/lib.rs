//! The world that the core's values describe: configuration, discovery, trust, the store, and the carrying out of an order.

mod clock;
pub mod config;
pub mod digest;
pub mod environment;
pub mod junit;
pub mod policy;
pub mod project;
pub mod run;
pub mod run_id;
pub mod secrets;
pub mod store;
pub mod trust;
