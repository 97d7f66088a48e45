//! The verdict words of pytest's verbose progress lines and of its short summary.

use std::path::Path;

use runner_core::model::Outcome;
use runner_core::nodeid::NodeId;

/// What one progress line says of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A verdict of the test itself. `Error` is a failed set-up or teardown.
    Is(Outcome),
    /// Tried and to be tried again.
    Rerun,
    /// A part of the test.
    Sub(Outcome),
}

const WORDS: [(&str, Word); 9] = [
    ("PASSED", Word::Is(Outcome::Passed)),
    ("FAILED", Word::Is(Outcome::Failed)),
    ("ERROR", Word::Is(Outcome::Error)),
    ("SKIPPED", Word::Is(Outcome::Skipped)),
    ("XFAIL", Word::Is(Outcome::Xfailed)),
    ("XPASS", Word::Is(Outcome::Xpassed)),
    ("RERUN", Word::Rerun),
    // Other spellings that plug-ins print.
    ("RETRY", Word::Rerun),
    ("SKIP", Word::Is(Outcome::Skipped)),
];

/// pytest 9's words stand before the part's description, the older plug-in's behind it.
const SUB_WORDS: [(&str, Outcome); 10] = [
    ("SUBPASSED", Outcome::Passed),
    ("SUBFAILED", Outcome::Failed),
    ("SUBSKIPPED", Outcome::Skipped),
    ("SUBXFAILED", Outcome::Xfailed),
    ("SUBPASS", Outcome::Passed),
    ("SUBFAIL", Outcome::Failed),
    ("SUBSKIP", Outcome::Skipped),
    ("SUBXFAIL", Outcome::Xfailed),
    ("SUBXPASS", Outcome::Xpassed),
    ("SUBERROR", Outcome::Failed),
];

/// The words behind which pytest puts a reason in parentheses.
const WITH_REASON: [(&str, Outcome); 3] = [
    ("SKIPPED (", Outcome::Skipped),
    ("XFAIL (", Outcome::Xfailed),
    ("XPASS (", Outcome::Xpassed),
];

/// A progress line's text, taken apart. `before` is verbatim: `"ID "` in a line of one piece, empty where the word
/// begins the line, anything where a test printed in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict<'a> {
    pub(crate) before: &'a str,
    pub(crate) word: Word,
    /// As printed, perhaps cut short with `...`.
    pub(crate) reason: Option<&'a str>,
}

/// Finds the verdict at the end of a progress line (without its counter).
pub(crate) fn verdict(text: &str) -> Option<Verdict<'_>> {
    sub_verdict(text)
        .or_else(|| bare_verdict(text))
        .or_else(|| reasoned_verdict(text))
}

fn bare_verdict(text: &str) -> Option<Verdict<'_>> {
    WORDS.iter().find_map(|&(name, word)| {
        let before = text.strip_suffix(name)?;
        Some(Verdict {
            before,
            word,
            reason: None,
        })
    })
}

/// `ID SKIPPED (why)`. Where the pattern occurs more than once (in an id, in a reason), the first place is taken
/// where what stands before looks like a whole id.
fn reasoned_verdict(text: &str) -> Option<Verdict<'_>> {
    let inner = text.strip_suffix(')')?;
    let mut places: Vec<(usize, &str, Outcome)> = WITH_REASON
        .iter()
        .flat_map(|&(name, outcome)| inner.match_indices(name).map(move |(at, _)| (at, name, outcome)))
        .collect();
    places.sort_unstable_by_key(|&(at, ..)| at);
    let whole =
        |&&(at, ..): &&(usize, &str, Outcome)| at == 0 || one_piece(&inner[..at]).is_some_and(plausible);
    let &(at, name, outcome) = places.iter().find(whole).or(places.first())?;
    Some(Verdict {
        before: &text[..at],
        word: Word::Is(outcome),
        reason: Some(&inner[at + name.len()..]),
    })
}

/// `before` keeps the description too: which part of it is the id is known when the test's own verdict comes.
fn sub_verdict(text: &str) -> Option<Verdict<'_>> {
    let sub = |outcome| Verdict {
        before: text,
        word: Word::Sub(outcome),
        reason: None,
    };
    for (name, outcome) in SUB_WORDS {
        if text
            .strip_suffix(name)
            .is_some_and(|before| before.ends_with(' '))
        {
            return Some(sub(outcome));
        }
    }
    if bare_verdict(text).is_some() {
        return None;
    }
    let places = SUB_WORDS[..4].iter().filter_map(|&(name, outcome)| {
        let at = text.find(&format!(" {name}"))?;
        let described = text[at + 1 + name.len()..].starts_with(['(', '[']);
        described.then_some((at, outcome))
    });
    let at_start = SUB_WORDS[..4]
        .iter()
        .find(|(name, _)| {
            text.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(['(', '[']))
        })
        .map(|&(_, outcome)| (0, outcome));
    let (_, outcome) = at_start.or_else(|| places.min_by_key(|&(at, _)| at))?;
    Some(sub(outcome))
}

/// The word at the beginning of an xdist progress line or of a line of the short summary, and what follows its blank.
pub(crate) fn leading(text: &str) -> Option<(Word, &str)> {
    for (name, word) in WORDS {
        if let Some(rest) = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')) {
            return Some((word, rest));
        }
    }
    for (name, outcome) in &SUB_WORDS[..4] {
        if text
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['(', '[']))
        {
            return Some((Word::Sub(*outcome), text));
        }
    }
    None
}

/// The verdict at the beginning of a line, with a print glued to it (`PASSEDclosing`).
pub(crate) fn glued(line: &str) -> Option<Word> {
    let (_, word) = WORDS.iter().find(|(name, _)| line.starts_with(name))?;
    Some(*word)
}

/// Whether a line of an older sub-test plug-in (`ID [what] SUBFAIL`, or with the word in the middle) speaks of a part.
pub(crate) fn sub_anywhere(text: &str) -> Option<Outcome> {
    let words = SUB_WORDS.iter().filter_map(|&(name, outcome)| {
        let at = text.find(name)?;
        let alone = text[..at].chars().next_back().is_none_or(|c| c == ' ')
            && text[at + name.len()..]
                .chars()
                .next()
                .is_none_or(|c| " ([".contains(c));
        alone.then_some((at, outcome))
    });
    words.min_by_key(|&(at, _)| at).map(|(_, outcome)| outcome)
}

/// The id of a prefix as pytest writes it: the id and exactly one blank.
pub(crate) fn one_piece(before: &str) -> Option<&str> {
    before.strip_suffix(' ').filter(|id| !id.is_empty())
}

/// Whether a text can be a whole id: closed brackets, and blanks only where a file or a parameter may have them (or a
/// name, outside of Python: what follows a function's name is a plug-in's word of two words).
pub(crate) fn plausible(id: &str) -> bool {
    let id = NodeId::of(id);
    let Some((name, parameters)) = id.names_and_parameters() else {
        return false;
    };
    let file = id.file();
    let python = Path::new(file)
        .extension()
        .is_some_and(|extension| extension == "py");
    let named = !file.is_empty() && !file.starts_with(' ') && id.rest() != "::";
    let closed = parameters.is_empty() || parameters.ends_with(']');
    named && closed && !(python && name.contains(' '))
}

/// Whether a complete line is the beginning of a progress line: an id and one blank.
pub(crate) fn opening(line: &str) -> Option<&str> {
    one_piece(line).filter(|id| id.contains("::") && plausible(id))
}

/// The id that a line begins with, where something was written behind it before its line ended. `None` also where it
/// could be read in two ways.
pub(crate) fn begun(line: &str) -> Option<&str> {
    let from = NodeId::of(line).names().map(|names| line.len() - names.len())?;
    let mut ends = line[from..].match_indices(' ').map(|(at, _)| from + at);
    let end = ends.find(|&end| plausible(&line[..end]))?;
    let (id, rest) = line.split_at(end);
    (!id.contains('[') || !rest.contains("] ")).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(&str, Word, Option<&str>)> {
        verdict(text).map(|v| (v.before, v.word, v.reason))
    }

    #[test]
    fn the_last_word_decides_whatever_the_id_holds() {
        let is = Word::Is;
        assert_eq!(
            parts("a.py::t PASSED"),
            Some(("a.py::t ", is(Outcome::Passed), None))
        );
        assert_eq!(
            parts("a.py::t[x PASSED (y)] FAILED"),
            Some(("a.py::t[x PASSED (y)] ", is(Outcome::Failed), None))
        );
        assert_eq!(
            parts("a.py::t[SKIPPED (y)] SKIPPED (no XFAIL (z))"),
            Some((
                "a.py::t[SKIPPED (y)] ",
                is(Outcome::Skipped),
                Some("no XFAIL (z)")
            ))
        );
        assert_eq!(parts("a.py::t"), None);
        assert_eq!(
            parts("SKIPPED (idle)"),
            Some(("", is(Outcome::Skipped), Some("idle")))
        );
        assert_eq!(
            parts("printed textPASSED"),
            Some(("printed text", is(Outcome::Passed), None))
        );
    }

    #[test]
    fn a_word_of_two_words_is_no_part_of_the_id() {
        assert!(!plausible("a.py::t NOT"));
        assert!(!plausible("a.py::t[x] NOT"));
        assert!(plausible("a.py::t[x y]"));
        assert!(plausible("a b.py::t"));
        assert!(plausible("a.yaml::two words"));
    }

    #[test]
    fn what_follows_an_id_on_its_line_is_not_the_ids() {
        assert_eq!(begun("a.py::t +++ Timeout +++"), Some("a.py::t"));
        assert_eq!(begun("a.py::t[x y] +++ Timeout +++"), Some("a.py::t[x y]"));
        assert_eq!(begun("a.py::t[x] y] +++ Timeout +++"), None);
        assert_eq!(begun("a.py::t"), None);
    }

    #[test]
    fn a_part_is_told_from_its_test() {
        let sub = |text| verdict(text).map(|v| v.word);
        assert_eq!(
            sub("a.py::t SUBFAILED[step] (n=1)"),
            Some(Word::Sub(Outcome::Failed))
        );
        assert_eq!(
            sub("a.py::t SUBPASSED(<subtest>)"),
            Some(Word::Sub(Outcome::Passed))
        );
        assert_eq!(
            sub("a.py::t [step] (n=1) SUBFAIL"),
            Some(Word::Sub(Outcome::Failed))
        );
        assert_eq!(
            sub("a.py::t[ SUBFAILED(x)] PASSED"),
            Some(Word::Is(Outcome::Passed))
        );
        assert_eq!(sub("a.py::t[SUBFAIL] PASSED"), Some(Word::Is(Outcome::Passed)));
    }
}
