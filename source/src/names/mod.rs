//! Which names a file defines, imports and uses. One room a language.

pub mod python;
