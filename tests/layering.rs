//! The arrows between the crates point down only:
//! `src -> mcp, backends/*, affected -> ops -> engine -> process -> runner-core`, `affected, testdiff -> source -> runner-core`.

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

/// What each crate may name; backends have a rule of their own, the command line may name all.
const FLOORS: &[(&str, &[&str])] = &[
    ("runner-core", &[]),
    ("process", &["runner-core"]),
    ("engine", &["process", "runner-core"]),
    ("ops", &["engine", "process", "runner-core"]),
    ("conformance", &["engine", "process", "runner-core"]),
    ("source", &["runner-core"]),
    ("affected", &["runner-core", "source"]),
    ("testdiff", &["runner-core", "source"]),
    ("test-skip", &[]),
    ("mcp", &["engine", "ops", "process", "runner-core"]),
];

/// Cargo refuses a crate that uses what it does not name, also in a build of the whole workspace: so this is all that has
/// to be held.
#[test]
fn arrows_between_crates_point_down_only() {
    for (name, targets) in arrows() {
        if name == "qaas" || is_backend(&name) {
            continue;
        }
        let Some((_, may)) = FLOORS.iter().find(|(floor, _)| *floor == name) else {
            panic!("{name} stands on no floor: say in this table what it may name");
        };
        for target in targets {
            assert!(may.contains(&target.as_str()), "{name} names {target}");
        }
    }
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
fn the_core_never_looks_at_a_clock() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("runner-core/src");
    let sources = sources(&folder);
    assert!(sources.len() >= 15, "only {} files were read", sources.len());
    for (file, text) in sources {
        assert_eq!(clock(&text), None, "{file} looks at a clock");
    }
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
        // Below the folder: the repository itself may lie anywhere.
        .filter(|file| {
            !file
                .strip_prefix(path)
                .unwrap()
                .to_string_lossy()
                .contains("tests")
        })
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
