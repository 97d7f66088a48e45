//! Asking hanging processes for their stacks before they are ended.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::proc::Process;
use super::signal;
use runner_core::plan::Dump;

/// How long the answers are waited for.
const WAIT: Duration = Duration::from_millis(200);
/// A file that did not change for two looks is whole.
const LOOK: Duration = Duration::from_millis(10);
const LARGEST: u64 = 256 << 10;
/// So many processes are asked at most.
const MOST: usize = 64;

struct Asked {
    pid: u32,
    path: PathBuf,
    before: u64,
    size: u64,
    quiet: bool,
}

/// Signals every process that owns a file `PREFIX<pid>` and has a handler for the signal (without one it would be
/// killed), waits until the files stand still, and reads them.
///
/// One that is stopped (SIGSTOP) is not asked: it would have to be woken for that, and its test would then go on and
/// pass behind the time limit.
pub(super) fn collect(wanted: &Dump, members: &[Process]) -> BTreeMap<u32, String> {
    let Some(signal) = real_time(wanted.from_rtmax) else {
        return BTreeMap::new();
    };
    let mut asked = Vec::new();
    for process in members
        .iter()
        .filter(|process| !process.is_zombie() && !process.is_stopped())
    {
        let Ok(pid) = u32::try_from(process.pid) else {
            continue;
        };
        let path = wanted.folder.join(format!("{}{pid}", wanted.prefix));
        let Some(before) = size(&path) else { continue };
        if asked.len() < MOST && catches(process.pid, signal) && signal::send(process, signal) {
            asked.push(Asked {
                pid,
                path,
                before,
                size: before,
                quiet: false,
            });
        }
    }
    let until = Instant::now() + WAIT;
    while Instant::now() < until && !asked.iter().all(|one| one.quiet) {
        sleep(LOOK);
        for one in &mut asked {
            let now = size(&one.path).unwrap_or(one.size);
            one.quiet = now == one.size && now != one.before;
            one.size = now;
        }
    }
    asked
        .iter()
        .filter_map(|one| Some((one.pid, contents(&one.path)?)))
        .collect()
}

/// `SIGRTMAX - from_rtmax`, unless that is below the real-time signals.
fn real_time(from_rtmax: u8) -> Option<Signal> {
    let number = libc::SIGRTMAX() - i32::from(from_rtmax);
    if number < libc::SIGRTMIN() {
        return None;
    }
    #[expect(unsafe_code, reason = "rustix has no names for real-time signals")]
    // SAFETY: between SIGRTMIN and SIGRTMAX of the C library, which keeps its own signals below.
    Some(unsafe { Signal::from_raw_unchecked(number) })
}

/// Whether the process has a handler for the signal.
fn catches(pid: i32, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigCgt:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}

/// Of a regular file, links not followed.
fn size(path: &PathBuf) -> Option<u64> {
    let seen = std::fs::symlink_metadata(path).ok()?;
    seen.is_file().then_some(seen.len())
}

fn contents(path: &PathBuf) -> Option<String> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file: File = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
