//! Bounds on what is kept: in count, bytes and age. A run that goes on is never removed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::folder::{EVENTS, FILES, LOCK, OUTPUT};
use super::private::{Lock, is_own_folder, remove_tree};
use super::record::LARGEST_FILES;
use super::scratch::is_older_than;
use crate::run_id::is_run_id;

/// Runs kept of one repository.
pub(super) const MOST_RUNS: usize = 50;
/// Bytes kept of one repository.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
const OLDEST: Duration = Duration::from_secs(30 * 24 * 3600);
/// Repositories kept.
const MOST_REPOSITORIES: usize = 200;

/// Makes room for one more run.
pub(super) fn runs(runs: &Path) {
    let mut bytes = 0;
    for (place, run) in newest_first(runs).into_iter().enumerate() {
        bytes += size(&run);
        let keep = place + 1 < MOST_RUNS && bytes <= MOST_BYTES && !is_older_than(&run, OLDEST);
        if !keep {
            remove_ended(&run);
        }
    }
}

/// Removes all of the repositories that were not used for longest, beyond the bound.
pub(super) fn repositories(repositories: &Path) {
    let mut used: Vec<(SystemTime, PathBuf)> = entries(repositories)
        .filter_map(|path| {
            let runs = fs::symlink_metadata(path.join("runs")).or_else(|_| fs::symlink_metadata(&path));
            Some((runs.ok()?.modified().ok()?, path))
        })
        .collect();
    if used.len() <= MOST_REPOSITORIES {
        return;
    }
    used.sort();
    for (_, repository) in &used[..used.len() - MOST_REPOSITORIES] {
        let runs = newest_first(&repository.join("runs"));
        for run in &runs {
            remove_ended(run);
        }
        if newest_first(&repository.join("runs")).is_empty() {
            let _ = remove_tree(repository);
        }
    }
}

/// Folders of runs, newest first: ids begin with the time.
pub(super) fn newest_first(runs: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = entries(runs)
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| is_run_id(&name.to_string_lossy()))
        })
        .collect();
    folders.sort_unstable();
    folders.reverse();
    folders
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| is_own_folder(path))
}

fn remove_ended(run: &Path) {
    let lock = Lock::take_over(&run.join(LOCK));
    if !matches!(lock, Ok(None)) {
        let _ = remove_tree(run);
    }
}

fn size(run: &Path) -> u64 {
    let length = |name: &str| fs::symlink_metadata(run.join(name)).map_or(0, |metadata| metadata.len());
    let files = if is_own_folder(&run.join(FILES)) {
        LARGEST_FILES
    } else {
        0
    };
    length(EVENTS) + length(OUTPUT) + files
}
