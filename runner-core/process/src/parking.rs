//! What a job that waits in its own start-up and the server say to each other, over the job's channel: JSON, one message
//! a line. Everything else on the channel is the job's own and passes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A word of the job.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// It waits. `files`: what it was made of so far; should one of them change, it is not what it would be now.
    Parked { files: Vec<PathBuf> },
    /// It can go on as ordered, and does once it hears [`GO`].
    Resumed,
    /// It will not wait, or not go on: why.
    Refused(String),
}

impl Word {
    /// `None` for a line of the job's own.
    pub(super) fn read(line: &str) -> Option<Self> {
        let ours = ["{\"parked\":", "\"resumed\"", "{\"refused\":"];
        if !ours.iter().any(|beginning| line.starts_with(beginning)) {
            return None;
        }
        serde_json::from_str(line).ok()
    }
}

/// The last word to a job that can go on. Without it, it ends.
pub(super) const GO: &str = "go";

/// The one order: go on with these arguments.
#[derive(Debug, Serialize)]
pub(super) struct GoOn<'a> {
    pub(super) args: &'a [String],
}

#[cfg(test)]
mod tests {
    use super::Word;

    #[test]
    fn only_its_own_words_are_taken_from_the_channel() {
        let parked = Word::Parked {
            files: vec!["/a".into()],
        };
        assert_eq!(Word::read(r#"{"parked":{"files":["/a"]}}"#), Some(parked));
        assert_eq!(Word::read(r#""resumed""#), Some(Word::Resumed));
        assert_eq!(
            Word::read(r#"{"refused":"no"}"#),
            Some(Word::Refused("no".into()))
        );
        assert_eq!(Word::read(r#"{"e":"hello"}"#), None);
        assert_eq!(Word::read(r#"{"parked":"#), None);
    }
}
