//! A serde deserializer over [`Node`]: serde's derive does the reading, and every error keeps its place.

use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::fault::Fault;
use super::node::{Entry, Node, NodeValue};

/// Reads a value of the file's types.
pub(super) fn decode<'de, T: de::Deserialize<'de>>(node: &'de Node) -> Result<T, Fault> {
    T::deserialize(Decoder(node))
}

#[derive(Clone, Copy)]
struct Decoder<'de>(&'de Node);

impl<'de> Decoder<'de> {
    fn wrong_type(self, expected: &str) -> Fault {
        let Self(node) = self;
        let hint = match (expected, node.key.split_once('.')) {
            ("a table", None) if matches!(node.key.as_str(), "suite" | "backend") => {
                let key = &node.key;
                format!("each {key} is a table with a name: write `[{key}.NAME]` and its keys below")
            }
            ("a table", Some((parent @ ("suite" | "backend"), _))) => {
                format!("a {parent} has a name: write `[{parent}.NAME]` and its keys below")
            }
            ("a table", _) => format!("write `[{}]` on a line of its own and its keys below", node.key),
            ("a string", _) => "put it between double quotes".to_owned(),
            ("a list", _) => "put it between brackets: [\"…\"]".to_owned(),
            ("true or false", _) => "write true or false, without quotes".to_owned(),
            _ => "write a number, without quotes".to_owned(),
        };
        self.fault(format!("must be {expected}, not {}", node.kind()))
            .with_hint(hint)
    }

    fn fault(self, message: String) -> Fault {
        Fault::at(self.0.key.clone(), self.0.place, message)
    }

    fn located<T>(self, result: Result<T, Fault>) -> Result<T, Fault> {
        result.map_err(|fault| fault.or_at(&self.0.key, self.0.place))
    }

    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            NodeValue::Text(text) => visitor.visit_borrowed_str(text),
            NodeValue::Whole(number) => visitor.visit_i64(*number),
            NodeValue::Fraction(number) if number.is_finite() => visitor.visit_f64(*number),
            NodeValue::Fraction(number) => Err(self
                .fault(format!("must be a finite number, not {number}"))
                .with_hint("write a number, or leave the key out")),
            NodeValue::Flag(flag) => visitor.visit_bool(*flag),
            NodeValue::Date => Err(self
                .wrong_type("another kind of value")
                .with_hint("dates are not used here; put it between quotes")),
            NodeValue::List(items) => visitor.visit_seq(Items(items.iter())),
            NodeValue::Table(entries) => visitor.visit_map(Entries {
                rest: entries.iter(),
                pending: None,
            }),
        }
    }
}

/// Methods that take one kind of value and refuse the others in words.
macro_rules! only {
    ($($method:ident($kinds:pat, $expected:literal);)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match &self.0.value {
                $kinds => self.located(self.visit(visitor)),
                _ => Err(self.wrong_type($expected)),
            }
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Decoder<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.located(self.visit(visitor))
    }

    only! {
        deserialize_bool(NodeValue::Flag(_), "true or false");
        deserialize_i8(NodeValue::Whole(_), "a whole number");
        deserialize_i16(NodeValue::Whole(_), "a whole number");
        deserialize_i32(NodeValue::Whole(_), "a whole number");
        deserialize_i64(NodeValue::Whole(_), "a whole number");
        deserialize_u8(NodeValue::Whole(0..), "a whole number, not negative");
        deserialize_u16(NodeValue::Whole(0..), "a whole number, not negative");
        deserialize_u32(NodeValue::Whole(0..), "a whole number, not negative");
        deserialize_u64(NodeValue::Whole(0..), "a whole number, not negative");
        deserialize_f32(NodeValue::Whole(_) | NodeValue::Fraction(_), "a number");
        deserialize_f64(NodeValue::Whole(_) | NodeValue::Fraction(_), "a number");
        deserialize_char(NodeValue::Text(_), "a string");
        deserialize_str(NodeValue::Text(_), "a string");
        deserialize_string(NodeValue::Text(_), "a string");
        deserialize_seq(NodeValue::List(_), "a list");
        deserialize_map(NodeValue::Table(_), "a table");
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.0.value {
            NodeValue::Text(text) => {
                self.located(visitor.visit_enum(IntoDeserializer::<Fault>::into_deserializer(text.as_str())))
            }
            _ => Err(self.wrong_type("a string")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.located(visitor.visit_newtype_struct(self))
    }

    serde::forward_to_deserialize_any! {
        i128 u128 bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        self.0
            .next()
            .map(|item| seed.deserialize(Decoder(item)))
            .transpose()
    }
}

struct Entries<'de> {
    rest: std::slice::Iter<'de, Entry>,
    pending: Option<&'de Node>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some(entry) = self.rest.next() else {
            return Ok(None);
        };
        self.pending = Some(&entry.node);
        let key = IntoDeserializer::<Fault>::into_deserializer(entry.name.as_str());
        seed.deserialize(key)
            .map(Some)
            .map_err(|fault| fault.or_at(&entry.node.key, entry.place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let node = self
            .pending
            .take()
            .expect("serde asks for a key before its value");
        seed.deserialize(Decoder(node))
    }
}
