//! What every tool that starts something is asked: in which suite, where, and for how long.

use std::time::Duration;

use super::OpError;
use super::arguments::Reader;

/// The arguments that such tools have in common.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub suite: Option<String>,
    pub cwd: Option<String>,
    /// For one iteration.
    pub timeout: Option<Duration>,
}

impl Scope {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, OpError> {
        Ok(Self {
            suite: reader.string("suite")?,
            cwd: reader.string("cwd")?,
            timeout: reader.seconds("timeout_s")?,
        })
    }
}
