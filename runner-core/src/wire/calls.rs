//! Parameters and results of each method.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{MAX_PIECE, Versions, to_base64};
use crate::backend::{BackendInfo, RunRequest};
use crate::event::{Ending, TestEvent};
use crate::facts::Project;
use crate::plan::{ArtifactState, Lines, Plan, StepExit};

/// `initialize`: always the first call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InitializeParams {
    /// The versions that the host speaks.
    pub protocol: Versions,
    /// What the host can do beyond the protocol version.
    #[serde(default)]
    pub features: Vec<String>,
    /// Who asks.
    #[serde(default)]
    pub host: Host,
    /// The repository's root, real path. Empty where there is no repository.
    #[serde(default)]
    pub root: PathBuf,
    /// `config` of the backend's table in `qaas.toml`.
    #[serde(default)]
    pub config: Map<String, Value>,
}

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The program's name.
    #[serde(default)]
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
}

/// Answer to `initialize`. Read with [`super::initialized`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Initialized {
    /// One of the host's versions: the newest that both speak.
    pub protocol: u32,
    /// Those of the host's features that the backend uses.
    pub features: Vec<String>,
    /// What the backend is and can do.
    pub info: BackendInfo,
}

/// `plan`; answered with a [`Plan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanParams<'a> {
    /// What is asked for.
    pub request: Cow<'a, RunRequest>,
    /// What is known of the project.
    pub project: Cow<'a, Project>,
}

/// `wrap`; answered with a [`Plan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrapParams<'a> {
    /// What is asked for.
    pub request: Cow<'a, RunRequest>,
    /// What is known of the project.
    pub project: Cow<'a, Project>,
    /// The plan of the backend that is measured.
    pub plan: Cow<'a, Plan>,
}

/// `open`: a reader with fresh state. The host gives the number; answered with `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenParams<'a> {
    /// Which reader, by the number that the host gave it.
    pub reader: u64,
    /// What is asked for.
    pub request: Cow<'a, RunRequest>,
}

/// `read`; answered with [`TestEvents`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadParams<'a> {
    /// Which reader, by the number that the host gave it.
    pub reader: u64,
    /// What came, in order.
    pub lines: Cow<'a, [Lines]>,
}

/// `artifact`: what became of a planned file, before `finish`. A file's bytes come in pieces. Answered with `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArtifactParams {
    /// Which reader, by the number that the host gave it.
    pub reader: u64,
    /// The artifact's name.
    pub name: String,
    /// What this piece is.
    pub state: PieceState,
    /// The piece (`bytes`), see [`super::from_base64`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub base64: String,
    /// Why not, in words (`unusable`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// No more pieces of this file follow.
    pub last: bool,
}

/// [`ArtifactState`] without its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PieceState {
    /// A part of the file.
    Bytes,
    /// The file is not there.
    Missing,
    /// The file is older than the run.
    Stale,
    /// The file cannot be read, or is too large.
    Unusable,
}

/// The calls that hand over one planned file.
pub fn pieces<'a>(
    reader: u64,
    name: &'a str,
    state: &'a ArtifactState,
) -> Box<dyn Iterator<Item = ArtifactParams> + 'a> {
    let piece = move |state: PieceState, bytes: &[u8], why: Option<&String>, last: bool| ArtifactParams {
        reader,
        name: name.to_owned(),
        state,
        base64: to_base64(bytes),
        why: why.cloned(),
        last,
    };
    let alone = |state, why| Box::new(std::iter::once(piece(state, &[], why, true)));
    match state {
        ArtifactState::Missing => alone(PieceState::Missing, None),
        ArtifactState::Stale => alone(PieceState::Stale, None),
        ArtifactState::Unusable(why) => alone(PieceState::Unusable, Some(why)),
        ArtifactState::Bytes(bytes) if bytes.is_empty() => alone(PieceState::Bytes, None),
        ArtifactState::Bytes(bytes) => {
            let count = bytes.len().div_ceil(MAX_PIECE);
            let cut = bytes.chunks(MAX_PIECE).enumerate();
            Box::new(cut.map(move |(index, bytes)| piece(PieceState::Bytes, bytes, None, index + 1 == count)))
        }
    }
}

/// `finish`; answered with [`Finished`]. The reader is gone afterwards, but for what `more` still asks of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishParams {
    /// Which reader, by the number that the host gave it.
    pub reader: u64,
    /// One for each step that was started.
    pub exits: Vec<StepExit>,
    /// Contents of the stack files that the plan asked for, by process id.
    #[serde(default)]
    pub dumps: BTreeMap<u32, String>,
}

/// `more` and `close`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReaderParams {
    /// Which reader, by the number that the host gave it.
    pub reader: u64,
}

/// Answer to `read` and `more`. Read with [`super::events`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TestEvents<'a> {
    /// What was understood, in order.
    pub events: Cow<'a, [TestEvent]>,
    /// There are more, to be asked for with `more` (feature [`super::FEATURE_MORE`]).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// Answer to `finish`. Read with [`super::finished`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finished<'a> {
    /// What was understood, in order.
    pub events: Cow<'a, [TestEvent]>,
    /// How the framework ended.
    pub ending: Ending,
    /// As for [`TestEvents::more`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}
