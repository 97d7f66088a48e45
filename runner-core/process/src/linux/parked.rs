//! A job that waits in its own start-up until it is told to go on.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use super::control::{ToSupervisor, line, monotonic};
use super::run::Watch;
use crate::output;
use crate::parking::{GO, GoOn, Word};
use crate::resume::Resume;
use crate::{Cancel, Job, JobExit, LineSink, ProcessError, Supervisor};
use runner_core::plan::Stream;

/// For a waiting job to say that it can go on: it has little to do for it.
const ANSWER: Duration = Duration::from_secs(5);

/// A job that waits. Dropped: it is ended, with everything it started.
pub struct Parked {
    watch: Watch,
    /// The server's half of the channel, to write to.
    order: UnixStream,
    /// What the job said of its own before it waited.
    early: Vec<(Stream, Vec<String>)>,
    files: Vec<PathBuf>,
}

/// A job that goes on.
pub struct Resumed {
    watch: Watch,
    early: Vec<(Stream, Vec<String>)>,
}

pub(crate) async fn park(
    supervisor: &Supervisor,
    job: Job,
    within: Duration,
) -> Result<Parked, ProcessError> {
    let (output, ends, order) = output::open_to_order(&job)?;
    let mut parked = Parked {
        watch: Watch::begin(supervisor, job, (output, ends)).await?,
        order,
        early: Vec::new(),
        files: Vec::new(),
    };
    match parked.word(within).await {
        Ok(Word::Parked { files }) => {
            parked.files = files;
            Ok(parked)
        }
        Ok(Word::Refused(why)) | Err(why) => Err(ProcessError::NotParked { why }),
        Ok(Word::Resumed) => Err(ProcessError::NotParked {
            why: "it did not wait".to_owned(),
        }),
    }
}

impl Parked {
    /// The files that it is made of. Whoever orders it to go on looks first whether they have changed.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Tells it to go on.
    ///
    /// # Errors
    /// Why it does not, in words. It has done nothing of the order then, and is ended.
    pub async fn resume(mut self, resume: &Resume) -> Result<Resumed, String> {
        self.watch.rearm(resume.deadline);
        let order = line(&GoOn { args: &resume.args });
        let untold = |error| format!("it could not be told: {error}");
        // It waits for nothing else, so all of it is taken at once, or it is not the program it was taken for.
        self.order.write_all(&order).map_err(untold)?;
        match self.word(ANSWER).await? {
            // Only now: a process that was given up for its late answer must not have begun.
            Word::Resumed => {
                self.order.write_all(&line(&GO)).map_err(untold)?;
                self.order.shutdown(Shutdown::Write).map_err(untold)?;
                Ok(Resumed {
                    watch: self.watch,
                    early: self.early,
                })
            }
            Word::Refused(why) => Err(why),
            Word::Parked { .. } => Err("it waits again".to_owned()),
        }
    }

    /// The job's next word; what it says of its own is kept for later.
    async fn word(&mut self, within: Duration) -> Result<Word, String> {
        let until = Instant::now() + within;
        loop {
            let heard = tokio::time::timeout_at(until, self.watch.next_lines()).await;
            let Ok(heard) = heard else {
                return Err(format!("it said nothing for {} s", within.as_secs()));
            };
            let (stream, mut lines) = heard.ok_or("it ended by itself")?;
            let mut word = None;
            if stream == Stream::Channel {
                lines.retain(|line| match Word::read(line) {
                    Some(read) if word.is_none() => {
                        word = Some(read);
                        false
                    }
                    _ => true,
                });
            }
            if !lines.is_empty() {
                self.early.push((stream, lines));
            }
            if let Some(word) = word {
                return Ok(word);
            }
        }
    }
}

impl Resumed {
    /// Goes on to its end, as [`Supervisor::run`] does.
    pub async fn run(mut self, cancel: &Cancel, sink: LineSink<'_>) -> Result<JobExit, ProcessError> {
        for (stream, lines) in self.early {
            sink(stream, lines);
        }
        self.watch.listen(cancel, sink).await;
        self.watch.close(sink).await
    }
}

impl std::fmt::Debug for Parked {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Parked")
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

impl Watch {
    /// From now on the job is the order's: its time begins.
    fn rearm(&mut self, deadline: Option<Instant>) {
        self.started = Instant::now();
        self.job.deadline = deadline;
        self.backstop = self.latest();
        self.link.tell(&ToSupervisor::GoOn {
            deadline: deadline
                .map(|deadline| monotonic() + deadline.saturating_duration_since(Instant::now())),
        });
    }

    /// The next lines of any stream; `None` when the job or its supervision is over.
    async fn next_lines(&mut self) -> Option<(Stream, Vec<String>)> {
        let mut over = false;
        loop {
            if over || self.heard.main.is_some() {
                // Its last word may be newer than what was read.
                let lines = self.output.channel_now();
                return (!lines.is_empty()).then_some((Stream::Channel, lines));
            }
            tokio::select! {
                biased;
                heard = self.output.next() => if !heard.1.is_empty() { return Some(heard) },
                message = self.link.next() => {
                    over = message.is_none_or(|message| self.hear(message));
                }
            }
        }
    }
}
