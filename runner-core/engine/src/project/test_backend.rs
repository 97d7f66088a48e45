//! Backends that only say what they need, for the tests of this room.

use std::collections::BTreeSet;

use runner_core::backend::{
    BackendError, BackendInfo, Capability, Need, OutputReader, RunRequest, TestBackend,
};
use runner_core::facts::Project;
use runner_core::plan::Plan;

pub(super) struct Fake(BackendInfo);

impl Fake {
    pub(super) fn new(
        name: &str,
        language: &str,
        framework: &str,
        capability: Capability,
        needs: Vec<Need>,
    ) -> Self {
        Self(BackendInfo {
            name: name.to_owned(),
            framework: framework.to_owned(),
            language: language.to_owned(),
            capabilities: BTreeSet::from([capability]),
            needs,
            options: Vec::new(),
        })
    }

    /// Runs pytest's tests, and needs more distributions.
    pub(super) fn python(name: &str, more: &[&str]) -> Self {
        let packages = ["pytest"]
            .iter()
            .chain(more)
            .map(|name| Need::PythonPackage((*name).to_owned()));
        let needs = std::iter::once(Need::Python).chain(packages).collect();
        Self::new(name, "python", "pytest", Capability::Run, needs)
    }

    pub(super) fn coverage(name: &str) -> Self {
        Self::new(name, "python", "coverage", Capability::Coverage, Vec::new())
    }
}

impl TestBackend for Fake {
    fn info(&self) -> BackendInfo {
        self.0.clone()
    }

    fn plan(&self, _: &RunRequest, _: &Project) -> Result<Plan, BackendError> {
        Ok(Plan::default())
    }

    fn reader(&self, _: &RunRequest) -> Box<dyn OutputReader> {
        unreachable!("nothing is run in these tests")
    }
}
