//! How large something is in an answer.
//!
//! A promise of bytes must hold however a client counts them. So everything is measured as the wordiest ordinary
//! JSON: non-ASCII characters as `\u` escapes, a blank after every comma and colon.

use runner_core::words::left_out;
use serde_json::{Map, Value};

/// Size of a character inside a JSON string.
fn of_char(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        ' '..='~' => 1,
        '\u{10000}'.. => 12,
        _ => 6,
    }
}

/// Size of a string's content, without its quotes.
pub(crate) fn of_text(text: &str) -> usize {
    text.chars().map(of_char).sum()
}

/// Whether a string's content is at most this large. Looks no further than it must.
pub(crate) fn fits(text: &str, limit: usize) -> bool {
    let mut left = limit;
    text.chars()
        .all(|character| match left.checked_sub(of_char(character)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
}

/// Size of a value.
pub(crate) fn of(value: &Value) -> usize {
    match value {
        Value::Null => 4,
        Value::Bool(flag) => 5 - usize::from(*flag),
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => of_text(text) + 2,
        Value::Array(items) => 2 + items.iter().map(|item| of(item) + 2).sum::<usize>(),
        Value::Object(map) => of_map(map),
    }
}

/// Whether a value is at most this large.
pub(crate) fn fits_value(value: &Value, limit: usize) -> bool {
    match value {
        Value::String(text) => limit.checked_sub(2).is_some_and(|limit| fits(text, limit)),
        other => of(other) <= limit,
    }
}

/// Size of an object.
pub(crate) fn of_map(map: &Map<String, Value>) -> usize {
    2 + map
        .iter()
        .map(|(name, value)| of_field(name, value))
        .sum::<usize>()
}

/// What a field adds to an object.
pub(crate) fn of_field(name: &str, value: &Value) -> usize {
    of_text(name) + 2 + 2 + of(value) + 2
}

/// The text, or its head and tail with the number of bytes between them, no larger than `limit`. The tail gets
/// more: the last lines of a failure say most.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    // The marker with the longest count there can be.
    const MARKER: usize = 56;
    if fits(text, limit) {
        return text.to_owned();
    }
    if limit < 2 * MARKER {
        let head = &text[..head_of(text, limit.saturating_sub(6))];
        return if limit < 6 {
            String::new()
        } else {
            format!("{head}…")
        };
    }
    let room = limit - MARKER;
    let head = head_of(text, room / 3);
    let tail = tail_of(text, room - room / 3).max(head);
    let dropped = tail - head;
    format!(
        "{}\n{}\n{}",
        &text[..head],
        left_out(dropped as u64),
        &text[tail..]
    )
}

/// End of the longest head that is at most this large.
fn head_of(text: &str, limit: usize) -> usize {
    let mut left = limit;
    for (place, character) in text.char_indices() {
        match left.checked_sub(of_char(character)) {
            Some(rest) => left = rest,
            None => return place,
        }
    }
    text.len()
}

/// Start of the longest tail that is at most this large.
fn tail_of(text: &str, limit: usize) -> usize {
    let mut left = limit;
    for (place, character) in text.char_indices().rev() {
        match left.checked_sub(of_char(character)) {
            Some(rest) => left = rest,
            None => return place + character.len_utf8(),
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_at_least_as_large_as_its_compact_json() {
        let value = json!({"a": [1, -2.5, null, true, false, "é\n\u{1f600}\u{7f}"], "b": {}});
        assert!(of(&value) >= value.to_string().len());
        assert_eq!(of(&json!("é")), 8);
        assert_eq!(of(&json!({"a": 1})), r#"{"a": 1}, "#.len());
    }

    #[test]
    fn both_ends_stay_and_the_bytes_between_are_counted() {
        let text = format!("HEAD{}TAIL", "é".repeat(1000));
        let cut = cut(&text, 300);
        assert!(cut.starts_with("HEAD") && cut.ends_with("TAIL"), "{cut}");
        let kept = cut.chars().filter(|c| *c == 'é').count();
        assert!(
            cut.contains(&format!("[… {} bytes left out …]", 2 * (1000 - kept))),
            "{cut}"
        );
    }

    proptest! {
        #[test]
        fn a_cut_text_is_never_too_large(text in any::<String>(), limit in 0usize..400) {
            prop_assert!(of_text(&cut(&text, limit)) <= limit);
        }

        #[test]
        fn nothing_is_cut_that_fits(text in any::<String>()) {
            prop_assert_eq!(cut(&text, of_text(&text)), text.clone());
            prop_assert!(of_text(&text) + 2 >= Value::from(text.clone()).to_string().len());
        }
    }
}
