//! Starting the job's main process, in the supervising process.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, getpid};

use super::confine::Confined;
use super::control::{Refused, Task};
use super::limits::Rlimits;

/// What the main process gets as its standard streams.
pub(super) struct Streams {
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Starts the main process: own session, killed should its supervisor die, no core files, limits set. Signal
/// dispositions and every other descriptor were seen to when the supervising process began.
pub(super) fn start(task: &Task, streams: Streams, confined: &Confined) -> Result<Pid, (Refused, io::Error)> {
    // Changed here and not in the child, so that it is known which of the two failed.
    std::env::set_current_dir(&task.cwd).map_err(|error| (Refused::WorkingFolder, error))?;
    let result = spawn(task, streams, confined).map_err(|error| (Refused::Program, error));
    // Nobody should be unable to unmount a folder because of this process.
    let _ = std::env::set_current_dir("/");
    result
}

#[expect(clippy::disallowed_methods, reason = "the room that starts processes")]
fn spawn(task: &Task, streams: Streams, confined: &Confined) -> io::Result<Pid> {
    let no_program = || io::Error::new(io::ErrorKind::InvalidInput, "there is no program to start");
    let (program, args): (&OsString, _) = task.argv.split_first().ok_or_else(no_program)?;
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .envs(task.env.iter().map(|(name, value)| (name, value)))
        .stdin(streams.stdin.map_or_else(Stdio::null, Stdio::from))
        .stdout(streams.stdout)
        .stderr(streams.stderr);
    let supervisor = getpid();
    let limits = Rlimits::of(&task.limits, confined.kept);
    let entrance = confined.cgroup.as_ref().and_then(|cgroup| cgroup.entrance().ok());
    let prepare = move || {
        rustix::process::setsid()?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(supervisor) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if let Some(entrance) = &entrance {
            // Refused, the job is confined by its supervisor alone, as everywhere without cgroups.
            let _ = rustix::io::write(entrance, b"0");
        }
        super::signal_mask::unblock();
        limits.set()
    };
    #[expect(unsafe_code, reason = "what has to be set between fork and exec")]
    // SAFETY: the closure makes bare system calls only; it takes no lock and allocates nothing.
    unsafe {
        command.pre_exec(prepare);
    }
    let child = command.spawn()?;
    Ok(Pid::from_child(&child))
}
