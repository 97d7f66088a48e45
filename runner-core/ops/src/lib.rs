//! The tools, one file each: arguments -> answer. Both faces call these and nothing else.
//!
//! Answers are whole: all rows, all text that a report holds. How much of one is shown is for the faces to decide.
//! An [`OpError`] is for a question that could not be answered; an answer with at least one row is a success
//! whatever its status.

mod answer;
mod arguments;
mod asked;
mod call;
mod changes;
mod check;
pub mod cut;
mod definition;
mod error;
mod exit;
mod facts;
mod failed;
mod ids;
mod known;
mod live;
mod locate;
mod near;
mod next;
mod perform;
mod rate;
mod resolve;
mod rows;
mod scope;
mod several;
mod spread;
mod stored;
mod suites;
#[cfg(test)]
mod tests;
mod tool;
mod trust;
mod unanswered;
mod words;
mod workspace;

pub mod affected_tests;
pub mod cancel_run;
pub mod compare_with_base;
pub mod get_coverage;
pub mod get_run;
pub mod list_tests;
pub mod run_n_times;
pub mod run_single;
pub mod run_suite;

pub use answer::{Answer, Fields, SuiteAnswer, Sums, ToolAnswer};
pub use call::{answer_of, call};
pub use changes::Changes;
pub use check::{SuiteCheck, SuitePlan, check};
pub use definition::{Argument, DefaultValue, Definition, Hints, Kind, Needs};
pub use error::{ErrorKind, Known, OpError};
pub use exit::ExitCode;
pub use facts::EnvironmentFacts;
pub use ids::Ids;
pub use live::{LiveRun, LiveRuns};
pub use next::NextCall;
pub use perform::Started;
pub use rate::Power;
pub use rows::{FailurePlace, Row, Totals};
pub use scope::Scope;
pub use several::{LeftOut, Runs, Several, SuiteRun};
pub use stored::list as stored_runs;
pub use stored::{id_in, stored};
pub use tool::Tool;
pub use trust::{surface, trust};
pub use workspace::Workspace;

/// Characters of a test's text that are shown of it at most, or quoted in a sentence.
pub const MESSAGE_CHARS: usize = 1_200;
