//! How long a backend that waits for somebody else may keep the run waiting.

use std::sync::{Arc, Mutex};

use tokio::time::Instant;

use process::Cancel;
use runner_core::backend::{StillWanted, TestBackend};

use super::RunSpec;

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

    /// The order with backends that know when nobody waits for them any more.
    pub(super) fn bind(&self, spec: &RunSpec) -> RunSpec {
        let wanted = self.still_wanted();
        let bound =
            |backend: &Arc<dyn TestBackend>| backend.for_run(&wanted).unwrap_or_else(|| Arc::clone(backend));
        RunSpec {
            backend: bound(&spec.backend),
            coverage: spec.coverage.as_ref().map(bound),
            ..spec.clone()
        }
    }

    fn still_wanted(&self) -> StillWanted {
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
        let wanted = until.still_wanted();
        assert!(wanted.still());
        until.deadline(Some(Instant::now()));
        assert!(!wanted.still(), "the time is over");
        until.deadline(Some(Instant::now() + Duration::from_secs(600)));
        assert!(wanted.still(), "the next iteration has a time of its own");
        cancel.ask("a test");
        assert!(!wanted.still());
    }
}
