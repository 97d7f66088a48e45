//! pytest's terminal text: its grammar, and a reader that tells pytest's own lines from what tests print.
//!
//! The command line ([`arguments`]) asks pytest to say everything twice: while the tests run, with a counter behind
//! each verdict, and again at the end, as a list of every test by outcome, a list of durations by nodeid, and a line
//! of counts. Rows go out while the tests run as long as every line fits pytest's grammar and its counter; all
//! other rows wait for the end. There the lists are held against each other and against the counts, and a
//! disagreement ends the record as cut, never as a guess ([`settle`]).

mod arguments;
mod counts;
mod entries;
mod exact;
mod failures;
mod line;
mod listing;
mod names;
mod progress;
mod reader;
mod reconcile;
mod row;
mod session;
mod strip_ansi;
mod tail;
mod word;

pub use arguments::plan;
pub use exact::Exact;
pub use failures::{location, summary};
pub use reader::TextReader;

/// The message of a test that was only set up.
pub const NEVER_CALLED: &str = "set up and torn down, but never called";
