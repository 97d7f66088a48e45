//! The words of a command line, with placeholders in them.

use crate::fault::suggest;

/// What a placeholder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placeholder {
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
    /// Cargo's words for the package and target of what is selected.
    Target,
    /// Words of libtest for the selected tests.
    Filters,
    /// nextest's expression for one selected thing.
    Filterset,
    /// Cargo's configuration by which test binaries say which they are.
    UnitMarker,
}

const PLACEHOLDERS: [(&str, Placeholder); 21] = [
    ("ids...", Placeholder::Ids),
    ("files...", Placeholder::Files),
    ("names...", Placeholder::Names),
    ("args...", Placeholder::Args),
    ("id", Placeholder::Id),
    ("file", Placeholder::File),
    ("name", Placeholder::Name),
    ("regex_of_ids", Placeholder::RegexOfIds),
    ("ids_file", Placeholder::IdsFile),
    ("keyword", Placeholder::Keyword),
    ("markers", Placeholder::Markers),
    ("max_failures", Placeholder::MaxFailures),
    ("workers", Placeholder::Workers),
    ("report", Placeholder::Report),
    ("coverage", Placeholder::Coverage),
    ("scratch", Placeholder::Scratch),
    ("python", Placeholder::Python),
    ("target...", Placeholder::Target),
    ("filters...", Placeholder::Filters),
    ("filterset", Placeholder::Filterset),
    ("unit_marker", Placeholder::UnitMarker),
];

impl Placeholder {
    /// Whether it becomes any number of words.
    pub(crate) fn spreads(self) -> bool {
        matches!(
            self,
            Self::Ids | Self::Files | Self::Names | Self::Args | Self::Target | Self::Filters
        )
    }

    /// Whether there are requests in which it has no value, in any form.
    pub(crate) fn may_be_absent(self) -> bool {
        use Placeholder::{IdsFile, Keyword, Markers, MaxFailures, RegexOfIds, UnitMarker, Workers};
        matches!(
            self,
            IdsFile | Keyword | Markers | MaxFailures | RegexOfIds | UnitMarker | Workers
        )
    }

    /// Whether it speaks of one test: in `single` of the only one, in a group of a `run` of each in turn.
    pub(crate) fn is_of_one(self) -> bool {
        matches!(self, Self::Id | Self::File | Self::Name | Self::Filterset)
    }

    /// Whether its value comes from whoever selects tests, and so must not be taken for an option.
    pub(crate) fn is_selected(self) -> bool {
        use Placeholder::{Files, Filters, Id, Ids, Keyword, Markers, Name, Names};
        matches!(
            self,
            Ids | Files | Names | Filters | Id | Placeholder::File | Name | Keyword | Markers
        )
    }

    /// Whether it narrows a run to what is selected.
    pub(crate) fn narrows(self) -> bool {
        use Placeholder::{
            File, Files, Filters, Filterset, Id, Ids, IdsFile, Name, Names, RegexOfIds, Target,
        };
        matches!(
            self,
            Ids | Files | Names | RegexOfIds | IdsFile | Id | File | Name | Target | Filters | Filterset
        )
    }

    pub(crate) fn name(self) -> &'static str {
        let found = PLACEHOLDERS.iter().find(|(_, placeholder)| *placeholder == self);
        found.map_or("", |(name, _)| name)
    }
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Text(String),
    Placeholder(Placeholder),
    /// With what stands there instead when it has no value: `{max_failures|all}`.
    PlaceholderOr(Placeholder, String),
}

/// One word of a command line.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Template(pub(crate) Vec<Segment>);

/// One item of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arg {
    Template(Template),
    /// Words that are there together, and only if each of their placeholders has a value.
    Group(Vec<Template>),
}

impl Arg {
    /// Whether it is there once for each selected test or file.
    pub(crate) fn is_repeated(&self) -> bool {
        matches!(self, Self::Group(words) if words.iter().flat_map(Template::placeholders).any(Placeholder::is_of_one))
    }

    pub(crate) fn words(&self) -> &[Template] {
        match self {
            Self::Template(word) => std::slice::from_ref(word),
            Self::Group(words) => words,
        }
    }
}

impl Template {
    /// Reads a word. The error is a message and a hint.
    pub(crate) fn parse(text: &str) -> Result<Self, (String, String)> {
        let mut segments = Vec::new();
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
                let (segment, after) = placeholder(from)?;
                if !plain.is_empty() {
                    segments.push(Segment::Text(std::mem::take(&mut plain)));
                }
                segments.push(segment);
                rest = after;
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            segments.push(Segment::Text(plain));
        }
        let word = Self(segments);
        let spreading = word.placeholders().find(|placeholder| placeholder.spreads());
        match spreading {
            Some(placeholder) if word.0.len() > 1 => Err((
                format!(
                    "{{{}}} becomes several words, so it must stand alone",
                    placeholder.name()
                ),
                format!("write \"{{{}}}\" as an item of its own", placeholder.name()),
            )),
            _ => Ok(word),
        }
    }

    pub(crate) fn placeholders(&self) -> impl Iterator<Item = Placeholder> + '_ {
        self.0.iter().filter_map(|segment| match segment {
            Segment::Placeholder(placeholder) | Segment::PlaceholderOr(placeholder, _) => Some(*placeholder),
            Segment::Text(_) => None,
        })
    }

    /// Placeholders that have no value of their own to fall back on.
    pub(crate) fn bare_placeholders(&self) -> impl Iterator<Item = Placeholder> + '_ {
        self.0.iter().filter_map(|segment| match segment {
            Segment::Placeholder(placeholder) => Some(*placeholder),
            _ => None,
        })
    }
}

/// The placeholder at the start of `from`, and what follows it.
fn placeholder(from: &str) -> Result<(Segment, &str), (String, String)> {
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
    if let Some((_, placeholder)) = PLACEHOLDERS.iter().find(|(known, _)| *known == name) {
        return match other {
            None => Ok((Segment::Placeholder(*placeholder), after)),
            Some(other) if placeholder.may_be_absent() => {
                Ok((Segment::PlaceholderOr(*placeholder, other), after))
            }
            Some(_) => Err((
                format!("{{{name}}} cannot have another value"),
                format!("write {{{name}}}"),
            )),
        };
    }
    let names: Vec<&str> = PLACEHOLDERS.iter().map(|(name, _)| *name).collect();
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
        let word = Template::parse("--out={report}.{{x}}").unwrap();
        let text = |text: &str| Segment::Text(text.to_owned());
        assert_eq!(
            word.0,
            [
                text("--out="),
                Segment::Placeholder(Placeholder::Report),
                text(".{x}")
            ]
        );
        assert_eq!(
            Template::parse("{ids...}").unwrap().0,
            [Segment::Placeholder(Placeholder::Ids)]
        );
        assert_eq!(Template::parse("").unwrap().0, []);
    }

    #[test]
    fn an_unknown_placeholder_names_the_nearest_right_one() {
        for (text, near) in [
            ("{reprot}", "`report`"),
            ("{ids}", "`id`"),
            ("{keywords}", "`keyword`"),
        ] {
            let (message, hint) = Template::parse(text).unwrap_err();
            assert!(message.contains(text), "{message}");
            assert!(hint.contains(near), "{text}: {hint}");
        }
        assert!(Template::parse("{report").unwrap_err().0.contains("without"));
        assert!(Template::parse("x{ids...}").unwrap_err().0.contains("alone"));
    }
}
