//! Imports, and whatever else in a file names a module.

use std::collections::BTreeSet;

use super::lexer::{Lexer, Token};

/// What one file says about others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `import a.b`: the path, and the name by which it is used (`a`, or what follows `as`).
    pub imports: Vec<(String, String)>,
    pub froms: Vec<From>,
    /// Modules named in strings where they are imported by name: `import_module("a.b")`, `pytest_plugins`.
    pub named: BTreeSet<String>,
    /// Those of them that `pytest_plugins` names.
    pub plugins: Vec<String>,
    /// Other strings that are dotted names as a whole: `"a.b.C"` in settings or in `patch(…)`.
    pub dotted: BTreeSet<String>,
    /// `a.b` for each name with an attribute that is used, to tell which parts of a package somebody needs.
    pub attributes: BTreeSet<(String, String)>,
}

/// `from ..a.b import c as d, e`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct From {
    /// How many dots lead.
    pub level: usize,
    /// Without the leading dots; may be empty.
    pub module: String,
    /// Each name as it is called there, and as it is called here. `*` for all.
    pub names: Vec<(String, String)>,
}

/// Functions whose first argument is a module's name.
const IMPORTERS: [&str; 4] = ["import_module", "__import__", "importorskip", "find_spec"];

/// Reads a file's text.
pub fn scan(text: &str) -> Facts {
    let mut scanner = Scanner {
        tokens: Lexer::new(text).collect(),
        at: 0,
        facts: Facts::default(),
    };
    scanner.run();
    scanner.facts
}

struct Scanner<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    facts: Facts,
}

impl<'a> Scanner<'a> {
    fn peek(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn take_char(&mut self, wanted: u8) -> bool {
        let found = self.peek(0) == Some(Token::Char(wanted));
        self.at += usize::from(found);
        found
    }

    fn take_name(&mut self) -> Option<&'a str> {
        let Some(Token::Name(name)) = self.peek(0) else {
            return None;
        };
        self.at += 1;
        Some(name)
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        let found = self.peek(0) == Some(Token::Name(wanted));
        self.at += usize::from(found);
        found
    }

    fn run(&mut self) {
        let mut statement_begins = true;
        // What is imported for type checkers alone is not imported when tests run.
        let mut types_only: Option<usize> = None;
        let mut column = 0;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Line(here) => {
                    column = here;
                    types_only = types_only.filter(|outer| here > *outer);
                    statement_begins = true;
                    self.at += 1;
                    continue;
                }
                Token::Name("import") if statement_begins => {
                    self.at += 1;
                    self.import(types_only.is_none());
                }
                Token::Name("from") if statement_begins => {
                    self.at += 1;
                    self.from(types_only.is_none());
                }
                Token::Name("if" | "elif") if statement_begins && self.is_types_only() => {
                    types_only = types_only.or(Some(column));
                    self.at += 1;
                }
                Token::Name("pytest_plugins") if statement_begins => self.plugins(),
                Token::Name(name) => self.name(name),
                Token::Str(text) => {
                    self.string(text);
                    self.at += 1;
                }
                Token::Format(_) => self.at += 1,
                Token::Char(char) => {
                    self.at += 1;
                    statement_begins = matches!(char, b';' | b':');
                    continue;
                }
            }
            statement_begins = false;
        }
    }

    /// At an `if` or `elif`: `if TYPE_CHECKING:` or `if typing.TYPE_CHECKING:`.
    fn is_types_only(&self) -> bool {
        let flag = Some(Token::Name("TYPE_CHECKING"));
        let end = Some(Token::Char(b':'));
        (self.peek(1) == flag && self.peek(2) == end)
            || (self.peek(2) == Some(Token::Char(b'.')) && self.peek(3) == flag && self.peek(4) == end)
    }

    fn dotted_name(&mut self) -> String {
        let mut dotted = String::new();
        while let Some(name) = self.take_name() {
            dotted.push_str(name);
            if !self.take_char(b'.') {
                break;
            }
            dotted.push('.');
        }
        dotted
    }

    /// What follows `import`.
    fn import(&mut self, keep: bool) {
        loop {
            let path = self.dotted_name();
            if path.is_empty() {
                return;
            }
            let used = if self.take_word("as") {
                self.take_name().unwrap_or_default().to_owned()
            } else {
                path.split('.').next().unwrap_or_default().to_owned()
            };
            if keep {
                self.facts.imports.push((path, used));
            }
            if !self.take_char(b',') {
                return;
            }
        }
    }

    /// What follows `from`.
    fn from(&mut self, keep: bool) {
        let mut from = From::default();
        while self.take_char(b'.') {
            from.level += 1;
        }
        if self.peek(0) != Some(Token::Name("import")) {
            from.module = self.dotted_name();
        }
        if !self.take_word("import") {
            return;
        }
        if self.take_char(b'*') {
            from.names.push(("*".to_owned(), "*".to_owned()));
        }
        self.take_char(b'(');
        while let Some(name) = self.take_name() {
            let used = if self.take_word("as") {
                self.take_name().unwrap_or(name)
            } else {
                name
            };
            from.names.push((name.to_owned(), used.to_owned()));
            if !self.take_char(b',') {
                break;
            }
        }
        if keep && !from.names.is_empty() {
            self.facts.froms.push(from);
        }
    }

    /// `pytest_plugins = "a"`, or a list of such.
    fn plugins(&mut self) {
        self.at += 1;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Line(_) => return,
                Token::Str(text) if is_dotted(text, 0) => {
                    self.facts.named.insert(text.to_owned());
                    self.facts.plugins.push(text.to_owned());
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn name(&mut self, name: &str) {
        self.at += 1;
        if let (Some(Token::Char(b'.')), Some(Token::Name(attribute))) = (self.peek(0), self.peek(1)) {
            self.facts
                .attributes
                .insert((name.to_owned(), attribute.to_owned()));
        }
        if IMPORTERS.contains(&name)
            && self.peek(0) == Some(Token::Char(b'('))
            && let Some(Token::Str(text)) = self.peek(1)
            && is_dotted(text, 0)
        {
            self.facts.named.insert(text.to_owned());
        }
    }

    fn string(&mut self, text: &str) {
        if is_dotted(text, 1) {
            self.facts.dotted.insert(text.to_owned());
        }
    }
}

/// Whether a string is names with dots between them, at least so many dots.
fn is_dotted(text: &str, dots: usize) -> bool {
    const MOST_BYTES: usize = 200;
    let is_name = |part: &str| {
        !part.is_empty()
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    text.len() <= MOST_BYTES && text.matches('.').count() >= dots && text.split('.').all(is_name)
}

#[cfg(test)]
mod tests;
