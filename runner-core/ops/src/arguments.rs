//! Reading a tool's arguments: tolerant where clients differ (numbers sent as strings, blanks around words),
//! never a default in place of a bad value.

use std::time::Duration;

use serde_json::{Map, Value};

use super::definition::Definition;
use super::{OpError, cut};
use runner_core::registry::nearest;
use runner_core::selector::without_margins;

/// The arguments of one call, read as the tool's definition says. What it does not name is refused.
pub(super) struct Reader<'a> {
    definition: &'static Definition,
    map: &'a Map<String, Value>,
    /// Required and not there: told at the end, beside what was given in its place.
    missing: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(definition: &'static Definition, map: &'a Map<String, Value>) -> Self {
        Self {
            definition,
            map,
            missing: Vec::new(),
        }
    }

    /// `None` for an argument that is not there, or null.
    fn take(&self, name: &'static str) -> Option<&'a Value> {
        debug_assert!(
            self.definition.argument(name).is_some(),
            "{:?} reads `{name}`, which its definition does not name",
            self.definition.tool
        );
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// The bounds that the definition gives a number.
    fn bounds(&self, name: &str) -> (f64, f64) {
        let (least, most) = self
            .definition
            .argument(name)
            .map_or((None, None), |argument| argument.kind.bounds());
        (least.unwrap_or(0.0), most.unwrap_or(f64::INFINITY))
    }

    /// Trimmed; an empty string is no argument at all.
    pub(super) fn string(&mut self, name: &'static str) -> Result<Option<String>, OpError> {
        Ok(self.text(name)?.map(|text| text.trim().to_owned()))
    }

    /// As it was written; blanks alone are no argument at all.
    fn text(&mut self, name: &'static str) -> Result<Option<&'a str>, OpError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => match text.trim() {
                // Line ends are no way of saying nothing: whoever sends them meant something else.
                "" if text.contains(char::is_control) => Err(OpError::bad_argument(format!(
                    "`{name}` holds nothing but blanks and control characters"
                ))),
                "" => Ok(None),
                _ => Ok(Some(text)),
            },
            Some(other) => Err(wrong(name, "a string", other)),
        }
    }

    /// A path, a test id or a keyword expression.
    fn selector(&mut self, name: &'static str) -> Result<Option<String>, OpError> {
        Ok(self.text(name)?.map(|text| without_margins(text).to_owned()))
    }

    /// The id of a test, see [`Reader::required`].
    pub(super) fn required_id(&mut self, name: &'static str) -> Result<String, OpError> {
        let id = self.selector(name)?;
        Ok(self.required(name, id))
    }

    /// See [`Reader::required`].
    pub(super) fn required_string(&mut self, name: &'static str) -> Result<String, OpError> {
        let value = self.string(name)?;
        Ok(self.required(name, value))
    }

    /// An argument that must be there. That it is not is said by [`Reader::finish`]; until then it is nothing.
    pub(super) fn required<T: Default>(&mut self, name: &'static str, value: Option<T>) -> T {
        value.unwrap_or_else(|| {
            self.missing.push(name);
            T::default()
        })
    }

    /// Empty for an argument that is not there.
    pub(super) fn strings(&mut self, name: &'static str) -> Result<Vec<String>, OpError> {
        const WHAT: &str = "an array of strings";
        let Some(value) = self.take(name) else {
            return Ok(Vec::new());
        };
        let items = value.as_array().ok_or_else(|| wrong(name, WHAT, value))?;
        let mut strings = Vec::with_capacity(items.len());
        for item in items {
            let text = without_margins(item.as_str().ok_or_else(|| wrong(name, WHAT, item))?);
            if text.is_empty() {
                return Err(OpError::bad_argument(format!("`{name}` has an empty item")));
            }
            strings.push(text.to_owned());
        }
        Ok(strings)
    }

    /// What a call narrows its run to: `selector`, and however many `selectors`.
    pub(super) fn selectors(&mut self) -> Result<Vec<String>, OpError> {
        let one = self.selector("selector")?;
        let many = self.strings("selectors")?;
        Ok(one.into_iter().chain(many).collect())
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Result<bool, OpError> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text == "true" || text == "false" => Ok(text == "true"),
            Some(other) => Err(wrong(name, "true or false", other)),
        }
    }

    /// A whole number within its bounds.
    pub(super) fn count(&mut self, name: &'static str) -> Result<Option<u32>, OpError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let number = number(value)
            .filter(|number| number.fract() == 0.0)
            .ok_or_else(|| wrong(name, "a whole number", value))?;
        let (least, most) = self.bounds(name);
        if number < least {
            return Err(OpError::bad_argument(format!(
                "`{name}` must be at least {least}"
            )));
        }
        if number > most.min(u32::MAX.into()) {
            return Err(too_much(name, most.min(u32::MAX.into()), value));
        }
        Ok(Some(number as u32))
    }

    /// Seconds within their bounds. The cap of a time limit depends on the suite and is checked later.
    pub(super) fn seconds(&mut self, name: &'static str) -> Result<Option<Duration>, OpError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let number = number(value).ok_or_else(|| wrong(name, "a number of seconds", value))?;
        let (least, most) = self.bounds(name);
        if number < least {
            return Err(OpError::bad_argument(format!(
                "`{name}` must be at least {least} (seconds), not {}",
                shown(value)
            )));
        }
        if number > most {
            return Err(too_much(name, most, value));
        }
        let too_long = |_| OpError::bad_argument(format!("`{name}` of {} is no time limit", shown(value)));
        Duration::try_from_secs_f64(number).map(Some).map_err(too_long)
    }

    /// One of the words of `choices`.
    pub(super) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>, OpError> {
        let Some(asked) = self.string(name)? else {
            return Ok(None);
        };
        let found = choices.iter().find(|&&choice| word(choice) == asked);
        found.map(|&choice| Some(choice)).ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|&choice| word(choice)).collect();
            OpError::bad_argument(format!("`{name}` must be one of {}", words.join(", ")))
        })
    }

    /// Refuses what the definition does not name, with the nearest name that there is, and what is missing.
    pub(super) fn finish(self) -> Result<(), OpError> {
        let missing = self.missing.iter().map(|name| format!("`{name}`"));
        let missing = missing.collect::<Vec<_>>().join(" and ");
        let is = if self.missing.len() > 1 { "are" } else { "is" };
        let unknown = self
            .map
            .keys()
            .find(|name| self.definition.argument(name).is_none());
        let Some(name) = unknown else {
            return match self.missing.as_slice() {
                [] => Ok(()),
                _ => Err(OpError::bad_argument(format!("{missing} {is} required"))),
            };
        };
        let mut message = format!(
            "`{}` takes no argument `{}`",
            self.definition.tool.name(),
            cut::quote_truncated(name)
        );
        if !self.missing.is_empty() {
            message = format!("{missing} {is} required, and {message}");
        }
        let error = OpError::bad_argument(message);
        let mut names: Vec<&str> = self
            .definition
            .arguments()
            .map(|argument| argument.name)
            .collect();
        names.sort_unstable();
        Err(match nearest(name, names.iter().copied()) {
            Some(near) => error.with_hint(format!("Did you mean `{near}`?")),
            None => error.with_hint(format!("It takes: {}.", names.join(", "))),
        })
    }
}

/// A finite number, also when a client sent it as a string.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number: &f64| number.is_finite())
}

fn too_much(name: &str, most: f64, value: &Value) -> OpError {
    OpError::bad_argument(format!("`{name}` may be at most {most}, not {}", shown(value)))
}

fn wrong(name: &str, what: &str, value: &Value) -> OpError {
    OpError::bad_argument(format!("`{name}` must be {what}, not {}", shown(value)))
}

fn shown(value: &Value) -> String {
    cut::quote_truncated(&value.to_string())
}
