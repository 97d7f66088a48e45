//! Paths by their letters alone: nothing here asks the disk.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Folders that are somebody else's: packages, environments, caches.
const FOREIGN: [&str; 5] = [
    "venv",
    "node_modules",
    "__pycache__",
    "site-packages",
    "dist-packages",
];

/// Whether a folder of this name holds nothing of a project's own, so that nothing is looked for in it: hidden ones (pytest
/// does not look into them either), and those of tools. Environments of other names have a `pyvenv.cfg`, what a tool can
/// make again has a `CACHEDIR.TAG`: that takes the disk.
pub fn is_never_walked(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
        || FOREIGN.iter().any(|known| name == *known)
        || Path::new(name).extension().is_some_and(|end| end == "egg")
}

/// The path without `.` and `..`. `None` if it goes above where it begins; at the top of an absolute path there is nothing
/// above.
pub fn clean(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !clean.pop() && !clean.has_root() {
                    return None;
                }
            }
            other => clean.push(other),
        }
    }
    Some(clean)
}

/// The shortest way from a folder to a path, both absolute and clean, with `/` between parts. Empty if they are the same;
/// `None` if what is to be written is not Unicode.
pub fn relative(from: &Path, to: &Path) -> Option<String> {
    let shared = from
        .components()
        .zip(to.components())
        .take_while(|(one, other)| one == other)
        .count();
    let mut parts = vec![".."; from.components().count() - shared];
    for part in to.components().skip(shared) {
        parts.push(part.as_os_str().to_str()?);
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cleaned_by_its_letters_and_never_leaves_where_it_begins() {
        for (path, expected) in [
            ("./a//b/../c/.", Some("a/c")),
            ("a/..", Some("")),
            ("a/../../b", None),
            ("/a/../../b", Some("/b")),
            ("/", Some("/")),
        ] {
            assert_eq!(clean(Path::new(path)), expected.map(PathBuf::from), "{path}");
        }
    }

    #[test]
    fn folders_of_tools_are_known_by_their_names() {
        for (name, foreign) in [
            (".git", true),
            ("node_modules", true),
            ("pkg-1.0.egg", true),
            ("tests", false),
            ("target", false),
        ] {
            assert_eq!(is_never_walked(OsStr::new(name)), foreign, "{name}");
        }
    }

    #[test]
    fn the_way_from_a_folder_goes_up_as_far_as_it_must() {
        for (from, to, expected) in [
            ("/r/a", "/r/a/b/c.py", "b/c.py"),
            ("/r/a/x", "/r/a/b", "../b"),
            ("/r", "/r", ""),
            ("/r/a", "/r/ab", "../ab"),
        ] {
            let way = relative(Path::new(from), Path::new(to));
            assert_eq!(way.as_deref(), Some(expected), "{from} {to}");
        }
    }
}
