//! A repository's sources and their past, as facts: what a file defines, imports and names, and what git remembers of
//! it. Reads files, runs nothing, and decides nothing: what the facts mean for tests is said by who reads them.

pub mod git;
pub mod names;
pub mod python;
