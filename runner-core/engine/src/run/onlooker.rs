//! Somebody who looks on while the tests run, and may sit at a terminal that the tests can talk to.

use std::path::PathBuf;

use runner_core::backend::Shows;

/// Made by the command line; a run without one shows nothing but its events.
pub trait Onlooker: Send + Sync {
    /// A run begins; what of its framework is to be seen.
    fn begins(&self, shows: Shows);

    /// Lines of what the tests and their framework print, as they come. Called where the framework itself is to be seen.
    fn lines(&self, lines: &[String]);

    /// The other side of the terminal at which somebody sits, for the tests to open.
    fn terminal(&self) -> Option<PathBuf>;

    /// What was printed on that side since the last call: the tests no longer have it open.
    fn said(&self) -> Vec<String>;
}
