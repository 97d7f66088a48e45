//! Pinned JavaScript packages, installed once by `script/node` and kept below `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The `node_modules` folder of the packages described by `tests/packages/javascript.json`.
pub(crate) fn node_modules() -> PathBuf {
    packages("javascript")
}

/// The `node_modules` folder of the packages described by `tests/packages/NAME.json`.
pub(crate) fn packages(name: &str) -> PathBuf {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    #[expect(clippy::disallowed_methods, reason = "tests start processes")]
    let output = Command::new(top.join("script/node"))
        .arg(top.join("target/node").join(name))
        .arg(top.join("tests/packages").join(format!("{name}.json")))
        .output()
        .expect("script/node starts");
    assert!(
        output.status.success(),
        "script/node: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}
