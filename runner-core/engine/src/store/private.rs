//! Folders that are ours alone: 0700, owner checked, links not followed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use super::StoreError;

pub(super) fn unusable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::unusable(path, error)
}

/// Makes `path` a private folder, or checks that it is one.
pub(super) fn private_folder(path: &Path) -> Result<(), StoreError> {
    match make(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parents = path.parent().map_or(Ok(()), fs::create_dir_all);
            let made = parents.and_then(|()| make(path));
            if let Err(error) = made
                && error.kind() != io::ErrorKind::AlreadyExists
            {
                return Err(unusable(path, &error));
            }
        }
        Err(error) => return Err(unusable(path, &error)),
    }
    check(path).map_err(|why| StoreError::Unusable {
        path: path.to_owned(),
        why,
    })
}

fn make(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn check(path: &Path) -> Result<(), String> {
    let metadata = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if metadata.is_symlink() {
        return Err("it is a symbolic link".to_owned());
    }
    if !metadata.is_dir() {
        return Err("it is not a folder".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err("it belongs to somebody else".to_owned());
        }
        if metadata.mode() & 0o077 != 0 {
            // Ours, but open to others, as a folder made by hand is.
            let private = fs::Permissions::from_mode(0o700);
            fs::set_permissions(path, private).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// Whether `path` is a folder of ours, and no link. Changes nothing.
pub(super) fn is_own_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir() && is_own(&metadata))
}

#[cfg(unix)]
pub(super) fn is_own(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
pub(super) fn is_own(_metadata: &fs::Metadata) -> bool {
    true
}

/// Makes a file that must not be there yet, for us alone.
pub(super) fn create_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Opens a regular file of ours for reading. Links, pipes and files of others are not opened.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    let file = {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        File::from(rustix::fs::open(path, flags, Mode::empty())?)
    };
    #[cfg(not(unix))]
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && is_own(&metadata) {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file of ours"))
    }
}

/// Removes a folder with all that is in it, also where tests took away their own permissions. Links are removed,
/// not followed. Nothing there is no error.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let first = fs::remove_dir_all(path);
    match first {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(path),
        Err(_) => {
            give_back_permissions(path);
            fs::remove_dir_all(path)
        }
    }
}

#[cfg(unix)]
fn give_back_permissions(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        if !is_own_folder(&folder) || fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).is_err()
        {
            continue;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
    }
}

#[cfg(not(unix))]
fn give_back_permissions(_path: &Path) {}

/// A lock that lives as long as the value, or the process.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Makes the lock file and takes it. `None` if somebody else has it, or had it in between and removed it: a file
    /// that is made and not yet locked looks like that of somebody who is gone.
    pub(super) fn create(path: &Path) -> io::Result<Option<Self>> {
        let file = create_file(path)?;
        let taken = try_lock(&file)? && is_at(path, &file);
        Ok(taken.then_some(Self { _file: file }))
    }

    /// Takes the lock of somebody who is gone. `None` while its owner lives.
    pub(super) fn take_over(path: &Path) -> io::Result<Option<Self>> {
        let file = open_file(path)?;
        Ok(try_lock(&file)?.then_some(Self { _file: file }))
    }
}

/// Whether the path still names this file.
#[cfg(unix)]
fn is_at(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let names = fs::symlink_metadata(path).and_then(|there| Ok((there, file.metadata()?)));
    names.is_ok_and(|(there, here)| (there.dev(), there.ino()) == (here.dev(), here.ino()))
}

#[cfg(not(unix))]
fn is_at(_path: &Path, _file: &File) -> bool {
    true
}

#[cfg(unix)]
fn try_lock(file: &File) -> io::Result<bool> {
    use rustix::fs::FlockOperation;
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn try_lock(_file: &File) -> io::Result<bool> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}
