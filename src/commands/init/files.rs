//! Files of the repository that are read and written for a person: no link is followed, nothing is half written.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path};

use similar::TextDiff;

/// No client's file is larger.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// The text of `path` below `root`; `None` if there is no such file. The error is a clause that says why it is not read.
pub(super) fn read(root: &Path, path: &str) -> Result<Option<String>, String> {
    let mut place = root.to_owned();
    for part in Path::new(path).components() {
        let Component::Normal(part) = part else {
            return Err("it lies outside of the repository".to_owned());
        };
        place.push(part);
        match fs::symlink_metadata(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
            Ok(facts) if facts.is_symlink() => {
                return Err(format!("{} is a link", part.to_string_lossy()));
            }
            Ok(facts) if facts.len() > MOST_BYTES => return Err("it is too large".to_owned()),
            Ok(facts) if place.ends_with(path) && !facts.is_file() => {
                return Err("it is not a regular file".to_owned());
            }
            Ok(_) => {}
        }
    }
    let bytes = fs::read(&place).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    Ok(Some(text))
}

/// Makes a file that must not be there yet, and the folder it is in.
pub(super) fn create(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

/// Puts a text in the place of a file's, at once, and keeps its permissions.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.qaas-{}", std::process::id()));
    create(&beside, text)?;
    let permissions = fs::metadata(path).map(|facts| facts.permissions());
    let put = permissions
        .and_then(|permissions| fs::set_permissions(&beside, permissions))
        .and_then(|()| fs::rename(&beside, path));
    if put.is_err() {
        let _ = fs::remove_file(&beside);
    }
    put
}

/// How a file's text would change, as `diff -u` shows it.
pub(super) fn difference(path: &str, old: &str, new: &str) -> String {
    let from = if old.is_empty() { "/dev/null" } else { path };
    let lines = TextDiff::from_lines(old, new);
    lines.unified_diff().header(from, path).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_what_comes_and_goes_with_three_lines_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\nmore\n6\n7\n8\n9\n";
        let expected = "--- f\n+++ f\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+more\n 6\n 7\n 8\n";
        assert_eq!(difference("f", old, new), expected);
        assert_eq!(
            difference("f", "", "a\n"),
            "--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\n"
        );
        assert_eq!(
            difference("f", "a\n", "a"),
            "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
        for folder in [&root, &outside] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(outside.join("mcp.json"), "{}").unwrap();
        symlink(&outside, root.join(".vscode")).unwrap();
        symlink(outside.join("mcp.json"), root.join(".mcp.json")).unwrap();
        assert!(read(&root, ".vscode/mcp.json").is_err());
        assert!(read(&root, ".mcp.json").is_err());
        assert_eq!(read(&root, ".cursor/mcp.json"), Ok(None));

        let file = root.join("own.json");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        replace(&file, "new").unwrap();
        assert_eq!(read(&root, "own.json"), Ok(Some("new".to_owned())));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(
            fs::read_dir(&root).unwrap().count(),
            3,
            "nothing is left beside it"
        );
        assert!(create(&file, "again").is_err());
    }
}
