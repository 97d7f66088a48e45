//! One conversation with one process: questions in order, each with its answer, its time limit and its ways to fail.

use std::time::{Duration, Instant};

use runner_core::backend::{BackendError, StillWanted};
use runner_core::visible::visible;
use runner_core::wire::{
    self, FEATURE_MORE, FEATURES, Host, InitializeParams, Initialized, Method, PROTOCOL, WireError,
};
use serde::Serialize;

use super::fault::Fault;
use super::spec::Spec;
use super::{Launch, Received, Shutdown, Transport};

/// How often a waiting call looks whether somebody still waits for it.
const LOOK: Duration = Duration::from_millis(50);
/// For a process whose output has ended to be gone.
const GOING: Duration = Duration::from_secs(1);
/// For a process to end after `shutdown` and the end of its input.
const LEAVING: Duration = Duration::from_secs(2);

/// What a call cost.
#[derive(Debug)]
pub(super) enum Failure {
    /// The backend refused; the conversation goes on.
    Refused(BackendError),
    /// The question cannot be put; nothing was sent.
    Unsent(WireError),
    /// The conversation is over, the process gone.
    Over(BackendError),
}

impl From<Failure> for BackendError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) | Failure::Over(error) => error,
            Failure::Unsent(error) => Self::new("bad_call", error.to_string()),
        }
    }
}

pub(super) struct Connection {
    name: String,
    /// `None` once the conversation is over.
    transport: Option<Box<dyn Transport>>,
    last_id: u64,
    timeout: Duration,
    pub(super) pages: bool,
    /// What its answers may still take together once nobody waits any more.
    pub(super) grace: Duration,
}

impl Connection {
    /// Starts the process and shakes hands.
    pub(super) fn open(
        spec: &Spec,
        launch: &dyn Launch,
        waits: &StillWanted,
        grace: Duration,
    ) -> Result<(Self, Initialized, Vec<String>), BackendError> {
        let mut connection = Self {
            name: spec.name.clone(),
            transport: Some(launch.launch()?),
            last_id: 0,
            timeout: spec.timeout,
            pages: false,
            grace,
        };
        let params = InitializeParams {
            protocol: PROTOCOL,
            features: FEATURES.iter().map(|feature| (*feature).to_owned()).collect(),
            host: Host {
                name: "qaas".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            root: spec.root.clone(),
            config: spec.config.clone(),
        };
        let (answer, left_out) = connection.call(Method::Initialize, &params, waits, wire::initialized)?;
        if !PROTOCOL.contains(answer.protocol) {
            let what = format!(
                "it chose protocol {}, and this qaas speaks {PROTOCOL}",
                answer.protocol
            );
            return Err(connection.over(&Fault::Protocol(what), Method::Initialize));
        }
        connection.pages = answer.features.iter().any(|feature| feature == FEATURE_MORE);
        Ok((connection, answer, left_out))
    }

    /// Asks, waits, and reads the answer.
    pub(super) fn call<T>(
        &mut self,
        method: Method,
        params: &impl Serialize,
        waits: &StillWanted,
        read: impl FnOnce(&str) -> Result<T, WireError>,
    ) -> Result<T, Failure> {
        let line = wire::request(self.last_id + 1, method, params).map_err(Failure::Unsent)?;
        self.last_id += 1;
        let answered = self.exchange(&line, waits).and_then(|answer| {
            let reply = self.reply(&answer, method)?;
            match reply {
                Ok(result) => read(result)
                    .map(Ok)
                    .map_err(|error| Fault::Protocol(error.to_string())),
                Err(error) => Ok(Err(error)),
            }
        });
        match answered {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(refused)) => Err(Failure::Refused(self.named(refused, method))),
            Err(fault) => Err(Failure::Over(self.over(&fault, method))),
        }
    }

    /// One line there, one line back. Notifications are passed over.
    fn exchange(&mut self, line: &str, waits: &StillWanted) -> Result<String, Fault> {
        let begun = Instant::now();
        let timeout = self.timeout;
        let transport = self.transport.as_mut().ok_or(Fault::Gone)?;
        let grace = &mut self.grace;
        let mut goes_on = |waited: Duration| {
            if waits.still() {
                return true;
            }
            *grace = grace.saturating_sub(waited);
            !grace.is_zero()
        };
        let sent = transport.send(line, timeout, &mut goes_on);
        loop {
            let left = timeout.saturating_sub(begun.elapsed());
            // What could not be sent may still have been answered with an end.
            let slice = if sent { left.min(LOOK) } else { Duration::ZERO };
            let asked = Instant::now();
            match transport.receive(slice) {
                Received::Line(bytes) => {
                    let line =
                        String::from_utf8(bytes).map_err(|error| Fault::NotUtf8(error.into_bytes()))?;
                    if !is_notification(&line) {
                        return Ok(line);
                    }
                }
                Received::TooLong(head) if self.last_id == 1 => {
                    return Err(Fault::Stranger(wire::excerpt(&head)));
                }
                Received::TooLong(_) => return Err(Fault::TooLong),
                Received::End => return Err(Fault::Gone),
                Received::Silence => {}
            }
            if !goes_on(asked.elapsed()) {
                return Err(Fault::Unwanted);
            }
            if left.is_zero() || !sent {
                return Err(Fault::Silent(timeout.as_secs_f64()));
            }
        }
    }

    /// The result's text in an answer to the last question, or the backend's refusal.
    fn reply<'a>(&self, line: &'a str, method: Method) -> Result<Result<&'a str, BackendError>, Fault> {
        let read = wire::parse_reply(line).map_err(|error| {
            if method == Method::Initialize {
                Fault::Stranger(wire::excerpt(line.as_bytes()))
            } else {
                Fault::Protocol(error.to_string())
            }
        })?;
        let reply = read.ok_or_else(|| Fault::Protocol("a notification in place of an answer".to_owned()))?;
        if reply.id != self.last_id {
            let what = if reply.id < self.last_id {
                format!("it answered call {} twice", reply.id)
            } else {
                format!("it answered call {}, which was never made", reply.id)
            };
            return Err(Fault::Protocol(what));
        }
        Ok(reply.result.map_err(|error| {
            let error = BackendError::from(error);
            let safe = |text: &str| text.lines().map(visible).collect::<Vec<_>>().join("\n");
            BackendError {
                code: safe(&error.code),
                message: safe(&error.message),
                hint: error.hint.as_deref().map(safe),
            }
        }))
    }

    /// An error without a word of its own is mostly an accident in the backend: then it is said whose, and where.
    fn named(&self, error: BackendError, method: Method) -> BackendError {
        if !matches!(
            error.code.as_str(),
            "backend" | "bad_call" | "protocol" | "panicked"
        ) {
            return error;
        }
        let (name, method) = (&self.name, method.as_str());
        let hint =
            "this is a fault of the backend, not of the tests; `qaas backend check` shows what it answers";
        BackendError {
            message: format!(
                "backend \"{name}\" answered `{method}` with an error: {}",
                error.message
            ),
            hint: error.hint.or_else(|| Some(hint.to_owned())),
            ..error
        }
    }

    /// Ends the conversation with its error.
    pub(super) fn over(&mut self, fault: &Fault, method: Method) -> BackendError {
        let farewell = if fault.is_going() {
            Shutdown::Going(GOING)
        } else {
            Shutdown::Now
        };
        let parting = self.transport.take().map(|transport| transport.part(farewell));
        fault.error(&self.name, method, &parting.unwrap_or_default())
    }

    /// Whether nothing stands in the way of another question: it lives, and says nothing unasked.
    pub(super) fn is_sound(&mut self) -> bool {
        let transport = self.transport.as_mut();
        transport.is_some_and(|transport| transport.receive(Duration::ZERO) == Received::Silence)
    }

    /// Says good-bye and waits until the process is gone.
    pub(super) fn leave(mut self) {
        self.timeout = LEAVING;
        let _ = self.call(
            Method::Shutdown,
            &serde_json::json!({}),
            &StillWanted::default(),
            |_| Ok(()),
        );
        if let Some(transport) = self.transport.take() {
            transport.part(Shutdown::Politely(LEAVING));
        }
    }
}

/// Cheap for answers, which begin otherwise.
fn is_notification(line: &str) -> bool {
    // An answer may be 16 MiB: it is looked at closely only if it cannot be one.
    line.len() < 64 << 10 && line.contains("\"method\"") && matches!(wire::parse_reply(line), Ok(None))
}
