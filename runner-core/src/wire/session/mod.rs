//! The backend's side of the protocol, whatever carries it: which calls are answered how, and what a panic costs.

mod reader;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

use self::reader::Reader;
use super::{
    ArtifactParams, CallError, FEATURE_MORE, FEATURES, FinishParams, Finished, InitializeParams, Initialized,
    MAX_RESULT, Method, OpenParams, PROTOCOL, PlanParams, ReadParams, ReaderParams, TestEvents, WireError,
    WrapParams, codes, excerpt,
};
use crate::backend::{BackendError, TestBackend};
use crate::panic::panic_text;

/// Makes the backend once the host has said who it is and what stands in the table's `config`.
pub type Maker = Box<dyn FnOnce(&InitializeParams) -> Result<Box<dyn TestBackend>, BackendError>>;

/// Something that answers a host's calls, one at a time: parameters in, result out, both as their JSON text without line
/// breaks. A result has at most [`MAX_RESULT`] bytes.
pub trait Answer {
    /// The result of a call as JSON, or the error that is answered.
    fn answer(&mut self, method: Method, params: &str) -> Result<String, CallError>;
}

/// A backend of this process, its open readers, and what the host can do.
pub struct Session {
    /// `None` once it has been used.
    make: Option<Maker>,
    backend: Option<Box<dyn TestBackend>>,
    features: Vec<String>,
    readers: BTreeMap<u64, Reader>,
    /// Readers whose code panicked, with what it said.
    poisoned: BTreeMap<u64, String>,
}

type Answered = Result<String, CallError>;

impl Session {
    /// One that was not initialized yet.
    pub fn new(make: Maker) -> Self {
        Self {
            make: Some(make),
            backend: None,
            features: Vec::new(),
            readers: BTreeMap::new(),
            poisoned: BTreeMap::new(),
        }
    }

    fn call(&mut self, method: Method, params: &str) -> Answered {
        if self.backend.is_none() && !matches!(method, Method::Initialize | Method::Shutdown) {
            return Err(failed(codes::BAD_PARAMS, "call `initialize` first"));
        }
        match method {
            Method::Initialize => self.initialize(read(params)?),
            Method::Plan => {
                let PlanParams { request, project } = read(params)?;
                fits(&self.backend()?.plan(&request, &project)?)
            }
            Method::Wrap => {
                let WrapParams {
                    request,
                    project,
                    plan,
                } = read(params)?;
                fits(&self.backend()?.wrap(&request, &project, plan.into_owned())?)
            }
            Method::Open => {
                let OpenParams { reader, request } = read(params)?;
                let opened = Reader::new(self.backend()?.reader(&request));
                self.poisoned.remove(&reader);
                self.readers.insert(reader, opened);
                fits(&())
            }
            Method::Read => self.read_lines(&read(params)?),
            Method::Artifact => {
                let piece: ArtifactParams = read(params)?;
                self.reader(piece.reader)?.take(piece)?;
                fits(&())
            }
            Method::Finish => self.finish(&read(params)?),
            Method::More => self.more(read(params)?),
            Method::Close => {
                let ReaderParams { reader } = read(params)?;
                self.readers.remove(&reader);
                self.poisoned.remove(&reader);
                fits(&())
            }
            Method::Shutdown => fits(&()),
        }
    }

    fn initialize(&mut self, params: InitializeParams) -> Answered {
        let Some(protocol) = params.protocol.common(PROTOCOL) else {
            return Err(failed(
                codes::PROTOCOL,
                format!(
                    "this backend speaks protocol {PROTOCOL}, the host {}",
                    params.protocol
                ),
            ));
        };
        let Some(make) = self.make.take() else {
            return Err(failed(codes::BAD_PARAMS, "`initialize` was called before"));
        };
        let backend = make(&params)?;
        let known = |feature: &String| FEATURES.contains(&feature.as_str());
        self.features = params.features.into_iter().filter(known).collect();
        let answer = Initialized {
            protocol,
            features: self.features.clone(),
            info: backend.info(),
        };
        self.backend = Some(backend);
        fits(&answer)
    }

    fn backend(&self) -> Result<&dyn TestBackend, CallError> {
        let missing = || failed(codes::BAD_PARAMS, "call `initialize` first");
        self.backend.as_deref().ok_or_else(missing)
    }

    fn reader(&mut self, number: u64) -> Result<&mut Reader, CallError> {
        if let Some(said) = self.poisoned.get(&number) {
            return Err(panicked(&format!("reader {number} panicked earlier: {said}")));
        }
        let missing = || failed(codes::BAD_PARAMS, format!("there is no reader {number}"));
        self.readers.get_mut(&number).ok_or_else(missing)
    }

    fn read_lines(&mut self, params: &ReadParams<'_>) -> Answered {
        let pages = self.pages();
        let reader = self.reader(params.reader)?;
        let mut events = Vec::new();
        let inner = reader.inner.as_mut();
        let inner = inner.ok_or_else(|| failed(codes::BAD_PARAMS, "this reader has finished"))?;
        for lines in params.lines.iter() {
            inner.read(lines, &mut events);
        }
        reader.queue(events);
        page(reader, pages)
    }

    fn finish(&mut self, params: &FinishParams) -> Answered {
        let pages = self.pages();
        let reader = self.reader(params.reader)?;
        let finished = || failed(codes::BAD_PARAMS, "this reader has finished");
        // Should it panic, it is not dropped: that might be one panic too many.
        let mut inner = ManuallyDrop::new(reader.inner.take().ok_or_else(finished)?);
        reader.files.dumps.clone_from(&params.dumps);
        let mut events = Vec::new();
        let ending = inner.finish(&params.exits, &reader.files, &mut events);
        drop(ManuallyDrop::into_inner(inner));
        reader.queue(events);
        let ending = match ending {
            Ok(ending) => ending,
            Err(error) => {
                self.readers.remove(&params.reader);
                return Err(error.into());
            }
        };
        let answer = reader.page(pages, |events, more| {
            let answer = Finished {
                events: Cow::Borrowed(events),
                ending: ending.clone(),
                more,
            };
            fits(&answer)
        });
        self.forget_spent(params.reader);
        answer
    }

    fn more(&mut self, params: ReaderParams) -> Answered {
        let reader = self.reader(params.reader)?;
        let answer = page(reader, true);
        self.forget_spent(params.reader);
        answer
    }

    fn forget_spent(&mut self, number: u64) {
        if self.readers.get(&number).is_some_and(Reader::is_spent) {
            self.readers.remove(&number);
        }
    }

    fn pages(&self) -> bool {
        self.features.iter().any(|feature| feature == FEATURE_MORE)
    }
}

impl Answer for Session {
    fn answer(&mut self, method: Method, params: &str) -> Answered {
        let answered = catch_unwind(AssertUnwindSafe(|| self.call(method, params)));
        answered.unwrap_or_else(|panic| {
            let said = panic_text(panic.as_ref()).to_owned();
            // Whatever the backend's code left behind is neither used nor dropped again: both might panic.
            std::mem::forget(panic);
            if method != Method::Open
                && let Ok(ReaderParams { reader }) = serde_json::from_str(params)
            {
                std::mem::forget(self.readers.remove(&reader));
                self.poisoned.insert(reader, said.clone());
            }
            Err(panicked(&format!("panicked in `{}`: {said}", method.as_str())))
        })
    }
}

fn page(reader: &mut Reader, pages: bool) -> Answered {
    reader.page(pages, |events, more| {
        let answer = TestEvents {
            events: Cow::Borrowed(events),
            more,
        };
        fits(&answer)
    })
}

/// The result's text, if it is one that a line can hold.
fn fits(result: &impl Serialize) -> Answered {
    let bad =
        |error: &dyn std::fmt::Display| CallError::from(BackendError::new("bad_answer", error.to_string()));
    let text = serde_json::to_string(result).map_err(|error| bad(&error))?;
    if text.len() > MAX_RESULT {
        let what = "the answer".to_owned();
        let bytes = text.len();
        return Err(bad(&WireError::TooLong { what, bytes }));
    }
    Ok(text)
}

fn read<'a, T: Deserialize<'a>>(params: &'a str) -> Result<T, CallError> {
    serde_json::from_str(params).map_err(|error| {
        let start = excerpt(params.as_bytes());
        failed(
            codes::BAD_PARAMS,
            format!("the parameters cannot be read: {error}, in `{start}`"),
        )
    })
}

fn failed(code: i64, message: impl Into<String>) -> CallError {
    CallError {
        code,
        message: message.into(),
        data: None,
    }
}

fn panicked(message: &str) -> CallError {
    failed(codes::PANICKED, message)
}
