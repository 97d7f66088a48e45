//! What a panic said, wherever one is caught: a backend's fault becomes a word and not the end of the host.

/// The panic's message, as given to `panic!`; a payload that is no text has none.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
