//! Where the repository begins.

use std::path::{Path, PathBuf};

use super::error::{ProjectError, ProjectErrorKind, shown};
use crate::environment::Environment;

/// The name of the configuration file.
const CONFIG_FILE: &str = "qaas.toml";

/// The root, as a real path: `explicit` (relative to the working folder), else the nearest folder upward with
/// `qaas.toml`, else the git top, else the working folder.
pub fn find_root(explicit: Option<&Path>, environment: &Environment) -> Result<PathBuf, ProjectError> {
    let wanted = explicit.unwrap_or(Path::new(""));
    let start = environment.cwd.join(wanted);
    let real = start
        .canonicalize()
        .map_err(|error| unusable(&start, &error.to_string()))?;
    if !real.is_dir() {
        return Err(unusable(&start, "it is not a folder"));
    }
    if explicit.is_some() {
        return Ok(real);
    }
    let upward = |found: fn(&Path) -> bool| real.ancestors().find(|folder| found(folder)).map(Path::to_owned);
    Ok(upward(|folder| folder.join(CONFIG_FILE).is_file())
        .or_else(|| upward(|folder| folder.join(".git").exists()))
        .unwrap_or(real))
}

fn unusable(path: &Path, why: &str) -> ProjectError {
    ProjectError::new(
        ProjectErrorKind::NoSuchPath,
        format!(
            "the root {} cannot be used: {why}",
            shown(&path.to_string_lossy())
        ),
    )
    .with_hint("name the repository's folder with --root DIR")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn at(cwd: &Path) -> Environment {
        Environment {
            cwd: cwd.to_owned(),
            ..Environment::default()
        }
    }

    #[test]
    fn a_configuration_upward_beats_the_git_top_and_the_git_top_beats_the_working_folder() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        let deep = top.join("a/b/c");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir(top.join("a/b/.git")).unwrap();
        assert_eq!(find_root(None, &at(&deep)).unwrap(), top.join("a/b"));
        fs::write(top.join("a/qaas.toml"), "").unwrap();
        assert_eq!(find_root(None, &at(&deep)).unwrap(), top.join("a"));
        fs::write(deep.join("qaas.toml"), "").unwrap();
        assert_eq!(find_root(None, &at(&deep)).unwrap(), deep);
    }

    #[test]
    fn a_worktrees_git_file_counts_and_a_folder_named_like_the_configuration_does_not() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("tree/sub/qaas.toml")).unwrap();
        fs::write(top.join("tree/.git"), "gitdir: elsewhere\n").unwrap();
        assert_eq!(
            find_root(None, &at(&top.join("tree/sub"))).unwrap(),
            top.join("tree")
        );
    }

    #[test]
    fn an_explicit_root_is_taken_as_it_is_and_must_be_a_folder() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        fs::create_dir(top.join("sub")).unwrap();
        fs::write(top.join("qaas.toml"), "").unwrap();
        assert_eq!(
            find_root(Some(Path::new("sub")), &at(&top)).unwrap(),
            top.join("sub")
        );
        assert_eq!(
            find_root(Some(Path::new("gone")), &at(&top)).unwrap_err().kind,
            ProjectErrorKind::NoSuchPath
        );
        assert_eq!(
            find_root(Some(Path::new("qaas.toml")), &at(&top))
                .unwrap_err()
                .kind,
            ProjectErrorKind::NoSuchPath
        );
        assert_eq!(
            find_root(None, &at(&top.join("gone"))).unwrap_err().kind,
            ProjectErrorKind::NoSuchPath
        );
    }
}
