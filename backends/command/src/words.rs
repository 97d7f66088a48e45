//! The words of a command line, with placeholders in them.

use crate::fault::suggest;

/// What a placeholder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Each selected id or path as a word of its own.
    Ids,
    /// The files and folders of the selection, each once.
    Files,
    /// The selected ids without their files.
    Names,
    /// Words for the framework: the suite's `options.args`, then what a person typed after `--`.
    Args,
    Id,
    File,
    Name,
    RegexOfIds,
    IdsFile,
    Keyword,
    Markers,
    MaxFailures,
    Workers,
    Report,
    Coverage,
    Scratch,
    Python,
}

const SLOTS: [(&str, Slot); 17] = [
    ("ids...", Slot::Ids),
    ("files...", Slot::Files),
    ("names...", Slot::Names),
    ("args...", Slot::Args),
    ("id", Slot::Id),
    ("file", Slot::File),
    ("name", Slot::Name),
    ("regex_of_ids", Slot::RegexOfIds),
    ("ids_file", Slot::IdsFile),
    ("keyword", Slot::Keyword),
    ("markers", Slot::Markers),
    ("max_failures", Slot::MaxFailures),
    ("workers", Slot::Workers),
    ("report", Slot::Report),
    ("coverage", Slot::Coverage),
    ("scratch", Slot::Scratch),
    ("python", Slot::Python),
];

impl Slot {
    /// Whether it becomes any number of words.
    pub(crate) fn spreads(self) -> bool {
        matches!(self, Self::Ids | Self::Files | Self::Names | Self::Args)
    }

    /// Whether there are requests in which it has no value, in any form.
    pub(crate) fn may_be_absent(self) -> bool {
        use Slot::{IdsFile, Keyword, Markers, MaxFailures, RegexOfIds, Workers};
        matches!(
            self,
            IdsFile | Keyword | Markers | MaxFailures | RegexOfIds | Workers
        )
    }

    /// Whether it speaks of one test: in `single` of the only one, in a group of a `run` of each in turn.
    pub(crate) fn is_of_one(self) -> bool {
        matches!(self, Self::Id | Self::File | Self::Name)
    }

    /// Whether its value comes from whoever selects tests, and so must not be taken for an option.
    pub(crate) fn is_selected(self) -> bool {
        use Slot::{Files, Id, Ids, Keyword, Markers, Name, Names};
        matches!(
            self,
            Ids | Files | Names | Id | Slot::File | Name | Keyword | Markers
        )
    }

    pub(crate) fn name(self) -> &'static str {
        let found = SLOTS.iter().find(|(_, slot)| *slot == self);
        found.map_or("", |(name, _)| name)
    }
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Slot(Slot),
    /// With what stands there instead when it has no value: `{max_failures|all}`.
    SlotOr(Slot, String),
}

/// One word of a command line.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Word(pub(crate) Vec<Piece>);

/// One item of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Word(Word),
    /// Words that are there together, and only if each of their placeholders has a value.
    Group(Vec<Word>),
}

impl Item {
    /// Whether it is there once for each selected test or file.
    pub(crate) fn is_repeated(&self) -> bool {
        matches!(self, Self::Group(words) if words.iter().flat_map(Word::slots).any(Slot::is_of_one))
    }

    pub(crate) fn words(&self) -> &[Word] {
        match self {
            Self::Word(word) => std::slice::from_ref(word),
            Self::Group(words) => words,
        }
    }
}

impl Word {
    /// Reads a word. The error is a message and a hint.
    pub(crate) fn parse(text: &str) -> Result<Self, (String, String)> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                plain.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix('}') {
                plain.push('}');
                rest = after.strip_prefix('}').unwrap_or(after);
            } else {
                let (piece, after) = placeholder(from)?;
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(piece);
                rest = after;
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        let word = Self(pieces);
        let spreading = word.slots().find(|slot| slot.spreads());
        match spreading {
            Some(slot) if word.0.len() > 1 => Err((
                format!(
                    "{{{}}} becomes several words, so it must stand alone",
                    slot.name()
                ),
                format!("write \"{{{}}}\" as an item of its own", slot.name()),
            )),
            _ => Ok(word),
        }
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Slot(slot) | Piece::SlotOr(slot, _) => Some(*slot),
            Piece::Text(_) => None,
        })
    }

    /// Placeholders that have no value of their own to fall back on.
    pub(crate) fn bare_slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Slot(slot) => Some(*slot),
            _ => None,
        })
    }
}

/// The placeholder at the start of `from`, and what follows it.
fn placeholder(from: &str) -> Result<(Piece, &str), (String, String)> {
    let Some(end) = from.find('}') else {
        return Err((
            "has a `{` without its `}`".to_owned(),
            "write `{{` for a brace that is meant as one".to_owned(),
        ));
    };
    let (inner, after) = (&from[1..end], &from[end + 1..]);
    let (name, other) = match inner.split_once('|') {
        Some((name, other)) => (name, Some(other.to_owned())),
        None => (inner, None),
    };
    if let Some((_, slot)) = SLOTS.iter().find(|(known, _)| *known == name) {
        return match other {
            None => Ok((Piece::Slot(*slot), after)),
            Some(other) if slot.may_be_absent() => Ok((Piece::SlotOr(*slot, other), after)),
            Some(_) => Err((
                format!("{{{name}}} cannot have another value"),
                format!("write {{{name}}}"),
            )),
        };
    }
    let names: Vec<&str> = SLOTS.iter().map(|(name, _)| *name).collect();
    let hint = suggest(name, &names, "placeholders");
    Err((
        format!("there is no placeholder {{{name}}}"),
        format!("{hint} (`{{{{` is a brace that is meant as one)"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_whole_words_or_parts_and_braces_can_be_written() {
        let word = Word::parse("--out={report}.{{x}}").unwrap();
        let text = |text: &str| Piece::Text(text.to_owned());
        assert_eq!(word.0, [text("--out="), Piece::Slot(Slot::Report), text(".{x}")]);
        assert_eq!(Word::parse("{ids...}").unwrap().0, [Piece::Slot(Slot::Ids)]);
        assert_eq!(Word::parse("").unwrap().0, []);
    }

    #[test]
    fn an_unknown_placeholder_names_the_nearest_right_one() {
        for (text, near) in [
            ("{reprot}", "`report`"),
            ("{ids}", "`id`"),
            ("{keywords}", "`keyword`"),
        ] {
            let (message, hint) = Word::parse(text).unwrap_err();
            assert!(message.contains(text), "{message}");
            assert!(hint.contains(near), "{text}: {hint}");
        }
        assert!(Word::parse("{report").unwrap_err().0.contains("without"));
        assert!(Word::parse("x{ids...}").unwrap_err().0.contains("alone"));
    }
}
