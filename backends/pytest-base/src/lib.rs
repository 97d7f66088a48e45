//! What qaas's pytest backends share. Not a backend itself.
//!
//! From a request to command lines ([`command`]), what pytest's exit codes mean ([`exit`]), and what pytest says on
//! its streams when it could not do its work ([`said`], [`trouble`]), and how rows are read from its text ([`text`]).

pub mod captured;
pub mod command;
pub mod exit;
pub mod options;
pub mod text;
pub mod trouble;

pub use captured::CapturedOutput;
pub use command::{base_plan, option_words};
pub use options::{PytestVersion, info, pytest_version};
