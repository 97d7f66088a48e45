//! A cgroup (version 2) for each run, where a subtree is delegated to this user: one write kills all of it, forks in
//! flight included, and limits hold for the run as a whole. Everything here may fail; what is beneath, the subreaper,
//! needs none of it.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::proc;
use crate::Limits;

/// A cgroup's name is `qaas-NAMESPACE-PID-START` of the supervising process that made it, so that it can be told
/// whether anyone still looks after it. Numbers of another pid namespace say nothing here.
const PREFIX: &str = "qaas-";
/// Tries at removing a cgroup whose last process is just going.
const REMOVALS: u32 = 20;

/// The cgroup of one run.
#[derive(Debug)]
pub(super) struct Cgroup {
    path: PathBuf,
}

/// Which limits of a job its cgroup keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) processes: bool,
    pub(super) memory: bool,
}

impl Cgroup {
    /// Makes the cgroup of a supervising process, if there is a delegated subtree.
    pub(super) fn make(pid: i32, start: u64) -> Option<Self> {
        let cgroup = Self::of(pid, start)?;
        fs::create_dir(&cgroup.path).ok()?;
        if cgroup.file("cgroup.kill").exists() {
            return Some(cgroup);
        }
        // Kernels before 5.14: the cgroup would be of no use.
        cgroup.remove();
        None
    }

    /// The cgroup that a supervising process would have made.
    pub(super) fn of(pid: i32, start: u64) -> Option<Self> {
        Some(Self {
            path: delegated()?.join(format!("{PREFIX}{}-{pid}-{start}", namespace()?)),
        })
    }

    /// What a process writes "0" to in order to enter.
    pub(super) fn entrance(&self) -> io::Result<OwnedFd> {
        Ok(File::options()
            .write(true)
            .open(self.file("cgroup.procs"))?
            .into())
    }

    /// Sets what it can of the limits.
    pub(super) fn limit(&self, limits: &Limits) -> Kept {
        let set = |file: &str, limit: Option<u64>| {
            limit.is_some_and(|limit| fs::write(self.file(file), limit.to_string()).is_ok())
        };
        let wanted = controllers_of(limits);
        if !wanted.is_empty()
            && let Some(parent) = self.path.parent()
        {
            // Refused where the parent is not ours to change; then the files below are missing.
            let _ = fs::write(parent.join("cgroup.subtree_control"), wanted);
        }
        let kept = Kept {
            processes: set("pids.max", limits.processes),
            memory: set("memory.max", limits.memory_bytes),
        };
        if kept.memory {
            let _ = fs::write(self.file("memory.oom.group"), "1");
        }
        kept
    }

    /// Kills everyone inside.
    pub(super) fn kill(&self) {
        let _ = fs::write(self.file("cgroup.kill"), "1");
    }

    /// Removes it, and what the programs inside have made beneath it. Needs everyone to be dead.
    pub(super) fn remove(self) {
        for _ in 0..REMOVALS {
            remove_below(&self.path);
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => sleep(Duration::from_millis(1)),
                _ => return,
            }
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

fn remove_below(path: &Path) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_below(&entry.path());
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn controllers_of(limits: &Limits) -> String {
    let mut wanted = Vec::new();
    if limits.processes.is_some() {
        wanted.push("+pids");
    }
    if limits.memory_bytes.is_some() {
        wanted.push("+memory");
    }
    wanted.join(" ")
}

/// Which limits a cgroup of a run would keep, found out with one that has no processes.
pub(super) fn keeps(limits: &Limits) -> Option<Kept> {
    let me = proc::read(i32::try_from(std::process::id()).ok()?)?;
    let cgroup = Cgroup::make(me.pid, me.start)?;
    let kept = cgroup.limit(limits);
    cgroup.remove();
    Some(kept)
}

/// Ends and removes the cgroups of supervising processes that are dead: their server died with them.
pub(super) fn remove_stale() {
    let (Some(parent), Some(here)) = (delegated(), namespace()) else {
        return;
    };
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some((namespace, pid, start)) = name.to_str().and_then(owner) else {
            continue;
        };
        if namespace == here && proc::read(pid).is_none_or(|process| process.start != start) {
            let cgroup = Cgroup { path: entry.path() };
            cgroup.kill();
            cgroup.remove();
        }
    }
}

fn owner(name: &str) -> Option<(u64, i32, u64)> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    let owner = (
        parts.next()?.parse().ok()?,
        parts.next()?.parse().ok()?,
        parts.next()?.parse().ok()?,
    );
    parts.next().is_none().then_some(owner)
}

/// The pid namespace in which this process's numbers count.
fn namespace() -> Option<u64> {
    Some(fs::metadata("/proc/self/ns/pid").ok()?.ino())
}

/// The cgroup of this process, if cgroups may be made in it. For an ordinary user its permissions say so. Root may
/// do so anywhere, but where systemd rules it takes only what is marked as delegated.
fn delegated() -> Option<PathBuf> {
    let own = own(
        &fs::read_to_string("/proc/self/cgroup").ok()?,
        &fs::read_to_string("/proc/self/mountinfo").ok()?,
    )?;
    let root = rustix::process::geteuid().is_root();
    let free = !root || !Path::new("/run/systemd/system").exists() || own.ancestors().any(is_marked);
    free.then_some(own)
}

fn is_marked(path: &Path) -> bool {
    ["trusted.delegate", "user.delegate"].iter().any(|name| {
        let mut value = [0u8; 1];
        rustix::fs::getxattr(path, *name, &mut value).is_ok_and(|_| value == *b"1")
    })
}

/// Where the process with this `/proc/PID/cgroup` is found in the file system with this `/proc/PID/mountinfo`.
fn own(cgroup: &str, mountinfo: &str) -> Option<PathBuf> {
    let path = Path::new(cgroup.lines().find_map(|line| line.strip_prefix("0::"))?);
    mountinfo.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        if !kind.starts_with("cgroup2 ") {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let below = path.strip_prefix(root).ok()?;
        // Outside what this mount shows.
        let outside = below.components().any(|part| part == Component::ParentDir);
        (!outside).then(|| Path::new(point).join(below))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::{Cgroup, own, owner, remove_stale};

    const MOUNTS: &str = "\
24 1 0:22 / /proc rw,relatime - proc proc rw
31 24 0:27 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids
32 24 0:28 / /sys/fs/cgroup/unified rw,relatime shared:10 - cgroup2 cgroup2 rw
";

    #[test]
    fn the_own_cgroup_is_found_beneath_the_version_2_mount() {
        let cgroups = "3:pids:/elsewhere\n0::/user.slice/app.scope\n";
        assert_eq!(
            own(cgroups, MOUNTS),
            Some(PathBuf::from("/sys/fs/cgroup/unified/user.slice/app.scope"))
        );
    }

    #[test]
    fn a_cgroup_outside_the_mount_is_none() {
        assert_eq!(own("0::/../other\n", MOUNTS), None);
        assert_eq!(own("3:pids:/only/version/1\n", MOUNTS), None);
        let part = "32 24 0:28 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(own("0::/docker/2\n", part), None);
        assert_eq!(
            own("0::/docker/1/a\n", part),
            Some(PathBuf::from("/sys/fs/cgroup/a"))
        );
    }

    #[test]
    fn only_own_names_are_read() {
        assert_eq!(owner("qaas-4026-12-345"), Some((4026, 12, 345)));
        assert_eq!(owner("qaas-12-345"), None);
        assert_eq!(owner("qaas-4026-12-345-6"), None);
        assert_eq!(owner("user-4026-12-345"), None);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process to be killed")]
    fn a_cgroup_without_an_owner_is_emptied_and_removed() {
        // Nobody has this number.
        let Some(cgroup) = Cgroup::make(i32::MAX, 1) else {
            test_skip::skip!(test_skip::Need::Cgroup, "no cgroup can be made to be emptied");
        };
        let mut child = Command::new("/bin/sleep").arg("60").spawn().unwrap();
        std::fs::create_dir(cgroup.file("made-by-a-test")).unwrap();
        std::fs::write(cgroup.file("made-by-a-test/cgroup.procs"), child.id().to_string()).unwrap();
        remove_stale();
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()),
            Some(9)
        );
        assert!(!cgroup.path.exists());
    }
}
