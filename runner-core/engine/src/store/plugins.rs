//! Plug-ins on disk: copies of their files by content, which of them a person installed, and what each said of itself.
//!
//! ```text
//! STATE/plugins/
//!   files/<sha256>/<name>   mode 0500; what runs is what was looked at, whatever becomes of the original
//!   installed/<name>.json   what `qaas backend add` was given
//!   infos/<key>.json        what a program said of itself, so that it need not be started to be listed
//! ```

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::private::{self, open_file, private_folder, remove_tree, unusable};
use super::{Store, StoreError};
use crate::clock;
use crate::digest::sha256;
use runner_core::backend::{BackendInfo, is_name};

/// The largest program that is taken, in bytes.
const LARGEST: u64 = 512 << 20;
/// How many copies are kept beside those of installed plug-ins. The ones last used stay.
const COPIES: usize = 32;
/// How many remembered answers are kept.
const INFOS: usize = 256;
/// Larger records were not written here.
const MAX_RECORD: u64 = 1 << 20;

/// The plug-ins of one user.
#[derive(Clone, Debug)]
pub struct Plugins {
    folder: PathBuf,
}

/// A plug-in that a person installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    pub name: String,
    /// `exec` or `library`.
    pub kind: String,
    /// Of its content, which lies in `files`.
    pub sha256: String,
    /// Where it was copied from, for people.
    pub from: PathBuf,
    /// Seconds since 1970, a label.
    pub added_at: u64,
}

/// What a plug-in said of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RememberedCapabilities {
    pub info: BackendInfo,
    /// Words of it that this qaas does not know.
    pub left_out: Vec<String>,
}

impl Store {
    /// The plug-ins in this state folder, which is made private if it is not.
    pub fn plugins(&self) -> Result<Plugins, StoreError> {
        let folder = self.state.join("plugins");
        for part in ["", "files", "installed", "infos"] {
            private_folder(&folder.join(part))?;
        }
        Ok(Plugins { folder })
    }
}

impl Plugins {
    /// A folder of our own for copies that others make.
    pub fn files(&self) -> PathBuf {
        self.folder.join("files")
    }

    /// A copy of this content, which can be executed: of the name that the file at `from` has, in a folder named by the
    /// content, so that a program's own messages name it as its author does. Looked at anew each time: one that was
    /// changed is replaced.
    pub fn keep(&self, content: &[u8], from: &Path) -> Result<PathBuf, StoreError> {
        let folder = self.files().join(sha256(content));
        if fs::symlink_metadata(&folder).is_ok_and(|found| !found.is_dir()) {
            fs::remove_file(&folder).map_err(|error| unusable(&folder, &error))?;
        }
        private_folder(&folder)?;
        let path = folder.join(file_name(from));
        let same = read(&path, content.len() as u64).is_ok_and(|kept| kept == content);
        let kept = if same {
            touch(&path)
        } else {
            write(&path, content, 0o500)
        };
        kept.map_err(|error| unusable(&path, &error))?;
        self.forget_old_copies(&folder);
        Ok(path)
    }

    /// Keeps a plug-in under a name; one of the same name is replaced.
    pub fn install(
        &self,
        name: &str,
        kind: &str,
        from: &Path,
        content: &[u8],
    ) -> Result<Installed, StoreError> {
        let installed = Installed {
            name: name.to_owned(),
            kind: kind.to_owned(),
            sha256: sha256(content),
            from: from.to_owned(),
            added_at: clock::unix_seconds(),
        };
        self.keep(content, from)?;
        write_record(&self.record(name), &installed)?;
        Ok(installed)
    }

    /// What was installed under a name.
    pub fn installed(&self, name: &str) -> Option<Installed> {
        let record: Installed = read_record(&self.record(name))?;
        (record.name == name && is_name(name)).then_some(record)
    }

    /// All that was installed, by name.
    pub fn all_installed(&self) -> Vec<Installed> {
        let names = names(&self.folder.join("installed"), ".json");
        names.iter().filter_map(|name| self.installed(name)).collect()
    }

    /// The content of an installed plug-in, if it is still what was installed.
    pub fn content(&self, installed: &Installed) -> Option<Vec<u8>> {
        let folder = self.files().join(&installed.sha256);
        let content = read(&folder.join(file_name(&installed.from)), u64::MAX).ok()?;
        (sha256(&content) == installed.sha256).then_some(content)
    }

    /// Forgets what was installed under a name. Whether there was any.
    pub fn remove(&self, name: &str) -> Result<bool, StoreError> {
        if !is_name(name) {
            return Ok(false);
        }
        let path = self.record(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(unusable(&path, &error)),
        }
    }

    /// What the program of this key said of itself an earlier time.
    pub fn remembered(&self, key: &str) -> Option<RememberedCapabilities> {
        read_record(&self.info(key))
    }

    /// Remembers it. The key stands for everything that the answer may depend on, see [`sha256`].
    pub fn remember(&self, key: &str, said: &RememberedCapabilities) -> Result<(), StoreError> {
        forget_old(&self.folder.join("infos"), INFOS, |_| false);
        write_record(&self.info(key), said)
    }

    fn record(&self, name: &str) -> PathBuf {
        self.folder.join("installed").join(format!("{name}.json"))
    }

    fn info(&self, key: &str) -> PathBuf {
        let key = sha256(key.as_bytes());
        self.folder.join("infos").join(format!("{key}.json"))
    }

    fn forget_old_copies(&self, used: &Path) {
        let installed = self.all_installed();
        forget_old(&self.files(), COPIES, |path| {
            let name = path.file_name().unwrap_or_default();
            path == used || installed.iter().any(|record| name == record.sha256.as_str())
        });
    }
}

/// The name of a copy: that of the file itself, where it is a plain one.
fn file_name(from: &Path) -> &OsStr {
    const OTHER: &str = "plug-in";
    let name = from.file_name().unwrap_or(OsStr::new(OTHER));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let sound = name
        .to_str()
        .is_some_and(|name| name.len() <= 100 && !name.starts_with(['.', '-']) && name.chars().all(plain));
    if sound { name } else { OsStr::new(OTHER) }
}

/// Reads a plug-in's file: a regular one of sensible size. Waits for nobody, should it be a pipe.
pub fn read_program(path: &Path) -> io::Result<Vec<u8>> {
    let mut options = fs::File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other(format!("it has more than {LARGEST} bytes")));
    }
    Ok(bytes)
}

fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read_record<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let bytes = read(path, MAX_RECORD).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn write_record(path: &Path, record: &impl Serialize) -> Result<(), StoreError> {
    let text = serde_json::to_vec_pretty(record).map_err(io::Error::from);
    text.and_then(|text| write(path, &text, 0o600))
        .map_err(|error| unusable(path, &error))
}

/// Written beside and moved into place, so that nobody sees half of it.
fn write(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = mode;
    // Closed before it has its name: a program that is open for writing cannot be started.
    file.into_temp_path().persist(path)?;
    Ok(())
}

fn touch(path: &Path) -> io::Result<()> {
    open_file(path)?.set_modified(clock::now())
}

fn names(folder: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            entry
                .file_name()
                .into_string()
                .ok()?
                .strip_suffix(ending)
                .map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

/// Removes those files, or folders of one file, that were not used for longest, but for `most` and those that stay.
fn forget_old(folder: &Path, most: usize, stays: impl Fn(&Path) -> bool) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter(|path| !stays(path))
        .filter_map(|path| {
            let metadata = fs::symlink_metadata(&path).ok()?;
            let ours = !metadata.is_symlink() && private::is_own(&metadata);
            ours.then_some((last_used(&path, &metadata)?, path))
        })
        .collect();
    files.sort();
    let surplus = files.len().saturating_sub(most);
    for (_, path) in files.into_iter().take(surplus) {
        let _ = remove_tree(&path);
    }
}

/// A copy is touched when it is used, its folder is not.
fn last_used(path: &Path, metadata: &fs::Metadata) -> Option<SystemTime> {
    if !metadata.is_dir() {
        return metadata.modified().ok();
    }
    let inside = fs::read_dir(path).ok()?.flatten();
    let times = inside.filter_map(|entry| entry.metadata().ok()?.modified().ok());
    times.max().or_else(|| metadata.modified().ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn plugins() -> (tempfile::TempDir, Plugins) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("state")).unwrap();
        let plugins = store.plugins().unwrap();
        (folder, plugins)
    }

    #[test]
    fn a_copy_is_private_executable_and_keeps_its_name_in_a_folder_named_by_its_content() {
        let (_folder, plugins) = plugins();
        let path = plugins.keep(b"#!/bin/sh\n", Path::new("/a/own.sh")).unwrap();
        assert!(path.ends_with(Path::new(&sha256(b"#!/bin/sh\n")).join("own.sh")));
        for odd in ["/", "/a/ b", "/a/.hidden", "/a/-x", "/a/\u{1b}[2J"] {
            let path = plugins.keep(b"odd", Path::new(odd)).unwrap();
            assert!(path.ends_with("plug-in"), "{odd:?}: {}", path.display());
        }
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o500);
        let folder = path.parent().unwrap().metadata().unwrap();
        assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_copy_that_was_changed_is_made_anew() {
        let (_folder, plugins) = plugins();
        let from = Path::new("/a/x");
        let path = plugins.keep(b"good", from).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, b"evil").unwrap();
        assert_eq!(fs::read(plugins.keep(b"good", from).unwrap()).unwrap(), b"good");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/bin/sh", &path).unwrap();
        assert_eq!(fs::read(plugins.keep(b"good", from).unwrap()).unwrap(), b"good");
        assert!(!path.is_symlink());
        let folder = path.parent().unwrap();
        fs::remove_dir_all(folder).unwrap();
        std::os::unix::fs::symlink("/tmp", folder).unwrap();
        assert_eq!(fs::read(plugins.keep(b"good", from).unwrap()).unwrap(), b"good");
        assert!(!folder.is_symlink(), "a folder that leads elsewhere is no place");
    }

    #[test]
    fn what_is_installed_is_found_until_it_is_removed_or_changed() {
        let (_folder, plugins) = plugins();
        let record = plugins.install("x", "exec", Path::new("/a/x"), b"one").unwrap();
        assert_eq!(plugins.installed("x"), Some(record.clone()));
        assert_eq!(plugins.all_installed(), std::slice::from_ref(&record));
        assert_eq!(plugins.content(&record).as_deref(), Some(b"one".as_slice()));
        let copy = plugins.files().join(&record.sha256).join("x");
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(&copy, b"two").unwrap();
        assert_eq!(plugins.content(&record), None);
        assert!(plugins.remove("x").unwrap() && !plugins.remove("x").unwrap());
        assert_eq!(plugins.installed("x"), None);
        assert_eq!(plugins.installed("../installed/x"), None);
    }

    #[test]
    fn old_copies_go_and_installed_ones_stay() {
        let (_folder, plugins) = plugins();
        let record = plugins.install("x", "exec", Path::new("/a/x"), b"kept").unwrap();
        for number in 0..COPIES + 5 {
            plugins
                .keep(format!("copy {number}").as_bytes(), Path::new("/a/c"))
                .unwrap();
        }
        assert!(plugins.content(&record).is_some());
        assert!(fs::read_dir(plugins.files()).unwrap().count() <= COPIES + 2);
    }

    #[test]
    fn what_a_program_said_is_remembered_by_its_key() {
        let (_folder, plugins) = plugins();
        let info = BackendInfo {
            name: "x".to_owned(),
            framework: String::new(),
            language: String::new(),
            capabilities: std::collections::BTreeSet::new(),
            needs: Vec::new(),
            options: Vec::new(),
        };
        let left_out = vec!["capability \"fly\"".to_owned()];
        let said = RememberedCapabilities { info, left_out };
        plugins.remember("a", &said).unwrap();
        assert_eq!(plugins.remembered("a"), Some(said));
        assert_eq!(plugins.remembered("b"), None);
    }
}
