//! Pieces of the sentences that answers begin with.

pub(super) use runner_core::words::count;

/// A reason as an aside; nothing without one.
pub(super) fn aside(reason: Option<&String>) -> String {
    reason.map_or_else(String::new, |reason| format!(" ({reason})"))
}

/// A selection in one string; none for everything.
pub(super) fn selection(selection: &[String]) -> Option<String> {
    Some(selection.join(" ")).filter(|words| !words.is_empty())
}
