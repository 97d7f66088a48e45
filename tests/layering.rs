//! The arrows between the crates point down only: `src -> mcp, backends/*, affected -> runner-core`.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// Each workspace crate with the workspace crates it names, dev-dependencies left out.
fn arrows() -> BTreeMap<String, Vec<String>> {
    #[expect(clippy::disallowed_methods, reason = "tests start processes")]
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |package: &Value| package["name"].as_str().unwrap().to_owned();
    let ours: Vec<String> = packages.iter().map(name).collect();
    let targets = |package: &Value| {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let used = dependencies
            .filter(|dependency| dependency["kind"].is_null())
            .map(name);
        used.filter(|dependency| ours.contains(dependency)).collect()
    };
    packages
        .iter()
        .map(|package| (name(package), targets(package)))
        .collect()
}

fn is_backend(name: &str) -> bool {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("backends")
        .join(name);
    folder.is_dir()
}

#[test]
fn runner_core_names_no_other_crate() {
    assert_eq!(arrows()["runner-core"], Vec::<String>::new());
}

#[test]
fn mcp_and_affected_name_only_runner_core() {
    let arrows = arrows();
    assert_eq!(arrows["mcp"], ["runner-core"]);
    assert_eq!(arrows["affected"], ["runner-core"]);
}

#[test]
fn a_backend_names_runner_core_and_at_most_base_crates() {
    let arrows = arrows();
    let backends: Vec<_> = arrows.iter().filter(|(name, _)| is_backend(name)).collect();
    assert!(backends.len() >= 5, "the backends' folder was not found");
    for (name, targets) in backends {
        for target in targets {
            assert!(
                target == "runner-core" || target.ends_with("-base"),
                "{name} names {target}"
            );
        }
    }
}

#[test]
fn the_lower_floor_never_imports_the_upper() {
    // That it builds alone is checked by `script/test`; here: no source line of it speaks of the upper floor's rooms.
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("runner-core/src");
    let lib = std::fs::read_to_string(source.join("lib.rs")).unwrap();
    let lower = lib.split("// -- upper floor --").next().unwrap();
    let rooms = lower
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let upper = [
        "config",
        "engine",
        "environment",
        "ops",
        "policy",
        "process",
        "project",
        "store",
        "trust",
    ];
    let mut seen = 0;
    for room in rooms {
        let texts = sources(&source.join(room).with_extension("rs"))
            .into_iter()
            .chain(sources(&source.join(room)));
        seen += 1;
        for (file, text) in texts {
            for name in upper {
                assert!(
                    !text.contains(&format!("use crate::{name}")),
                    "{file} imports {name}"
                );
            }
            assert_eq!(clock(&text), None, "{file} looks at a clock");
        }
    }
    assert!(seen >= 10, "only {seen} rooms were read");
}

/// `exec-plugin` is the exception: it waits for another process.
#[test]
fn a_backend_never_looks_at_a_clock() {
    let backends = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("backends");
    let mut seen = 0;
    for backend in std::fs::read_dir(backends).unwrap().flatten() {
        if backend.file_name() == "exec-plugin" {
            continue;
        }
        for (file, text) in sources(&backend.path().join("src")) {
            seen += 1;
            assert_eq!(clock(&text), None, "{file} looks at a clock");
        }
    }
    assert!(seen >= 30, "only {seen} files were read");
}

fn clock(text: &str) -> Option<&'static str> {
    ["Instant", "SystemTime", "clock_gettime", "sleep("]
        .into_iter()
        .find(|word| text.contains(word))
}

/// A Rust file, or all below a folder that are no tests, with their texts.
fn sources(path: &std::path::Path) -> Vec<(String, String)> {
    walkdir::WalkDir::new(path)
        .into_iter()
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .filter(|path| !path.to_string_lossy().contains("tests"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path.display().to_string(), text)
        })
        .collect()
}

#[test]
fn every_crate_from_elsewhere_has_its_reason_in_the_architecture() {
    let read =
        |name| std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let manifest = read("Cargo.toml");
    let (_, rest) = manifest.split_once("[workspace.dependencies]").unwrap();
    let (_, others) = rest.split_once("# others").unwrap();
    let used: std::collections::BTreeSet<&str> = others
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| Some(line.split_once(" = ")?.0))
        .collect();
    let architecture = read("ARCHITECTURE.md");
    let (_, table) = architecture.split_once("## Dependencies").unwrap();
    let explained: std::collections::BTreeSet<&str> = table
        .lines()
        .skip_while(|line| !line.starts_with("| ---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .flat_map(|line| line.split('|').nth(1).unwrap().split(','))
        .map(str::trim)
        .collect();
    assert_eq!(used, explained);
}
