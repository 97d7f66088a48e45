//! Values of the file that may be written in more than one way.
//!
//! Serde's `untagged` would do it in a line, and lose the place and the reason of every error in it.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// One name, or a list of names.
#[derive(Debug)]
pub(super) struct NameList {
    pub(super) names: Vec<String>,
    /// Written as a list, so that a name's own place is `key[n]`.
    pub(super) is_list: bool,
}

/// A name, or `false`.
#[derive(Debug)]
pub(super) enum CoverageWord {
    Off,
    Named(String),
}

/// A duration with its unit, or a number of seconds.
#[derive(Debug)]
pub(super) enum DurationWord {
    Text(String),
    Seconds(f64),
}

/// A size with its unit, or a number of bytes.
#[derive(Debug)]
pub(super) enum SizeWord {
    Text(String),
    Bytes(u64),
}

/// A `[backend.NAME]` table. Which keys it has is the business of the backend that its `kind` names.
#[derive(Debug)]
pub(super) struct BackendTable(pub(super) Map<String, Value>);

impl<'de> Deserialize<'de> for NameList {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = NameList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a list of names")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<NameList, E> {
                Ok(NameList {
                    names: vec![name.to_owned()],
                    is_list: false,
                })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<NameList, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = items.next_element()? {
                    names.push(name);
                }
                Ok(NameList { names, is_list: true })
            }
        }
        source.deserialize_any(Names)
    }
}

impl<'de> Deserialize<'de> for CoverageWord {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Word;
        impl Visitor<'_> for Word {
            type Value = CoverageWord;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a backend's name or `false`")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<CoverageWord, E> {
                if on {
                    return Err(E::invalid_value(de::Unexpected::Bool(true), &self));
                }
                Ok(CoverageWord::Off)
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<CoverageWord, E> {
                Ok(CoverageWord::Named(name.to_owned()))
            }
        }
        source.deserialize_any(Word)
    }
}

impl<'de> Deserialize<'de> for DurationWord {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Word;
        impl Visitor<'_> for Word {
            type Value = DurationWord;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration such as \"5m\", or a number of seconds")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<DurationWord, E> {
                Ok(DurationWord::Text(text.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<DurationWord, E> {
                Ok(DurationWord::Seconds(seconds as f64))
            }

            fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<DurationWord, E> {
                Ok(DurationWord::Seconds(seconds))
            }
        }
        source.deserialize_any(Word)
    }
}

impl<'de> Deserialize<'de> for SizeWord {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Word;
        impl Visitor<'_> for Word {
            type Value = SizeWord;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"512MB\", or a number of bytes")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<SizeWord, E> {
                Ok(SizeWord::Text(text.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<SizeWord, E> {
                let bytes = u64::try_from(bytes)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(bytes), &self))?;
                Ok(SizeWord::Bytes(bytes))
            }
        }
        source.deserialize_any(Word)
    }
}

impl<'de> Deserialize<'de> for BackendTable {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Map::deserialize(source).map(Self)
    }
}

/// The schema of a type that is written in one of several ways. Inlined, so that the key's own text stays beside it.
macro_rules! schema {
    ($type:ty, $name:literal, $($schema:tt)*) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($($schema)*)
            }
        }
    };
}

schema!(NameList, "NameList", {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": true}
    ]
});
schema!(CoverageWord, "CoverageWord", {"anyOf": [{"type": "string"}, {"const": false}]});
schema!(DurationWord, "DurationWord", {
    "anyOf": [
        {"type": "string", "pattern": "^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$", "minLength": 2},
        {"type": "number", "minimum": 0}
    ],
    "examples": ["5m", "90s", "1h30m", "500ms", 300]
});
schema!(SizeWord, "SizeWord", {
    "anyOf": [
        {"type": "string", "pattern": "^[0-9]+(k|[KMG]i?|T)?B$"},
        {"type": "integer", "minimum": 0}
    ],
    "examples": ["512MB", "1GiB", 1_000_000]
});
schema!(BackendTable, "BackendTable", {
    "type": "object",
    "description": "A backend of your own. `kind` says what it is; the other keys depend on it.",
    "properties": {"kind": {"type": "string", "description": "What this backend is: `command` runs a command line that leaves a report; `exec` is a program that speaks the plug-in protocol; `library` is a shared library that does."}},
    "required": ["kind"]
});
