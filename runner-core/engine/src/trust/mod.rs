//! Trust: which parts of a repository's configuration may be used before a person has agreed to them.
//!
//! Running tests is running the repository's code, and asks nothing. What a repository's `qaas.toml` can do *beyond*
//! that is its [`Surface`]: command lines, loader variables, secrets handed on, an interpreter that nobody would have
//! chosen. A person agrees to it with `qaas trust`; what was agreed to is kept in the user's state folder, word for
//! word, and holds only for exactly these words. Nothing in a repository and nothing in the environment gives trust.
//!
//! Intended use, by whoever is about to run something:
//!
//! ```text
//! let mut surface = Surface::of(&settings);
//! // for every suite whose `python` detection would not have chosen itself:
//! surface.add_interpreter(&suite.name, python);
//! let trust = Trust::decide(store.as_ref(), &root, &settings, &surface, session_trust);
//! let (env, left_out) = trust.environment(&settings.env);      // `left_out` is a warning for the answer
//! trust.require(&Part::Interpreter(suite.name.clone()))?;      // an error answer: message and command
//! trust.require(&Part::Backend(name))?;                        // or the next backend of the suite's list
//! ```
//!
//! What runs must come from the same [`Settings`](crate::config::Settings) that the surface was made of: a file that
//! is read again may have become another one.

mod decide;
mod error;
mod owner;
mod store;
mod surface;

#[cfg(test)]
mod tests;

pub use decide::{Refusal, Trust, command};
pub use error::TrustError;
pub use owner::check_owners;
pub use store::{Listed, Record, TrustStore};
pub use surface::{Item, Part, Surface, is_loader_name};
