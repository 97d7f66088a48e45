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

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::Signal;

    use super::send;
    use crate::linux::proc;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process to signal")]
    fn a_process_that_took_over_the_number_is_left_alone() {
        let mut child = Command::new("/bin/sleep")
            .arg("60")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let seen = proc::read(i32::try_from(child.id()).unwrap()).unwrap();
        let older = proc::Process {
            start: seen.start - 1,
            ..seen.clone()
        };
        assert!(!send(&older, Signal::KILL));
        assert_eq!(child.try_wait().unwrap(), None);
        assert!(send(&seen, Signal::KILL));
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()),
            Some(9)
        );
        assert!(!send(&seen, Signal::KILL));
    }
}
