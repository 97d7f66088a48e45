//! Which tests a change reaches: by names, by places, and by who imports whom. Reads files, runs nothing.

mod calls;
mod change;
mod graph;
mod kept_past;
mod modules;
mod past;
mod rank;
mod settings;
mod signals;
mod since;
mod test_files;
mod tree;
mod weigh;
mod words;

use std::path::Path;

use runner_core::affected::{AffectedFinder, AffectedTests, Question};
use runner_core::change::NoBase;

/// Finds the tests that a change reaches by reading the repository's Python files, and git's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finder;

impl AffectedFinder for Finder {
    fn find(&self, root: &Path, question: &Question) -> Result<AffectedTests, NoBase> {
        rank::answer(root, question)
    }
}

#[cfg(test)]
mod tests;
