//! What qaas's pytest backends share. Not a backend itself.
//!
//! From a request to command lines ([`command`]), what pytest's exit codes mean ([`exit`]), and what pytest says on
//! its streams when it could not do its work ([`said`], [`trouble`]), how rows are read from its text ([`text`]), and what it
//! prints beside them ([`printed`], [`mod@shows`]).

pub mod captured;
pub mod cause;
pub mod command;
pub mod exit;
pub mod options;
pub mod printed;
pub mod shows;
pub mod text;
pub mod trouble;

pub use captured::CapturedOutput;
pub use command::{base_plan, option_words};
pub use options::{PytestVersion, info, pytest_version};
pub use shows::{shows, wants_terminal};
