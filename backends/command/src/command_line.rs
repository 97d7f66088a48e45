//! Command lines as they are written in a table, and whether each placeholder has a value where it stands.

use serde_json::Value;

use crate::fault::Fault;
use crate::keys::string;
use crate::template::{Arg, Placeholder, Segment, Template};

/// A command line.
pub(crate) fn command(key: &str, value: &Value) -> Result<Vec<Arg>, Fault> {
    let command = items(key, value)?;
    check_program(key, &command)?;
    check_placeholders(key, &command)?;
    Ok(command)
}

/// A list of words, and of lists of words that belong together.
pub(crate) fn items(key: &str, value: &Value) -> Result<Vec<Arg>, Fault> {
    let items = match value {
        Value::Array(items) => items,
        Value::String(line) => {
            let words: Vec<String> = line.split_whitespace().map(|word| format!("{word:?}")).collect();
            let message =
                "must be a list of words, not one string: there is no shell that could take it apart";
            return Err(Fault::new(
                key,
                message,
                format!("write `{key} = [{}]`", words.join(", ")),
            ));
        }
        _ => {
            let hint = format!("write `{key} = [\"program\", \"argument\"]`");
            return Err(Fault::new(key, "must be a list of words", hint));
        }
    };
    let mut command = Vec::with_capacity(items.len());
    for (number, item) in items.iter().enumerate() {
        let key = format!("{key}[{number}]");
        command.push(match item {
            Value::String(_) => Arg::Template(word(&key, item)?),
            Value::Array(group) => {
                let words = group.iter().enumerate();
                let words = words.map(|(inner, item)| word(&format!("{key}[{inner}]"), item));
                Arg::Group(words.collect::<Result<_, _>>()?)
            }
            _ => return Err(Fault::new(key, "must be a word", "put it between double quotes")),
        });
    }
    Ok(command)
}

pub(crate) fn word(key: &str, value: &Value) -> Result<Template, Fault> {
    let text = string(key, value)?;
    if text.contains('\0') {
        return Err(Fault::new(
            key,
            "holds a NUL character",
            "no argument can hold one",
        ));
    }
    Template::parse(text).map_err(|(message, hint)| Fault::new(key, message, hint))
}

fn check_program(key: &str, command: &[Arg]) -> Result<(), Fault> {
    let hint = "the first item is the program: its name on PATH, a path in the repository, or \"{python}\"";
    match command.first() {
        None => Err(Fault::new(key, "is empty", hint)),
        Some(Arg::Template(Template(segments)))
            if matches!(
                segments.as_slice(),
                [Segment::Text(_) | Segment::Placeholder(Placeholder::Python)]
            ) =>
        {
            Ok(())
        }
        Some(_) => Err(Fault::new(format!("{key}[0]"), "is no program", hint)),
    }
}

/// Whether every placeholder has a value wherever it stands.
pub(crate) fn check_placeholders(key: &str, command: &[Arg]) -> Result<(), Fault> {
    for (number, item) in command.iter().enumerate() {
        let is_group = matches!(item, Arg::Group(_));
        for (inner, word) in item.words().iter().enumerate() {
            let place = if is_group {
                format!("{key}[{number}][{inner}]")
            } else {
                format!("{key}[{number}]")
            };
            for placeholder in word.bare_placeholders() {
                let name = placeholder.name();
                // A list of its own is there once for each of them.
                let repeated = is_group && matches!(key, "run" | "list");
                if placeholder.is_of_one() && key != "single" && !repeated {
                    return Err(Fault::new(
                        place,
                        format!("{{{name}}} has no value here: a run may be of several tests"),
                        format!(
                            "write {{ids...}}, {{files...}} or {{names...}}; or, to repeat an option for each, a list of its own: \
                             [\"--option\", \"{{{name}}}\"]"
                        ),
                    ));
                }
                if placeholder == Placeholder::Coverage && key != "coverage.args" {
                    let hint = "write it in `coverage = { args = [\"…={coverage}\"] }`";
                    return Err(Fault::new(
                        place,
                        "{coverage} has no value in runs that measure nothing",
                        hint,
                    ));
                }
                let narrowed =
                    matches!(placeholder, Placeholder::RegexOfIds | Placeholder::IdsFile) && key == "single";
                if placeholder.may_be_absent() && !is_group && !narrowed {
                    return Err(Fault::new(
                        place,
                        format!("{{{name}}} has no value in runs that ask for nothing of the kind"),
                        format!(
                            "put it in a list of its own, left out with it: [\"--option\", \"{{{name}}}\"]"
                        ),
                    ));
                }
            }
        }
    }
    Ok(())
}
