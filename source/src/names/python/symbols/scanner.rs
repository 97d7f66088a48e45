//! Goes through the tokens of a file once, statement by statement.

mod expressions;

use super::super::lexer::{Lexer, Token};
use super::symbol::{Kind, Symbol, Use};

/// Names that are the language's own.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

fn tokens(text: &str) -> Vec<(Token<'_>, usize)> {
    const BYTES_A_TOKEN: usize = 5;
    let mut lexer = Lexer::new(text);
    let mut tokens = Vec::with_capacity(text.len() / BYTES_A_TOKEN);
    while let Some(token) = lexer.next() {
        tokens.push((token, lexer.start()));
    }
    tokens
}

/// A block that has a symbol of its own.
struct Block {
    column: usize,
    symbol: usize,
}

pub(super) struct Scanner<'a> {
    text: &'a str,
    tokens: Vec<(Token<'a>, usize)>,
    at: usize,
    symbols: Vec<Symbol<'a>>,
    /// Names bound within each symbol: they hide those of the module.
    locals: Vec<Vec<&'a str>>,
    /// Names in imports within each symbol.
    imported: Vec<(usize, &'a str)>,
    blocks: Vec<Block>,
    /// Where the decorators of the next definition begin.
    decorated: Option<usize>,
    /// The variable that the statement binds.
    variable: Option<usize>,
    /// Open brackets.
    depth: usize,
    /// A place in the text, and its line.
    counted: (usize, u32),
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut scanner = Self {
            text,
            tokens: tokens(text),
            at: 0,
            symbols: Vec::new(),
            locals: Vec::new(),
            imported: Vec::new(),
            blocks: Vec::new(),
            decorated: None,
            variable: None,
            depth: 0,
            counted: (0, 1),
        };
        scanner.add("", Kind::Module, 0);
        scanner
    }

    fn peek(&self, ahead: usize) -> Option<Token<'a>> {
        Some(self.tokens.get(self.at + ahead)?.0)
    }

    fn is_char(&self, ahead: usize, char: u8) -> bool {
        self.peek(ahead) == Some(Token::Char(char))
    }

    /// The line of a place that is not before the last one asked for.
    fn line(&mut self, offset: usize) -> u32 {
        let (from, line) = self.counted;
        let passed = self.text.as_bytes().get(from..offset).unwrap_or_default();
        let line = line + memchr::memchr_iter(b'\n', passed).count() as u32;
        self.counted = (offset.max(from), line);
        line
    }

    fn add(&mut self, name: &'a str, kind: Kind, offset: usize) -> usize {
        let line = self.line(offset);
        self.symbols.push(Symbol {
            name,
            kind,
            class: None,
            lines: (line, line),
            uses: Vec::new(),
            bases: Vec::new(),
            parameters: Vec::new(),
            decorators: Vec::new(),
            is_autouse: false,
            given_name: None,
        });
        self.locals.push(Vec::new());
        self.symbols.len() - 1
    }

    /// The symbol that a statement here belongs to.
    fn owner(&self) -> usize {
        let block = self.blocks.last().map_or(0, |block| block.symbol);
        self.variable.unwrap_or(block)
    }

    fn is_in_function(&self) -> bool {
        matches!(self.symbols[self.owner()].kind, Kind::Function | Kind::Method)
    }

    pub(super) fn run(&mut self) {
        let mut column = 0;
        let mut begins = true;
        while let Some(token) = self.peek(0) {
            if let Token::Line(here) = token {
                self.end_blocks(here);
                column = here;
                self.at += 1;
                begins = true;
                self.depth = 0;
                self.variable = None;
            } else if begins {
                begins = self.statement(column);
            } else {
                begins = self.depth == 0 && matches!(token, Token::Char(b':' | b';'));
                self.expression();
            }
        }
        self.end_blocks(0);
        let end = self.text.len();
        self.symbols[0].lines.1 = self.line(end);
    }

    /// A logical line begins at this column: what is not left of it has ended.
    fn end_blocks(&mut self, column: usize) {
        let last = self.at.checked_sub(1).map_or(0, |last| self.tokens[last].1);
        let line = if self.blocks.is_empty() {
            0
        } else {
            self.line(last)
        };
        while let Some(block) = self.blocks.pop_if(|block| block.column >= column) {
            self.symbols[block.symbol].lines.1 = line;
        }
    }

    /// What a statement begins with. Whether another begins right after it.
    fn statement(&mut self, column: usize) -> bool {
        match self.peek(0) {
            Some(Token::Char(b'@')) if !self.is_in_function() => {
                self.decorated.get_or_insert(self.at);
                self.skip_line();
            }
            Some(Token::Name("async")) => {
                self.at += 1;
                return true;
            }
            Some(Token::Name("def")) => self.function(column),
            Some(Token::Name("class")) => self.class(column),
            Some(Token::Name("import" | "from")) => self.import(),
            Some(Token::Name("if")) if self.is_script() => {
                let offset = self.tokens[self.at].1;
                let symbol = self.add("__main__", Kind::Function, offset);
                self.blocks.push(Block { column, symbol });
                self.at += 2;
            }
            Some(Token::Name(name)) if !KEYWORDS.contains(&name) => self.binding(name),
            _ => self.expression(),
        }
        false
    }

    /// At `if __name__ == …` of the module: what follows runs only where the file is started by itself.
    fn is_script(&self) -> bool {
        self.blocks.is_empty() && self.peek(1) == Some(Token::Name("__name__"))
    }

    /// An import is read elsewhere; here it says that its names are no local variables, even if they are assigned too.
    fn import(&mut self) {
        let owner = self.owner();
        while let Some(token) = self.peek(0) {
            match token {
                Token::Line(_) => return,
                Token::Name(name) => self.imported.push((owner, name)),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|token| !matches!(token, Token::Line(_))) {
            self.at += 1;
        }
    }

    /// A statement that begins with a name, which it may bind.
    fn binding(&mut self, name: &'a str) {
        let is_bound = (self.is_char(1, b'=') && !self.is_char(2, b'=')) || self.is_char(1, b':');
        if !is_bound {
            return self.expression();
        }
        let annotated = self.is_char(1, b':');
        if self.blocks.is_empty() {
            let offset = self.tokens[self.at].1;
            self.variable = Some(self.add(name, Kind::Variable, offset));
        } else if self.is_in_function() {
            let owner = self.owner();
            self.locals[owner].push(name);
        }
        self.at += 2;
        if annotated && (self.is_in_function() || self.variable.is_some()) {
            self.annotation(|token| token == Token::Char(b'='));
        }
    }

    /// At `def`.
    fn function(&mut self, column: usize) {
        let Some(Token::Name(name)) = self.peek(1) else {
            return self.expression();
        };
        if self.is_in_function() {
            let owner = self.owner();
            self.locals[owner].push(name);
            self.decorated = None;
            self.at += 2;
            return self.parameters();
        }
        let class = self.blocks.last().map(|block| block.symbol);
        let kind = if class.is_some() {
            Kind::Method
        } else {
            Kind::Function
        };
        self.open(name, kind, column);
        self.parameters();
        let owner = self.owner();
        let parameters = &mut self.symbols[owner].parameters;
        if kind == Kind::Method && matches!(parameters.first(), Some(&("self" | "cls"))) {
            parameters.remove(0);
        }
    }

    /// A definition that gets a symbol, with the decorators before it; stops after its name.
    fn open(&mut self, name: &'a str, kind: Kind, column: usize) {
        let here = self.at;
        let class = self.blocks.last().map(|block| block.symbol);
        let first = self.decorated.take().unwrap_or(here);
        let symbol = self.add(name, kind, self.tokens[first].1);
        self.symbols[symbol].class = class;
        self.blocks.push(Block { column, symbol });
        self.at = first;
        while self.at < here {
            self.decorator(symbol, here);
        }
        self.at = here + 2;
    }

    /// One token of the decorators, or a name with its attributes.
    fn decorator(&mut self, symbol: usize, end: usize) {
        let after_at = self.at > 0 && self.tokens[self.at - 1].0 == Token::Char(b'@');
        match self.peek(0) {
            Some(Token::Line(_)) => {
                self.depth = 0;
                self.at += 1;
            }
            Some(Token::Name("autouse")) if self.peek(2) == Some(Token::Name("True")) => {
                self.symbols[symbol].is_autouse = true;
                self.at += 1;
            }
            Some(Token::Name("name")) if self.is_char(1, b'=') => {
                if let Some(Token::Str(given)) = self.peek(2) {
                    self.symbols[symbol].given_name = Some(given);
                }
                self.at += 1;
            }
            Some(Token::Name(_)) if after_at => {
                let (chain, _) = self.chain(end);
                self.symbols[symbol].decorators.push(chain);
                self.symbols[symbol].uses.push(Use::Name(chain));
            }
            _ => self.expression(),
        }
    }

    /// From `(` to the `:` that ends the head of a function.
    fn parameters(&mut self) {
        let owner = self.owner();
        let named = self.symbols[owner].parameters.is_empty() && self.locals[owner].is_empty();
        self.depth = 0;
        let mut expects_name = false;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Line(_) => return,
                Token::Char(b'(' | b'[' | b'{') => {
                    expects_name = self.depth == 0 && token == Token::Char(b'(');
                    self.expression();
                }
                Token::Char(b',') if self.depth == 1 => {
                    expects_name = true;
                    self.at += 1;
                }
                Token::Name(name) if expects_name && self.depth == 1 => {
                    expects_name = false;
                    self.locals[owner].push(name);
                    if named {
                        self.symbols[owner].parameters.push(name);
                    }
                    self.at += 1;
                }
                Token::Char(b':') if self.depth == 0 => {
                    self.at += 1;
                    return;
                }
                Token::Char(b':') if self.depth == 1 => {
                    self.at += 1;
                    self.annotation(|token| matches!(token, Token::Char(b',' | b'=' | b')')));
                }
                Token::Char(b'-') if self.depth == 0 => {
                    self.at += 2;
                    self.annotation(|token| token == Token::Char(b':'));
                }
                _ => self.expression(),
            }
        }
    }

    /// An annotation, up to a token outside of its own brackets.
    fn annotation(&mut self, ends: impl Fn(Token<'a>) -> bool) {
        let owner = self.owner();
        let mut depth = 0_usize;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Line(_) => return,
                token if depth == 0 && ends(token) => return,
                Token::Char(b'(' | b'[' | b'{') => depth += 1,
                Token::Char(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                Token::Name(name) if !KEYWORDS.contains(&name) => {
                    let (chain, _) = self.chain(self.tokens.len());
                    self.symbols[owner].uses.push(Use::Annotation(chain));
                    continue;
                }
                Token::Str(text) if is_dotted(text) => {
                    self.symbols[owner].uses.push(Use::Annotation(text));
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// At `class`.
    fn class(&mut self, column: usize) {
        let Some(Token::Name(name)) = self.peek(1) else {
            return self.expression();
        };
        if self.is_in_function() {
            let owner = self.owner();
            self.locals[owner].push(name);
            self.decorated = None;
            self.at += 2;
            return;
        }
        self.open(name, Kind::Class, column);
        let symbol = self.owner();
        self.depth = 0;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Line(_) => return,
                Token::Char(b':') if self.depth == 0 => return,
                Token::Name(name)
                    if self.depth == 1 && !KEYWORDS.contains(&name) && !self.is_char(1, b'=') =>
                {
                    let is_keyword = self.tokens[self.at - 1].0 == Token::Char(b'=');
                    let (chain, _) = self.chain(self.tokens.len());
                    if !is_keyword {
                        self.symbols[symbol].bases.push(chain);
                    }
                    self.symbols[symbol].uses.push(Use::Name(chain));
                }
                _ => self.expression(),
            }
        }
    }

    pub(super) fn finish(mut self) -> Vec<Symbol<'a>> {
        for (owner, name) in &self.imported {
            self.locals[*owner].retain(|local| local != name);
        }
        for (symbol, locals) in self.symbols.iter_mut().zip(&self.locals) {
            let mut members = Vec::new();
            symbol.uses.retain(|used| match used {
                Use::Name(chain) => {
                    let mut parts = chain.split('.');
                    let is_local = parts.next().is_some_and(|root| locals.contains(&root));
                    if is_local {
                        members.extend(parts.map(Use::Member));
                    }
                    !is_local
                }
                _ => true,
            });
            symbol.uses.append(&mut members);
            symbol.uses.sort_unstable();
            symbol.uses.dedup();
        }
        self.symbols
    }
}

/// Names with dots between them.
fn is_dotted(text: &str) -> bool {
    const MOST_BYTES: usize = 120;
    let is_name = |part: &str| {
        part.bytes()
            .next()
            .is_some_and(|first| first == b'_' || first.is_ascii_alphabetic())
            && part
                .bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    };
    text.len() <= MOST_BYTES && text.split('.').all(is_name)
}
