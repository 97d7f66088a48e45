//! Asking a run to end: politely first, at once when asked again. And that its time limit is not to end it.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

/// A request to end, shared by all that work on one run. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    asked: CancellationToken,
    at_once: CancellationToken,
    unlimited: CancellationToken,
    by: Arc<OnceLock<String>>,
}

impl Cancel {
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for an end with grace. The first caller's name stays: `the client`, `SIGTERM`, `cancel_run`.
    pub fn ask(&self, by: &str) {
        self.by.get_or_init(|| by.to_owned());
        self.asked.cancel();
    }

    /// Asks for an end without any grace.
    pub fn at_once(&self, by: &str) {
        self.ask(by);
        self.at_once.cancel();
    }

    /// From now on no time limit holds: a person has taken the work over.
    pub fn lift_limit(&self) {
        self.unlimited.cancel();
    }

    pub fn is_limit_lifted(&self) -> bool {
        self.unlimited.is_cancelled()
    }

    /// Waits until no time limit holds any more.
    pub async fn limit_lifted(&self) {
        self.unlimited.cancelled().await;
    }

    pub fn is_asked(&self) -> bool {
        self.asked.is_cancelled()
    }

    pub fn is_at_once(&self) -> bool {
        self.at_once.is_cancelled()
    }

    /// Waits until an end is asked for.
    pub async fn asked(&self) {
        self.asked.cancelled().await;
    }

    /// Waits until an end without grace is asked for.
    pub async fn asked_at_once(&self) {
        self.at_once.cancelled().await;
    }

    /// Asks another for an end as soon as this one is asked, and in the same way. Never ends by itself.
    pub async fn pass_on(&self, to: &Self) -> std::convert::Infallible {
        self.asked().await;
        to.ask(self.by());
        self.asked_at_once().await;
        to.at_once(self.by());
        std::future::pending().await
    }

    /// Who asked first.
    pub fn by(&self) -> &str {
        self.by.get().map_or("the caller", String::as_str)
    }
}
