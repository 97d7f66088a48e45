//! The conformance kit: one script of cases that any backend must pass, ours or a stranger's.
//!
//! It knows a backend only through the seam ([`runner_core::backend`]), so a built-in one, a table of a `qaas.toml`, a program
//! and a library are driven alike. Four groups of cases:
//!
//! 1. `claims`: what a backend says of itself;
//! 2. `planning`: its plans for many requests, without starting anything;
//! 3. `reading`: its readers, on broken input made here and, with a sample project, on the recorded bytes of a real run
//!    that are cut, damaged and mixed up;
//! 4. `live`: real runs of the sample project through the [`Engine`](engine::run::Engine).
//!
//! A sample project is a folder with `qaas-conformance.toml` ([`Sample`]), which says what is true of its tests.

mod case_log;
mod claims;
mod live;
mod planning;
mod reading;
mod recording;
mod sample;
mod subject;

use std::sync::Arc;

pub use self::case_log::{Case, Finding, Group};
pub use self::live::Harness;
pub use self::sample::{FILE, Sample, SampleError};

use self::case_log::CaseLog;
use engine::run::blocking;
use runner_core::backend::TestBackend;

/// Why the cases that need a real run are left out when there is no sample project.
pub const NO_SAMPLE: &str = "no sample project was given (--project DIR)";

/// Drives a backend through all cases. `told` hears of each as soon as it is done. Without a bench the cases that need a
/// real run are skipped, each with its reason.
pub async fn check(
    backend: Arc<dyn TestBackend>,
    harness: Option<&Harness>,
    told: &mut (dyn FnMut(&Case) + Send),
) -> Vec<Case> {
    let mut log = CaseLog::new(told);
    let Some(subject) = blocking(|| subject::answering(backend, harness.map(Harness::project), &mut log))
    else {
        return log.close();
    };
    blocking(|| {
        claims::check(&subject, &mut log);
        planning::check(&subject, &mut log);
    });
    let recordings = match harness {
        Some(harness) => live::record(&subject, harness).await,
        None => live::Tapes::without(NO_SAMPLE),
    };
    blocking(|| reading::check(&subject, &recordings, &mut log));
    live::check(&subject, harness, &recordings, &mut log).await;
    log.close()
}
