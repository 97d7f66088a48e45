//! The parsed file as a tree in which every value knows its key and its place.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::Fault;
use super::settings::Place;

/// One value of the file.
#[derive(Debug)]
pub(super) struct Node {
    /// Dotted, from the top; items of a list as `key[0]`. Empty for the file itself.
    pub(super) key: String,
    /// Of the value; of the key for a table, which may have no text of its own.
    pub(super) place: Place,
    pub(super) value: NodeValue,
}

#[derive(Debug)]
pub(super) enum NodeValue {
    Text(String),
    Whole(i64),
    Fraction(f64),
    Flag(bool),
    Date,
    List(Vec<Node>),
    /// In the file's order.
    Table(Vec<Entry>),
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Of the key.
    pub(super) place: Place,
    pub(super) node: Node,
}

impl Node {
    /// Parses a whole file.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        let lines = LineIndex::new(text);
        let table = DeTable::parse(text).map_err(|error| syntax_fault(&error, &lines))?;
        let top = Place { line: 1, column: 1 };
        build_table(String::new(), top, table.into_inner(), &lines)
    }

    /// Where every key and every list item stands, by dotted key.
    pub(super) fn places(&self) -> BTreeMap<String, Place> {
        let mut places = BTreeMap::new();
        self.collect(&mut places);
        places
    }

    fn collect(&self, places: &mut BTreeMap<String, Place>) {
        if !self.key.is_empty() {
            places.insert(self.key.clone(), self.place);
        }
        match &self.value {
            NodeValue::List(items) => items.iter().for_each(|item| item.collect(places)),
            NodeValue::Table(entries) => entries.iter().for_each(|entry| entry.node.collect(places)),
            _ => {}
        }
    }

    /// What it is, with its article, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match &self.value {
            NodeValue::Text(_) => "a string",
            NodeValue::Whole(_) => "a whole number",
            NodeValue::Fraction(_) => "a number with a fraction",
            NodeValue::Flag(_) => "true or false",
            NodeValue::Date => "a date",
            NodeValue::List(_) => "a list",
            NodeValue::Table(_) => "a table",
        }
    }
}

/// A key as it must be written in a dotted key: quoted unless it is bare.
pub(super) fn dotted(parent: &str, name: &str) -> String {
    let bare = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    let name = if bare {
        name.to_owned()
    } else {
        format!("{name:?}")
    };
    if parent.is_empty() {
        name
    } else {
        format!("{parent}.{name}")
    }
}

fn build_table(key: String, place: Place, table: DeTable<'_>, lines: &LineIndex<'_>) -> Result<Node, Fault> {
    let mut entries = Vec::new();
    for (name, value) in table {
        let place = lines.place(name.span().start);
        let name = name.into_inner().into_owned();
        let node = build(dotted(&key, &name), place, value, lines)?;
        entries.push(Entry { name, place, node });
    }
    entries.sort_by_key(|entry| (entry.place.line, entry.place.column));
    let value = NodeValue::Table(entries);
    Ok(Node { key, place, value })
}

fn build(
    key: String,
    key_place: Place,
    value: Spanned<DeValue<'_>>,
    lines: &LineIndex<'_>,
) -> Result<Node, Fault> {
    let place = lines.place(value.span().start);
    let value = match value.into_inner() {
        DeValue::Table(table) => return build_table(key, key_place, table, lines),
        DeValue::Array(items) => NodeValue::List(
            items
                .into_iter()
                .enumerate()
                .map(|(number, item)| {
                    let place = lines.place(item.span().start);
                    build(format!("{key}[{number}]"), place, item, lines)
                })
                .collect::<Result<_, _>>()?,
        ),
        DeValue::String(text) => NodeValue::Text(text.into_owned()),
        DeValue::Boolean(flag) => NodeValue::Flag(flag),
        DeValue::Datetime(_) => NodeValue::Date,
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => NodeValue::Whole(number),
            Err(_) => {
                return Err(Fault::at(key, place, format!("{number} is too large a number"))
                    .with_hint("write a smaller number"));
            }
        },
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(number) => NodeValue::Fraction(number),
            Err(_) => {
                return Err(Fault::at(key, place, format!("{number} is not a number"))
                    .with_hint("write a plain number"));
            }
        },
    };
    Ok(Node { key, place, value })
}

fn syntax_fault(error: &toml::de::Error, lines: &LineIndex<'_>) -> Fault {
    let place = error.span().map(|Range { start, .. }| lines.place(start));
    let message = error.message().replace('\n', ", ");
    let hint = if message.contains("duplicate key") {
        "this key or table stands in the file twice: keep one, or merge the two"
    } else if message.contains("quoted") {
        "write text between double quotes: key = \"text\""
    } else {
        "mend this place (TOML: https://toml.io); `qaas check` tells whether the file is right"
    };
    let fault = Fault {
        key: None,
        place,
        message: format!("not valid TOML: {message}"),
        hint: None,
    };
    fault.with_hint(hint)
}

/// Finds line and column of a byte.
struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    fn new(text: &'a str) -> Self {
        let after_breaks = text
            .bytes()
            .enumerate()
            .filter(|(_, b)| *b == b'\n')
            .map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after_breaks).collect();
        Self { text, starts }
    }

    fn place(&self, at: usize) -> Place {
        let at = at.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts[line - 1];
        let column = self
            .text
            .get(start..at)
            .map_or(1, |before| before.chars().count() + 1);
        Place::new(line, column)
    }
}
