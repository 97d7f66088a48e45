//! Keeping the server's own memory from the programs that it runs.

/// Makes this process unreadable for other processes of the same user: without it a test could read the secrets that
/// its own environment was kept free of from `/proc/PID/environ` of the server, or take one of its descriptors. Does
/// not hold against root. On Linux only; elsewhere it does nothing.
pub fn guard_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Cannot fail with a valid value.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
