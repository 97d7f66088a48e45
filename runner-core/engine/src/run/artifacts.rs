//! The files a plan leaves behind: which are there, and which of them this run wrote.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::mark::Mark;
use runner_core::plan::{Artifact, ArtifactState, Artifacts};

/// Larger files are not read, in bytes.
const LARGEST: u64 = 256 * 1024 * 1024;

/// The planned files as they were before the first step.
#[derive(Debug, Default)]
pub(super) struct Before(BTreeMap<String, Mark>);

impl Before {
    pub(super) fn look(artifacts: &[Artifact]) -> Self {
        let marks = artifacts.iter().filter_map(|artifact| {
            let metadata = fs::symlink_metadata(&artifact.path).ok()?;
            Some((artifact.name.clone(), Mark::of(&metadata)))
        });
        Self(marks.collect())
    }

    /// The planned files after the last step.
    pub(super) fn collect(&self, planned: &[Artifact]) -> Artifacts {
        let mut found = Artifacts::default();
        for artifact in planned {
            found.insert(&artifact.name, self.state(artifact));
        }
        found
    }

    fn state(&self, artifact: &Artifact) -> ArtifactState {
        match fs::symlink_metadata(&artifact.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return ArtifactState::Missing,
            Err(error) => return ArtifactState::Unusable(format!("cannot be looked at: {error}")),
            Ok(metadata) if metadata.is_symlink() => {
                return ArtifactState::Unusable("is a symbolic link".to_owned());
            }
            Ok(metadata) if !metadata.is_file() => {
                return ArtifactState::Unusable("is not a regular file".to_owned());
            }
            Ok(metadata) if self.0.get(&artifact.name) == Some(&Mark::of(&metadata)) => {
                return ArtifactState::Stale;
            }
            Ok(_) => {}
        }
        match read(&artifact.path) {
            Ok(bytes) => ArtifactState::Bytes(bytes),
            Err(why) => ArtifactState::Unusable(why),
        }
    }
}

/// Reads a regular file. It may have changed its kind since it was looked at: what was opened decides.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let mut file = open(path).map_err(cannot)?;
    let metadata = file.metadata().map_err(cannot)?;
    if !metadata.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if metadata.len() > LARGEST {
        return Err(format!("is larger than {} MB", LARGEST / 1024 / 1024));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    let read = file
        .by_ref()
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(cannot)?;
    if read as u64 > LARGEST {
        return Err(format!("is larger than {} MB", LARGEST / 1024 / 1024));
    }
    Ok(bytes)
}

#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    // A pipe that a test put there must not hold us.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(path: &Path) -> Vec<Artifact> {
        vec![Artifact {
            name: "report".into(),
            path: path.to_owned(),
        }]
    }

    #[test]
    fn a_file_counts_only_if_it_was_written_since() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let before = Before::look(&planned(&path));
        assert_eq!(
            before.collect(&planned(&path)).get("report"),
            &ArtifactState::Missing
        );
        fs::write(&path, "new").unwrap();
        assert_eq!(
            before.collect(&planned(&path)).bytes("report"),
            Ok(b"new".as_slice())
        );

        let before = Before::look(&planned(&path));
        assert_eq!(
            before.collect(&planned(&path)).get("report"),
            &ArtifactState::Stale
        );
        fs::remove_file(&path).unwrap();
        fs::write(&path, "newer").unwrap();
        assert_eq!(
            before.collect(&planned(&path)).bytes("report"),
            Ok(b"newer".as_slice())
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn links_folders_and_pipes_are_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("elsewhere"), "{}").unwrap();
        let (link, pipe) = (folder.path().join("link"), folder.path().join("pipe"));
        let before = Before::default();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &link).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        for path in [link.as_path(), folder.path(), &pipe] {
            let state = before.collect(&planned(path)).get("report").clone();
            assert!(matches!(state, ArtifactState::Unusable(_)), "{path:?}: {state:?}");
            assert!(read(path).is_err());
        }
    }
}
