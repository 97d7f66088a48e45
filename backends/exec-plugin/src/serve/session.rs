//! One conversation: which calls are answered how, and what a panic costs.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use runner_core::backend::{BackendError, TestBackend};
use runner_core::wire::{
    self, ArtifactParams, CallError, FEATURE_MORE, FEATURES, FinishParams, Finished, InitializeParams,
    Initialized, Method, OpenParams, PROTOCOL, PlanParams, ReadParams, ReaderParams, TestEvents, WrapParams,
    codes,
};
use serde::Deserialize;

use super::reader::Reader;
use super::{Maker, write};

pub(super) struct Session {
    /// `None` once it has been used.
    make: Option<Maker>,
    backend: Option<Box<dyn TestBackend>>,
    features: Vec<String>,
    readers: BTreeMap<u64, Reader>,
    /// Readers whose code panicked, with what it said.
    poisoned: BTreeMap<u64, String>,
}

/// The answer's line.
type Answer = Result<String, CallError>;

impl Session {
    pub(super) fn new(make: Maker) -> Self {
        Self {
            make: Some(make),
            backend: None,
            features: Vec::new(),
            readers: BTreeMap::new(),
            poisoned: BTreeMap::new(),
        }
    }

    /// The whole answer to a call, whatever happens in it.
    pub(super) fn answer(&mut self, id: u64, method: &str, params: &str) -> String {
        let answered = catch_unwind(AssertUnwindSafe(|| self.call(id, method, params)));
        let answer = answered.unwrap_or_else(|panic| {
            let said = panic_text(panic.as_ref());
            if let Ok(ReaderParams { reader }) = serde_json::from_str(params)
                && method != Method::Open.as_str()
            {
                self.readers.remove(&reader);
                self.poisoned.insert(reader, said.to_owned());
            }
            Err(panicked(&format!("panicked in `{method}`: {said}")))
        });
        answer.unwrap_or_else(|error| write(Some(id), Err::<&(), _>(&error)))
    }

    fn call(&mut self, id: u64, name: &str, params: &str) -> Answer {
        let Some(method) = Method::parse(name) else {
            return Err(failed(
                codes::NO_SUCH_METHOD,
                format!("there is no method `{name}`"),
            ));
        };
        if self.backend.is_none() && !matches!(method, Method::Initialize | Method::Shutdown) {
            return Err(failed(codes::BAD_PARAMS, "call `initialize` first"));
        }
        match method {
            Method::Initialize => self.initialize(id, read(params)?),
            Method::Plan => {
                let PlanParams { request, project } = read(params)?;
                fits(id, &self.backend()?.plan(&request, &project)?)
            }
            Method::Wrap => {
                let WrapParams {
                    request,
                    project,
                    plan,
                } = read(params)?;
                fits(id, &self.backend()?.wrap(&request, &project, plan.into_owned())?)
            }
            Method::Open => {
                let OpenParams { reader, request } = read(params)?;
                let opened = Reader::new(self.backend()?.reader(&request));
                self.poisoned.remove(&reader);
                self.readers.insert(reader, opened);
                fits(id, &())
            }
            Method::Read => self.read_lines(id, &read(params)?),
            Method::Artifact => {
                let piece: ArtifactParams = read(params)?;
                self.reader(piece.reader)?.take(piece)?;
                fits(id, &())
            }
            Method::Finish => self.finish(id, &read(params)?),
            Method::More => self.more(id, read(params)?),
            Method::Close => {
                let ReaderParams { reader } = read(params)?;
                self.readers.remove(&reader);
                self.poisoned.remove(&reader);
                fits(id, &())
            }
            Method::Shutdown => fits(id, &()),
        }
    }

    fn initialize(&mut self, id: u64, params: InitializeParams) -> Answer {
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
        fits(id, &answer)
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

    fn read_lines(&mut self, id: u64, params: &ReadParams<'_>) -> Answer {
        let pages = self.pages();
        let reader = self.reader(params.reader)?;
        let mut events = Vec::new();
        let inner = reader.inner.as_mut();
        let inner = inner.ok_or_else(|| failed(codes::BAD_PARAMS, "this reader has finished"))?;
        for lines in params.lines.iter() {
            inner.read(lines, &mut events);
        }
        reader.queue(events);
        page(reader, id, pages)
    }

    fn finish(&mut self, id: u64, params: &FinishParams) -> Answer {
        let pages = self.pages();
        let reader = self.reader(params.reader)?;
        let finished = || failed(codes::BAD_PARAMS, "this reader has finished");
        let mut inner = reader.inner.take().ok_or_else(finished)?;
        reader.files.dumps.clone_from(&params.dumps);
        let mut events = Vec::new();
        let ending = inner.finish(&params.exits, &reader.files, &mut events);
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
            fits(id, &answer)
        });
        self.forget_spent(params.reader);
        answer
    }

    fn more(&mut self, id: u64, params: ReaderParams) -> Answer {
        let reader = self.reader(params.reader)?;
        let answer = page(reader, id, true);
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

fn page(reader: &mut Reader, id: u64, pages: bool) -> Answer {
    reader.page(pages, |events, more| {
        let answer = TestEvents {
            events: Cow::Borrowed(events),
            more,
        };
        fits(id, &answer)
    })
}

fn fits(id: u64, answer: &impl serde::Serialize) -> Answer {
    wire::reply(Some(id), Ok(answer))
        .map_err(|error| BackendError::new("bad_answer", error.to_string()).into())
}

fn read<'a, T: Deserialize<'a>>(params: &'a str) -> Result<T, CallError> {
    serde_json::from_str(params).map_err(|error| {
        let start = wire::excerpt(params.as_bytes());
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

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
