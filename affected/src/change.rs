//! The changed paths, as a question may give them.

use std::collections::{BTreeMap, BTreeSet};

use runner_core::affected::ChangedFile;

use crate::modules::is_below;
use crate::tree::{Tree, has_extension};

/// Of more files, those that no test can import are left out, and then the last: who changed so much runs everything.
const MOST_FILES: usize = 400;

/// The changed paths, made plain.
pub(crate) struct Changed {
    /// By path, the lines that changed; none where that is not told.
    pub(crate) files: BTreeMap<String, Vec<(u32, u32)>>,
    /// Python files that are no longer there.
    pub(crate) gone: Vec<String>,
    pub(crate) notes: Vec<String>,
}

impl Changed {
    pub(crate) fn new(tree: &Tree, asked: &[ChangedFile]) -> Self {
        let known: BTreeSet<&str> = tree.sources.iter().map(|source| source.path.as_str()).collect();
        let mut changed = Self {
            files: BTreeMap::new(),
            gone: Vec::new(),
            notes: Vec::new(),
        };
        for file in asked {
            let Some(path) = plain(&file.path) else {
                let note = format!("`{}` lies outside and was left out", cut(&file.path));
                changed.notes.push(note);
                continue;
            };
            // A folder stands for all that is in it.
            let inside: Vec<&&str> = known
                .iter()
                .filter(|known| **known != path && is_below(known, &path))
                .collect();
            if !inside.is_empty() {
                let inside = inside.iter().map(|path| ((**path).to_owned(), Vec::new()));
                changed.files.extend(inside);
                continue;
            }
            let lines = changed.files.entry(path).or_default();
            lines.extend(&file.lines);
        }
        changed.bound();
        let gone = changed.files.keys().filter(|path| has_extension(path, "py"));
        changed.gone = gone
            .filter(|path| !known.contains(path.as_str()))
            .cloned()
            .collect();
        changed
    }

    fn bound(&mut self) {
        let all = self.files.len();
        if all <= MOST_FILES {
            return;
        }
        self.files.retain(|path, _| has_extension(path, "py"));
        while self.files.len() > MOST_FILES {
            self.files.pop_last();
        }
        let left = all - self.files.len();
        self.notes.push(format!(
            "{all} files changed, of which {left} were left out: run everything"
        ));
    }
}

/// Whether a line, counted from 1, is one of those that changed.
pub(crate) fn is_within(line: u32, ranges: &[(u32, u32)]) -> bool {
    ranges
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&line))
}

/// Without `.`, `..` and empty parts; `None` if that leaves the root or nothing.
fn plain(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    if path.starts_with('/') || path.contains('\0') {
        return None;
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/")).filter(|path| !path.is_empty())
}

fn cut(path: &str) -> String {
    const MOST: usize = 100;
    path.chars().take(MOST).collect()
}
