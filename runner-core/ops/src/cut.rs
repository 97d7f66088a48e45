//! Cutting long text: head and tail stay, what was dropped is counted.

use runner_core::words::left_out;

/// The text, or its head and tail with the number of bytes dropped between them, in at most about `limit`
/// characters. The tail gets more: the last lines of a failure say most.
pub fn middle(text: &str, limit: usize) -> String {
    let total = text.chars().count();
    if total <= limit {
        return text.to_owned();
    }
    let head_chars = limit / 3;
    let tail_chars = limit - head_chars;
    let head_end = byte_of(text, head_chars);
    let tail_start = byte_of(text, total - tail_chars);
    let dropped = tail_start - head_end;
    format!(
        "{}\n{}\n{}",
        &text[..head_end],
        left_out(dropped as u64),
        &text[tail_start..]
    )
}

/// The last `limit` characters.
pub fn tail(text: &str, limit: usize) -> &str {
    let total = text.chars().count();
    &text[byte_of(text, total.saturating_sub(limit))..]
}

/// The first `limit` characters, for an argument that an error repeats.
pub fn quote_truncated(text: &str) -> String {
    const LIMIT: usize = 200;
    let shown: String = text
        .chars()
        .take(LIMIT)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if text.chars().nth(LIMIT).is_some() {
        format!("{shown}…")
    } else {
        shown
    }
}

fn byte_of(text: &str, chars: usize) -> usize {
    text.char_indices()
        .nth(chars)
        .map_or(text.len(), |(byte, _)| byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_text_is_left_alone() {
        assert_eq!(middle("abc", 3), "abc");
        assert_eq!(tail("abc", 3), "abc");
    }

    #[test]
    fn long_text_keeps_both_ends_and_counts_the_bytes_between() {
        let text = format!("HEAD{}TAIL", "é".repeat(100));
        let cut = middle(&text, 30);
        assert!(cut.starts_with("HEAD") && cut.ends_with("TAIL"), "{cut}");
        assert!(cut.contains("[… 156 bytes left out …]"), "{cut}");
    }

    #[test]
    fn echoed_arguments_are_short_and_printable() {
        assert_eq!(quote_truncated("a\0b"), "a\u{fffd}b");
        assert!(quote_truncated(&"k".repeat(300_000)).chars().count() <= 201);
    }

    proptest! {
        #[test]
        fn cutting_never_panics_and_bounds_the_length(text in "\\PC{0,200}", limit in 0usize..80) {
            prop_assert!(middle(&text, limit).chars().count() <= limit.max(text.chars().count().min(limit)) + 60);
            prop_assert!(tail(&text, limit).chars().count() <= limit);
        }
    }
}
