//! The copy that is loaded: of what was looked at, whatever becomes of the original.

use std::fs;
use std::path::PathBuf;

use dylib_plugin::{Copy, Library};
use serde_json::json;

use crate::support::{initialize, lines, panics};

fn kept(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn a_copy_is_named_by_its_content_and_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let copy = Copy::of(&lines(&[]), folder.path()).unwrap();
    let again = Copy::of(&lines(&[]), folder.path()).unwrap();
    assert_eq!(copy, again);
    assert_eq!(kept(folder.path()), [copy.path()]);
    assert_eq!(copy.sha256().len(), 64);
    assert_eq!(fs::read(copy.path()).unwrap(), fs::read(lines(&[])).unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(copy.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o500, "nobody else reads it, nobody writes it");
    }
}

#[test]
fn what_takes_the_originals_place_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let original = folder.path().join("original.so");
    fs::copy(lines(&[]), &original).unwrap();
    let private = tempfile::tempdir().unwrap();
    let copy = Copy::of(&original, private.path()).unwrap();
    fs::write(&original, b"something else").unwrap();
    let mut library = Library::load("it", copy.path(), copy.sha256()).unwrap();
    // Built anew in place while it is loaded.
    fs::copy(panics(), &original).unwrap();
    let answer = initialize(&mut library, &json!({})).unwrap();
    assert_eq!(answer["info"]["name"], "lines");
}

#[test]
fn a_copy_that_was_changed_is_not_loaded_and_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let copy = Copy::of(&lines(&[]), folder.path()).unwrap();
    // One of another backend in its place: it would load well.
    fs::remove_file(copy.path()).unwrap();
    fs::copy(lines(&["-DMINOR=7"]), copy.path()).unwrap();
    let error = Library::load("it", copy.path(), copy.sha256()).err().unwrap();
    assert_eq!(error.fault.code(), "library_changed");
    assert!(error.to_string().contains(copy.sha256()), "{error}");

    assert_eq!(Copy::of(&lines(&[]), folder.path()).unwrap(), copy);
    Library::load("it", copy.path(), copy.sha256()).unwrap();
}

#[test]
fn a_link_in_the_copys_place_is_replaced_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let copy = Copy::of(&lines(&[]), folder.path()).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(copy.path(), &elsewhere).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&elsewhere, copy.path()).unwrap();
    Copy::of(&lines(&[]), folder.path()).unwrap();
    assert!(fs::symlink_metadata(copy.path()).unwrap().is_file());
}

#[test]
fn old_copies_go_and_the_used_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let used = Copy::of(&lines(&[]), folder.path()).unwrap();
    let day = std::time::Duration::from_secs(86_400);
    for n in 0..30 {
        let path = folder.path().join(format!("{n}{}", std::env::consts::DLL_SUFFIX));
        fs::write(&path, b"").unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(std::time::SystemTime::now() - day * n).unwrap();
    }
    fs::write(folder.path().join("notes"), b"not ours").unwrap();
    assert_eq!(Copy::of(&lines(&[]), folder.path()).unwrap(), used);
    let left = kept(folder.path());
    assert_eq!(left.len(), 17, "{left:?}");
    assert!(left.contains(&used.path().to_owned()));
    assert!(left.iter().any(|path| path.ends_with("notes")));
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let error = Copy::of(&lines(&[]), "/proc/nowhere".as_ref()).unwrap_err();
    assert_eq!(error.fault.code(), "library_not_kept");
    assert!(error.to_string().contains("/proc/nowhere"), "{error}");
}
