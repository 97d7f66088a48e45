//! How long a backend that waits for somebody else may keep the run waiting.

use std::sync::{Arc, Mutex};

use tokio::time::Instant;

use process::Cancel;
use runner_core::backend::StillWanted;

/// The end of a run's patience: a cancel, or the present iteration's deadline. Shared with the run's backends.
#[derive(Clone, Debug)]
pub(super) struct RunDeadline {
    cancel: Cancel,
    deadline: Arc<Mutex<Option<Instant>>>,
}

impl RunDeadline {
    pub(super) fn new(cancel: &Cancel) -> Self {
        Self {
            cancel: cancel.clone(),
            deadline: Arc::default(),
        }
    }

    /// From now on this is the deadline.
    pub(super) fn deadline(&self, at: Option<Instant>) {
        if let Ok(mut deadline) = self.deadline.lock() {
            *deadline = at;
        }
    }

    pub(super) fn waits(&self) -> StillWanted {
        let Self { cancel, deadline } = self.clone();
        StillWanted::while_true(move || {
            let passed = |at: &Instant| Instant::now() >= *at;
            let over = deadline.lock().is_ok_and(|at| at.as_ref().is_some_and(passed));
            !over && !cancel.is_asked()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn nobody_waits_after_a_cancel_or_the_deadline() {
        let cancel = Cancel::new();
        let until = RunDeadline::new(&cancel);
        let waits = until.waits();
        assert!(waits.still());
        until.deadline(Some(Instant::now()));
        assert!(!waits.still(), "the time is over");
        until.deadline(Some(Instant::now() + Duration::from_secs(600)));
        assert!(waits.still(), "the next iteration has a time of its own");
        cancel.ask("a test");
        assert!(!waits.still());
    }
}
