//! The certain end: freeze until nobody new shows up, kill all, reap all.

use std::collections::HashSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::proc::Process;
use super::signal;

/// Freezing gives up after this long: then it is killing against forking.
const FREEZE: Duration = Duration::from_millis(300);
/// Looks that must show nobody new. One is not enough: a fork may have been under way.
const QUIET_LOOKS: u32 = 2;
/// Between two looks at who is still dying.
const PAUSE: Duration = Duration::from_millis(2);

/// Processes that end together.
pub(super) trait Family {
    /// Everyone alive or not yet reaped, as `/proc` shows it now.
    fn members(&self) -> Vec<Process>;
    /// A blow at all at once, where there is a means for it.
    fn strike(&self) {}
    /// Reaps the dead; `true` if nobody is left for certain.
    fn reap(&mut self) -> bool;
}

/// SIGINT to the process group of `main`, as a terminal sends it for Ctrl-C: not to those that left the group.
pub(super) fn interrupt(members: &[Process], main: i32) {
    let group = members
        .iter()
        .find(|process| process.pid == main)
        .map(|process| process.group);
    for process in members
        .iter()
        .filter(|process| !process.is_zombie() && Some(process.group) == group)
    {
        signal::send(process, Signal::INT);
    }
}

/// SIGTERM to everyone there is now, and SIGCONT so that the stopped can act on it.
pub(super) fn terminate(members: &[Process]) {
    for process in members.iter().filter(|process| !process.is_zombie()) {
        signal::send(process, Signal::TERM);
        signal::send(process, Signal::CONT);
    }
}

/// Ends everyone. Takes at most about `bound`; returns who is still there then.
pub(super) fn kill_all(family: &mut impl Family, bound: Duration) -> Vec<Process> {
    let until = Instant::now() + bound;
    if family.reap() {
        return Vec::new();
    }
    family.strike();
    freeze(family, until.min(Instant::now() + FREEZE));
    loop {
        for process in family.members().iter().filter(|process| !process.is_zombie()) {
            signal::send(process, Signal::KILL);
        }
        if family.reap() {
            return Vec::new();
        }
        if Instant::now() > until {
            return family.members();
        }
        sleep(PAUSE);
    }
}

/// Stops everyone, again and again, until no one new appears: a single walk would miss those that are being forked.
fn freeze(family: &impl Family, until: Instant) {
    let mut frozen = HashSet::new();
    let mut quiet = 0;
    while quiet < QUIET_LOOKS && Instant::now() < until {
        quiet += 1;
        for process in family.members() {
            if !process.is_zombie() && frozen.insert((process.pid, process.start)) {
                signal::send(&process, Signal::STOP);
                quiet = 0;
            }
        }
    }
}
