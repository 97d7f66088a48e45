//! The processes of one backend: one that waits for the next question, and one for each run.
//!
//! A run's reader has a process of its own, so a crash, a hang or a cancel costs this run and no other. Mostly it is the
//! one that planned the run a moment ago.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use runner_core::backend::{BackendError, BackendInfo, StillWanted, UNANSWERED};
use runner_core::plan::Plan;
use runner_core::visible::visible;
use runner_core::wire::{Method, WireError};

use super::Launch;
use super::connection::{Connection, Failure};
use super::spec::{Capabilities, Gate, Spec};

/// One backend, its processes, and what was learned from them.
pub(super) struct Processes {
    pub(super) spec: Spec,
    launch: Box<dyn Launch>,
    gate: Gate,
    learned: RwLock<Option<Capabilities>>,
    /// Why [`Processes::probe`] could not: told once more instead of starting the program again at once.
    failed: Mutex<Option<BackendError>>,
    waiting: Mutex<Waiting>,
    /// For the thread that lets go what waits too long.
    me: Weak<Processes>,
}

/// The process that waits for the next question.
#[derive(Default)]
struct Waiting {
    /// With the time since when it waits.
    process: Option<(Connection, Instant)>,
    /// Whether there is a thread that lets it go when it has waited too long.
    watched: bool,
}

/// What is behind these locks is whole at any time, also after a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Processes {
    /// Starts nothing.
    pub(super) fn new(spec: Spec, launch: Box<dyn Launch>, gate: Gate) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            spec,
            launch,
            gate,
            learned: RwLock::default(),
            failed: Mutex::default(),
            waiting: Mutex::default(),
            me: me.clone(),
        })
    }

    /// What the backend says of itself: it is started for that, if it was not asked before.
    pub(super) fn probe(&self, waits: &StillWanted) -> Result<Capabilities, BackendError> {
        if let Some(learned) = self.learned() {
            return Ok(learned);
        }
        // That it may not be started is not remembered: a person may agree to it at any time.
        (self.gate)()?;
        match self.take(waits, Duration::ZERO) {
            Ok(connection) => self.put_back(connection),
            // Whoever waits longer gets another answer.
            Err(error) if error.code == UNANSWERED => return Err(error),
            Err(error) => {
                *locked(&self.failed) = Some(error.clone());
                return Err(error);
            }
        }
        let missing = || BackendError::new("crashed", "the backend said nothing of itself");
        self.learned().ok_or_else(missing)
    }

    pub(super) fn learned(&self) -> Option<Capabilities> {
        self.learned
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// A process to talk to: the one that waits, or a new one. `grace`: what its answers may take together once nobody
    /// waits any more.
    pub(super) fn take(&self, waits: &StillWanted, grace: Duration) -> Result<Connection, BackendError> {
        (self.gate)()?;
        if let Some(failed) = locked(&self.failed).take() {
            return Err(failed);
        }
        let waiting = locked(&self.waiting).process.take();
        if let Some((mut idle, _)) = waiting
            && idle.is_sound()
        {
            idle.grace = grace;
            return Ok(idle);
        }
        let (connection, answer, left_out) =
            Connection::open(&self.spec, self.launch.as_ref(), waits, grace)?;
        let safe = |text: &str| visible(text).into_owned();
        let info = BackendInfo {
            name: self.spec.name.clone(),
            framework: safe(&answer.info.framework),
            language: safe(&answer.info.language),
            ..answer.info
        };
        let learned = Capabilities {
            info,
            protocol: answer.protocol,
            features: answer.features,
            left_out,
        };
        *self.learned.write().unwrap_or_else(PoisonError::into_inner) = Some(learned);
        Ok(connection)
    }

    /// Keeps a process for the next question, or lets it go if there is one already.
    pub(super) fn put_back(&self, mut connection: Connection) {
        if !connection.is_sound() {
            return;
        }
        let (before, watched) = {
            let mut waiting = locked(&self.waiting);
            let before = waiting.process.replace((connection, Instant::now()));
            (before, std::mem::replace(&mut waiting.watched, true))
        };
        if let Some((before, _)) = before {
            before.leave();
        }
        if !watched {
            self.watch();
        }
    }

    /// Lets the waiting process go once it has waited too long: a server may live for days.
    fn watch(&self) {
        let me = self.me.clone();
        let watch = move || {
            while let Some(left) = me.upgrade().and_then(|backend| backend.let_go_overdue()) {
                std::thread::sleep(left);
            }
        };
        let watching = std::thread::Builder::new().name("idle".to_owned()).spawn(watch);
        // Without a thread it waits until it is needed, or this process ends.
        locked(&self.waiting).watched &= watching.is_ok();
    }

    /// How long to wait before another look; `None` once nothing waits any more.
    fn let_go_overdue(&self) -> Option<Duration> {
        let overdue = {
            let mut waiting = locked(&self.waiting);
            let left = waiting
                .process
                .as_ref()
                .map(|(_, since)| self.spec.idle.saturating_sub(since.elapsed()));
            if let Some(left) = left.filter(|left| !left.is_zero()) {
                return Some(left);
            }
            waiting.watched = false;
            waiting.process.take()
        };
        if let Some((overdue, _)) = overdue {
            overdue.leave();
        }
        None
    }

    pub(super) fn ask(
        &self,
        method: Method,
        params: &impl serde::Serialize,
        waits: &StillWanted,
    ) -> Result<Plan, BackendError> {
        // A plan that nobody waits for is of no use: there is nothing that it could still hand over.
        let mut connection = self.take(waits, Duration::ZERO)?;
        let answer = connection.call(method, params, waits, |text| {
            serde_json::from_str(text).map_err(|error| WireError::Shape {
                what: format!("the answer to `{}`", method.as_str()),
                why: error.to_string(),
                start: runner_core::wire::excerpt(text.as_bytes()),
            })
        });
        if !matches!(answer, Err(Failure::Over(_))) {
            self.put_back(connection);
        }
        answer.map_err(BackendError::from)
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let waiting = self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((idle, _)) = waiting.process.take() {
            idle.leave();
        }
    }
}
