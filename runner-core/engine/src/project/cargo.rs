//! The Rust packages of a repository: read from `Cargo.toml` files and the places where cargo looks for targets.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::settings_file::read_small;
use super::skip;
use crate::environment::Environment;
use runner_core::facts::{Cargo, CargoPackage, CargoTarget};

/// Trees with more folders are not looked through.
const MOST_FOLDERS: usize = 5_000;

/// The packages below the root. `None` if no `Cargo.toml` lies between the suite's folder and the root: then cargo has
/// nothing to do here, and nothing is walked.
pub(super) fn read(root: &Path, dir: &Path, environment: &Environment) -> Option<Cargo> {
    let upward = dir.ancestors().take_while(|folder| folder.starts_with(root));
    let top = upward
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .last()?;
    let mut cargo = Cargo {
        packages: Vec::new(),
        has_runner: has_runner(dir, environment),
    };
    let mut folders = VecDeque::from([top.to_owned()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        seen += 1;
        if seen > MOST_FOLDERS {
            break;
        }
        cargo.packages.extend(package(&folder));
        folders.extend(
            skip::own_folders(&folder)
                .into_iter()
                .filter(|below| !is_built(below)),
        );
    }
    Some(cargo)
}

/// Whether it is a folder that cargo builds into.
fn is_built(folder: &Path) -> bool {
    folder.ends_with("target") || folder.join("CACHEDIR.TAG").exists()
}

fn package(dir: &Path) -> Option<CargoPackage> {
    let manifest = table(&dir.join("Cargo.toml"))?;
    let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
    let mut targets = Vec::new();
    let library = manifest.get("lib");
    let path = library.and_then(|lib| lib.get("path")).and_then(Value::as_str);
    let path = dir.join(path.unwrap_or("src/lib.rs"));
    if path.is_file() {
        let given = library.and_then(|lib| lib.get("name")).and_then(Value::as_str);
        let name = given.map_or_else(|| name.replace('-', "_"), str::to_owned);
        let kind = "lib".to_owned();
        targets.push(CargoTarget { kind, name, path });
    }
    targets.extend(target("bin", &name, dir.join("src/main.rs")));
    for (kind, folder) in [
        ("bin", "src/bin"),
        ("test", "tests"),
        ("example", "examples"),
        ("bench", "benches"),
    ] {
        written(&manifest, kind, dir, folder, &mut targets);
        found(kind, &dir.join(folder), &mut targets);
    }
    let dir = dir.to_owned();
    Some(CargoPackage { name, dir, targets })
}

fn target(kind: &str, name: &str, path: PathBuf) -> Option<CargoTarget> {
    path.is_file().then(|| CargoTarget {
        kind: kind.to_owned(),
        name: name.to_owned(),
        path,
    })
}

/// Targets that the manifest describes: `[[test]] name = "it"`, with or without a path.
fn written(manifest: &Table, kind: &str, dir: &Path, folder: &str, targets: &mut Vec<CargoTarget>) {
    let list = manifest.get(kind).and_then(Value::as_array);
    for one in list.into_iter().flatten() {
        let Some(name) = one.get("name").and_then(Value::as_str) else {
            continue;
        };
        let path = one.get("path").and_then(Value::as_str);
        let usual = || dir.join(folder).join(format!("{name}.rs"));
        let path = path.map_or_else(usual, |path| dir.join(path));
        targets.retain(|known| known.path != path);
        targets.extend(target(kind, name, path));
    }
}

/// Targets that cargo finds by itself: each file of the folder, and each folder with a `main.rs`.
fn found(kind: &str, folder: &Path, targets: &mut Vec<CargoTarget>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
            continue;
        };
        let is_source = path.extension().is_some_and(|end| end == "rs");
        let file = if is_source {
            path.clone()
        } else {
            path.join("main.rs")
        };
        if targets.iter().all(|known| known.path != file) {
            targets.extend(target(kind, name, file));
        }
    }
}

/// Whether cargo's configuration, from the folder upward and in cargo's home, has a runner under `[target.'cfg(…)']`.
fn has_runner(dir: &Path, environment: &Environment) -> bool {
    let home = environment.get("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(environment.get("HOME")?).join(".cargo")));
    let folders = dir.ancestors().map(|folder| folder.join(".cargo")).chain(home);
    let files = folders.flat_map(|folder| ["config.toml", "config"].map(|name| folder.join(name)));
    files.filter_map(|file| table(&file)).any(|config| {
        let targets = config.get("target").and_then(Value::as_table);
        let mut targets = targets.into_iter().flatten();
        targets.any(|(name, of)| name.starts_with("cfg(") && of.get("runner").is_some())
    })
}

fn table(file: &Path) -> Option<Table> {
    read_small(file)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn packages_and_their_targets_are_found_as_cargo_finds_them() {
        let root = world(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n"),
            (
                "a/Cargo.toml",
                "[package]\nname = \"a-x\"\n[[test]]\nname = \"own\"\npath = \"other/own.rs\"\nharness = false\n",
            ),
            ("a/src/lib.rs", ""),
            ("a/src/main.rs", ""),
            ("a/src/bin/more.rs", ""),
            ("a/tests/it.rs", ""),
            ("a/tests/big/main.rs", ""),
            ("a/tests/common/mod.rs", ""),
            ("a/other/own.rs", ""),
            ("b/Cargo.toml", "[package]\nname = \"b\"\n"),
            ("target/package/c/Cargo.toml", "[package]\nname = \"c\"\n"),
        ]);
        let cargo = read(root.path(), root.path(), &Environment::default()).unwrap();
        let names = |package: &CargoPackage| {
            let targets = package.targets.iter();
            let targets: Vec<String> = targets
                .map(|target| format!("{} {}", target.kind, target.name))
                .collect();
            (package.name.clone(), targets.join(", "))
        };
        let packages: Vec<_> = cargo.packages.iter().map(names).collect();
        let of_a = "lib a_x, bin a-x, bin more, test own, test big, test it";
        assert_eq!(
            packages,
            [
                ("a-x".to_owned(), of_a.to_owned()),
                ("b".to_owned(), String::new())
            ]
        );
        assert!(!cargo.has_runner);
    }

    #[test]
    fn a_runner_of_the_projects_own_is_seen() {
        for (text, expected) in [
            ("[target.'cfg(unix)']\nrunner = \"sudo -E\"\n", true),
            ("[target.x86_64-unknown-linux-gnu]\nrunner = \"sudo -E\"\n", false),
            ("[target.'cfg(unix)']\nrustflags = []\n", false),
        ] {
            let root = world(&[
                ("Cargo.toml", "[package]\nname = \"a\"\n"),
                (".cargo/config.toml", text),
            ]);
            let cargo = read(root.path(), root.path(), &Environment::default()).unwrap();
            assert_eq!(cargo.has_runner, expected, "{text}");
        }
    }

    #[test]
    fn without_a_manifest_nothing_is_walked() {
        let root = world(&[("sub/Cargo.toml", "[package]\nname = \"a\"\n")]);
        assert_eq!(read(root.path(), root.path(), &Environment::default()), None);
    }
}
