//! Python's tokens, as far as finding imports needs them: names, strings, single characters, logical lines.

/// One token. Numbers count as names; comments, blanks and line ends inside brackets are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A logical line begins, this many columns in.
    Line(usize),
    Name(&'a str),
    /// What stands between the quotes, as written.
    Str(&'a str),
    /// The same of a string with expressions in it (`f"…"`, `t"…"`).
    Format(&'a str),
    Char(u8),
}

/// Goes over a text from one token to the next. Never fails: what is no Python gives tokens of some kind.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    line_begins: bool,
    start: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self {
            text,
            at: 0,
            depth: 0,
            line_begins: true,
            start: 0,
        }
    }

    /// Where the last token begins, in bytes.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn skip_to_line_end(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    }

    /// Skips blanks, comments and continued lines. Gives the column if a logical line begins at what follows.
    fn skip_blanks(&mut self) -> Option<usize> {
        let mut column = 0;
        while self.at < self.text.len() {
            match self.byte(self.at) {
                b'\n' => {
                    self.line_begins |= self.depth == 0;
                    column = 0;
                }
                b' ' | b'\t' | b'\r' | b'\x0c' => column += 1,
                b'\\' if matches!(self.byte(self.at + 1), b'\n' | b'\r') => {
                    self.skip_to_line_end();
                }
                b'#' => {
                    self.skip_to_line_end();
                    continue;
                }
                _ => break,
            }
            self.at += 1;
        }
        let begins = std::mem::take(&mut self.line_begins) && self.at < self.text.len();
        begins.then_some(column)
    }

    fn name(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.bytes().position(|b| !is_name_byte(b)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// The string whose opening quote stands here.
    fn string(&mut self) -> &'a str {
        let quote = self.byte(self.at);
        let triple = self.byte(self.at + 1) == quote && self.byte(self.at + 2) == quote;
        let width = if triple { 3 } else { 1 };
        let start = (self.at + width).min(self.text.len());
        let mut at = start;
        while at < self.text.len() {
            match self.byte(at) {
                b'\\' => at += 1,
                b'\n' if !triple => break,
                b if b == quote
                    && (!triple || (self.byte(at + 1) == quote && self.byte(at + 2) == quote)) =>
                {
                    self.at = at + width;
                    return self.text.get(start..at).unwrap_or_default();
                }
                _ => {}
            }
            at += 1;
        }
        self.at = at.min(self.text.len());
        self.text.get(start..self.at).unwrap_or_default()
    }
}

fn is_name_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

fn is_string_prefix(name: &str) -> bool {
    name.len() <= 2 && name.bytes().all(|b| b"rRbBuUfFtT".contains(&b))
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let begins = self.skip_blanks();
        self.start = self.at;
        if let Some(column) = begins {
            return Some(Token::Line(column));
        }
        if self.at >= self.text.len() {
            return None;
        }
        let byte = self.byte(self.at);
        if is_name_byte(byte) {
            let name = self.name();
            if matches!(self.byte(self.at), b'"' | b'\'') && is_string_prefix(name) {
                let is_format = name.bytes().any(|b| b"fFtT".contains(&b));
                let text = self.string();
                return Some(if is_format {
                    Token::Format(text)
                } else {
                    Token::Str(text)
                });
            }
            return Some(Token::Name(name));
        }
        if matches!(byte, b'"' | b'\'') {
            return Some(Token::Str(self.string()));
        }
        match byte {
            b'(' | b'[' | b'{' => self.depth += 1,
            b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.at += 1;
        Some(Token::Char(byte))
    }
}
