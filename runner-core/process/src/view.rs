//! A folder as it was: other files in its place for one job, and nothing that the job writes stays.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// What a job sees at `root` instead of what is there. Only the job and its descendants see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The folder that is covered, by its real path.
    pub root: PathBuf,
    /// A folder whose files are seen in `root`, before those that are there.
    pub layer: PathBuf,
    /// A folder of the view's own, where what is written goes.
    pub own: PathBuf,
    /// Files, relative to `root`, that are not seen. Folders that hold nothing else go with them.
    pub gone: Vec<PathBuf>,
}

/// A file to be seen in a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewFile {
    File { bytes: Vec<u8>, executable: bool },
    Link(PathBuf),
}

/// The time that files in a view bear: long ago, so that nothing compiled from other files of the same size is taken for
/// theirs.
const LONG_AGO: Duration = Duration::from_secs(1_000_000_000);

/// What a view is to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewContents {
    /// The folder that is covered.
    pub root: PathBuf,
    /// Files that are seen in it, by their paths relative to it.
    pub files: BTreeMap<PathBuf, ViewFile>,
    /// Files that are not seen, relative to it.
    pub gone: Vec<PathBuf>,
}

impl View {
    /// Lays the files of a view into `folder`, where nothing may be of an earlier one.
    pub fn lay(contents: &ViewContents, folder: &Path) -> io::Result<Self> {
        let view = Self {
            root: contents.root.canonicalize()?,
            layer: folder.join("layer"),
            own: folder.join("own"),
            gone: contents.gone.clone(),
        };
        std::fs::create_dir_all(&view.layer)?;
        std::fs::create_dir_all(&view.own)?;
        for (path, file) in &contents.files {
            view.lay_file(path, file)?;
        }
        match contents.gone.iter().find(|path| !is_inside(path)) {
            Some(path) => Err(outside(path)),
            None => Ok(view),
        }
    }

    fn lay_file(&self, path: &Path, file: &ViewFile) -> io::Result<()> {
        if !is_inside(path) {
            return Err(outside(path));
        }
        let target = self.layer.join(path);
        self.folders(path)?;
        match file {
            ViewFile::Link(to) => link(to, &target),
            ViewFile::File { bytes, executable } => {
                std::fs::write(&target, bytes)?;
                make_executable(&target, *executable)?;
                let file = std::fs::File::options().write(true).open(&target)?;
                file.set_modified(SystemTime::UNIX_EPOCH + LONG_AGO)
            }
        }
    }

    /// Makes the folders above a file, with the modes of those that they stand for.
    fn folders(&self, path: &Path) -> io::Result<()> {
        let mut folder = PathBuf::new();
        for part in path.parent().into_iter().flat_map(Path::components) {
            folder.push(part);
            let target = self.layer.join(&folder);
            if !target.is_dir() {
                std::fs::create_dir(&target)?;
                // Its mode is seen too. A file may stand there now, whose mode lets nobody in.
                if let Some(real) = std::fs::metadata(self.root.join(&folder))
                    .ok()
                    .filter(std::fs::Metadata::is_dir)
                {
                    std::fs::set_permissions(&target, real.permissions())?;
                }
            }
        }
        Ok(())
    }
}

fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_))) && path.file_name().is_some()
}

fn outside(path: &Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("{} is outside the view", path.display()),
    )
}

#[cfg(unix)]
fn link(to: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, target)
}

#[cfg(unix)]
fn make_executable(path: &Path, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if executable { 0o755 } else { 0o644 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}
