//! Takes out of a text what a terminal would obey and a reader would not see.

use std::borrow::Cow;

use runner_core::visible::is_bidi;

/// How far the end of a control string (OSC, DCS, …) is looked for. A longer one is not believed to be one.
const LONGEST_CONTROL_STRING: usize = 4096;

/// The text without escape sequences, control characters (but newline and tab), bidirectional overrides and
/// characters without width that only hide things. A lone carriage return becomes a newline.
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    if is_plain_ascii(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut last = ' ';
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        match character {
            '\u{1b}' => {
                rest = after_escape(after);
                continue;
            }
            '\u{9b}' => {
                rest = after_csi(after);
                continue;
            }
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => {
                rest = after_control_string(after);
                continue;
            }
            '\r' if !after.starts_with('\n') => out.push('\n'),
            '\u{2028}' | '\u{2029}' => out.push('\n'),
            // Joiners mean something in emoji and in many scripts, and nothing between ASCII letters.
            '\u{200c}' | '\u{200d}' if last.is_ascii() => {}
            _ if is_hidden(character) => {}
            _ => out.push(character),
        }
        last = character;
        rest = after;
    }
    Cow::Owned(out)
}

fn is_plain_ascii(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b'\n' | b'\t' | 0x20..=0x7e))
}

fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Zero-width space, word joiner and invisible operators, byte order mark, deprecated format characters,
        // interlinear annotations, language tags.
        '\u{180e}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2064}'
        | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        _ => character.is_control() || is_bidi(character),
    }
}

/// What follows an escape sequence whose ESC has been taken.
fn after_escape(text: &str) -> &str {
    let Some(first) = text.chars().next() else {
        return text;
    };
    let after = &text[first.len_utf8()..];
    match first {
        '[' => after_csi(after),
        ']' | 'P' | 'X' | '^' | '_' => after_control_string(after),
        ' '..='/' => {
            let after = after.trim_start_matches(|c| matches!(c, ' '..='/'));
            strip_one(after, |c| matches!(c, '0'..='~'))
        }
        '0'..='~' => after,
        _ => text,
    }
}

/// Parameters, intermediates, one final character.
fn after_csi(text: &str) -> &str {
    let text = text.trim_start_matches(|c| matches!(c, '0'..='?'));
    let text = text.trim_start_matches(|c| matches!(c, ' '..='/'));
    strip_one(text, |c| matches!(c, '@'..='~'))
}

/// Up to BEL or ST on the same line. Without an end only the introducer goes: a test that prints half a sequence
/// must not make the rest of its text vanish.
fn after_control_string(text: &str) -> &str {
    for (place, character) in text.char_indices() {
        let after = &text[place + character.len_utf8()..];
        match character {
            '\u{7}' | '\u{9c}' => return after,
            '\u{1b}' if after.starts_with('\\') => return &after[1..],
            '\n' => return text,
            _ if place > LONGEST_CONTROL_STRING => return text,
            _ => {}
        }
    }
    text
}

fn strip_one(text: &str, is_final: impl Fn(char) -> bool) -> &str {
    match text.chars().next() {
        Some(character) if is_final(character) => &text[character.len_utf8()..],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn removes_every_kind_of_escape_sequence() {
        for (dirty, clean) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]52;c;aGk=\u{7}after", "after"),
            ("\u{1b}]8;;http://x/\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9b}1mbold", "bold"),
            ("\u{1b}(Bascii", "ascii"),
            ("\u{1b}creset", "reset"),
            ("\u{90}dcs\u{9c}after", "after"),
            ("a\u{0}b\u{8}c\u{7f}d\u{85}e", "abcde"),
            ("\u{202e}gnp\u{202c}", "gnp"),
            ("pass\u{200b}word\u{feff}", "password"),
            ("ends in \u{1b}", "ends in "),
            ("ends in \u{1b}[", "ends in "),
        ] {
            assert_eq!(strip_ansi(dirty), clean, "{dirty:?}");
        }
    }

    #[test]
    fn half_a_control_string_does_not_swallow_what_follows() {
        assert_eq!(
            strip_ansi("\u{1b}]0;title\nE   assert 1 == 2"),
            "0;title\nE   assert 1 == 2"
        );
        let long = format!("\u{1b}P{}", "x".repeat(2 * LONGEST_CONTROL_STRING));
        assert_eq!(strip_ansi(&long).len(), 2 * LONGEST_CONTROL_STRING);
    }

    #[test]
    fn keeps_ordinary_text_in_any_script() {
        for text in [
            "naïve café\n\tindented",
            "日本語",
            "👨\u{200d}👩\u{200d}👧",
            "می\u{200c}خواهم",
        ] {
            assert_eq!(strip_ansi(text), text);
        }
        assert_eq!(strip_ansi("10%\r20%\r\ndone"), "10%\n20%\ndone");
    }

    proptest! {
        #[test]
        fn nothing_that_a_terminal_obeys_is_left(text in "(?s)[\\x00-\\x9f\u{202e}\u{2028}\\[\\]a-z;]{0,60}") {
            let clean = strip_ansi(&text);
            prop_assert!(!clean.contains(|c: char| (c.is_control() && c != '\n' && c != '\t') || is_bidi(c)));
            let again = strip_ansi(&clean).into_owned();
            prop_assert_eq!(again.as_str(), clean.as_ref());
        }
    }
}
