//! Whether a folder's files speak of Python, and of pytest.

use std::fs;
use std::path::Path;

use super::settings_file::read_small;
use super::skip;

/// Whether pytest is configured in `folder`, or files named as its tests are lie anywhere below.
pub(super) fn has_python_tests(folder: &Path) -> bool {
    pytest_is_configured(folder) || any_file_below(folder, is_python_test_file)
}

/// Whether a file in `folder` configures pytest.
pub(super) fn pytest_is_configured(folder: &Path) -> bool {
    const OWN_FILES: [&str; 4] = ["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"];
    const SECTIONS: [(&str, &str); 4] = [
        ("pyproject.toml", "[tool.pytest"),
        ("tox.ini", "[pytest]"),
        ("setup.cfg", "[tool:pytest]"),
        ("setup.cfg", "[pytest]"),
    ];
    OWN_FILES.iter().any(|name| folder.join(name).is_file())
        || SECTIONS
            .iter()
            .any(|(file, section)| has_line(&folder.join(file), section))
}

pub(super) fn is_python_test_file(name: &str) -> bool {
    name == "conftest.py"
        || name
            .strip_suffix(".py")
            .is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
}

fn is_python_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "py")
}

pub(super) fn has_python(folder: &Path) -> bool {
    const FILES: [&str; 5] = [
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "tox.ini",
        "requirements.txt",
    ];
    FILES.iter().any(|name| folder.join(name).is_file()) || any_file_below(folder, is_python_file)
}

fn has_line(file: &Path, start: &str) -> bool {
    read_small(file).is_some_and(|text| text.lines().any(|line| line.trim().starts_with(start)))
}

/// Looks for a regular file by its name, nearest folders first; gives up in trees too large to be looked through.
pub(super) fn any_file_below(top: &Path, wanted: fn(&str) -> bool) -> bool {
    const MOST_FOLDERS: usize = 5_000;
    let mut folders = std::collections::VecDeque::from([top.to_owned()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        seen += 1;
        if seen > MOST_FOLDERS {
            return false;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let found = |entry: fs::DirEntry| {
            entry.file_name().to_str().is_some_and(wanted)
                && entry.file_type().is_ok_and(|kind| !kind.is_dir())
        };
        if entries.into_iter().any(found) {
            return true;
        }
        folders.extend(skip::own_folders(&folder));
    }
    false
}
