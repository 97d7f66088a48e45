//! How a test's id is made of what a report says of it, and taken apart again.

use crate::fault::suggest;

/// What a report says of a test's name. Empty where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// Relative to the working folder where it lies inside, `/` between parts.
    pub(crate) file: String,
    pub(crate) classname: String,
    pub(crate) name: String,
    /// The suites around it, joined by `::`; a package, a binary.
    pub(crate) suite: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    File,
    Classname,
    Name,
    Suite,
}

const FIELDS: [(&str, Field); 4] = [
    ("file", Field::File),
    ("classname", Field::Classname),
    ("name", Field::Name),
    ("suite", Field::Suite),
];

/// `{file}::{classname}::{name}`: each field with the text that stands before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdTemplate {
    parts: Vec<(String, Field)>,
}

impl IdTemplate {
    /// Reads a template. The error is a message and a hint.
    pub(crate) fn parse(text: &str) -> Result<Self, (String, String)> {
        let names: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            let end = from.find('}').ok_or_else(|| {
                let hint = "write for example \"{file}::{name}\"";
                ("has a `{` without its `}`".to_owned(), hint.to_owned())
            })?;
            let name = &from[1..end];
            let found = FIELDS.iter().find(|(known, _)| *known == name);
            let Some((_, field)) = found else {
                let hint = suggest(name, &names, "fields");
                return Err((format!("a report has no field {{{name}}}"), hint));
            };
            if parts.iter().any(|(_, known)| known == field) {
                return Err((
                    format!("names {{{name}}} twice"),
                    "name each field once".to_owned(),
                ));
            }
            if !parts.is_empty() && before.is_empty() {
                let hint = "put something between them, such as `::`";
                return Err((
                    "has two fields with nothing between them".to_owned(),
                    hint.to_owned(),
                ));
            }
            parts.push((before.to_owned(), *field));
            rest = &from[end + 1..];
        }
        if !rest.is_empty() || parts.last().is_none_or(|(_, field)| *field != Field::Name) {
            let hint = "write for example \"{file}::{name}\"";
            return Err(("must end with {name}".to_owned(), hint.to_owned()));
        }
        if !parts[0].0.is_empty() {
            let hint = "begin with a field, such as {file}";
            return Err((
                "begins with a text that all ids would share".to_owned(),
                hint.to_owned(),
            ));
        }
        Ok(Self { parts })
    }

    /// Whether ids begin with a file, as far as the report names one.
    pub(crate) fn begins_with_file(&self) -> bool {
        self.parts[0].1 == Field::File
    }

    /// The id of a test. A field that the report leaves empty is left out with the text before it.
    pub(crate) fn id(&self, fields: &Fields) -> String {
        let mut id = String::new();
        for (before, field) in &self.parts {
            let value = match field {
                Field::File => &fields.file,
                Field::Classname => &fields.classname,
                Field::Name => &fields.name,
                Field::Suite => &fields.suite,
            };
            if value.is_empty() {
                continue;
            }
            if !id.is_empty() {
                id.push_str(before);
            }
            id.push_str(value);
        }
        id
    }

    /// An id without its first field: what the framework calls the test within its file or suite.
    pub(crate) fn name_in<'a>(&self, id: &'a str) -> &'a str {
        match self.parts.get(1) {
            Some((before, _)) => id.split_once(before.as_str()).map_or(id, |(_, name)| name),
            None => id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(file: &str, classname: &str, name: &str) -> Fields {
        Fields {
            file: file.to_owned(),
            classname: classname.to_owned(),
            name: name.to_owned(),
            suite: String::new(),
        }
    }

    #[test]
    fn an_id_is_made_of_the_fields_that_are_there_and_taken_apart_again() {
        let template = IdTemplate::parse("{file}::{classname}::{name}").unwrap();
        let id = template.id(&fields("a/b.rb", "Sums", "adds [a::b]"));
        assert_eq!(id, "a/b.rb::Sums::adds [a::b]");
        assert_eq!(template.name_in(&id), "Sums::adds [a::b]");
        assert_eq!(template.id(&fields("a/b.rb", "", "adds")), "a/b.rb::adds");
        assert_eq!(template.id(&fields("", "", "adds")), "adds");
        assert_eq!(IdTemplate::parse("{name}").unwrap().name_in("a::b"), "a::b");
    }

    #[test]
    fn a_wrong_template_is_refused_with_what_would_be_right() {
        for (text, expected) in [
            ("{file}::{nam}", "no field {nam}"),
            ("{file}{name}", "nothing between"),
            ("{file}", "end with {name}"),
            ("{name}::{name}", "twice"),
            ("x{name}", "begins with"),
            ("{name", "without"),
        ] {
            let (message, _) = IdTemplate::parse(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
