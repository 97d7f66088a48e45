//! The backend as qaas sees it, and its processes: one that waits for the next question, and one for each run.
//!
//! A run's reader has a process of its own, so a crash, a hang or a cancel costs this run and no other. Mostly it is the
//! one that planned the run a moment ago.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use runner_core::backend::{
    BackendError, BackendInfo, Capability, OutputReader, RunRequest, StillWanted, TestBackend, UNANSWERED,
};
use runner_core::facts::Project;
use runner_core::plan::Plan;
use runner_core::visible::visible;
use runner_core::wire::{Method, PlanParams, WireError, WrapParams};
use serde_json::{Map, Value};

use super::Launch;
use super::connection::{Connection, Failure};
use super::reader::RemoteReader;

/// What is known of a backend before it is started.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// As in `backend = "…"`; what it calls itself does not count.
    pub name: String,
    /// The repository's root, real path.
    pub root: PathBuf,
    /// `config` of its table.
    pub config: Map<String, Value>,
    /// For the answer to one call.
    pub timeout: Duration,
    /// How long a process is kept that waits for the next question.
    pub idle: Duration,
    /// What it said of itself an earlier time, if it is still the same program; and its words then that were left out.
    pub known: Option<(BackendInfo, Vec<String>)>,
}

/// What a backend said of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    pub info: BackendInfo,
    /// The protocol version that was chosen.
    pub protocol: u32,
    pub features: Vec<String>,
    /// Words of it that this qaas does not know, and leaves out.
    pub left_out: Vec<String>,
}

/// Whether the program may be started now. Asked each time: a person's trust may come or go.
pub type Gate = Box<dyn Fn() -> Result<(), BackendError> + Send + Sync>;

/// A backend in another process. Nothing is started until it is needed.
pub struct ExecBackend {
    inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) spec: Spec,
    launch: Box<dyn Launch>,
    gate: Gate,
    learned: RwLock<Option<Capabilities>>,
    /// Why [`ExecBackend::learn`] could not: told once more instead of starting the program again at once.
    failed: Mutex<Option<BackendError>>,
    waiting: Mutex<Waiting>,
    /// For the thread that lets go what waits too long.
    me: Weak<Inner>,
}

/// The process that waits for the next question.
#[derive(Default)]
struct Waiting {
    /// With the time since when it waits.
    process: Option<(Connection, Instant)>,
    /// Whether there is a thread that lets it go when it has waited too long.
    watched: bool,
}

/// What is taken for granted of a backend that was not asked yet: whoever uses it finds out, or hears why it cannot be
/// asked. That is a better answer than that it can do nothing.
const GUESS: [Capability; 4] = [
    Capability::Run,
    Capability::List,
    Capability::Single,
    Capability::Names,
];

impl ExecBackend {
    /// Starts nothing.
    pub fn new(spec: Spec, launch: Box<dyn Launch>, gate: Gate) -> Self {
        Self {
            inner: Arc::new_cyclic(|me| Inner {
                spec,
                launch,
                gate,
                learned: RwLock::default(),
                failed: Mutex::default(),
                waiting: Mutex::default(),
                me: me.clone(),
            }),
        }
    }

    /// Starts it, if that was not done before, and says what it says of itself.
    pub fn probe(&self, waits: &StillWanted) -> Result<Capabilities, BackendError> {
        if let Some(learned) = self.inner.learned() {
            return Ok(learned);
        }
        // That it may not be started is not remembered: a person may agree to it at any time.
        (self.inner.gate)()?;
        match self.inner.take(waits, Duration::ZERO) {
            Ok(connection) => self.inner.put_back(connection),
            // Whoever waits longer gets another answer.
            Err(error) if error.code == UNANSWERED => return Err(error),
            Err(error) => {
                *locked(&self.inner.failed) = Some(error.clone());
                return Err(error);
            }
        }
        let missing = || BackendError::new("crashed", "the backend said nothing of itself");
        self.inner.learned().ok_or_else(missing)
    }

    /// Words of it about itself that this qaas does not know, as far as it was asked.
    pub fn left_out(&self) -> Vec<String> {
        let learned = self.inner.learned().map(|learned| learned.left_out);
        let before = || {
            self.inner
                .spec
                .known
                .as_ref()
                .map(|(_, left_out)| left_out.clone())
        };
        learned.or_else(before).unwrap_or_default()
    }

    /// Whether it is known what it can do.
    pub fn is_known(&self) -> bool {
        self.inner.spec.known.is_some() || self.inner.learned().is_some()
    }
}

/// What is behind these locks is whole at any time, also after a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    fn learned(&self) -> Option<Capabilities> {
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

    fn ask(
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

impl TestBackend for ExecBackend {
    fn info(&self) -> BackendInfo {
        let learned = self.inner.learned().map(|learned| learned.info);
        let spec = &self.inner.spec;
        learned
            .or_else(|| spec.known.as_ref().map(|(info, _)| info.clone()))
            .unwrap_or_else(|| BackendInfo {
                name: spec.name.clone(),
                framework: String::new(),
                language: String::new(),
                capabilities: BTreeSet::from(GUESS),
                needs: Vec::new(),
                options: Vec::new(),
            })
    }

    fn plan(&self, request: &RunRequest, project: &Project) -> Result<Plan, BackendError> {
        // Who does not say that it can is not asked. Why it could not say anything is told by the call below.
        if self.is_known() || self.probe(&request.waits).is_ok() {
            self.info().check(request)?;
        }
        let params = PlanParams {
            request: Cow::Borrowed(request),
            project: Cow::Borrowed(project),
        };
        self.inner.ask(Method::Plan, &params, &request.waits)
    }

    fn wrap(&self, request: &RunRequest, project: &Project, inner: Plan) -> Result<Plan, BackendError> {
        if self.is_known() && !self.info().can(Capability::Coverage) {
            return Err(BackendError::unsupported(
                &self.inner.spec.name,
                Capability::Coverage,
            ));
        }
        let params = WrapParams {
            request: Cow::Borrowed(request),
            project: Cow::Borrowed(project),
            plan: Cow::Owned(inner),
        };
        self.inner.ask(Method::Wrap, &params, &request.waits)
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        Box::new(RemoteReader::new(self.inner.clone(), request.clone()))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let waiting = self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((idle, _)) = waiting.process.take() {
            idle.leave();
        }
    }
}
