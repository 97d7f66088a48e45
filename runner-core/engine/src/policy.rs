//! Who asks, and what follows from it: one value, made once at the door.

use std::time::Duration;

pub use runner_core::facts::Caller;

/// The time limit of an agent's run that names none.
pub const AGENT_TIMEOUT: Duration = Duration::from_secs(300);
/// The longest that an agent may ask for, unless the suite allows more.
pub const LONGEST_AGENT_TIMEOUT: Duration = Duration::from_secs(900);
/// The size of an agent's answer in bytes, text and structure together, unless the call or `[mcp] max_bytes` says
/// otherwise.
pub const ANSWER_BYTES: usize = 20_000;
/// Less does not hold a status, the counts and one failure.
pub const LEAST_ANSWER_BYTES: usize = 2_000;
/// No answer over MCP is larger, whatever was asked for.
pub const MOST_ANSWER_BYTES: usize = 1_000_000;

/// What a caller's runs may do and what their answers look like.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub caller: Caller,
    /// Whether the tests inherit the whole environment; else an allowlist and `[env] pass`.
    pub inherit_environment: bool,
    /// Whether secrets are taken out of what the tests print.
    pub redact: bool,
    /// Whether the tests get a `TMPDIR` of their own, and qaas's `cache_dir` instead of the repository's.
    pub private_folders: bool,
    /// Time limit of a run that names none. `None`: no limit.
    pub default_timeout: Option<Duration>,
    /// The longest limit that may be asked for. `None`: any.
    pub max_timeout: Option<Duration>,
    /// Size of an answer in bytes, text and structure together. `None`: all rows.
    pub max_bytes: Option<usize>,
}

impl Policy {
    pub fn person() -> Self {
        Self {
            caller: Caller::Person,
            inherit_environment: true,
            redact: false,
            private_folders: false,
            default_timeout: None,
            max_timeout: None,
            max_bytes: None,
        }
    }

    pub fn agent() -> Self {
        Self {
            caller: Caller::Agent,
            inherit_environment: false,
            redact: true,
            private_folders: true,
            default_timeout: Some(AGENT_TIMEOUT),
            max_timeout: Some(LONGEST_AGENT_TIMEOUT),
            max_bytes: Some(ANSWER_BYTES),
        }
    }
}
