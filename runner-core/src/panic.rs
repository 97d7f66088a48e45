//! What a panic said, wherever one is caught: a backend's fault becomes a word and not the end of the host. And what it
//! left locked.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what a panic elsewhere may have left locked: for values that are whole between any two changes.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The panic's message, as given to `panic!`; a payload that is no text has none.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
