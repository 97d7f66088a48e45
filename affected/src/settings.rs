//! Files that any test may depend on, though none imports them: the only safe answer to their change is all tests.

/// Names of such files, wherever they lie.
const NAMES: [&str; 19] = [
    ".env",
    ".pytest.ini",
    "Pipfile",
    "Pipfile.lock",
    "constraints.txt",
    "environment.yml",
    "noxfile.py",
    "pdm.lock",
    "poetry.lock",
    "pylock.toml",
    "pyproject.toml",
    "pytest.ini",
    "pytest.toml",
    "requirements.txt",
    "setup.cfg",
    "setup.py",
    "sitecustomize.py",
    "tox.ini",
    "uv.lock",
];
/// Endings of compiled extensions and of what they are made from: their names lead to no Python file.
const COMPILED: [&str; 9] = ["c", "cc", "cpp", "h", "pxd", "pyd", "pyx", "rs", "so"];

/// Why a change of this file may reach any test below its folder; `None` if it does not.
pub(crate) fn reaches_all(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_requirements = name.starts_with("requirements") && ending == "txt";
    if NAMES.contains(&name) || is_requirements {
        return Some(format!(
            "{path} holds settings or versions that every test runs with"
        ));
    }
    COMPILED
        .contains(&ending)
        .then(|| format!("{path} is compiled: which tests run it cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_versions_and_compiled_code_reach_every_test() {
        for path in [
            "pyproject.toml",
            "web/uv.lock",
            "requirements-dev.txt",
            "src/_speed.pyx",
        ] {
            assert!(reaches_all(path).is_some(), "{path}");
        }
        for path in ["src/a.py", "data/rows.json", "README.md", "requirements.py"] {
            assert_eq!(reaches_all(path), None, "{path}");
        }
    }
}
