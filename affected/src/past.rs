//! Which tests changed together with a file before.

use std::path::Path;

use foldhash::{HashMap, HashMapExt};
use source::git::{GitError, ObjectId, Past, Repository};

use crate::kept_past;

/// How many commits are read.
const MOST_COMMITS: usize = 2000;
/// A past cut off after fewer says little.
const FEW: usize = 100;
/// After so many commits one counts half.
const HALF_LIFE: f32 = 300.0;
/// So much evidence (in commits of one file and one test) is half as good as any amount.
const LITTLE: f32 = 0.7;

/// By path, what speaks for it.
pub(crate) type Together<'a> = HashMap<&'a str, Change>;

/// How a test changed together with a file before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change {
    pub(crate) commits: usize,
    /// From 0 to 1; less for large and for old commits, and where there is little evidence at all.
    pub(crate) weight: f32,
}

/// What git says about a change.
#[derive(Default)]
pub(crate) struct History {
    repository: Option<Repository>,
    /// The commit that the change is held against.
    base: Option<ObjectId>,
    past: Past,
    pub(crate) note: Option<String>,
}

impl History {
    /// `base`: the commit that the change is held against, if not the last one. `cache`: where the past may be kept.
    pub(crate) fn read(
        repository: Result<Repository, GitError>,
        base: Option<ObjectId>,
        cache: Option<&Path>,
    ) -> Self {
        let past =
            |repository: Repository| Ok((kept_past::past(&repository, MOST_COMMITS, cache)?, repository));
        match repository.and_then(past) {
            Ok((past, repository)) => Self {
                note: (past.is_cut && past.commits.len() < FEW).then(|| {
                    let commits = past.commits.len();
                    format!("the clone is shallow: only {commits} commits say what changed together before")
                }),
                base: base.or_else(|| repository.head()),
                repository: Some(repository),
                past,
            },
            // That there is no repository is no news to anybody.
            Err(GitError::NoRepository(_)) => Self::default(),
            Err(error) => Self {
                note: Some(format!("without git's past: {error}")),
                ..Self::default()
            },
        }
    }

    /// How a file was before the change.
    pub(crate) fn before(&self, path: &str) -> Option<String> {
        self.repository.as_ref()?.text_at(self.base?, path)
    }

    /// The tests that changed together with a file.
    pub(crate) fn together(&self, path: &str, is_test: impl Fn(&str) -> bool) -> Together<'_> {
        let mut found: Together<'_> = HashMap::new();
        for (age, files) in self.past.commits.iter().enumerate() {
            if !files.iter().any(|file| file == path) {
                continue;
            }
            let tests: Vec<&String> = files
                .iter()
                .filter(|file| *file != path && is_test(file))
                .collect();
            let sources = files.len() - tests.len();
            let recent = 0.5_f32.powf(age as f32 / HALF_LIFE);
            for test in &tests {
                let known = found.entry(test).or_default();
                known.commits += 1;
                known.weight += recent / (sources.max(1) * tests.len()) as f32;
            }
        }
        let most = found.values().map(|change| change.weight).fold(0.0, f32::max);
        for change in found.values_mut() {
            change.weight /= most + LITTLE;
        }
        found
    }
}
