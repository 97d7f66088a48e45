//! Python projects inside a repository: each is a suite of its own, with its own environment.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::manager;
use super::python_files::{has_python_tests, is_python_test_file, pytest_is_configured};
use super::skip;

/// Trees with more folders are not looked through.
const MOST_FOLDERS: usize = 5_000;

/// The folders (relative to the root, in order) that hold a Python project of their own: tests, and an environment, a
/// lock file or a pytest configuration beside them. Empty if the root is such a project itself, or has tests that
/// belong to none of them: then the repository is one project, which needs no words.
pub fn nested(root: &Path) -> Vec<PathBuf> {
    if is_project(root) {
        return Vec::new();
    }
    let mut nested = Vec::new();
    let mut folders = VecDeque::from([root.to_owned()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        seen += 1;
        if seen > MOST_FOLDERS || has_test_file(&folder) {
            return Vec::new();
        }
        for below in skip::own_folders(&folder) {
            if !is_project(&below) || !has_python_tests(&below) {
                folders.push_back(below);
            } else if let Ok(path) = below.strip_prefix(root) {
                nested.push(path.to_owned());
            }
        }
    }
    nested.sort();
    nested
}

/// Whether a folder has what a Python project has once.
fn is_project(folder: &Path) -> bool {
    let environment = |name: &str| folder.join(name).join("pyvenv.cfg").is_file();
    pytest_is_configured(folder)
        || manager::of_folder(folder).is_some()
        || [".venv", "venv", "env"].into_iter().any(environment)
}

fn has_test_file(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    files.any(|entry| entry.file_name().to_str().is_some_and(is_python_test_file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[&str]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "[pytest]\n").unwrap();
        }
        let nested = nested(root.path()).into_iter();
        nested.map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn services_with_an_environment_a_lock_or_a_configuration_of_their_own_are_told_apart() {
        let files = [
            "services/api/.venv/pyvenv.cfg",
            "services/api/tests/test_a.py",
            "services/web/uv.lock",
            "services/web/test_w.py",
            "lib/pytest.ini",
            "lib/deep/test_l.py",
            "scripts/tool.py",
        ];
        assert_eq!(found(&files), ["lib", "services/api", "services/web"]);
    }

    #[test]
    fn a_root_that_is_a_project_is_one_project() {
        for own in ["pytest.ini", "poetry.lock", "venv/pyvenv.cfg"] {
            assert!(found(&[own, "api/uv.lock", "api/test_a.py"]).is_empty(), "{own}");
        }
    }

    #[test]
    fn tests_outside_of_every_inner_project_make_it_one_project() {
        assert!(found(&["api/uv.lock", "api/test_a.py", "tests/test_b.py"]).is_empty());
    }

    #[test]
    fn a_folder_without_tests_or_without_anything_of_its_own_is_no_project() {
        assert!(found(&["api/uv.lock", "api/main.py"]).is_empty());
        assert!(found(&["tests/test_a.py"]).is_empty());
        assert!(found(&["node_modules/x/uv.lock", "node_modules/x/test_a.py"]).is_empty());
    }
}
