//! A test that does not exist: which ids are near to the one that was asked for.

use std::time::Duration;

use super::perform::perform;
use super::{Tool, Workspace};
use engine::run::RunSpec;
use engine::run_id::new_run_id;
use process::Cancel;
use runner_core::backend::{Capability, Filters, Mode};
use runner_core::nodeid::NodeId;
use runner_core::selector::{Selection, Selector};
use runner_core::visible::visible;

/// How long the listing may take. It is a courtesy.
const LIMIT: Duration = Duration::from_secs(20);
/// How many are named.
const MOST: usize = 3;

/// What a listing of the asked test's file needs, kept from a spec before the engine takes it.
pub(super) struct Listing {
    spec: RunSpec,
}

impl Listing {
    /// `None` where the backend cannot list, or the spec names no file.
    pub(super) fn beside(spec: &RunSpec) -> Option<Self> {
        if !spec.backend.info().can(Capability::List) {
            return None;
        }
        let [Selector::Node { path, .. }] = spec.selection.selectors.as_slice() else {
            return None;
        };
        // Where ids are names, there is no file to narrow the listing to.
        let (selectors, asked) = match path.as_str() {
            "" => (Vec::new(), Vec::new()),
            path => (
                vec![Selector::Path {
                    path: path.to_owned(),
                }],
                vec![path.to_owned()],
            ),
        };
        Some(Self {
            spec: RunSpec {
                tool: Tool::ListTests.name(),
                mode: Mode::List,
                selection: Selection { selectors },
                asked,
                filters: Filters::default(),
                coverage: None,
                iterations: 1,
                timeout: Some(spec.timeout.map_or(LIMIT, |limit| limit.min(LIMIT))),
                total_timeout: None,
                warnings: Vec::new(),
                ..spec.clone()
            },
        })
    }

    /// Lists the file's tests and gives the ids nearest to `id`, the nearest first.
    pub(super) async fn nearest(self, workspace: &Workspace, id: &str, cancel: Cancel) -> Vec<String> {
        let report = perform(workspace, new_run_id(), self.spec, cancel, &mut |_, _| {}).await;
        let found = report.first().found.iter().map(|found| found.nodeid.as_str());
        nearest(id, found)
    }
}

/// The ids whose part after the file is nearest to that of `id`.
fn nearest<'a>(id: &str, found: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = NodeId::of(id).rest();
    let mut ranked: Vec<(usize, &str)> = found
        .map(|nodeid| {
            (
                strsim::damerau_levenshtein(wanted, NodeId::of(nodeid).rest()),
                nodeid,
            )
        })
        .collect();
    ranked.sort_unstable();
    ranked
        .into_iter()
        .take(MOST)
        .map(|(_, nodeid)| nodeid.to_owned())
        .collect()
}

/// As a hint: `Did you mean …?`
pub(super) fn hint(asked: &str, near: &[String]) -> Option<String> {
    if near.iter().any(|id| id == asked) {
        let file = visible(NodeId::of(asked).file());
        return Some(format!(
            "There is a test of that id, but the framework does not find it by its id (a name may be empty, or hold `::`). Run its file instead: `{file}`."
        ));
    }
    let near: Vec<_> = near.iter().map(|id| visible(id)).collect();
    match near.as_slice() {
        [] => None,
        [one] => Some(format!("Did you mean `{one}`?")),
        many => Some(format!("Did you mean one of `{}`?", many.join("`, `"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{hint, nearest};

    #[test]
    fn an_id_that_the_framework_cannot_find_is_not_offered_as_what_was_meant() {
        let near = ["s.yaml::a::b".to_owned(), "s.yaml::a".to_owned()];
        let said = hint("s.yaml::a::b", &near).unwrap();
        assert!(said.contains("Run its file instead: `s.yaml`"), "{said}");
        assert!(hint("s.yaml::c", &near).unwrap().starts_with("Did you mean"));
    }

    #[test]
    fn the_three_nearest_are_named_the_nearest_first() {
        let found = [
            "t.py::test_total",
            "t.py::test_totals",
            "t.py::test_empty",
            "t.py::TestCart::test_total",
        ];
        let near = nearest("t.py::test_totl", found.into_iter());
        assert_eq!(
            near,
            ["t.py::test_total", "t.py::test_totals", "t.py::test_empty"]
        );
    }
}
