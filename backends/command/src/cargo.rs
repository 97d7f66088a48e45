//! What cargo calls the things that are selected: packages, targets and tests.
//!
//! Ids begin with nextest's name of the binary (`shop`, `shop::it`, `shop::bin/tool`), then `$` and the test's name; a
//! doctest is `src/lib.rs - add (line 1)`, as rustdoc names it.

use std::path::{Path, PathBuf};

use runner_core::backend::{BackendError, UNSUPPORTED};
use runner_core::facts::{Cargo, CargoPackage, CargoTarget, Project};

use crate::pattern::quoted;
use crate::selected::{Aim, Filter, Selected};

/// Finds out what a selected test, file or folder is to cargo; refuses what is nothing.
pub(crate) fn aim(selected: &Selected, cwd: &Path, project: &Project) -> Result<Aim, BackendError> {
    match &selected.name {
        None => aim_at_path(&selected.file, cwd, project),
        Some(name) if selected.file.is_empty() => Ok(aim_at_test(name, project)),
        // `src/lib.rs::name`: a test of that target.
        Some(name) => {
            let mut aim = aim_at_path(&selected.file, cwd, project)?;
            aim.filterset = aim.filterset.map(|set| format!("({set}) & {}", test_is(name)));
            aim.filter = Filter::Exact(name.clone());
            Ok(aim)
        }
    }
}

fn aim_at_test(id: &str, project: &Project) -> Aim {
    // A name may have a `$` of its own: in front of ours stands a package of this repository.
    let packages = || project.cargo.iter().flat_map(|cargo| &cargo.packages);
    let is_binary = |binary: &str| {
        let package = binary.split("::").next().unwrap_or(binary);
        packages().any(|known| known.name == package)
    };
    if let Some((binary, name)) = id.split_once('$').filter(|(binary, _)| is_binary(binary)) {
        return Aim {
            target: words_of_binary(binary),
            filter: Filter::Exact(name.to_owned()),
            filterset: Some(format!("binary_id(={binary}) & {}", test_is(name))),
        };
    }
    if let Some(part) = part_of_doctest(id) {
        return Aim {
            target: vec!["--doc".to_owned()],
            filter: Filter::Part(part),
            filterset: Some("none()".to_owned()),
        };
    }
    // A binary with a `main` of its own that tells of no tests is one itself.
    let mut targets =
        packages().flat_map(|package| package.targets.iter().map(move |target| (package, target)));
    if targets.any(|(package, target)| binary_id(package, target) == id) {
        return Aim {
            target: words_of_binary(id),
            filter: Filter::All,
            filterset: Some(format!("binary_id(={id})")),
        };
    }
    Aim {
        target: Vec::new(),
        filter: Filter::Exact(id.to_owned()),
        filterset: Some(test_is(id)),
    }
}

/// Whether a name is a doctest's: `src/lib.rs - Stack::push (line 12)`.
pub(crate) fn is_doctest(name: &str) -> bool {
    part_of_doctest(name).is_some()
}

/// A word without blanks that a doctest's name has and few others have: its item, else its line.
fn part_of_doctest(id: &str) -> Option<String> {
    let (file, rest) = id.split_once(" - ")?;
    let rest = rest.strip_suffix(')')?;
    let (item, line) = rest.rsplit_once("(line ").unwrap_or((rest, ""));
    if !line.parse::<u32>().is_ok_and(|line| line > 0)
        || ![".rs", ".md"].iter().any(|end| file.ends_with(end))
    {
        return None;
    }
    let item = item
        .split_whitespace()
        .max_by_key(|word| word.len())
        .unwrap_or_default();
    Some(if item.len() > line.len() + 1 {
        item.to_owned()
    } else {
        format!("{line})")
    })
}

/// nextest's expression for one name.
fn test_is(name: &str) -> String {
    format!("test(/^{}$/)", quoted(name))
}

/// `-p shop --test it` of `shop::it`.
fn words_of_binary(binary: &str) -> Vec<String> {
    let (package, target) = match binary.split_once("::") {
        None => (binary, vec!["--lib".to_owned()]),
        Some((package, target)) => {
            let (kind, name) = target.split_once('/').unwrap_or(("test", target));
            (package, vec![format!("--{kind}"), name.to_owned()])
        }
    };
    [vec!["-p".to_owned(), package.to_owned()], target].concat()
}

/// nextest's name of a test binary.
pub(crate) fn binary_name(package: &str, kind: &str, name: &str) -> String {
    match kind {
        "test" => format!("{package}::{name}"),
        "bin" | "example" | "bench" => format!("{package}::{kind}/{name}"),
        // The kinds of libraries: `lib`, `rlib`, `proc-macro`, …
        _ => package.to_owned(),
    }
}

fn binary_id(package: &CargoPackage, target: &CargoTarget) -> String {
    binary_name(&package.name, &target.kind, &target.name)
}

fn aim_at_path(path: &str, cwd: &Path, project: &Project) -> Result<Aim, BackendError> {
    let full = plain(&cwd.join(path));
    let none = Cargo::default();
    let cargo = project.cargo.as_ref().unwrap_or(&none);
    // A folder around packages is all of them; `Cargo.toml` stands for its package.
    let manifest = full.ends_with("Cargo.toml").then(|| full.parent()).flatten();
    let folder = manifest.unwrap_or(&full);
    let inside = |package: &&CargoPackage| package.dir.starts_with(folder);
    let packages: Vec<&CargoPackage> = cargo.packages.iter().filter(inside).collect();
    if full == plain(cwd) {
        return Ok(Aim::default());
    }
    if !packages.is_empty() {
        let words = packages
            .iter()
            .flat_map(|package| ["-p".to_owned(), package.name.clone()]);
        let sets = packages
            .iter()
            .map(|package| format!("package(={})", package.name));
        return Ok(Aim {
            target: words.collect(),
            filter: Filter::All,
            filterset: Some(sets.collect::<Vec<_>>().join(" | ")),
        });
    }
    let around = cargo
        .packages
        .iter()
        .filter(|package| full.starts_with(&package.dir));
    let package = around.max_by_key(|package| package.dir.components().count());
    let targets: Vec<&CargoTarget> = package
        .iter()
        .flat_map(|package| &package.targets)
        .filter(|target| target.path.starts_with(&full))
        .collect();
    match package {
        Some(package) if !targets.is_empty() => {
            let mut words = vec!["-p".to_owned(), package.name.clone()];
            for target in &targets {
                let mut of_one = words_of_binary(&binary_id(package, target)).split_off(2);
                words.append(&mut of_one);
            }
            let sets = targets
                .iter()
                .map(|target| format!("binary_id(={})", binary_id(package, target)));
            Ok(Aim {
                target: words,
                filter: Filter::All,
                filterset: Some(sets.collect::<Vec<_>>().join(" | ")),
            })
        }
        _ => Err(refusal(path, package)),
    }
}

/// Running something else than what was asked for would be a lie.
fn refusal(path: &str, package: Option<&CargoPackage>) -> BackendError {
    let error = BackendError::new(
        UNSUPPORTED,
        format!(
            "`{path}` is neither a package nor a target of cargo's, so its tests cannot be run by themselves"
        ),
    );
    let Some(package) = package else {
        return error.with_hint("select a package's folder, the file of a target (`tests/it.rs`, `src/lib.rs`), or tests by their ids");
    };
    let files = package.targets.iter().filter_map(|target| {
        let path = target.path.strip_prefix(&package.dir).ok()?;
        Some(path.display().to_string())
    });
    error.with_hint(format!(
        "it belongs to the package `{}`: select its folder, one of its targets ({}), or tests by their ids",
        package.name,
        files.collect::<Vec<_>>().join(", ")
    ))
}

/// A path without `.` in it.
fn plain(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != std::path::Component::CurDir)
        .collect()
}

/// Cargo's configuration that has each test binary say, on its own standard output, which it is: a line of its own in
/// front of what the binary prints.
///
/// Cargo says so itself, but on standard error, where nothing tells which of two binaries the text on standard output is
/// of: one with a `main` of its own may print nothing. The shell becomes the binary (`exec`), with the same words and the
/// same environment. Doctests are left alone; rustdoc sets their variable only where no runner is set. Not on macOS: its
/// shell drops the variables by which libraries are found.
pub(crate) fn unit_marker(project: &Project) -> Option<String> {
    let cargo = project.cargo.as_ref()?;
    let script = format!(
        r#"case "$0" in */rust_out) RUSTDOC_DOCTEST_BIN_PATH="$0" exec "$0" "$@";; esac; printf '\n{UNIT} %s %s\n' "$CARGO_PKG_NAME" "$0"; exec "$0" "$@""#
    );
    let script = script.replace('\\', "\\\\").replace('"', "\\\"");
    (!cargo.has_runner)
        .then(|| format!(r#"target.'cfg(target_os = "linux")'.runner = ["sh", "-c", "{script}"]"#))
}

/// How the line of a test binary begins; the package and the binary's path follow.
pub(crate) const UNIT: &str = "qaas: test binary";

#[cfg(test)]
#[path = "cargo_tests.rs"]
mod tests;
