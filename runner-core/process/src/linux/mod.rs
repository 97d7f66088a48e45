//! Linux: one supervising process for each run, which is the subreaper of all that the job starts. The server is a
//! subreaper too, for the case that a test kills the supervising process.
//!
//! ```text
//! server ──── socket: job, stop, kill; started, main gone, done; end of file = the other is dead
//!   │ reads the pipes itself, so that nothing is lost with the supervising process
//!   └─ supervising process (own session, subreaper, one thread)
//!        └─ the job's main process (own session) ─ everything it starts, wherever it hides
//! ```

mod cgroup;
mod child;
mod confine;
mod control;
mod dump;
mod ending;
mod inherited;
mod limits;
mod link;
mod lost;
mod orphans;
mod parked;
mod proc;
mod run;
mod signal;
mod signal_mask;
mod supervise;
mod view;

pub(super) use confine::describe;
pub(super) use parked::park;
pub use parked::{Parked, Resumed};
pub(super) use run::{run, run_opened};
pub(super) use supervise::main as supervise_main;
