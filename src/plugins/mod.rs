//! Plug-ins: where they come from, whether they may be started, and how. What each kind is, is said by its own crate.

mod file;
mod loader;
mod peer;
mod table;

pub(crate) use file::{Refused, name_of, read_typed};
pub(crate) use loader::{Loader, NOT_STARTED, Origin, Plugin, Starting};
pub(crate) use table::{Table, Wrong};

/// `kind = "exec"`: a program that speaks the plug-in protocol.
pub(crate) const EXEC: &str = "exec";

/// What a program on PATH begins with.
pub(crate) const PREFIX: &str = "qaas-backend-";
