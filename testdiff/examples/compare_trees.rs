//! `compare_trees BASE HEAD`: what lies between the tests of two folders, a line each: list, test, what.

#![allow(clippy::print_stdout, reason = "a program for developers")]

use std::path::Path;

use testdiff::{Snapshot, Told};

fn main() {
    let mut folders = std::env::args().skip(1);
    let mut next = || read(Path::new(&folders.next().unwrap_or_else(|| ".".to_owned())));
    let (base, head) = (next(), next());
    let changes = testdiff::compare(&base, &head);
    for id in &changes.added {
        println!("added\t{id}\t");
    }
    for id in &changes.removed {
        println!("removed\t{id}\t");
    }
    for renamed in &changes.renamed {
        println!("renamed\t{}\t{}", renamed.id, renamed.was);
    }
    let lists: [(&str, &[Told]); 3] = [
        ("muted", &changes.muted),
        ("weakened", &changes.weakened),
        ("rewritten", &changes.rewritten),
    ];
    for (list, tests) in lists {
        for told in tests {
            println!("{list}\t{}\t{}", told.id, told.what.join("; "));
        }
    }
}

fn read(root: &Path) -> Snapshot {
    let mut snapshot = Snapshot::default();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if path.is_dir() && !path.is_symlink() {
                if !name.to_string_lossy().starts_with('.') {
                    folders.push(path);
                }
            } else if let (Ok(text), Ok(inner)) = (std::fs::read_to_string(&path), path.strip_prefix(root)) {
                snapshot.add(&inner.to_string_lossy(), &text);
            }
        }
    }
    snapshot
}
