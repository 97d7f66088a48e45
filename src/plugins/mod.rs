//! Plug-ins: where they come from, whether they may be started, and how. What each kind is, is said by its own crate.

mod file;
mod kind;
mod loader;
mod peer;
mod table;

pub(crate) use file::{Refused, Typed, name_of, read_typed};
pub(crate) use kind::Kind;
pub(crate) use loader::{Loader, Origin, Plugin, Starting};
pub(crate) use table::{Table, Wrong};

/// What a program on PATH begins with.
pub(crate) const PREFIX: &str = "qaas-backend-";
