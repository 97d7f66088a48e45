//! Identifiers as they are shown to people.
//!
//! In events and structured answers a nodeid is verbatim: given back, it names the same test. In a text it must not move
//! a cursor, start a line of its own or turn round what follows.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The identifier for a text: control and bidirectional characters are written out (`\x1b`, `\u202e`), not removed, so
/// that different identifiers stay different.
pub fn visible(id: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_control() || is_bidi(c);
    if !id.contains(odd) {
        return Cow::Borrowed(id);
    }
    let mut out = String::with_capacity(id.len() + 16);
    for character in id.chars() {
        let code = u32::from(character);
        let written = match character {
            _ if !odd(character) => {
                out.push(character);
                continue;
            }
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            _ if code < 0x100 => write!(out, "\\x{code:02x}"),
            _ => write!(out, "\\u{code:04x}"),
        };
        written.expect("writing to a String does not fail");
    }
    Cow::Owned(out)
}

/// Whether a character changes the direction of the text after it (Unicode's bidirectional controls).
pub fn is_bidi(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn ids_stay_distinct() {
        assert_eq!(visible("t.py::test_a[\u{1b}[31m]"), "t.py::test_a[\\x1b[31m]");
        assert_eq!(visible("t.py::t[\u{202e}a\n]"), "t.py::t[\\u202ea\\n]");
        for untouched in ["t.py::t[é \u{200d}]", "t.py::t[para\u{2028}graph]"] {
            assert_eq!(visible(untouched), untouched);
        }
    }
}
