//! The side that loads libraries: look at the file, load a copy of it, call that.

mod error;
mod file;
mod header;
mod hosted;
mod library;
mod load;
mod reply;

pub use error::{Fault, LibraryError};
pub use file::{check, look};
pub use hosted::Hosted;
pub use library::Library;
