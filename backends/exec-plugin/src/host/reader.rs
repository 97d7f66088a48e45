//! The reader of one iteration, in another process.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use runner_core::backend::{BackendError, OutputReader, RunRequest, StillWanted};
use runner_core::event::{Ending, TestEvent};
use runner_core::plan::{Artifacts, Lines, StepExit};
use runner_core::wire::{
    self, FinishParams, MAX_LINE, Method, OpenParams, ReadParams, ReaderParams, TestEvents, WireError,
};

use super::connection::{Connection, Failure};
use super::fault::Fault;
use super::pool::Processes;

/// The number of the reader. Each has a process of its own while it reads, so one number will do.
const READER: u64 = 1;
/// What the answers of a run may take together once nobody waits for it any more: enough for a sound backend to hand over
/// what it has.
const GRACE: Duration = Duration::from_secs(2);
/// The most bytes of lines in one call, before they are written as JSON. Each byte becomes six at most.
const BATCH: usize = 1 << 20;
/// The most pages of one answer.
const MOST_PAGES: usize = 1_000;
/// What a message says beside its lines, generously.
const FRAME: usize = 4096;

pub(super) struct RemoteReader {
    processes: Arc<Processes>,
    request: RunRequest,
    wanted: StillWanted,
    /// `None` before the first call and after the last.
    connection: Option<Connection>,
    /// Why nothing more is asked. Told by [`OutputReader::finish`]: one error, not one for each line.
    fault: Option<BackendError>,
}

impl RemoteReader {
    pub(super) fn new(processes: Arc<Processes>, request: RunRequest, wanted: StillWanted) -> Self {
        Self {
            processes,
            request,
            wanted,
            connection: None,
            fault: None,
        }
    }

    /// The process, with an open reader in it.
    fn connection(&mut self) -> Result<&mut Connection, BackendError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if self.connection.is_none() {
            let mut connection = self.processes.take(&self.wanted, GRACE)?;
            let params = OpenParams {
                reader: READER,
                request: Cow::Borrowed(&self.request),
            };
            connection.call(Method::Open, &params, &self.wanted, |_| Ok(()))?;
            self.connection = Some(connection);
        }
        Ok(self.connection.as_mut().expect("made just now"))
    }

    fn call<T>(
        &mut self,
        method: Method,
        params: &impl serde::Serialize,
        read: impl FnOnce(&str) -> Result<T, WireError>,
    ) -> Result<T, Failure> {
        let waits = self.wanted.clone();
        let connection = self.connection().map_err(Failure::Over)?;
        connection.call(method, params, &waits, read)
    }

    fn read_batch(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) -> Result<(), BackendError> {
        let params = ReadParams {
            reader: READER,
            lines: Cow::Borrowed(std::slice::from_ref(lines)),
        };
        let page = self.call(Method::Read, &params, wire::events)?;
        self.pages(page, events)
    }

    /// Takes a page of events, and asks for the rest.
    fn pages(
        &mut self,
        mut page: TestEvents<'static>,
        events: &mut Vec<TestEvent>,
    ) -> Result<(), BackendError> {
        for number in 0.. {
            let empty = page.events.is_empty();
            events.extend(page.events.into_owned());
            if !page.more {
                break;
            }
            let pages = self
                .connection
                .as_ref()
                .is_some_and(|connection| connection.pages);
            if empty || !pages || number > MOST_PAGES {
                let what = "it has `more` without events, without the feature, or without an end".to_owned();
                let fault = Fault::Protocol(what);
                let over = |connection: &mut Connection| connection.over(&fault, Method::More);
                return Err(self
                    .connection
                    .as_mut()
                    .map_or_else(|| BackendError::new("crashed", "the backend is gone"), over));
            }
            page = self.call(Method::More, &ReaderParams { reader: READER }, wire::events)?;
        }
        Ok(())
    }

    /// Hands over the planned files, then asks for the end.
    fn end(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        for (name, state) in files.iter() {
            for piece in wire::pieces(READER, name, state) {
                self.call(Method::Artifact, &piece, |_| Ok(()))?;
            }
        }
        let mut params = FinishParams {
            reader: READER,
            exits: exits.to_vec(),
            dumps: files.dumps.clone(),
        };
        let mut answer = self.call(Method::Finish, &params, wire::finished);
        if matches!(answer, Err(Failure::Unsent(WireError::TooLong { .. }))) {
            params.dumps.clear();
            events.push(TestEvent::Warning {
                message: "the stacks of hanging processes were too long for the backend and left out"
                    .to_owned(),
            });
            answer = self.call(Method::Finish, &params, wire::finished);
        }
        let (page, ending) = answer?;
        self.pages(page, events)?;
        Ok(ending)
    }
}

impl OutputReader for RemoteReader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        for batch in batches(lines, events) {
            if self.fault.is_some() {
                return;
            }
            if let Err(error) = self.read_batch(&batch, events) {
                self.fault = Some(error);
                self.connection = None;
            }
        }
    }

    fn is_lost(&self) -> bool {
        self.fault.is_some()
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        let ended = self.end(exits, files, events);
        // After a refusal the process may still hold this reader; it is not used again.
        if let (Ok(_), Some(connection)) = (&ended, self.connection.take()) {
            self.processes.put_back(connection);
        }
        ended
    }
}

/// The lines in batches that fit into a message. A single line that would not fit is cut, which is told.
fn batches<'a>(lines: &'a Lines, events: &mut Vec<TestEvent>) -> Vec<Cow<'a, Lines>> {
    let total: usize = lines.lines.iter().map(String::len).sum();
    if total + lines.lines.len() * 4 <= BATCH {
        return vec![Cow::Borrowed(lines)];
    }
    let empty = || Lines {
        lines: Vec::new(),
        ..*lines
    };
    let (mut all, mut batch, mut bytes) = (Vec::new(), empty(), 0);
    for line in &lines.lines {
        let fits = &line[..fitting(line, MAX_LINE - FRAME)];
        if fits.len() < line.len() {
            let gone = line.len() - fits.len();
            events.push(TestEvent::Warning {
                message: format!("the last {gone} bytes of an overlong line were not handed to the backend"),
            });
        }
        if bytes + fits.len() + 4 > BATCH && !batch.lines.is_empty() {
            all.push(Cow::Owned(std::mem::replace(&mut batch, empty())));
            bytes = 0;
        }
        bytes += fits.len() + 4;
        batch.lines.push(fits.to_owned());
    }
    all.push(Cow::Owned(batch));
    all
}

/// How many bytes of a line can be written as JSON in `room` bytes.
fn fitting(line: &str, room: usize) -> usize {
    if line.len() * 6 <= room {
        return line.len();
    }
    let mut used = 0;
    for (at, c) in line.char_indices() {
        used += match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            c => c.len_utf8(),
        };
        if used > room {
            return at;
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use runner_core::plan::Stream;

    use super::*;

    proptest! {
        #[test]
        fn what_fits_is_what_json_needs(line in "[a\"\\\\\n\u{1}é😀]{0,60}", room in 0usize..200) {
            let head = &line[..fitting(&line, room)];
            let written = serde_json::to_string(head).expect("JSON").len() - 2;
            prop_assert!(written <= room || head.len() * 6 <= room);
            if let Some(next) = line[head.len()..].chars().next() {
                let more = format!("{head}{next}");
                prop_assert!(serde_json::to_string(&more).expect("JSON").len() - 2 > room);
            }
        }
    }

    #[test]
    fn batches_hold_every_line_once_and_fit() {
        let long = "\u{1}".repeat(3 << 20);
        let lines: Vec<String> = (0..3000)
            .map(|n| format!("{n} {}", "x".repeat(1000)))
            .chain([long])
            .collect();
        let lines = Lines {
            step: 2,
            stream: Stream::Channel,
            lines,
        };
        let mut events = Vec::new();
        let all = batches(&lines, &mut events);
        let back: Vec<&String> = all.iter().flat_map(|batch| &batch.lines).collect();
        assert_eq!(back.len(), 3001);
        assert!(back.iter().zip(&lines.lines).take(3000).all(|(a, b)| *a == b));
        assert_eq!(events.len(), 1, "the long one is cut, and that is told");
        for batch in &all {
            assert_eq!((batch.step, batch.stream), (2, Stream::Channel));
            let params = ReadParams {
                reader: 1,
                lines: Cow::Borrowed(std::slice::from_ref(batch.as_ref())),
            };
            wire::request(u64::MAX, Method::Read, &params).expect("it fits");
        }
    }

    #[test]
    fn an_ordinary_read_is_not_copied() {
        let lines = Lines {
            step: 0,
            stream: Stream::Stdout,
            lines: vec!["a".to_owned()],
        };
        let all = batches(&lines, &mut Vec::new());
        assert!(matches!(all.as_slice(), [Cow::Borrowed(_)]));
    }
}
