//! Why a file cannot be used as a library.

use std::path::{Path, PathBuf};

use runner_core::backend::BackendError;
use runner_core::visible::visible;

use crate::abi;

/// A file, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {fault}", visible(&path.to_string_lossy()))]
pub struct LibraryError {
    pub path: PathBuf,
    pub fault: Fault,
}

/// What is wrong with a library, what was wanted instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("there is no such file")]
    Missing,
    #[error("it is {0}, not a regular file")]
    NotAFile(&'static str),
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("it has {has} bytes; a library may have {most}")]
    TooLarge { has: u64, most: u64 },
    #[error("the file is empty")]
    Empty,
    #[error("this is a text, not a library (it begins with `{0}`)")]
    Text(String),
    #[error("this is not a library, nor any other file with code in it (it begins with the bytes {0})")]
    UnknownFormat(String),
    #[error("the file is cut: it has {has} bytes, its headers speak of {needs}")]
    Truncated { has: u64, needs: u64 },
    #[error("the file is damaged: {0}")]
    Damaged(String),
    #[error("built for {found}; this qaas needs a library of {wanted}")]
    OtherSystem {
        found: &'static str,
        wanted: &'static str,
    },
    #[error("built for {found}; this qaas is {wanted}")]
    OtherCpu { found: String, wanted: &'static str },
    #[error("built for {found} bits; this qaas has {wanted}")]
    OtherWidth { found: u32, wanted: u32 },
    #[error("this is {0}, not a shared library")]
    WrongKind(&'static str),
    #[error("it is a library, but no backend: it does not export `{}`", abi::ENTRY)]
    NoEntry,
    #[error(
        "it is a backend of version {found} of the library interface (it exports `{}{found}`); this qaas knows version {}",
        abi::ENTRY_PREFIX,
        abi::MAJOR
    )]
    OtherMajor { found: String },
    #[error("its content changed: it is sha256 {found}, and {wanted} was looked at before")]
    Changed { found: String, wanted: String },
    #[error("it does not load: {0}")]
    Load(String),
    #[error("its entry `{}` gives no table", abi::ENTRY)]
    NullTable,
    #[error(
        "its table does not begin as a backend's (it begins with {found:#010x}, not {:#010x})",
        abi::MAGIC
    )]
    WrongMagic { found: u32 },
    #[error(
        "its table is version {major}.{minor}; this qaas knows version {}.{}",
        abi::MAJOR,
        abi::MINOR
    )]
    TableMajor { major: u16, minor: u16 },
    #[error(
        "its table is too short: {size} bytes, where version {}.0 has {}",
        abi::MAJOR,
        abi::LEAST_SIZE
    )]
    ShortTable { size: u32 },
    #[error("its table has no function `{0}`")]
    MissingFunction(&'static str),
}

impl Fault {
    pub(crate) fn at(self, path: &Path) -> LibraryError {
        LibraryError {
            path: path.to_owned(),
            fault: self,
        }
    }

    /// A stable word for programs, one for each fault.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing => "library_missing",
            Self::NotAFile(_) => "library_not_a_file",
            Self::Unreadable(_) => "library_unreadable",
            Self::TooLarge { .. } => "library_too_large",
            Self::Empty => "library_empty",
            Self::Text(_) => "library_text",
            Self::UnknownFormat(_) => "library_unknown_format",
            Self::Truncated { .. } => "library_truncated",
            Self::Damaged(_) => "library_damaged",
            Self::OtherSystem { .. } => "library_other_system",
            Self::OtherCpu { .. } => "library_other_cpu",
            Self::OtherWidth { .. } => "library_other_width",
            Self::WrongKind(_) => "library_wrong_kind",
            Self::NoEntry => "library_no_entry",
            Self::OtherMajor { .. } => "library_other_major",
            Self::Changed { .. } => "library_changed",
            Self::Load(_) => "library_load",
            Self::NullTable => "library_null_table",
            Self::WrongMagic { .. } => "library_wrong_magic",
            Self::TableMajor { .. } => "library_table_major",
            Self::ShortTable { .. } => "library_short_table",
            Self::MissingFunction(_) => "library_missing_function",
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing => "build the library, or mend its path".to_owned(),
            Self::NotAFile(_) | Self::TooLarge { .. } => "name the library's own file".to_owned(),
            Self::Unreadable(_) => "make it readable for you".to_owned(),
            Self::Empty | Self::Truncated { .. } | Self::Damaged(_) => "build or copy it again".to_owned(),
            Self::Text(_) => "name the built library; a script is a backend of `kind = \"exec\"`".to_owned(),
            Self::UnknownFormat(_) => "name the built library".to_owned(),
            Self::OtherSystem { wanted, .. } => format!("build it for {wanted}"),
            Self::OtherCpu { wanted, .. } => {
                let system = std::env::consts::OS;
                format!("build it on a machine like this one, or with --target for {wanted} ({system})")
            }
            Self::OtherWidth { wanted, .. } => format!("build it for {wanted} bits"),
            Self::WrongKind(_) => {
                "build it as a shared library (Rust: `crate-type = [\"cdylib\"]`; C: `cc -shared -fPIC`); a program \
                 is a backend of `kind = \"exec\"`"
                    .to_owned()
            }
            Self::NoEntry => format!(
                "end the crate with `dylib_plugin::export!(…)`, or export `{}` as qaas_backend.h says",
                abi::ENTRY
            ),
            Self::OtherMajor { .. } | Self::TableMajor { .. } => {
                "use a qaas and a library of one major version: update the older of the two".to_owned()
            }
            Self::Changed { .. } => "if the change is meant, run the command again".to_owned(),
            Self::Load(_) => "install the libraries that it needs, or build it on this machine".to_owned(),
            Self::NullTable
            | Self::WrongMagic { .. }
            | Self::ShortTable { .. }
            | Self::MissingFunction(_) => {
                "fill the table as qaas_backend.h says; its authors have to mend this".to_owned()
            }
        }
    }
}

impl From<LibraryError> for BackendError {
    fn from(error: LibraryError) -> Self {
        Self::new(error.fault.code(), error.to_string()).with_hint(error.fault.hint())
    }
}
