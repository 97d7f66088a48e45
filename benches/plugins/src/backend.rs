//! The backend that `benches/plugins.py` describes to qaas as a table, too.

use command::Command;
use dylib_plugin::runner_core::backend::{BackendError, TestBackend};
use dylib_plugin::runner_core::wire::InitializeParams;

/// `config` is the table.
pub fn make(params: &InitializeParams) -> Result<Box<dyn TestBackend>, BackendError> {
    let backend = Command::from_table("bench", &params.config);
    let backend = backend.map_err(|fault| BackendError::new("bad_config", fault.message))?;
    Ok(Box::new(backend))
}
