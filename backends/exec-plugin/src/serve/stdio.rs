//! The program's own streams and its one variable.

use std::io::{self, Read, Write};

use runner_core::wire::COOKIE;

/// Whether a host started this program.
#[expect(clippy::disallowed_methods, reason = "the door of a program of its own")]
pub(super) fn has_cookie() -> bool {
    let (name, value) = COOKIE;
    std::env::var_os(name).is_some_and(|found| found == value)
}

/// For a person who started it by hand.
pub(super) fn say_what_this_is() {
    let text = "This program is a qaas backend: qaas starts it and talks to it. See what it can do with\n\
                \x20   qaas backend add PATH\n\
                and use it with `backend = \"NAME\"` in a suite of qaas.toml.\n";
    let _ = io::stderr().write_all(text.as_bytes());
}

/// The real standard input and output, moved out of everybody's way: descriptor 0 becomes the null device and 1
/// standard error, so that whatever the backend or a library prints cannot come between the answers.
#[cfg(unix)]
pub(super) fn private() -> io::Result<(impl Read, impl Write)> {
    use std::fs::File;

    use rustix::io::fcntl_dupfd_cloexec;
    use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};

    // Above the standard three, also where one of these is closed.
    let input = fcntl_dupfd_cloexec(stdin(), 3)?;
    let output = fcntl_dupfd_cloexec(stdout(), 3)?;
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(stderr())?;
    Ok((File::from(input), File::from(output)))
}

#[cfg(not(unix))]
pub(super) fn private() -> io::Result<(impl Read, impl Write)> {
    Ok((io::stdin(), io::stdout()))
}
