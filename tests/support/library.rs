//! Libraries that are backends: compiled once, and kept from test to test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository of qaas itself.
fn source() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The C backend of `dylib-plugin`'s own tests, with what is said of its table (`-DMAGIC=…`).
pub(crate) fn c_library(args: &[&str]) -> PathBuf {
    let crate_folder = source().join("backends/dylib-plugin");
    let code = crate_folder.join("tests/plugins/lines.c");
    let made_from = [code.clone(), crate_folder.join("qaas_backend.h")];
    let newest = made_from
        .iter()
        .map(|path| path.metadata().unwrap().modified().unwrap())
        .max();
    let name: String = args
        .concat()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("liblines{name}"));
    if path.metadata().is_ok_and(|there| there.modified().ok() >= newest) {
        return path;
    }
    let beside = tempfile::NamedTempFile::new_in(path.parent().unwrap())
        .unwrap()
        .into_temp_path();
    #[expect(clippy::disallowed_methods, reason = "tests start compilers")]
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-std=c99", "-D_GNU_SOURCE", "-O1", "-I"]);
    cc.arg(&crate_folder)
        .args(args)
        .arg("-o")
        .arg(&*beside)
        .arg(&code);
    let output = cc.output().expect("a C compiler, as Rust needs one too");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    beside.persist(&path).unwrap();
    path
}

/// The example of a library in Rust, built as a stranger would: in a folder of its own. It starts with the versions that
/// the workspace has, so that nothing needs to be fetched.
pub(crate) fn rust_library() -> PathBuf {
    let example = source().join("examples/backends/rust-library");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-library");
    std::fs::create_dir_all(copy.join("src")).unwrap();
    let manifest = std::fs::read_to_string(example.join("Cargo.toml")).unwrap();
    let manifest = manifest.replace("../../..", source().to_str().unwrap());
    std::fs::write(copy.join("Cargo.toml"), manifest).unwrap();
    for (from, to) in [
        (source().join("Cargo.lock"), "Cargo.lock"),
        (example.join("src/lib.rs"), "src/lib.rs"),
    ] {
        std::fs::copy(from, copy.join(to)).unwrap();
    }
    #[expect(clippy::disallowed_methods, reason = "tests start Cargo")]
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo
        .args(["build", "--offline", "--quiet"])
        .current_dir(&copy)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let name = format!(
        "{}qaas_rustdoc{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    copy.join("target/debug").join(name)
}
