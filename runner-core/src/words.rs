//! Pieces of sentences that more than one room writes.

use crate::registry::nearest;

/// `1 test`, `2 tests`.
pub fn count(number: impl Into<u64>, noun: &str) -> String {
    let number = number.into();
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The hint for a word that is none of those that may stand there; `what` those are, as a plural.
pub fn suggest<T: AsRef<str>>(word: &str, candidates: impl IntoIterator<Item = T>, what: &str) -> String {
    let candidates: Vec<T> = candidates.into_iter().collect();
    let candidates: Vec<&str> = candidates.iter().map(AsRef::as_ref).collect();
    match nearest(word, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if candidates.is_empty() => format!("there are no {what}"),
        None => format!("{what}: {}", candidates.join(", ")),
    }
}

/// What stands where the middle of a text was left out, around the number of bytes.
pub const LEFT_OUT: (&str, &str) = ("[… ", " bytes left out …]");

/// [`LEFT_OUT`] with its number.
pub fn left_out(bytes: u64) -> String {
    format!("{}{bytes}{}", LEFT_OUT.0, LEFT_OUT.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!(count(0_u64, "test"), "0 tests");
        assert_eq!(count(1_u64, "test"), "1 test");
    }

    #[test]
    fn a_mistyped_word_gets_the_nearest_and_a_strange_one_all() {
        assert_eq!(
            suggest("timeot", ["timeout", "paths"], "keys"),
            "did you mean `timeout`?"
        );
        assert_eq!(
            suggest("xyz", ["timeout", "paths"], "keys"),
            "keys: timeout, paths"
        );
        assert_eq!(suggest("xyz", [""; 0], "keys"), "there are no keys");
    }
}
