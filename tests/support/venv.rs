//! Virtual environments with pinned packages, made once by `script/venv` and kept below `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The pytest versions qaas is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pytest {
    V6_2,
    V7_4,
    V8_4,
    V9_2,
}

impl Pytest {
    pub(crate) const ALL: [Self; 4] = [Self::V6_2, Self::V7_4, Self::V8_4, Self::V9_2];

    fn name(self) -> &'static str {
        match self {
            Self::V6_2 => "pytest-6.2",
            Self::V7_4 => "pytest-7.4",
            Self::V8_4 => "pytest-8.4",
            Self::V9_2 => "pytest-9.2",
        }
    }

    /// The interpreter of this version's environment.
    pub(crate) fn python(self) -> PathBuf {
        venv(self.name())
    }
}

/// The interpreter of the environment described by `tests/requirements/NAME.txt`.
pub(crate) fn venv(name: &str) -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    #[expect(clippy::disallowed_methods, reason = "tests start processes")]
    let output = Command::new(top.join("script/venv"))
        .arg(top.join("target/venvs").join(name))
        .arg(top.join("tests/requirements").join(format!("{name}.txt")))
        .output()
        .expect("script/venv starts");
    assert!(
        output.status.success(),
        "script/venv {name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}
