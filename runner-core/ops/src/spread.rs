//! Which suites a call is about, and what of its selection each of them is given: one rule for every tool. A suite that is
//! named has it all. Without a name each suite has what lies in it; what lies in none is refused.

use std::path::{Path, PathBuf};

use super::asked::RunArguments;
use super::{ErrorKind, NextCall, OpError, Tool, Workspace, cut, known, suites};
use engine::config::Suite;
use engine::policy::Caller;
use engine::project::{self, looks_like_path};
use runner_core::backend::Capability;
use runner_core::nodeid::NodeId;

/// What each suite is asked, in the order of the suites. Never empty.
pub(super) fn spread(workspace: &Workspace, common: &RunArguments) -> Result<Vec<RunArguments>, OpError> {
    let all = suites::all(workspace)?;
    if let Some(name) = &common.scope.suite {
        suites::by_name(all, name)?;
        return Ok(vec![common.clone()]);
    }
    if let [only] = all.as_slice() {
        let mut one = common.clone();
        one.scope.suite = Some(only.name.clone());
        return Ok(vec![one]);
    }
    let cwd = match &common.scope.cwd {
        Some(text) => Some(workspace.folder(text)?),
        None => None,
    };
    let mut shares = candidates(workspace, all, cwd.as_deref().unwrap_or(&workspace.root));
    let base = cwd.as_deref().or(workspace.here.as_deref());
    let base = base.unwrap_or(&workspace.root);
    let mut keywords = Vec::new();
    for text in &common.selectors {
        match owned(workspace, &shares, base, text)? {
            Owned::By(owners) => owners.into_iter().for_each(|owner| owner.give(&mut shares, text)),
            Owned::Keyword => keywords.push(text.clone()),
        }
    }
    for id in &common.ids {
        match owned(workspace, &shares, base, id)? {
            Owned::By(owners) => owners
                .into_iter()
                .for_each(|owner| shares[owner.suite].ids.push(id.clone())),
            // No place of any suite: each may know it.
            Owned::Keyword => shares.iter_mut().for_each(|share| share.ids.push(id.clone())),
        }
    }
    let named = shares.iter().any(Share::has_something);
    let taken = shares.into_iter().filter(|share| !named || share.has_something());
    let taken: Vec<Share> = taken.collect();
    let several = taken.len() > 1;
    let cwd = cwd.as_deref();
    let arguments = taken
        .into_iter()
        .map(|share| share.arguments(workspace, common, &keywords, cwd, several));
    Ok(arguments.collect())
}

/// The suites that a call from a folder may be about: those that it lies in or that lie in it, and where a person named a
/// backend, those that have it. All of them if there are none.
fn candidates(workspace: &Workspace, all: Vec<Suite>, base: &Path) -> Vec<Share> {
    let shares: Vec<Share> = all.into_iter().map(Share::new).collect();
    let near: Vec<usize> = if base == workspace.root {
        (0..shares.len()).collect()
    } else {
        let owners = at(workspace, &shares, base);
        owners.into_iter().map(|owner| owner.suite).collect()
    };
    let has_it = |&place: &usize| {
        let backend = workspace.overrides.backend.as_ref();
        backend.is_none_or(|name| shares[place].suite.backend.contains(name))
    };
    let taken = narrowed(near, has_it);
    let is_taken = |place: usize| taken.is_empty() || taken.contains(&place);
    let shares = shares.into_iter().enumerate();
    let shares = shares.filter(|(place, _)| is_taken(*place));
    shares.map(|(_, share)| share).collect()
}

/// The one suite that a call is about, for what can be asked of one only.
pub(super) fn only(
    workspace: &Workspace,
    common: &RunArguments,
    tool: Tool,
) -> Result<RunArguments, OpError> {
    let mut all = spread(workspace, common)?;
    match all.len() {
        1 => Ok(all.remove(0)),
        _ => Err(ambiguous(workspace, common, tool, &all)),
    }
}

fn ambiguous(workspace: &Workspace, common: &RunArguments, tool: Tool, all: &[RunArguments]) -> OpError {
    let names: Vec<&str> = all.iter().filter_map(|one| one.scope.suite.as_deref()).collect();
    let message = if common.selectors.is_empty() && common.ids.is_empty() {
        format!(
            "this repository has several suites, and {} is about one",
            tool.name()
        )
    } else {
        "the selector fits more than one of the repository's suites".to_owned()
    };
    let flag = suite_flag(workspace);
    let mut error = OpError::new(ErrorKind::BadRequest, "suite_needed", message)
        .with_hint(format!("Give {flag}, one of: {}.", names.join(", ")));
    if let [id] = common.ids.as_slice() {
        for name in names.iter().take(2) {
            let call = NextCall::new(Tool::RunSingle, format!("if it is the one of suite {name}"));
            error = error.with_next(call.with("test_id", id.as_str()).with("suite", *name));
        }
    }
    error
}

/// How a suite is named by whoever asks.
pub(super) fn suite_flag(workspace: &Workspace) -> &'static str {
    match workspace.policy.caller {
        Caller::Person => "`--suite`",
        Caller::Agent => "`suite`",
    }
}

/// A suite, and what it is given.
struct Share {
    suite: Suite,
    /// All of its tests are meant.
    whole: bool,
    selectors: Vec<String>,
    ids: Vec<String>,
}

impl Share {
    fn new(suite: Suite) -> Self {
        Self {
            suite,
            whole: false,
            selectors: Vec::new(),
            ids: Vec::new(),
        }
    }

    fn has_something(&self) -> bool {
        self.whole || !self.selectors.is_empty() || !self.ids.is_empty()
    }

    /// The call as this suite is asked it. `cwd` is the call's folder: a suite that lies in it runs in its own, and what
    /// was written as seen from there is written as seen from the root.
    fn arguments(
        self,
        workspace: &Workspace,
        common: &RunArguments,
        keywords: &[String],
        cwd: Option<&Path>,
        several: bool,
    ) -> RunArguments {
        let mut arguments = common.of_suite(&self.suite.name);
        arguments.is_one_of_several = several;
        arguments.selectors = if self.whole { Vec::new() } else { self.selectors };
        arguments.ids = self.ids;
        let folder = suites::folder(&workspace.root, &self.suite);
        if let Some(cwd) = cwd.filter(|cwd| several && folder != **cwd && folder.starts_with(cwd)) {
            arguments.scope.cwd = None;
            let from_root = |text: &mut String| {
                let place = cwd.join(NodeId::of(text).file());
                let inside = place
                    .exists()
                    .then(|| place.strip_prefix(&workspace.root).ok())
                    .flatten();
                if let Some(inside) = inside {
                    *text = format!("{}{}", inside.display(), NodeId::of(text).rest());
                }
            };
            arguments.selectors.iter_mut().for_each(from_root);
            arguments.ids.iter_mut().for_each(from_root);
        }
        arguments.selectors.extend(keywords.iter().cloned());
        arguments
    }
}

/// Whose a selector is.
enum Owned {
    By(Vec<Owner>),
    /// An expression for those suites that have anything else, or for all.
    Keyword,
}

struct Owner {
    /// Its place among the suites.
    suite: usize,
    /// It lies in what is selected: all of it is meant.
    whole: bool,
}

impl Owner {
    fn give(self, shares: &mut [Share], text: &str) {
        let share = &mut shares[self.suite];
        if self.whole {
            share.whole = true;
        } else {
            share.selectors.push(text.to_owned());
        }
    }
}

fn owned(workspace: &Workspace, shares: &[Share], base: &Path, text: &str) -> Result<Owned, OpError> {
    let root = &workspace.root;
    let id = NodeId::of(text);
    let (head, in_a_file) = (id.file(), !id.rest().is_empty());
    let part = |suite: usize| Owner { suite, whole: false };
    let sound = |path: PathBuf| {
        path.canonicalize()
            .ok()
            .filter(|place| !in_a_file || place.is_file())
    };
    if !head.trim().is_empty() {
        if let Some(place) = [base, root].iter().find_map(|base| sound(base.join(head))) {
            let owners = at(workspace, shares, &place);
            if owners.is_empty() {
                return Err(in_no_suite(workspace, shares, base, text));
            }
            return Ok(Owned::By(owners));
        }
        // Not there as seen from here: ids are relative to the suite that gave them.
        let inside = |share: &Share| sound(suites::folder(root, &share.suite).join(head)).is_some();
        let inside: Vec<usize> = places(shares, inside);
        if !inside.is_empty() {
            let known = |&suite: &usize| known::has_row(workspace, &shares[suite].suite, text);
            let by = narrowed(inside, |suite| in_a_file && known(suite));
            return Ok(Owned::By(by.into_iter().map(part).collect()));
        }
    }
    if in_a_file || looks_like_path(head) {
        let names = places(shares, |share| {
            suites::can(workspace, &share.suite, Capability::Names)
        });
        if !names.is_empty() && !looks_like_path(head) {
            let by = narrowed(names, |&suite| {
                known::has_row(workspace, &shares[suite].suite, text)
            });
            return Ok(Owned::By(by.into_iter().map(part).collect()));
        }
        // Refused as where there is one suite: what it is taken for, where it was looked for, what is near.
        resolved(workspace, shares, base, text)?;
        return Ok(Owned::By((0..shares.len()).map(part).collect()));
    }
    let printed = |&suite: &usize| known::has_row(workspace, &shares[suite].suite, text);
    let by: Vec<usize> = (0..shares.len()).filter(printed).collect();
    if by.is_empty() {
        return Ok(Owned::Keyword);
    }
    Ok(Owned::By(by.into_iter().map(part).collect()))
}

/// What the selector would be if there were one suite: mostly the error that says why it is none.
fn resolved(workspace: &Workspace, shares: &[Share], base: &Path, text: &str) -> Result<(), OpError> {
    let root = &workspace.root;
    let folders = shares.iter().map(|share| suites::folder(root, &share.suite));
    let folders: Vec<PathBuf> = folders.collect();
    let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    project::resolve_from(root, base, workspace.here.as_deref(), &folders, text)?;
    Ok(())
}

/// It is there, and no suite has it: nothing else is run in its place.
fn in_no_suite(workspace: &Workspace, shares: &[Share], base: &Path, text: &str) -> OpError {
    if let Err(error) = resolved(workspace, shares, base, text) {
        return error;
    }
    let names: Vec<&str> = shares.iter().map(|share| share.suite.name.as_str()).collect();
    let message = format!("{} lies in none of the suites", cut::quote_truncated(text));
    OpError::new(ErrorKind::BadRequest, "suite_needed", message).with_hint(format!(
        "Give {}, one of: {}.",
        suite_flag(workspace),
        names.join(", ")
    ))
}

/// The suites that a file or folder is of, and those that lie in it.
fn at(workspace: &Workspace, shares: &[Share], place: &Path) -> Vec<Owner> {
    let root = &workspace.root;
    let all: Vec<Suite> = shares.iter().map(|share| share.suite.clone()).collect();
    let below = places(shares, |share| {
        let folder = suites::folder(root, &share.suite);
        folder != place && folder.starts_with(place)
    });
    let owners = suites::owners(root, &workspace.registry, &all, place);
    // Where suites of its own language lie in a folder, a suite around it would run their tests in its own way.
    let covered = |suite: &Suite| {
        below
            .iter()
            .any(|&inner| shares[inner].suite.backend.first() == suite.backend.first())
    };
    let around = places(shares, |share| {
        owners.iter().any(|owner| owner.name == share.suite.name) && !covered(&share.suite)
    });
    let mut found: Vec<Owner> = around
        .into_iter()
        .map(|suite| Owner { suite, whole: false })
        .collect();
    found.extend(below.into_iter().map(|suite| Owner { suite, whole: true }));
    found
}

fn places(shares: &[Share], test: impl Fn(&Share) -> bool) -> Vec<usize> {
    (0..shares.len()).filter(|&place| test(&shares[place])).collect()
}

/// Those that the test holds for; all, if it holds for none.
fn narrowed(all: Vec<usize>, test: impl Fn(&usize) -> bool) -> Vec<usize> {
    let held: Vec<usize> = all.iter().copied().filter(|place| test(place)).collect();
    if held.is_empty() { all } else { held }
}
