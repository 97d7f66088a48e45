//! Where no job can wait in its own start-up: what is done elsewhere with one that does.

use std::path::PathBuf;

use crate::resume::Resume;
use crate::{Cancel, JobExit, LineSink, ProcessError};

/// A job that waits: there is none.
#[derive(Debug)]
pub enum Parked {}

/// A job that goes on: there is none.
#[derive(Debug)]
pub enum Resumed {}

#[expect(clippy::unused_async, reason = "as on the system where there are some")]
impl Parked {
    pub fn files(&self) -> &[PathBuf] {
        match *self {}
    }

    pub async fn resume(self, _resume: &Resume) -> Result<Resumed, String> {
        match self {}
    }
}

#[expect(clippy::unused_async, reason = "as on the system where there are some")]
impl Resumed {
    pub async fn run(self, _cancel: &Cancel, _sink: LineSink<'_>) -> Result<JobExit, ProcessError> {
        match self {}
    }
}
