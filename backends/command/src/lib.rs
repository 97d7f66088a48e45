//! Any command that leaves a report, as a backend: described in toml, without code.
//!
//! A table says which command runs the tests, where its report comes to lie and in which format, and how a test's id
//! is made of it. The presets for common frameworks are written in the same form (`presets/*.toml`). What may be
//! written is told in `docs/backends.md`.

mod cargo;
mod command_line;
mod coverage;
mod fault;
mod formats;
mod held;
mod id;
mod keys;
mod layout;
mod pattern;
mod plan;
mod presets;
mod reader;
mod selected;
mod spec;
mod stack;
mod table;
mod tally;
mod template;
mod values;
mod wanted;

use std::sync::Arc;

use runner_core::backend::{
    BackendError, BackendInfo, Capability, OptionKind, OptionSpec, OutputReader, RunRequest, TestBackend,
    UNSUPPORTED,
};
use runner_core::facts::Project;
use runner_core::plan::Plan;
use runner_core::registry::Marker;
use serde_json::{Map, Value};

pub use fault::Fault;
pub use presets::{detections, presets};
pub use table::detect;

/// The `kind` of the tables that this crate reads.
pub const KIND: &str = "command";

/// A backend that a table describes.
#[derive(Clone, Debug)]
pub struct Command {
    name: String,
    spec: Arc<spec::Spec>,
}

impl Command {
    /// Reads a `[backend.NAME]` table without its `kind`. A fault's key is dotted below the table.
    pub fn from_table(name: &str, table: &Map<String, Value>) -> Result<Self, Fault> {
        Ok(Self {
            name: name.to_owned(),
            spec: Arc::new(table::read(name, table)?),
        })
    }

    /// What shows that a folder has tests for it.
    pub fn markers(&self) -> &[Marker] {
        &self.spec.detect
    }
}

impl TestBackend for Command {
    fn info(&self) -> BackendInfo {
        BackendInfo {
            name: self.name.clone(),
            framework: self.spec.framework.clone(),
            language: self.spec.language.clone(),
            capabilities: self.spec.capabilities(),
            needs: self.spec.needs.clone(),
            options: vec![OptionSpec {
                name: "args".to_owned(),
                kind: OptionKind::Strings,
                about: "words for the command, where it has {args...}, else at its end".to_owned(),
            }],
        }
    }

    fn plan(&self, request: &RunRequest, project: &Project) -> Result<Plan, BackendError> {
        plan::plan(&self.name, &self.spec, request, project, None)
    }

    fn wrap(&self, request: &RunRequest, project: &Project, inner: Plan) -> Result<Plan, BackendError> {
        let Some(coverage) = &self.spec.coverage else {
            return Err(BackendError::unsupported(&self.name, Capability::Coverage));
        };
        let own = inner.steps.first().is_some_and(|step| step.name == self.name);
        if !own {
            return Err(BackendError::new(
                UNSUPPORTED,
                format!(
                    "backend `{}` measures its own runs, not another backend's",
                    self.name
                ),
            )
            .with_hint("name another coverage backend, or `coverage = false` for the suite"));
        }
        plan::plan(&self.name, &self.spec, request, project, Some(coverage))
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        Box::new(reader::Reader::new(&self.name, &self.spec, request))
    }
}
