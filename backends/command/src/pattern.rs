//! Texts as regular expressions for frameworks that select by them.

/// The text as a pattern for itself, in JavaScript's and most others' language: `/` would end a pattern of node's.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\^$.|?*+()[]{}/".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
