//! Drives the real `qaas` on real small projects. One binary: one link, one place for what the tests share.

mod support;

mod bad_input;
mod doctor;
#[cfg(unix)]
mod faults;
mod frameworks;
mod init;
mod layering;
mod mcp;
mod outcomes;
mod person;
mod trust;
