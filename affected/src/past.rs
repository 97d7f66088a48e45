//! Which tests changed together with a file before.

use std::collections::HashMap;

use source::git::{Past, Repository};

/// How many commits are read.
const MOST_COMMITS: usize = 2000;
/// After so many commits one counts half.
const HALF_LIFE: f32 = 300.0;
/// So much evidence (in commits of one file and one test) is half as good as any amount.
const LITTLE: f32 = 0.7;

/// What git says about a change.
#[derive(Default)]
pub(crate) struct History {
    repository: Option<Repository>,
    past: Past,
    pub(crate) note: Option<String>,
}

impl History {
    pub(crate) fn read(root: &std::path::Path) -> Self {
        let opened = Repository::open(root);
        match opened.and_then(|repository| repository.past(MOST_COMMITS).map(|past| (repository, past))) {
            Ok((repository, past)) => Self {
                note: (past.commits.is_empty()).then(|| "git knows no past of these files".to_owned()),
                repository: Some(repository),
                past,
            },
            Err(error) => Self {
                note: Some(format!("without git's past: {error}")),
                ..Self::default()
            },
        }
    }

    /// How a file was at the last commit.
    pub(crate) fn before(&self, path: &str) -> Option<String> {
        self.repository.as_ref()?.text_at_head(path)
    }

    /// By path of a file that changed with this one: how often, and its part of all such evidence, from 0 to 1.
    pub(crate) fn together(&self, path: &str, is_test: impl Fn(&str) -> bool) -> HashMap<&str, (usize, f32)> {
        let mut weights: HashMap<&str, (usize, f32)> = HashMap::new();
        let mut most: f32 = 0.0;
        for (age, files) in self.past.commits.iter().enumerate() {
            if !files.iter().any(|file| file == path) {
                continue;
            }
            let tests: Vec<&String> = files.iter().filter(|file| *file != path && is_test(file)).collect();
            let sources = files.len() - tests.len();
            let recent = 0.5_f32.powf(age as f32 / HALF_LIFE);
            for test in &tests {
                let known = weights.entry(test).or_default();
                known.0 += 1;
                known.1 += recent / (sources.max(1) * tests.len()) as f32;
                most = most.max(known.1);
            }
        }
        for (_, weight) in weights.values_mut() {
            *weight /= most + LITTLE;
        }
        weights
    }
}
