//! A library in a process made for it: loaded when the host has introduced itself, so that all that can be wrong with it
//! is an answer and not a death.

use std::path::PathBuf;

use runner_core::backend::BackendError;
use runner_core::wire::{Answer, CallError, Method, codes};

use super::{Library, LibraryError};

/// A copy that is loaded at `initialize`. Answers like what it is in.
pub struct Hosted {
    name: String,
    /// Where the copy was made from, for messages.
    from: PathBuf,
    copy: PathBuf,
    sha256: String,
    library: Option<Library>,
}

impl Hosted {
    /// See [`Library::load`]. `from` is where the copy was made from, for messages.
    pub fn new(name: String, from: PathBuf, copy: PathBuf, sha256: String) -> Self {
        Self {
            name,
            from,
            copy,
            sha256,
            library: None,
        }
    }
}

impl Answer for Hosted {
    fn answer(&mut self, method: Method, params: &str) -> Result<String, CallError> {
        match (&mut self.library, method) {
            (Some(library), _) => library.answer(method, params),
            (None, Method::Shutdown) => Ok("null".to_owned()),
            (None, Method::Initialize) => {
                let loaded = Library::load(&self.name, &self.copy, &self.sha256);
                let library = loaded.map_err(|error| {
                    let path = self.from.clone();
                    CallError::from(BackendError::from(LibraryError { path, ..error }))
                })?;
                self.library.insert(library).answer(method, params)
            }
            (None, _) => Err(CallError {
                code: codes::BAD_PARAMS,
                message: "call `initialize` first".to_owned(),
                data: None,
            }),
        }
    }
}
