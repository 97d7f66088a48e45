//! Python sources, read by ruff's parser into a tree of our own: small, owned, comparable, and free of places and layout.
//!
//! The parser is published as a part of ruff and changes without notice, so no type of it leaves this module.

mod convert_expr;
mod convert_stmt;
mod expr;
mod stmt;

pub use expr::{Bracket, Constant, Expr, Keyword, Operator};
pub use stmt::{Class, Function, Handler, Import, Parameter, Stmt};

/// The statements of a module, or what the parser has against it.
///
/// # Errors
/// The parser's message, with its place in bytes, where `source` is not Python.
pub fn parse(source: &str) -> Result<Vec<Stmt>, String> {
    // A byte order mark is no part of a program, and the parser takes it for one.
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let parsed = ruff_python_parser::parse_module(source).map_err(|error| error.to_string())?;
    Ok(convert_stmt::body(&parsed.syntax().body, source))
}

#[cfg(test)]
mod tests;
