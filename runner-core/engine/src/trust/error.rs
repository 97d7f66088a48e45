//! Why trust can be neither given nor read.

use std::path::PathBuf;

/// Why trust can be neither given nor read.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("{path} {why}", path = .path.display())]
    Owner { path: PathBuf, why: String },
    #[error("{path} is a folder that every user of this machine may write to", path = .path.display())]
    Shared { path: PathBuf },
    #[error("the trust records in {path} cannot be used: {why}", path = .path.display())]
    Folder { path: PathBuf, why: String },
    #[error("the trust record {path} cannot be used: {why}", path = .path.display())]
    Damaged { path: PathBuf, why: String },
}

impl TrustError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Owner { .. } => {
                "Only what you (or root) alone can change can be trusted: mend its owner or its mode."
            }
            Self::Shared { .. } => {
                "What lies right in it can be trusted by nobody: move the repository into a folder of your own."
            }
            Self::Folder { .. } => {
                "The folder must be yours, with mode 0700, and no link; `QAAS_STATE_DIR` names another."
            }
            Self::Damaged { .. } => "Remove it and type `qaas trust` again.",
        }
    }
}
