//! What a call asks of the suites that it is about.

use super::Scope;

/// What all tools that run something have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct RunArguments {
    pub(super) scope: Scope,
    /// As they were written.
    pub(super) selectors: Vec<String>,
    /// Taken as nodeids, whatever they look like.
    pub(super) ids: Vec<String>,
    /// Whether some of the ids may be gone.
    pub(super) lenient: bool,
    /// The call goes to other suites as well.
    pub(super) is_one_of_several: bool,
}

impl RunArguments {
    pub(super) fn of(scope: &Scope, selectors: &[String]) -> Self {
        Self {
            scope: scope.clone(),
            selectors: selectors.to_vec(),
            ..Self::default()
        }
    }

    /// One test, by its id.
    pub(super) fn of_test(scope: &Scope, id: &str) -> Self {
        Self {
            scope: scope.clone(),
            ids: vec![id.to_owned()],
            ..Self::default()
        }
    }

    /// The same call to the suite of that name, without what is selected in it.
    pub(super) fn of_suite(&self, name: &str) -> Self {
        let mut arguments = Self {
            selectors: Vec::new(),
            ids: Vec::new(),
            ..self.clone()
        };
        arguments.scope.suite = Some(name.to_owned());
        arguments
    }
}
