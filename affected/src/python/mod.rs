//! What a Python file says about other files, read from its text alone.

mod lexer;
mod scan;

pub(crate) use scan::{Facts, From, scan};
