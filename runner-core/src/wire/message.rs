//! JSON-RPC's frame: a call with its number, an answer with the same number.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{MAX_LINE, WireError};
use crate::backend::BackendError;

/// What a host may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Who are you, and what can you do?
    Initialize,
    /// [`plan`](crate::backend::TestBackend::plan).
    Plan,
    /// [`wrap`](crate::backend::TestBackend::wrap).
    Wrap,
    /// [`reader`](crate::backend::TestBackend::reader).
    Open,
    /// [`read`](crate::backend::OutputReader::read).
    Read,
    /// A piece of a planned file, before `finish`.
    Artifact,
    /// [`finish`](crate::backend::OutputReader::finish).
    Finish,
    /// The next events of an answer that was too long for one line.
    More,
    /// The reader is not needed any more.
    Close,
    /// Nothing more comes.
    Shutdown,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Initialize,
        Self::Plan,
        Self::Wrap,
        Self::Open,
        Self::Read,
        Self::Artifact,
        Self::Finish,
        Self::More,
        Self::Close,
        Self::Shutdown,
    ];

    /// As it stands on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::Plan => "plan",
            Self::Wrap => "wrap",
            Self::Open => "open",
            Self::Read => "read",
            Self::Artifact => "artifact",
            Self::Finish => "finish",
            Self::More => "more",
            Self::Close => "close",
            Self::Shutdown => "shutdown",
        }
    }

    /// `None` for a word of a newer protocol.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == word)
    }
}

/// Numbers of errors. A backend's own refusal is [`codes::BACKEND`]; its stable word stands in the error's data.
pub mod codes {
    /// The line is no JSON (JSON-RPC's own code).
    pub const PARSE: i64 = -32_700;
    /// There is no such method (JSON-RPC's own code).
    pub const NO_SUCH_METHOD: i64 = -32_601;
    /// The parameters are not those of the method (JSON-RPC's own code).
    pub const BAD_PARAMS: i64 = -32_602;
    /// A [`BackendError`](crate::backend::BackendError).
    pub const BACKEND: i64 = -32_000;
    /// No protocol version that both speak.
    pub const PROTOCOL: i64 = -32_001;
    /// The backend's code panicked. The reader of the call is no more; others go on.
    pub const PANICKED: i64 = -32_002;
}

/// One question, as the backend's side reads it.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// `None` for a notification, which gets no answer.
    pub id: Option<u64>,
    /// As it was written: it may be one that is not known.
    pub method: String,
    /// The parameters' own text; `{}` where there are none.
    pub params: &'a str,
}

/// One answer, as the host reads it.
#[derive(Clone, Debug)]
pub struct Reply<'a> {
    /// What the answer is known by.
    pub id: u64,
    /// The result's own text, or the error.
    pub result: Result<&'a str, CallError>,
}

/// JSON-RPC's error object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// One of [`codes`], or the backend's own.
    pub code: i64,
    /// What went wrong, in words.
    pub message: String,
    /// More for programs and for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<ErrorData>,
}

/// What is ours in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorData {
    /// [`BackendError::code`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl From<BackendError> for CallError {
    fn from(error: BackendError) -> Self {
        Self {
            code: codes::BACKEND,
            message: error.message,
            data: Some(ErrorData {
                code: Some(error.code),
                hint: error.hint,
            }),
        }
    }
}

impl From<CallError> for BackendError {
    fn from(error: CallError) -> Self {
        let data = error.data.unwrap_or_default();
        let word = match error.code {
            codes::PROTOCOL => "protocol",
            codes::PANICKED => "panicked",
            codes::BACKEND => "backend",
            _ => "bad_call",
        };
        Self {
            code: data.code.unwrap_or_else(|| word.to_owned()),
            message: error.message,
            hint: data.hint,
        }
    }
}

/// The line that asks `method`, without its line feed.
pub fn request(id: u64, method: Method, params: &impl Serialize) -> Result<String, WireError> {
    #[derive(Serialize)]
    struct Out<'a, P> {
        jsonrpc: &'static str,
        id: u64,
        method: &'static str,
        params: &'a P,
    }
    let method = method.as_str();
    let out = Out {
        jsonrpc: "2.0",
        id,
        method,
        params,
    };
    write(&out, || format!("`{method}`"))
}

/// The line that answers, without its line feed. `id` is `None` where the question could not be read.
pub fn reply(id: Option<u64>, result: Result<&impl Serialize, &CallError>) -> Result<String, WireError> {
    #[derive(Serialize)]
    struct Out<'a, R> {
        jsonrpc: &'static str,
        id: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a R>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a CallError>,
    }
    let out = Out {
        jsonrpc: "2.0",
        id,
        result: result.ok(),
        error: result.err(),
    };
    write(&out, || "the answer".to_owned())
}

/// The line that answers with a result that is JSON already.
pub fn reply_text(id: u64, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

fn write(out: &impl Serialize, what: impl Fn() -> String) -> Result<String, WireError> {
    let line = serde_json::to_string(out).map_err(|error| WireError::Unwritable {
        what: what(),
        why: error.to_string(),
    })?;
    if line.len() > MAX_LINE {
        return Err(WireError::TooLong {
            what: what(),
            bytes: line.len(),
        });
    }
    Ok(line)
}

/// Reads a question.
pub fn parse_call(line: &str) -> Result<Call<'_>, WireError> {
    #[derive(Deserialize)]
    struct In<'a> {
        #[serde(default)]
        id: Option<u64>,
        method: String,
        #[serde(default, borrow)]
        params: Option<&'a RawValue>,
    }
    let call: In<'_> =
        serde_json::from_str(line).map_err(|error| WireError::shape("not a JSON-RPC call", &error, line))?;
    Ok(Call {
        id: call.id,
        method: call.method,
        params: call.params.map_or("{}", RawValue::get),
    })
}

/// Reads an answer. `None`: a notification, which says nothing that a host waits for.
pub fn parse_reply(line: &str) -> Result<Option<Reply<'_>>, WireError> {
    #[derive(Deserialize)]
    struct In<'a> {
        #[serde(default)]
        id: Option<u64>,
        #[serde(default)]
        method: Option<String>,
        #[serde(default, borrow)]
        result: Option<&'a RawValue>,
        #[serde(default)]
        error: Option<CallError>,
    }
    let what = "not a JSON-RPC answer";
    let found: In<'_> = serde_json::from_str(line).map_err(|error| WireError::shape(what, &error, line))?;
    let shape = |why: &str| WireError::Shape {
        what: what.to_owned(),
        why: why.to_owned(),
        start: super::excerpt(line.as_bytes()),
    };
    match (found.id, found.method, found.error) {
        (None, Some(_), _) => Ok(None),
        (Some(_), Some(_), _) => Err(shape("a backend may not ask")),
        (None, None, Some(error)) => Err(shape(&format!("an error without `id`: {}", error.message))),
        (None, None, None) => Err(shape("no `id`")),
        (Some(id), None, Some(error)) => Ok(Some(Reply {
            id,
            result: Err(error),
        })),
        // A result of `null` is read as none: the calls that answer nothing answer `null`.
        (Some(id), None, None) => Ok(Some(Reply {
            id,
            result: Ok(found.result.map_or("null", RawValue::get)),
        })),
    }
}
