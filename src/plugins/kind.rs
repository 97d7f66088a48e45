//! What a plug-in's file is.

use std::path::Path;

/// The `kind` of a table whose backend runs in another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A program that speaks the plug-in protocol.
    Exec,
    /// A shared library, in a process of this program that is made for it.
    Library,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Exec, Self::Library];

    /// As it is written.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Exec => "exec",
            Self::Library => "library",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// What a file is that a person named: a library if it is one, or if its name says that it should be.
    pub(super) fn of(path: &Path, content: &[u8]) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let named = name.ends_with(std::env::consts::DLL_SUFFIX) || name.contains(".so.");
        if named || dylib_plugin::check(path, content).is_ok() {
            Self::Library
        } else {
            Self::Exec
        }
    }
}
