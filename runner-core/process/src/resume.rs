//! The order to a parked job.

use tokio::time::Instant;

/// What a parked job is told when it is to go on.
#[derive(Clone, Debug)]
pub struct Resume {
    /// The arguments that it is to have, without the program: in place of those that it was started with.
    pub args: Vec<String>,
    /// Monotonic. `None`: no limit.
    pub deadline: Option<Instant>,
}
