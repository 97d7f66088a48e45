//! Which tests a change reaches: by names, by places, and by who imports whom. Reads files, runs nothing.

mod calls;
mod change;
mod graph;
mod modules;
mod past;
mod rank;
mod settings;
mod signals;
mod test_files;
mod tree;
mod weigh;
mod words;

use std::path::Path;

use runner_core::affected::{AffectedFinder, AffectedTests};

/// Finds the tests that a change reaches by reading the repository's Python files. Keeps nothing between calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finder;

impl AffectedFinder for Finder {
    fn find(&self, root: &Path, changed: &[String]) -> AffectedTests {
        rank::rank(&tree::read(root), changed)
    }
}

#[cfg(test)]
mod tests;
