//! What a directory is: its root, suites, interpreter, versions. Found by reading; nothing is run, but for [`ask`].

mod ask;
mod cargo;
mod choose;
mod discover;
mod error;
mod interpreter;
mod manager;
mod name;
mod nested;
mod node;
mod packages;
mod python_files;
mod resolve;
mod root;
mod settings_file;
mod skip;
mod suites;
#[cfg(test)]
mod test_backend;
mod workspace;

pub use ask::ask;
pub use choose::{Choice, choose_backend};
pub use discover::{Overrides, discover};
pub use error::{ProjectError, ProjectErrorKind};
pub use interpreter::is_detected;
pub use manager::install;
pub(crate) use manager::synchronise;
pub use nested::nested;
pub use resolve::looks_like_path;
pub use resolve::{resolve, resolve_dir, resolve_from, resolve_suite_path, seen_from};
pub use root::find_root;
pub use skip::is_foreign;
pub use suites::{suite_name, suites};
