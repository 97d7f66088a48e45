//! JSON as it is written by languages whose texts may hold half a surrogate pair (JavaScript, Python).

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// Reads JSON. Half a surrogate pair, for which Unicode has no character, becomes U+FFFD: a text that was cut through an
/// emoji must not cost the line that it stands in.
pub(super) fn from_str<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let read = serde_json::from_str(text);
    match (&read, whole_pairs(text)) {
        (Err(_), Cow::Owned(mended)) => serde_json::from_str(&mended),
        _ => read,
    }
}

/// The same for a whole report.
pub(super) fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes).or_else(|_| from_str(&String::from_utf8_lossy(bytes)))
}

/// The text with each escaped half of a surrogate pair replaced.
fn whole_pairs(text: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        let start = at + found;
        at = start + text[start + 1..].chars().next().map_or(1, |c| 1 + c.len_utf8());
        let Some(half) = escaped(&text[start..]) else {
            continue;
        };
        at = start + 6;
        let follows = escaped(&text[at..]).is_some_and(|next| (0xDC00..0xE000).contains(&next));
        match half {
            0xD800..0xDC00 if follows => at += 6,
            0xD800..0xE000 => {
                mended.push_str(&text[done..start]);
                mended.push_str("\\ufffd");
                done = at;
            }
            _ => {}
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(&text[done..]);
    Cow::Owned(mended)
}

/// The code of the `\uXXXX` that a text begins with.
fn escaped(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_costs_no_line_and_whole_ones_stay() {
        for (written, read) in [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\ude00b""#, "\u{fffd}b"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\ud83d\ude00""#, "\u{1f600}"),
            (r#""\\ud83d \ud83d""#, "\\ud83d \u{fffd}"),
            (r#""\ud83dé""#, "\u{fffd}é"),
        ] {
            assert_eq!(from_str::<String>(written).unwrap(), read, "{written}");
            assert_eq!(
                from_slice::<String>(written.as_bytes()).unwrap(),
                read,
                "{written}"
            );
        }
        assert!(from_str::<String>(r#""\ud83d"#).is_err());
    }
}
