//! The outside world, read once: the only place that asks for the environment.

use std::ffi::OsString;
use std::path::PathBuf;

use engine::environment::Environment;
use process::Supervisor;

/// A snapshot of the process's environment.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one door to the environment"
)]
pub(crate) fn environment() -> Environment {
    let mut environment = Environment {
        cwd: std::env::current_dir().unwrap_or_default(),
        program: std::env::current_exe().ok(),
        ..Environment::default()
    };
    for (name, value) in std::env::vars_os() {
        match (name.into_string(), value.into_string()) {
            (Ok(name), Ok(value)) => {
                environment.vars.insert(name, value);
            }
            (Ok(name), Err(_)) => environment.undecodable.push(name),
            (Err(name), _) => environment.undecodable.push(name.to_string_lossy().into_owned()),
        }
    }
    environment
}

/// This program, started again. On Linux by way of /proc, which survives an upgrade of the file under a living server.
pub(crate) fn own_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    own_path()
}

/// Where this program lies, for others to call.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one door to the environment"
)]
pub(crate) fn own_path() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("qaas"))
}

/// The supervising process is this program with a hidden first argument.
pub(crate) fn supervisor() -> Supervisor {
    Supervisor {
        program: own_program(),
        args: vec![OsString::from(crate::SUPERVISE)],
    }
}
