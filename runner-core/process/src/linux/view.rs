//! Mounting a view: an overlay over the folder itself, in a mount namespace of the supervising process's own. It is gone
//! with the last process in it, and nobody else ever sees it.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::process::{getegid, geteuid};

use crate::View;

/// Covers `view.root` for this process and those it will start. Must be called while it has one thread.
pub(super) fn enter(view: &View) -> io::Result<()> {
    namespaces()?;
    mount("none", Path::new("/"), None, libc::MS_REC | libc::MS_PRIVATE, "")?;
    let own = folders(&view.own)?;
    if cover(view, &own).is_err() {
        // The folder lies on a file system that cannot take an overlay's changes (another overlay, in containers): they
        // are kept in memory then.
        mount(
            "tmpfs",
            &view.own,
            Some("tmpfs"),
            libc::MS_NOSUID | libc::MS_NODEV,
            "mode=0700",
        )?;
        cover(view, &folders(&view.own)?)?;
    }
    for path in &view.gone {
        remove(&view.root, path);
    }
    Ok(())
}

/// A mount namespace, and where that is not allowed a user namespace around it, in which the user is who they are.
fn namespaces() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if user == 0 && unshare(libc::CLONE_NEWNS).is_ok() {
        return Ok(());
    }
    unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS)?;
    // A group may be mapped only by who cannot leave any.
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// The folders for an overlay's changes and its own use, open.
fn folders(own: &Path) -> io::Result<[OwnedFd; 2]> {
    let open = |name: &str| {
        let folder = own.join(name);
        std::fs::create_dir_all(&folder)?;
        open_folder(&folder)
    };
    Ok([open("changes")?, open("work")?])
}

fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(
        folder,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

fn cover(view: &View, [changes, work]: &[OwnedFd; 2]) -> io::Result<()> {
    let (layer, root) = (open_folder(&view.layer)?, open_folder(&view.root)?);
    // By descriptors: a path may hold what separates the options.
    let path = |folder: &OwnedFd| format!("/proc/self/fd/{}", folder.as_raw_fd());
    let options = format!(
        "lowerdir={}:{},upperdir={},workdir={},userxattr",
        path(&layer),
        path(&root),
        path(changes),
        path(work)
    );
    mount("overlay", &view.root, Some("overlay"), 0, &options)
}

/// Removes a file from the view, and the folders that it leaves empty.
fn remove(root: &Path, path: &Path) {
    let _ = std::fs::remove_file(root.join(path));
    for folder in path
        .ancestors()
        .skip(1)
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        let folder = root.join(folder);
        // What Python compiled from files that are gone does not keep a folder.
        let is_left = std::fs::read_dir(&folder).is_ok_and(|mut entries| {
            entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == "__pycache__"))
        });
        if !is_left || std::fs::remove_dir_all(&folder).is_err() {
            break;
        }
    }
}

fn unshare(flags: libc::c_int) -> io::Result<()> {
    #[expect(unsafe_code, reason = "no safe call exists for it")]
    // SAFETY: it takes no pointer, and this process has one thread and shares no descriptor table.
    let result = unsafe { libc::unshare(flags) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn mount(
    source: &str,
    target: &Path,
    kind: Option<&str>,
    flags: libc::c_ulong,
    data: &str,
) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let source = CString::new(source)?;
    let target = CString::new(target.as_os_str().as_bytes())?;
    let kind = kind.map(CString::new).transpose()?;
    let data = CString::new(data)?;
    let kind = kind.as_ref().map_or(std::ptr::null(), |kind| kind.as_ptr());
    #[expect(unsafe_code, reason = "no safe call exists for it")]
    // SAFETY: all pointers are to strings with an end that outlive the call, or null where mount(2) allows it.
    let result = unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            kind,
            flags,
            data.as_ptr().cast(),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
