//! JSON with comments and trailing commas, read for the places of its parts: an editor's settings are changed by
//! putting text in, never by writing them anew.

use std::ops::Range;

/// Deeper ones are not read.
const DEEPEST: usize = 64;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// Bytes of the text.
    pub(super) span: Range<usize>,
    /// `None`: not an object.
    pub(super) object: Option<Object>,
}

/// An object's members in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Object {
    pub(super) members: Vec<Member>,
    /// Whether a comma follows the last member.
    pub(super) trailing_comma: bool,
    /// The end of the last thing before the closing brace: a member, a comma, a comment, or the opening brace.
    pub(super) filled_to: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key's first quote stands.
    pub(super) start: usize,
    pub(super) value: Node,
}

impl Object {
    /// The member of this name. Two of one name are one too many to know which is meant.
    pub(super) fn get(&self, key: &str) -> Result<Option<&Member>, String> {
        let mut found = self.members.iter().filter(|member| member.key == key);
        match (found.next(), found.next()) {
            (Some(_), Some(_)) => Err(format!("`{key}` is in it twice")),
            (found, _) => Ok(found),
        }
    }
}

/// Reads a whole text. The error is a clause that says what and where.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let mut reader = Reader { text, at: 0 };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.blank()?;
    let node = reader.value(0)?;
    reader.blank()?;
    if reader.at < text.len() {
        return Err(reader.fault("something follows the end of the value"));
    }
    Ok(node)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, what: &str) -> String {
        let line = self.text[..self.at].matches('\n').count() + 1;
        format!("{what} (line {line})")
    }

    /// Skips blanks and comments. The end of the last comment, if there was one.
    fn blank(&mut self) -> Result<Option<usize>, String> {
        let mut comment = None;
        loop {
            let blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
            self.at = self.text.len() - self.rest().trim_start_matches(blank).len();
            if self.rest().starts_with("//") {
                let end = self.rest().find(['\r', '\n']);
                self.at += end.unwrap_or(self.rest().len());
            } else if self.rest().starts_with("/*") {
                let end = self.rest()[2..].find("*/");
                self.at += end.ok_or_else(|| self.fault("a comment has no end"))? + 4;
            } else {
                return Ok(comment);
            }
            comment = Some(self.at);
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err(self.fault("it is nested too deeply"));
        }
        let start = self.at;
        let object = match self.next() {
            Some(b'{') => Some(self.object(depth)?),
            Some(b'[') => {
                self.list(depth)?;
                None
            }
            Some(b'"') => {
                self.string()?;
                None
            }
            _ => {
                self.word()?;
                None
            }
        };
        Ok(Node {
            span: start..self.at,
            object,
        })
    }

    fn object(&mut self, depth: usize) -> Result<Object, String> {
        self.at += 1;
        let mut object = Object {
            filled_to: self.at,
            ..Object::default()
        };
        loop {
            object.filled_to = self.blank()?.unwrap_or(object.filled_to);
            match self.next() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(object);
                }
                Some(b'"') if object.members.is_empty() || object.trailing_comma => {}
                _ => return Err(self.fault("a member, a comma or `}` is missing")),
            }
            let start = self.at;
            let key = self.string()?;
            self.blank()?;
            if self.next() != Some(b':') {
                return Err(self.fault("a `:` is missing"));
            }
            self.at += 1;
            self.blank()?;
            let value = self.value(depth + 1)?;
            object.filled_to = self.at;
            object.members.push(Member { key, start, value });
            object.filled_to = self.blank()?.unwrap_or(object.filled_to);
            object.trailing_comma = self.next() == Some(b',');
            if object.trailing_comma {
                self.at += 1;
                object.filled_to = self.at;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<(), String> {
        self.at += 1;
        let mut may_go_on = true;
        loop {
            self.blank()?;
            match self.next() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) if may_go_on => {}
                _ => return Err(self.fault("a comma or `]` is missing")),
            }
            self.value(depth + 1)?;
            self.blank()?;
            may_go_on = self.next() == Some(b',');
            self.at += usize::from(may_go_on);
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        let mut escaped = false;
        for (offset, byte) in self.rest().bytes().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    self.at += offset + 1;
                    let text = &self.text[start..self.at];
                    return serde_json::from_str(text).map_err(|_| self.fault("a string is not right"));
                }
                b'\n' => break,
                _ => {}
            }
        }
        Err(self.fault("a string has no end"))
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let length = self.rest().find(|c| !plain(c)).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        if serde_json::from_str::<serde_json::Value>(word).is_err() {
            return Err(self.fault("a value is missing or not right"));
        }
        self.at += length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        let object = parse(text).unwrap().object.unwrap();
        object.members.into_iter().map(|member| member.key).collect()
    }

    #[test]
    fn comments_commas_marks_and_escapes_are_read() {
        let text = "\u{feff}// a {\n{ /* \"no\": 1 */ \"a\\u0062\": [1, {}, \"]\",], // \"c\": 2\n \"d\\\"\": -1.5e3 , } // end";
        assert_eq!(keys(text), ["ab", "d\""]);
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "{\"a\": {\"b\": true /* x */}, // y\n}";
        let outer = parse(text).unwrap().object.unwrap();
        assert_eq!(
            &text[outer.members[0].value.span.clone()],
            "{\"b\": true /* x */}"
        );
        assert!(outer.trailing_comma);
        assert!(text[..outer.filled_to].ends_with("// y"));
        let inner = outer.members[0].value.object.as_ref().unwrap();
        assert!(text[..inner.filled_to].ends_with("/* x */"));
    }

    #[test]
    fn what_is_not_right_is_refused_with_its_line() {
        for text in [
            "",
            "{",
            "{\"a\" 1}",
            "{\"a\": 1 \"b\": 2}",
            "{,}",
            "{\"a\": }",
            "{\"a\": nul}",
            "{\"a\": [1 2]}",
            "{\"a\": \"x\n\"}",
            "{} {}",
            "{ /* }",
            "{'a': 1}",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert!(parse("{\n\n\"a\"\n}").unwrap_err().ends_with("(line 4)"));
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn a_key_that_is_there_twice_is_not_guessed_at() {
        let object = parse("{\"a\": 1, \"a\": 2}").unwrap().object.unwrap();
        assert!(object.get("a").is_err());
        assert_eq!(object.get("b"), Ok(None));
    }
}
