//! Drives the real `qaas` on real small projects. One binary: one link, one place for what the tests share.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(
    clippy::unnecessary_debug_formatting,
    reason = "paths are quoted for Python and JSON as Rust quotes them"
)]
#![allow(clippy::verbose_bit_mask, reason = "modes are written as modes")]

mod support;

#[cfg(unix)]
mod affected;
mod bad_input;
mod causes;
mod circles;
mod conformance;
mod coverage;
mod differential;
mod doctor;
#[cfg(unix)]
mod faults;
mod flaky;
mod frameworks;
mod init;
mod javascript;
mod layering;
#[cfg(unix)]
mod libraries;
mod mcp;
mod outcomes;
mod own_text;
mod person;
#[cfg(target_os = "linux")]
mod plugins;
mod round_trip;
mod standing;
mod suites;
#[cfg(unix)]
mod terminal;
mod trust;
mod unittest_preset;
mod versions;
mod warm;
mod working_folder;
