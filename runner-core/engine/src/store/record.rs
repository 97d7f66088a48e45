//! The record of one run while it is being written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::StoreError;
use super::folder::{EVENTS, FILES, LARGEST_OUTPUT, LOCK, OUTPUT, SUMMARY};
use super::private::{Lock, create_file, private_folder, unusable};
use runner_core::event::{RunEvent, TestEvent};
use runner_core::model::Status;

/// How long an event may wait in memory while a run goes on, so that 30,000 tests do not mean 30,000 writes.
const FLUSH_EVERY: Duration = Duration::from_millis(300);
/// From here on the record keeps its rows without their long texts, in bytes.
const FULL_RECORD: u64 = 64 * 1024 * 1024;
/// Here the record ends.
const LARGEST_RECORD: u64 = 256 * 1024 * 1024;
/// What is kept of the temporary files of failed tests: bytes, and entries.
pub(super) const LARGEST_FILES: u64 = 16 * 1024 * 1024;
const MOST_FILES: usize = 1000;

/// The record of one run while it is being written. Failing writes end the record, never the run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// `None` once a write has failed.
    events: Option<BufWriter<File>>,
    output: Option<BufWriter<File>>,
    written: u64,
    output_written: u64,
    flushed: Instant,
    problem: Option<String>,
    /// Tells other processes that this run goes on.
    _lock: Option<Lock>,
}

impl RunFolder {
    pub(super) fn create(runs: &Path, run_id: &str) -> Result<Self, StoreError> {
        if !crate::run_id::is_run_id(run_id) {
            let why = format!("`{run_id}` is not the id of a run");
            return Err(StoreError::Unusable {
                path: runs.to_owned(),
                why,
            });
        }
        let path = runs.join(run_id);
        private_folder(&path)?;
        let open = |name: &str| create_file(&path.join(name));
        let lock = Lock::create(&path.join(LOCK)).unwrap_or_default();
        let events = open(EVENTS).map_err(|error| unusable(&path, &error))?;
        let output = open(OUTPUT).map_err(|error| unusable(&path, &error))?;
        Ok(Self {
            events: Some(BufWriter::with_capacity(64 * 1024, events)),
            output: Some(BufWriter::new(output)),
            written: 0,
            output_written: 0,
            flushed: Instant::now(),
            problem: None,
            _lock: lock,
            path,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds an event to the record. Seen by readers at once or within [`FLUSH_EVERY`] of a later event.
    pub fn append(&mut self, event: &RunEvent) {
        let Some(events) = &mut self.events else {
            return;
        };
        let is_last = matches!(event, RunEvent::Finished { .. });
        if self.written > LARGEST_RECORD && !is_last {
            self.end_record(&io::Error::other("it has become too large"));
            return;
        }
        let flush_now = !matches!(event, RunEvent::Test { .. }) || self.flushed.elapsed() > FLUSH_EVERY;
        let wrote = write_event(events, event, self.written > FULL_RECORD);
        let flushed = if flush_now { events.flush() } else { Ok(()) };
        if flush_now {
            self.flushed = Instant::now();
            self.output.as_mut().map(Write::flush);
        }
        match wrote.and_then(|length| flushed.map(|()| length)) {
            Ok(length) => self.written += length,
            Err(error) => self.end_record(&error),
        }
    }

    /// Output of a step, already clean, for `get_run(part = output)`.
    pub fn output(&mut self, lines: &[String]) {
        let Some(output) = &mut self.output else {
            return;
        };
        for line in lines {
            self.output_written += line.len() as u64 + 1;
            if self.output_written > LARGEST_OUTPUT || writeln!(output, "{line}").is_err() {
                self.output = None;
                return;
            }
        }
    }

    /// Why the record ended early, once.
    pub(crate) fn take_problem(&mut self) -> Option<String> {
        self.problem.take()
    }

    /// Moves pytest's temporary folders of failed tests here, if they are not too much.
    pub(crate) fn keep_temporary_files(&mut self, tmp: &Path) {
        let entries = fs::read_dir(tmp).into_iter().flatten().flatten();
        let folders: Vec<PathBuf> = entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("pytest-of-"))
            .map(|entry| entry.path())
            .collect();
        if folders.is_empty() || !folders_fit(&folders) {
            return;
        }
        let files = self.path.join(FILES);
        if private_folder(&files).is_err() {
            return;
        }
        for folder in folders {
            let Some(name) = folder.file_name() else { continue };
            let target = files.join(name);
            // The scratch may be on another file system.
            if fs::rename(&folder, &target).is_err() && copy_tree(&folder, &target).is_err() {
                let _ = super::remove_tree(&target);
            }
        }
    }

    /// Writes what is left, and the summary for the list.
    pub(crate) fn close(mut self, status: Status) {
        if let Some(mut events) = self.events.take() {
            let _ = events.flush();
        }
        let summary = create_file(&self.path.join(SUMMARY));
        if let (Ok(mut file), Ok(text)) = (summary, serde_json::to_vec(&status)) {
            let _ = file.write_all(&text);
        }
    }

    fn end_record(&mut self, error: &io::Error) {
        self.events = None;
        self.problem = Some(error.to_string());
    }
}

fn write_event(events: &mut BufWriter<File>, event: &RunEvent, short: bool) -> io::Result<u64> {
    let text = match event {
        RunEvent::Test {
            iteration,
            test: TestEvent::Finished(result),
        } if short => {
            let mut result = (**result).clone();
            result.failures.clear();
            result.output = None;
            if let Some(message) = &mut result.message {
                *message = message.chars().take(200).collect();
            }
            let test = TestEvent::Finished(Box::new(result));
            serde_json::to_vec(&RunEvent::Test {
                iteration: *iteration,
                test,
            })
        }
        _ => serde_json::to_vec(event),
    };
    let mut text = text.map_err(io::Error::other)?;
    text.push(b'\n');
    events.write_all(&text)?;
    Ok(text.len() as u64)
}

fn folders_fit(folders: &[PathBuf]) -> bool {
    let (mut bytes, mut entries) = (0, 0);
    for entry in folders
        .iter()
        .flat_map(|folder| walkdir::WalkDir::new(folder).follow_links(false))
    {
        let Ok(metadata) = entry.and_then(|entry| entry.metadata()) else {
            continue;
        };
        bytes += metadata.len();
        entries += 1;
        if bytes > LARGEST_FILES || entries > MOST_FILES {
            return false;
        }
    }
    true
}

/// Copies folders and regular files; anything else stays behind.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    for entry in walkdir::WalkDir::new(from).follow_links(false) {
        let entry = entry.map_err(io::Error::other)?;
        let Ok(inside) = entry.path().strip_prefix(from) else {
            continue;
        };
        let target = to.join(inside);
        if entry.file_type().is_dir() {
            fs::create_dir(&target)?;
        } else if entry.file_type().is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_ends_the_record_and_says_so_once() {
        let guard = tempfile::tempdir().unwrap();
        let run_id = crate::run_id::new_run_id();
        let mut folder = RunFolder::create(guard.path(), &run_id).unwrap();
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        folder.events = Some(BufWriter::new(full));
        let event = RunEvent::Warning {
            message: "x".to_owned(),
        };
        folder.append(&event);
        assert!(folder.take_problem().is_some_and(|why| why.contains("space")));
        folder.append(&event);
        assert_eq!(folder.take_problem(), None);
    }

    #[test]
    fn a_record_that_grows_too_long_keeps_its_rows() {
        let mut result = runner_core::model::TestResult::new("t::a", runner_core::model::Outcome::Failed);
        result.message = Some("x".repeat(50_000));
        result.output = Some("x".repeat(50_000));
        let test = TestEvent::Finished(Box::new(result));
        let guard = tempfile::tempdir().unwrap();
        let file = fs::File::create(guard.path().join("events")).unwrap();
        let length = write_event(
            &mut BufWriter::new(file),
            &RunEvent::Test { iteration: 1, test },
            true,
        );
        assert!(length.unwrap() < 400);
    }
}
