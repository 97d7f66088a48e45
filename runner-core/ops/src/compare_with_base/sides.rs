//! Running the two sides, and what their reports come to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::judge::Side;
use crate::asked::RunArguments;
use crate::perform::perform;
use crate::rows::rows_of;
use crate::{OpError, Tool, Workspace, run_suite, spread};
use engine::run::{EventSink, NO_VIEW, RunSpec};
use engine::run_id::new_run_id;
use process::{Cancel, ViewContents, ViewFile};
use runner_core::change::{BaseFile, Change};
use runner_core::event::StopReason;
use runner_core::model::Status;
use runner_core::report::Report;
use runner_core::selector::{Selection, Selector};

/// How often a test that failed on one side is run on both, the first run counted.
const RUNS: u32 = 3;

/// One comparison under way.
pub(super) struct Comparison<'c> {
    pub(super) workspace: &'c Workspace,
    pub(super) arguments: &'c run_suite::Arguments,
    pub(super) change: &'c Change,
    pub(super) cancel: &'c Cancel,
}

impl Comparison<'_> {
    /// A run of one side. Both see a view, so that nothing that a test writes to the repository stays.
    async fn spec(&self, view: Option<&Arc<ViewContents>>) -> Result<RunSpec, OpError> {
        let arguments = self.arguments;
        let common = RunArguments::of(&arguments.scope, &arguments.selectors);
        // A comparison is of one suite.
        let one = spread::only(self.workspace, &common, Tool::CompareWithBase)?;
        let mut spec =
            run_suite::spec(self.workspace, arguments, one, arguments.filters.max_failures).await?;
        spec.tool = Tool::CompareWithBase.name();
        spec.view = view.cloned();
        // A file that cannot be collected is a fact about that file, not about the others.
        if spec.backend.info().framework == "pytest" {
            spec.filters
                .extra_args
                .push("--continue-on-collection-errors".to_owned());
        }
        Ok(spec)
    }

    pub(super) async fn perform(&self, spec: RunSpec, sink: EventSink<'_>) -> Arc<Report> {
        perform(self.workspace, new_run_id(), spec, self.cancel.clone(), sink).await
    }

    /// The work tree as it is; none with the report if views are not allowed here.
    pub(super) async fn head(&self, sink: EventSink<'_>) -> Result<(Arc<Report>, Option<String>), OpError> {
        let view = Arc::new(self.head_view());
        let report = self.perform(self.spec(Some(&view)).await?, &mut *sink).await;
        let Some(why) = refused(&report) else {
            return Ok((report, None));
        };
        let report = self.perform(self.spec(None).await?, sink).await;
        Ok((report, Some(why)))
    }

    pub(super) fn head_view(&self) -> ViewContents {
        ViewContents {
            root: self.change.work_tree.clone(),
            ..ViewContents::default()
        }
    }

    pub(super) fn base_view(&self) -> ViewContents {
        let file = |file: &BaseFile| match file {
            BaseFile::File { bytes, executable } => ViewFile::File {
                bytes: bytes.clone(),
                executable: *executable,
            },
            BaseFile::Link(target) => ViewFile::Link(target.clone()),
        };
        ViewContents {
            root: self.change.work_tree.clone(),
            files: self
                .change
                .was
                .iter()
                .map(|(path, was)| (path.clone(), file(was)))
                .collect(),
            gone: self.change.added.clone(),
        }
    }

    /// A run of the base, as far as the selection was there; none if nothing of it was.
    pub(super) async fn base_spec(&self, view: &Arc<ViewContents>) -> Result<Option<RunSpec>, OpError> {
        let mut spec = self.spec(Some(view)).await?;
        let cwd = spec.cwd.clone();
        let was_there = |path: &str| path.is_empty() || !self.is_new(&cwd.join(path));
        let narrowed = !spec.selection.is_everything();
        spec.selection.selectors.retain(|selector| match selector {
            Selector::Path { path } | Selector::Node { path, .. } => was_there(path),
            Selector::Keyword { .. } => true,
        });
        Ok(Some(spec).filter(|spec| !narrowed || !spec.selection.is_everything()))
    }

    /// What the results of the base depend on: its commit, what runs it, and what was asked.
    pub(super) fn key(&self, spec: &RunSpec) -> String {
        format!(
            "base 1 {} {} {:?} {:?} {:?} {:?} {:?} {}",
            env!("CARGO_PKG_VERSION"),
            self.change.commit,
            spec.suite,
            spec.project.interpreter,
            spec.selection,
            spec.filters,
            spec.env,
            spec.cwd.display(),
        )
    }

    /// The base's results from an earlier comparison.
    pub(super) fn kept(&self, key: &str) -> Option<Side> {
        let store = self.workspace.engine.store.as_ref()?;
        serde_json::from_str(&store.kept_result(&self.workspace.root, key)?).ok()
    }

    /// Keeps the base's results, if they are whole.
    pub(super) fn keep(&self, key: &str, side: &Side) {
        if let (Some(store), None, Ok(text)) = (
            &self.workspace.engine.store,
            &side.cut_short,
            serde_json::to_string(side),
        ) {
            store.keep_result(&self.workspace.root, key, &text);
        }
    }

    /// Whether the base has nothing at this path.
    fn is_new(&self, path: &Path) -> bool {
        path.strip_prefix(&self.change.work_tree)
            .is_ok_and(|path| self.change.added.iter().any(|added| added == path))
    }

    /// Runs tests again on one side and adds what comes of it.
    pub(super) async fn repeat(
        &self,
        side: &mut Side,
        view: Option<&Arc<ViewContents>>,
        ids: &[String],
        sink: EventSink<'_>,
    ) -> Result<(), OpError> {
        let few = |id: &&String| {
            side.outcomes
                .get(*id)
                .is_some_and(|outcomes| outcomes.len() < RUNS as usize)
        };
        let known: Vec<&String> = ids.iter().filter(few).collect();
        if known.is_empty() || side.cut_short.is_some() {
            return Ok(());
        }
        let mut spec = self.spec(view).await?;
        spec.selection = Selection {
            selectors: known.into_iter().map(|id| selector(id)).collect(),
        };
        spec.iterations = RUNS - 1;
        let report = self.perform(spec, sink).await;
        for iteration in &report.iterations {
            for row in rows_of(iteration) {
                if let Some(outcomes) = side.outcomes.get_mut(&row.nodeid) {
                    outcomes.push(row.outcome);
                }
            }
        }
        Ok(())
    }
}

fn selector(nodeid: &str) -> Selector {
    match nodeid.find("::") {
        Some(at) => Selector::Node {
            path: nodeid[..at].to_owned(),
            rest: nodeid[at..].to_owned(),
        },
        None => Selector::Path {
            path: nodeid.to_owned(),
        },
    }
}

/// Why the view could not be shown, if that is what ended the run.
pub(super) fn refused(report: &Report) -> Option<String> {
    match &report.cause {
        Some(StopReason::Failed { code, message, .. }) if code == NO_VIEW => Some(message.clone()),
        _ => None,
    }
}

/// What a report says of each test.
pub(super) fn side(report: &Report) -> Side {
    let iteration = report.first();
    let mut side = Side::default();
    for row in rows_of(iteration) {
        side.outcomes
            .entry(row.nodeid.clone())
            .or_default()
            .push(row.outcome);
        if let Some(message) = row.message {
            side.messages.entry(row.nodeid).or_insert(message);
        }
    }
    side.unfinished = iteration
        .unfinished()
        .iter()
        .map(|test| test.nodeid.clone())
        .collect();
    let verdict = report.verdict();
    side.cut_short = match verdict.status {
        Status::Passed | Status::Failed | Status::NoTests => None,
        // Nothing but files that could not be collected: the others were looked at.
        Status::Broken if !iteration.collection_errors.is_empty() => None,
        status => Some(verdict.reason.unwrap_or_else(|| status.to_string())),
    };
    side
}

/// The folder that node ids begin at, from the work tree, with a `/` at its end.
pub(super) fn frame(change: &Change, report: &Report, side: &Side) -> String {
    let cwd = &report.facts.cwd;
    let file = |nodeid: &String| PathBuf::from(nodeid.split("::").next().unwrap_or(nodeid));
    let is_here = side.outcomes.keys().map(file).any(|file| cwd.join(file).exists());
    let below = cwd.strip_prefix(&change.work_tree).unwrap_or(Path::new(""));
    if !is_here && !side.outcomes.is_empty() || below.as_os_str().is_empty() {
        return String::new();
    }
    format!("{}/", below.to_string_lossy())
}

/// The sources' findings in the ids of the rows.
pub(super) fn in_frame(
    tests: &runner_core::change::TestChanges,
    frame: &str,
) -> runner_core::change::TestChanges {
    let inside = |id: &String| id.strip_prefix(frame).map(str::to_owned);
    let by_id = |list: &BTreeMap<String, Vec<String>>| -> BTreeMap<String, Vec<String>> {
        list.iter()
            .filter_map(|(id, what)| Some((inside(id)?, what.clone())))
            .collect()
    };
    runner_core::change::TestChanges {
        renamed: tests
            .renamed
            .iter()
            .filter_map(|renamed| {
                Some(runner_core::change::Renamed {
                    was: inside(&renamed.was)?,
                    id: inside(&renamed.id)?,
                })
            })
            .collect(),
        muted: by_id(&tests.muted),
        weakened: by_id(&tests.weakened),
        rewritten: by_id(&tests.rewritten),
        removed: tests.removed.iter().filter_map(inside).collect(),
    }
}
