//! One reader as the host sees it: a number, files that come in pieces, events that go in pages.

use std::collections::{BTreeMap, VecDeque};

use crate::backend::{BackendError, OutputReader};
use crate::event::TestEvent;
use crate::plan::{ArtifactState, Artifacts};
use crate::wire::{ArtifactParams, PieceState, from_base64};

/// The most events in one answer. More would fit mostly, but the host should have something to do meanwhile.
const PAGE: usize = 20_000;

pub(super) struct Reader {
    /// `None` once it has finished.
    pub(super) inner: Option<Box<dyn OutputReader>>,
    pub(super) files: Artifacts,
    /// Files whose last piece has not come yet.
    partial: BTreeMap<String, Vec<u8>>,
    /// Events that did not fit into the last answer.
    pending: VecDeque<TestEvent>,
}

impl Reader {
    pub(super) fn new(inner: Box<dyn OutputReader>) -> Self {
        Self {
            inner: Some(inner),
            files: Artifacts::default(),
            partial: BTreeMap::new(),
            pending: VecDeque::new(),
        }
    }

    /// Takes a piece of a file, or the news that there is none.
    pub(super) fn take(&mut self, piece: ArtifactParams) -> Result<(), BackendError> {
        let ArtifactParams { name, state, .. } = piece;
        let state = match state {
            PieceState::Missing => ArtifactState::Missing,
            PieceState::Stale => ArtifactState::Stale,
            PieceState::Unusable => ArtifactState::Unusable(piece.why.unwrap_or_default()),
            PieceState::Bytes => {
                let bytes = from_base64(&piece.base64);
                let not_base64 =
                    || BackendError::new("bad_call", format!("a piece of `{name}` is not base64"));
                let so_far = self.partial.entry(name.clone()).or_default();
                so_far.extend(bytes.ok_or_else(not_base64)?);
                if !piece.last {
                    return Ok(());
                }
                ArtifactState::Bytes(self.partial.remove(&name).unwrap_or_default())
            }
        };
        self.files.insert(name, state);
        Ok(())
    }

    /// Adds events behind those that still wait.
    pub(super) fn queue(&mut self, events: Vec<TestEvent>) {
        self.pending.extend(events);
    }

    /// The next page, or all there is where the host knows no pages. `write` makes the answer of it, given whether more follow; `Err` where it does not fit.
    pub(super) fn page<E>(
        &mut self,
        pages: bool,
        write: impl Fn(&[TestEvent], bool) -> Result<String, E>,
    ) -> Result<String, E> {
        let mut most = if pages { PAGE } else { usize::MAX };
        loop {
            let count = self.pending.len().min(most);
            let more = count < self.pending.len();
            let page = &self.pending.make_contiguous()[..count];
            match write(page, more) {
                Ok(answer) => {
                    self.pending.drain(..count);
                    return Ok(answer);
                }
                Err(_) if pages && count > 1 => most = count / 2,
                Err(error) => {
                    // Alone too large. Those behind it can still be asked for.
                    self.pending.pop_front();
                    return Err(error);
                }
            }
        }
    }

    /// Whether the host may still ask something of it.
    pub(super) fn is_spent(&self) -> bool {
        self.inner.is_none() && self.pending.is_empty()
    }
}
