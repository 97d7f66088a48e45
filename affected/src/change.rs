//! The changed paths, as a question may give them.

use std::collections::BTreeSet;

use crate::modules::is_below;
use crate::tree::{Tree, has_extension};

/// The changed paths, made plain.
pub(crate) struct Changed {
    pub(crate) paths: BTreeSet<String>,
    /// Python files that are no longer there.
    pub(crate) gone: Vec<String>,
    pub(crate) notes: Vec<String>,
}

impl Changed {
    pub(crate) fn new(tree: &Tree, asked: &[String]) -> Self {
        let known: BTreeSet<&str> = tree.sources.iter().map(|source| source.path.as_str()).collect();
        let mut changed = Self {
            paths: BTreeSet::new(),
            gone: Vec::new(),
            notes: Vec::new(),
        };
        for path in asked {
            let Some(path) = plain(path) else {
                changed
                    .notes
                    .push(format!("`{}` lies outside and was left out", cut(path)));
                continue;
            };
            // A folder stands for all that is in it.
            let inside: Vec<&&str> = known
                .iter()
                .filter(|known| **known != path && is_below(known, &path))
                .collect();
            if !inside.is_empty() {
                changed.paths.extend(inside.iter().map(ToString::to_string));
                continue;
            }
            if has_extension(&path, "py") && !known.contains(path.as_str()) && !changed.gone.contains(&path) {
                changed.gone.push(path.clone());
            }
            changed.paths.insert(path);
        }
        changed
    }
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
