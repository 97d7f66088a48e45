//! What a file defines (functions, classes, methods, variables) and which names each of them uses.

mod scanner;
mod symbol;

pub use symbol::{Kind, Symbol, Use};

use scanner::Scanner;

/// Reads a file's text. The first symbol is the module itself.
pub fn symbols(text: &str) -> Vec<Symbol<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut scanner = Scanner::new(text);
    scanner.run();
    scanner.finish()
}

#[cfg(test)]
mod tests;
