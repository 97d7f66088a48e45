//! The file of a plug-in: which one is meant, whose it is, what is in it.

use std::path::{Component, Path, PathBuf};

use runner_core::store::plugins::{is_name, read_program};
use runner_core::trust::check_owners;

use super::PREFIX;

/// Why a file is not taken, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Refused {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

/// The file that a table names: relative, and really inside the root.
pub(super) fn inside(root: &Path, written: &str) -> Result<PathBuf, Refused> {
    const SHAPE: &str = "write a path below the repository's root, such as `tools/backend.py`; a program from elsewhere \
                         is installed with `qaas backend add PATH`, and then named without a path";
    let path = Path::new(written);
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let strange = written.is_empty() || written.contains(['$', '~', '\0']) || written.contains("://");
    if !plain || strange {
        return Err(Refused::new("is not a plain relative path", SHAPE));
    }
    let real = root.join(path).canonicalize().map_err(|error| {
        Refused::new(
            format!("names {written}, which cannot be used: {error}"),
            "is the path right?",
        )
    })?;
    if !real.starts_with(root) {
        let message = format!("leads out of the repository, to {}", real.display());
        return Err(Refused::new(message, SHAPE));
    }
    Ok(real)
}

/// The content of a program that nobody else can change.
pub(super) fn program(file: &Path) -> Result<Vec<u8>, Refused> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    check_owners(folder, Some(file)).map_err(|error| Refused::new(error.to_string(), error.hint()))?;
    if !is_executable(file) {
        let message = format!("{} cannot be executed", file.display());
        return Err(Refused::new(message, format!("`chmod +x {}`", file.display())));
    }
    read_program(file).map_err(|error| {
        let message = format!("{} cannot be read: {error}", file.display());
        Refused::new(message, "name a program's file")
    })
}

/// A file that a person typed: its real path and its content.
pub(crate) fn read_typed(cwd: &Path, path: &Path) -> Result<(PathBuf, Vec<u8>), Refused> {
    let real = cwd.join(path).canonicalize().map_err(|error| {
        Refused::new(
            format!("{}: {error}", path.display()),
            "give the path of the backend's program",
        )
    })?;
    let content = program(&real)?;
    Ok((real, content))
}

/// The name that a program's file suggests: `qaas-backend-x.py` is `x`.
pub(crate) fn name_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let name = stem.strip_prefix(PREFIX).unwrap_or(stem);
    is_name(name).then(|| name.to_owned())
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_inside_the_root_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("root");
        std::fs::create_dir_all(root.join("tools")).unwrap();
        std::fs::write(root.join("tools/x"), "").unwrap();
        std::fs::write(base.join("y"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(base.join("y"), root.join("link")).unwrap();
        assert_eq!(inside(&root, "./tools/x"), Ok(root.join("tools/x")));
        let absolute = base.join("y").display().to_string();
        let wrong = [
            "",
            "../y",
            "tools/../../y",
            "~/y",
            "$HOME/y",
            "https://h/y",
            "none",
            "link",
            absolute.as_str(),
        ];
        for written in wrong {
            assert!(inside(&root, written).is_err(), "{written}");
        }
    }

    #[test]
    fn a_name_is_made_of_the_file() {
        let name = |path: &str| name_of(Path::new(path));
        assert_eq!(name("/a/qaas-backend-doctest").as_deref(), Some("doctest"));
        assert_eq!(name("b/doctest_backend.py").as_deref(), Some("doctest_backend"));
        assert_eq!(name("a b"), None);
    }
}
