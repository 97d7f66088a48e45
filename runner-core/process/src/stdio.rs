//! Keeping a protocol on standard input and output to itself.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};

/// Moves the real standard input and output to private descriptors that no child inherits, puts the null device on
/// descriptor 0 and standard error on descriptor 1: whatever a plug-in or a library prints cannot reach the protocol.
/// Call it first thing, before anything reads or prints. Returns the real input and output.
pub fn private_stdio() -> io::Result<(OwnedFd, OwnedFd)> {
    // Above the standard three, also where one of these is closed.
    let input = fcntl_dupfd_cloexec(stdin(), 3)?;
    let output = fcntl_dupfd_cloexec(stdout(), 3)?;
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(stderr())?;
    Ok((input, output))
}
