//! The past of a repository, kept between questions: reading it again would cost more than all the rest. It is that of one
//! `HEAD`; of another one it is read anew.

use std::fs;
use std::io::Read;
use std::path::Path;

use foldhash::{HashMap, HashMapExt};
use serde::{Deserialize, Serialize};
use source::git::{GitError, Past, Repository};

const FILE: &str = "past.json";
/// Larger files are not ours.
const LARGEST: u64 = 32 * 1024 * 1024;

/// A past as it lies on the disk: each path once, since most come again and again.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Of what it is the past.
    key: String,
    is_cut: bool,
    paths: Vec<String>,
    commits: Vec<Vec<u32>>,
}

/// The past from the folder, or from git; then it is kept in the folder. Losing it costs time and nothing else.
pub(crate) fn past(repository: &Repository, most: usize, folder: Option<&Path>) -> Result<Past, GitError> {
    let key = repository.past_key(most);
    let file = folder.map(|folder| folder.join(FILE));
    if let Some(kept) = file.as_deref().and_then(read).filter(|kept| kept.key == key)
        && let Some(past) = unpack(&kept)
    {
        return Ok(past);
    }
    let past = repository.past(most)?;
    if let Some(file) = file {
        write(&file, &pack(key, &past));
    }
    Ok(past)
}

fn read(file: &Path) -> Option<Kept> {
    let mut text = Vec::new();
    let file = fs::File::open(file).ok()?;
    file.take(LARGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Whole or not at all: another process may read it meanwhile.
fn write(file: &Path, kept: &Kept) {
    let draft = file.with_extension(std::process::id().to_string());
    let text = serde_json::to_vec(kept).unwrap_or_default();
    if fs::write(&draft, text)
        .and_then(|()| fs::rename(&draft, file))
        .is_err()
    {
        let _ = fs::remove_file(&draft);
    }
}

fn pack(key: String, past: &Past) -> Kept {
    let mut paths: Vec<String> = Vec::new();
    let mut known: HashMap<&str, u32> = HashMap::new();
    let mut commits = Vec::with_capacity(past.commits.len());
    for files in &past.commits {
        let mut commit = Vec::with_capacity(files.len());
        for path in files {
            let next = paths.len() as u32;
            let number = *known.entry(path).or_insert(next);
            if number == next {
                paths.push(path.clone());
            }
            commit.push(number);
        }
        commits.push(commit);
    }
    Kept {
        key,
        is_cut: past.is_cut,
        paths,
        commits,
    }
}

/// `None` if it is damaged.
fn unpack(kept: &Kept) -> Option<Past> {
    let commit = |files: &Vec<u32>| -> Option<Vec<String>> {
        files
            .iter()
            .map(|path| kept.paths.get(*path as usize).cloned())
            .collect()
    };
    Some(Past {
        commits: kept.commits.iter().map(commit).collect::<Option<_>>()?,
        is_cut: kept.is_cut,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_what_was_read_and_damage_is_noticed() {
        let commits = [vec!["a.py", "t.py"], vec!["b.py"], vec!["a.py"]];
        let past = Past {
            commits: commits
                .iter()
                .map(|files| files.iter().map(ToString::to_string).collect())
                .collect(),
            is_cut: true,
        };
        let mut kept = pack("key".to_owned(), &past);
        assert_eq!(kept.paths.len(), 3);
        assert_eq!(unpack(&kept).unwrap(), past);
        kept.commits[0][0] = 99;
        assert_eq!(unpack(&kept), None);
    }
}
