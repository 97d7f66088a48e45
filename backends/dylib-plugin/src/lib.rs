//! Backends in shared libraries.
//!
//! A library exports one function that gives a table of functions; what goes through them is the same JSON that
//! executables read and write ([`runner_core::wire`]). The table is described for C in `qaas_backend.h` beside this
//! crate, and for Rust in [`abi`].
//!
//! Authors depend on this crate (without default features) and `runner-core`, implement
//! [`runner_core::backend::TestBackend`] and end with one line: [`export!`]. The loader is behind the feature `host`.
//! Nothing here can hold what a library does once its code runs: a bad pointer or an endless loop takes the whole
//! process along. So whoever loads one does it in a process made for that.

pub mod abi;
#[cfg(feature = "host")]
mod host;
#[doc(hidden)]
pub mod sdk;

pub use runner_core;

#[cfg(feature = "host")]
pub use host::{Fault, Hosted, Library, LibraryError, check, look};
