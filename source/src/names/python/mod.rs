//! What a Python file says about names, read from its text alone: no parser, so that half-written files count too.

mod imports;
mod lexer;
pub mod symbols;

pub use imports::{Facts, From, scan};
pub use symbols::symbols;
