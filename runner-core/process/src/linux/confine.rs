//! What confines a run besides its supervisor: a cgroup where there is one, rlimits, and a count of processes.

use std::collections::BTreeMap;

use rustix::process::{geteuid, getpid};

use super::cgroup::{self, Cgroup, Kept};
use super::proc;
use crate::Limits;

/// What was set up for one run, in its supervising process.
#[derive(Debug, Default)]
pub(super) struct Confined {
    pub(super) cgroup: Option<Cgroup>,
    pub(super) kept: Kept,
    /// The run is ended when it has more processes than this.
    pub(super) most_processes: Option<usize>,
}

impl Confined {
    /// For the calling supervising process.
    pub(super) fn new(limits: &Limits) -> Self {
        let me = proc::read(getpid().as_raw_nonzero().get());
        let cgroup = me.and_then(|me| Cgroup::make(me.pid, me.start));
        let kept = cgroup
            .as_ref()
            .map(|cgroup| cgroup.limit(limits))
            .unwrap_or_default();
        let counted = limits.processes.filter(|_| must_count(kept));
        Self {
            cgroup,
            kept,
            most_processes: counted.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
        }
    }
}

/// RLIMIT_NPROC does not hold for root.
fn must_count(kept: Kept) -> bool {
    !kept.processes && geteuid().is_root()
}

/// Tier and limits in words, for `environment` and `doctor`.
pub(crate) fn describe(limits: &Limits) -> BTreeMap<String, String> {
    let kept = cgroup::keeps(limits);
    let tier = match kept {
        Some(_) => "subreaper and cgroup",
        None => "subreaper",
    };
    let mut words = BTreeMap::from([("tier".to_owned(), tier.to_owned())]);
    let kept = kept.unwrap_or_default();
    let mut say = |name: &str, limit: Option<u64>, how: &str| {
        if let Some(limit) = limit {
            words.insert(name.to_owned(), format!("{limit} ({how})"));
        }
    };
    let processes = match (kept.processes, must_count(kept)) {
        (true, _) => "pids.max of the run's cgroup",
        (_, true) => "counted ten times a second, the run is ended when it has more",
        _ => "RLIMIT_NPROC: so many more than the user's processes and threads at the start",
    };
    let memory = if kept.memory {
        "memory.max of the run's cgroup"
    } else {
        "RLIMIT_AS of each process"
    };
    say("processes", limits.processes, processes);
    say("memory_bytes", limits.memory_bytes, memory);
    say("file_bytes", limits.file_bytes, "RLIMIT_FSIZE of each file");
    say("cpu_seconds", limits.cpu_seconds, "RLIMIT_CPU of each process");
    words
}
