//! The one list of built-in backends. Nothing registers itself: what is not here is not there.

use std::sync::Arc;

use runner_core::config::{ConfigError, Settings};
use runner_core::registry::{Detection, Registry};

/// All built-in backends, in the order in which they are preferred.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new()
        .with(Arc::new(pytest_events::PytestEvents))
        .with(Arc::new(pytest_json::PytestJson))
        .with(Arc::new(pytest_terminal::PytestTerminal))
        .with(Arc::new(coverage_py::CoveragePy));
    for preset in command::presets() {
        registry.add(Arc::new(preset));
    }
    for detection in command::detections() {
        registry = registry.with_detection(detection);
    }
    registry
}

/// Adds the backends that `qaas.toml` describes. One of a built-in's name takes its place.
pub(crate) fn with_own(mut registry: Registry, settings: &Settings) -> Result<Registry, ConfigError> {
    for (name, backend) in &settings.backends {
        let key = format!("backend.{name}");
        if backend.kind != command::KIND {
            let message = format!("there is no kind of backend `{}`", backend.kind);
            let hint = format!("write `kind = \"{}\"`", command::KIND);
            return Err(settings.error_at(&format!("{key}.kind"), message, hint));
        }
        let own = command::Command::from_table(name, &backend.table).map_err(|fault| {
            let key = if fault.key.is_empty() {
                key.clone()
            } else {
                format!("{key}.{}", fault.key)
            };
            settings.error_at(&key, fault.message, fault.hint)
        })?;
        for marker in own.markers() {
            registry = registry.with_detection(Detection {
                suite: name.clone(),
                marker: marker.clone(),
                backends: vec![name.clone()],
            });
        }
        registry.add(Arc::new(own));
    }
    Ok(registry)
}
