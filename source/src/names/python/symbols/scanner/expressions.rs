//! What an expression uses.

use super::super::super::lexer::Token;
use super::super::symbol::Use;
use super::{KEYWORDS, Scanner, is_dotted};

impl<'a> Scanner<'a> {
    /// A name with its attributes, as written, and where they end. One with blanks in it is cut to its first part.
    pub(super) fn chain(&mut self, end: usize) -> (&'a str, usize) {
        let from = self.tokens[self.at].1;
        let mut to = from;
        while let Some(Token::Name(name)) = self.peek(0) {
            if self.tokens[self.at].1 != to {
                break;
            }
            to += name.len();
            self.at += 1;
            let goes_on = self.is_char(0, b'.') && matches!(self.peek(1), Some(Token::Name(_)));
            if !goes_on || self.at >= end || self.tokens[self.at].1 != to {
                break;
            }
            to += 1;
            self.at += 1;
        }
        let chain = &self.text[from..to];
        (chain.trim_end_matches('.'), to)
    }

    /// One token of an expression, or a name with its attributes.
    pub(super) fn expression(&mut self) {
        let Some(token) = self.peek(0) else {
            return;
        };
        let owner = self.owner();
        match token {
            Token::Char(b'(' | b'[' | b'{') => self.depth += 1,
            Token::Char(b')' | b']' | b'}') => self.depth = self.depth.saturating_sub(1),
            Token::Name(name) => return self.name(name, owner),
            Token::Str(text) => self.symbols[owner].uses.extend(text_use(text)),
            Token::Format(text) => self.format(text, owner),
            Token::Char(_) | Token::Line(_) => {}
        }
        self.at += 1;
    }

    pub(super) fn name(&mut self, name: &'a str, owner: usize) {
        let before = self.at.checked_sub(1).map(|before| self.tokens[before].0);
        let is_argument = self.depth > 0 && self.is_char(1, b'=') && !self.is_char(2, b'=');
        if before == Some(Token::Char(b'.')) {
            self.symbols[owner].uses.push(Use::Member(name));
        } else if matches!(before, Some(Token::Name("as" | "for"))) && self.is_in_function() {
            self.locals[owner].push(name);
        } else if !is_argument && !KEYWORDS.contains(&name) && !name.starts_with(|c: char| c.is_ascii_digit())
        {
            let (chain, _) = self.chain(self.tokens.len());
            self.symbols[owner].uses.push(Use::Name(chain));
            return;
        }
        self.at += 1;
    }

    /// The expressions in a string's braces, and the name that may stand before the first.
    fn format(&mut self, text: &'a str, owner: usize) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            self.symbols[owner].uses.extend(text_use(before));
            if let Some(literal) = after.strip_prefix('{') {
                rest = literal;
                continue;
            }
            let (inside, after) = after.split_once('}').unwrap_or((after, ""));
            let mut inner = Scanner::new(inside);
            while let Some(token) = inner.peek(0) {
                match token {
                    Token::Line(_) => inner.at += 1,
                    _ => inner.expression(),
                }
            }
            self.symbols[owner].uses.append(&mut inner.symbols[0].uses);
            rest = after;
        }
    }
}

/// A string that is a name, names with dots between them, or how a name begins (`"visit_"`).
fn text_use(text: &str) -> Option<Use<'_>> {
    is_dotted(text).then_some(Use::Text(text))
}
