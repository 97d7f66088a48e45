//! The plug-in protocol: what a backend in another process (or behind a C ABI) and its host say to each other.
//!
//! JSON-RPC 2.0, one object a line, UTF-8. The host asks, the backend answers; calls are answered in the order in which
//! they came. Pure types and text here: who starts what, and who waits how long, is decided elsewhere.
//!
//! What keeps old and new versions talking: unknown fields are ignored, absent ones have a default, words that the host
//! does not know become a warning ([`tolerant`]), and what is more than that is negotiated as a feature.

mod base64;
mod calls;
mod message;
mod session;
mod tolerant;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use base64::{decode as from_base64, encode as to_base64};
pub use calls::{
    ArtifactParams, FinishParams, Finished, Host, InitializeParams, Initialized, OpenParams, PieceState,
    PlanParams, ReadParams, ReaderParams, TestEvents, WrapParams, pieces,
};
pub use message::{
    Call, CallError, ErrorData, Method, Reply, codes, parse_call, parse_reply, reply, reply_text, request,
};
pub use session::{Answer, Maker, Session};
pub use tolerant::{events, finished, initialized};

/// The protocol versions that this code speaks.
pub const PROTOCOL: Versions = Versions { min: 1, max: 1 };

/// The longest line, in bytes without its line feed. Nobody sends more; who gets more ends the conversation.
pub const MAX_LINE: usize = 16 << 20;

/// The longest result, in bytes: what a line holds beside its frame.
pub const MAX_RESULT: usize = MAX_LINE - 256;

/// The most bytes of a file in one `artifact` call.
pub const MAX_PIECE: usize = 1 << 20;

/// The variable that says that a host is at the other end, and its value. A program that is started without it was
/// started by a person, and says what it is instead of waiting for a host.
pub const COOKIE: (&str, &str) = ("QAAS_BACKEND_COOKIE", "a-host-speaks-json-rpc");

/// The word that a backend program is started with.
pub const SERVE: &str = "serve";

/// Feature: an answer may say `"more": true`, and the host then asks with `more` for the rest. Used for events that
/// do not fit into one line.
pub const FEATURE_MORE: &str = "more";

/// All features of this code.
pub const FEATURES: &[&str] = &[FEATURE_MORE];

/// A range of protocol versions, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The oldest.
    pub min: u32,
    /// The newest.
    pub max: u32,
}

impl Versions {
    /// The newest version that both speak.
    pub fn common(self, other: Self) -> Option<u32> {
        let newest = self.max.min(other.max);
        (newest >= self.min && newest >= other.min).then_some(newest)
    }

    /// Whether this version is one of them.
    pub fn contains(self, version: u32) -> bool {
        (self.min..=self.max).contains(&version)
    }
}

impl std::fmt::Display for Versions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.min == self.max {
            write!(formatter, "{}", self.min)
        } else {
            write!(formatter, "{} to {}", self.min, self.max)
        }
    }
}

/// A message that is not what the protocol says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Not JSON, or not of the shape that the method wants.
    #[error("{what}: {why}, in `{start}`")]
    Shape {
        /// Which message.
        what: String,
        /// What is wrong with it.
        why: String,
        /// How the text begins, see [`excerpt`].
        start: String,
    },
    /// Longer than [`MAX_LINE`].
    #[error("{what} would be {bytes} bytes; the most is {MAX_LINE}")]
    TooLong {
        /// Which message.
        what: String,
        /// How long it would be.
        bytes: usize,
    },
    /// A value that JSON cannot hold (a path that is not UTF-8).
    #[error("{what} cannot be written as JSON: {why}")]
    Unwritable {
        /// Which message.
        what: String,
        /// Why it cannot be written.
        why: String,
    },
}

impl WireError {
    fn shape(what: impl Into<String>, error: &serde_json::Error, text: &str) -> Self {
        Self::Shape {
            what: what.into(),
            why: error.to_string(),
            start: excerpt(text.as_bytes()),
        }
    }
}

/// The first bytes of something unexpected, safe to print: at most 64, control characters and what is not ASCII escaped.
pub fn excerpt(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(64)];
    let mut text: String = head
        .iter()
        .flat_map(|byte| std::ascii::escape_default(*byte))
        .map(char::from)
        .collect();
    if bytes.len() > head.len() {
        text.push('…');
    }
    text
}
