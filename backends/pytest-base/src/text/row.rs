//! What pytest says of one test while the tests run.

use runner_core::model::Outcome;

use super::word::Word;

/// What the lines of one test said, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    /// As printed. Empty where no line told it.
    pub(crate) id: String,
    /// A line that begins with the id, where a test's print hid its end.
    pub(crate) hidden_id: Option<String>,
    pub(crate) words: Vec<Word>,
    /// As printed, perhaps cut short.
    pub(crate) reason: Option<String>,
    /// Descriptions and outcomes of its parts.
    pub(crate) parts: Vec<(String, Outcome)>,
    pub(crate) worker: Option<String>,
    pub(crate) exact: bool,
    /// The word was none of pytest's: a plug-in's, for an outcome only the end tells.
    pub(crate) unknown_word: bool,
}

impl Row {
    /// The outcome by pytest's words: a failed part or call outweighs a failed teardown, that any other verdict. Of
    /// those an unexpected pass counts, since only a call has one, else the first, since a teardown may be skipped or
    /// fail as expected as well. `None` where no word is a verdict (a rerun that never came).
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let parts_failed = self.parts.iter().any(|(_, outcome)| outcome.is_bad());
        let verdicts = || {
            self.words.iter().filter_map(|word| match word {
                Word::Is(outcome) => Some(*outcome),
                Word::Rerun | Word::Sub(_) => None,
            })
        };
        let first = verdicts().next()?;
        if parts_failed {
            return Some(Outcome::Failed);
        }
        let telling = [Outcome::Failed, Outcome::Error, Outcome::Xpassed]
            .into_iter()
            .find(|outcome| verdicts().any(|o| o == *outcome));
        Some(telling.unwrap_or(first))
    }
}
