//! Short questions to a program: run it, keep what it printed.

use super::{Cancel, Job, JobExit, ProcessError, Supervisor};
use runner_core::plan::Stream;

/// What a short program said.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    pub exited: JobExit,
    /// Lines joined with line feeds, without the last one. Cut at the limit.
    pub stdout: String,
    pub stderr: String,
    /// Whether something was left out.
    pub truncated: bool,
}

impl Captured {
    /// Ended by itself with code 0.
    pub fn succeeded(&self) -> bool {
        let exit = &self.exited.exit;
        exit.code == Some(0) && !exit.timed_out && !exit.cancelled
    }
}

impl Supervisor {
    /// Runs a short job to its end and keeps the first `limit` bytes of each stream. The time limit is the job's.
    pub async fn capture(&self, job: Job, limit: usize) -> Result<Captured, ProcessError> {
        let mut captured = Captured::default();
        let mut sink = |stream, lines: Vec<String>| {
            let text = match stream {
                Stream::Stdout => &mut captured.stdout,
                Stream::Stderr => &mut captured.stderr,
                Stream::Channel => return,
            };
            for line in lines {
                captured.truncated |= !add(text, &line, limit);
            }
        };
        let exited = self.run(job, &Cancel::new(), &mut sink).await?;
        captured.truncated |= exited.dropped_bytes > 0;
        captured.exited = exited;
        Ok(captured)
    }
}

/// Adds a line as far as there is room. `false` if something was cut.
fn add(text: &mut String, line: &str, limit: usize) -> bool {
    let separator = usize::from(!text.is_empty());
    let room = limit.saturating_sub(text.len() + separator);
    if separator == 1 && room > 0 {
        text.push('\n');
    }
    let most = room.min(line.len());
    let kept = (0..=most)
        .rev()
        .find(|end| line.is_char_boundary(*end))
        .unwrap_or(0);
    text.push_str(&line[..kept]);
    kept == line.len()
}
