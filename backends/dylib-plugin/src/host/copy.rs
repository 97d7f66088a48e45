//! A library's own copy: read once, looked at, kept under the name of its content. What is loaded is what was looked
//! at, whatever becomes of the original in between; and to build the original anew while it is in use does no harm.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::error::{Fault, LibraryError};
use super::header;

/// The largest library that is taken, in bytes.
const LARGEST: u64 = 512 << 20;
/// How many copies are kept. The one last used stays longest.
const KEPT: usize = 16;
/// What a copy's name ends with.
const ENDING: &str = std::env::consts::DLL_SUFFIX;

/// A library that was looked at, without running anything of it, and its copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    path: PathBuf,
    sha256: String,
}

impl Copy {
    /// Reads `source` once, checks it and keeps it in `folder`, which must be the user's own and nobody else's.
    pub fn of(source: &Path, folder: &Path) -> Result<Self, LibraryError> {
        let bytes = read(source).map_err(|fault| fault.at(source))?;
        Self::of_bytes(source, &bytes, folder)
    }

    /// The same, of a file's content that somebody else read; `source` is only for messages.
    pub fn of_bytes(source: &Path, bytes: &[u8], folder: &Path) -> Result<Self, LibraryError> {
        header::check(bytes).map_err(|fault| fault.at(source))?;
        let sha256 = sha256(bytes);
        let path = folder.join(format!("{sha256}{ENDING}"));
        let kept = if is_content(&path, &sha256) {
            touch(&path)
        } else {
            write(&path, bytes)
        };
        kept.map_err(|error| {
            let folder = folder.display().to_string();
            let why = error.to_string();
            Fault::NotKept { folder, why }.at(source)
        })?;
        forget_old(folder, &path);
        Ok(Self { path, sha256 })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Of its content, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}

/// Reads a library's file: a regular one of sensible size.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Fault> {
    let file = open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Fault::Missing,
        _ => Fault::Unreadable(error.to_string()),
    })?;
    let unreadable = |error: io::Error| Fault::Unreadable(error.to_string());
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(Fault::NotAFile("a folder"));
    }
    if !metadata.is_file() {
        return Err(Fault::NotAFile("a pipe, a socket or a device"));
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(LARGEST) as usize);
    (&file)
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        let has = metadata.len();
        return Err(Fault::TooLarge { has, most: LARGEST });
    }
    Ok(bytes)
}

/// Waits for nobody, should it be a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// In hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("writing to a String does not fail");
    }
    text
}

/// Whether there is a regular file, no link, of this content.
fn is_content(path: &Path, wanted: &str) -> bool {
    let regular = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    regular && read(path).is_ok_and(|bytes| sha256(&bytes) == wanted)
}

/// Written beside and moved into place, so that nobody sees half of it.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file()
            .set_permissions(fs::Permissions::from_mode(0o500))?;
    }
    file.persist(path)?;
    Ok(())
}

/// Used now.
fn touch(path: &Path) -> io::Result<()> {
    open(path)?.set_modified(SystemTime::now())
}

/// Removes the copies that were not used for longest. One in use stays loaded.
fn forget_old(folder: &Path, used: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut copies: Vec<(SystemTime, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter(|path| path != used && path.to_string_lossy().ends_with(ENDING))
        .filter_map(|path| Some((fs::symlink_metadata(&path).ok()?.modified().ok()?, path)))
        .collect();
    copies.sort();
    let surplus = (copies.len() + 1).saturating_sub(KEPT);
    for (_, path) in copies.into_iter().take(surplus) {
        let _ = fs::remove_file(path);
    }
}
