//! Resource limits of a job as rlimits of its main process, inherited by all that it starts.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};

use super::cgroup::Kept;
use super::proc;
use crate::Limits;

/// Seconds between SIGXCPU and SIGKILL.
const CPU_GRACE: u64 = 5;

/// Made before the fork, set after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rlimits {
    wanted: [Option<(Resource, u64, u64)>; 4],
}

impl Rlimits {
    /// What the job's cgroup does not keep already.
    pub(super) fn of(limits: &Limits, kept: Kept) -> Self {
        let processes = limits.processes.filter(|_| !kept.processes);
        let memory = limits.memory_bytes.filter(|_| !kept.memory);
        let same = |resource, limit: Option<u64>| limit.map(|limit| (resource, limit, limit));
        Self {
            wanted: [
                same(
                    Resource::Nproc,
                    processes.map(|extra| tasks_of_user().saturating_add(extra)),
                ),
                same(Resource::As, memory),
                same(Resource::Fsize, limits.file_bytes),
                limits
                    .cpu_seconds
                    .map(|seconds| (Resource::Cpu, seconds, seconds.saturating_add(CPU_GRACE))),
            ],
        }
    }

    /// Sets them for the calling process, and forbids core files. Never raises a limit that is lower already.
    /// Only system calls: safe between fork and exec.
    pub(super) fn set(&self) -> io::Result<()> {
        lower(Resource::Core, 0, 0)?;
        for (resource, soft, hard) in self.wanted.iter().flatten() {
            lower(*resource, *soft, *hard)?;
        }
        Ok(())
    }
}

fn lower(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let now = getrlimit(resource);
    let least = |wanted: u64, now: Option<u64>| Some(now.map_or(wanted, |now| now.min(wanted)));
    let wanted = Rlimit {
        current: least(soft, now.current),
        maximum: least(hard, now.maximum),
    };
    Ok(setrlimit(resource, wanted)?)
}

/// The kernel counts all threads of the user against RLIMIT_NPROC, not those of the job. So the limit is what the
/// user has now, and so many more.
fn tasks_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = getuid().as_raw();
    let ours = |process: &proc::Process| {
        std::fs::metadata(format!("/proc/{}", process.pid)).is_ok_and(|folder| folder.uid() == user)
    };
    proc::all()
        .iter()
        .filter(|process| ours(process))
        .map(|process| process.threads)
        .sum()
}
