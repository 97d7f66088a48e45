//! The one list of built-in backends. Nothing registers itself: what is not here is not there.

use std::sync::Arc;

use runner_core::registry::Registry;

/// All built-in backends, in the order in which they are preferred.
pub(crate) fn registry() -> Registry {
    Registry::new()
        .with(Arc::new(pytest_events::PytestEvents))
        .with(Arc::new(pytest_json::PytestJson))
        .with(Arc::new(pytest_terminal::PytestTerminal))
        .with(Arc::new(coverage_py::CoveragePy))
}
