//! Signals: each goes through a pidfd, after a look whether the process is still the one that was meant.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::proc::{self, Process};

/// Signals a process if it is still the one seen before: the same start time, read after the pidfd was opened, so
/// that the number cannot pass to a stranger in between. Returns whether the signal went out.
pub(super) fn send(process: &Process, signal: Signal) -> bool {
    let Some(pid) = Pid::from_raw(process.pid).filter(|pid| !pid.is_init()) else {
        return false;
    };
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else {
        return false;
    };
    let same = proc::read(process.pid).is_some_and(|now| now.start == process.start);
    same && pidfd_send_signal(&pidfd, signal).is_ok()
}
