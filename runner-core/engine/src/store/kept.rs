//! Results that are asked for again: small texts under keys, a bounded number for each repository. Losing one costs time
//! and nothing else, so nothing here is an error.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Store;
use super::private::private_folder;
use crate::digest::sha256;

/// The oldest beyond this number go.
const MOST: usize = 32;
/// Larger ones are not kept.
const LARGEST: usize = 64 * 1024 * 1024;

impl Store {
    /// What was kept for `root` under this key.
    pub fn kept_result(&self, root: &Path, key: &str) -> Option<String> {
        fs::read_to_string(self.kept_folder(root)?.join(sha256(key.as_bytes()))).ok()
    }

    /// Keeps a text under a key, in the place of an earlier one.
    pub fn keep_result(&self, root: &Path, key: &str, text: &str) {
        let Some(folder) = self.kept_folder(root).filter(|_| text.len() <= LARGEST) else {
            return;
        };
        make_room(&folder);
        let name = sha256(key.as_bytes());
        // Whole or not at all: another process may read it meanwhile.
        let draft = folder.join(format!("{name}.{}", std::process::id()));
        if fs::write(&draft, text)
            .and_then(|()| fs::rename(&draft, folder.join(&name)))
            .is_err()
        {
            let _ = fs::remove_file(&draft);
        }
    }

    fn kept_folder(&self, root: &Path) -> Option<PathBuf> {
        let folder = self.repository(root).ok()?.join("kept");
        private_folder(&folder).ok()?;
        Some(folder)
    }
}

fn make_room(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    let beyond = (files.len() + 1).saturating_sub(MOST);
    for (_, file) in files.iter().take(beyond) {
        let _ = fs::remove_file(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_again_and_the_oldest_go() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::open(&temp.path().join("state")).unwrap();
        let root = temp.path();
        assert_eq!(store.kept_result(root, "a"), None);
        store.keep_result(root, "a", "one");
        store.keep_result(root, "a", "two");
        assert_eq!(store.kept_result(root, "a").as_deref(), Some("two"));
        for number in 0..2 * MOST {
            store.keep_result(root, &number.to_string(), "x");
        }
        let left = fs::read_dir(store.kept_folder(root).unwrap()).unwrap().count();
        assert_eq!(left, MOST);
    }
}
