//! What is wrong with a file, before it is known which file: the error of every step of reading it.

use std::fmt;

use serde::de;

use super::settings::Place;
pub(super) use runner_core::words::suggest;

/// One fault, with the place it was found at.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) key: Option<String>,
    pub(super) place: Option<Place>,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Fault {
    pub(super) fn at(key: impl Into<String>, place: Place, message: impl Into<String>) -> Self {
        Self {
            key: Some(key.into()),
            place: Some(place),
            message: message.into(),
            hint: None,
        }
    }

    #[must_use]
    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the place, unless a deeper level already knew it.
    #[must_use]
    pub(super) fn or_at(mut self, key: &str, place: Place) -> Self {
        if self.place.is_none() {
            self.place = Some(place);
            if !key.is_empty() {
                self.key = Some(key.to_owned());
            }
        }
        self
    }

    fn bare(message: impl Into<String>) -> Self {
        Self {
            key: None,
            place: None,
            message: message.into(),
            hint: None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::bare(message.to_string())
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_value(found, expected)
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::bare(format!("must be {expected}, not {}", in_words(&found)))
            .with_hint(format!("write {expected}, or leave the key out"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::bare(format!("there is no key `{field}` here")).with_hint(suggest(
            field,
            expected.iter().copied(),
            "keys that may stand here",
        ))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::bare(format!("the key `{field}` is missing"))
            .with_hint(format!("add a line `{field} = …` to this table"))
    }
}

fn in_words(found: &de::Unexpected<'_>) -> String {
    match found {
        de::Unexpected::Bool(flag) => flag.to_string(),
        de::Unexpected::Signed(number) => number.to_string(),
        de::Unexpected::Unsigned(number) => number.to_string(),
        de::Unexpected::Float(number) => number.to_string(),
        de::Unexpected::Str(text) => format!("{text:?}"),
        de::Unexpected::Seq => "a list".to_owned(),
        de::Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}
