//! The side that loads libraries: look at the file, keep a copy of its own, load that, call it.

mod copy;
mod error;
mod header;
mod library;
mod load;
mod reply;

pub use copy::Copy;
pub use error::{Fault, LibraryError};
pub use library::Library;
