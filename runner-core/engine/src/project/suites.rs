//! The suites of a repository: as configured, or as its files speak of them.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{nested, skip, workspace};
use crate::config::{Settings, Suite};
use runner_core::backend::{BackendInfo, Capability};
use runner_core::registry::{Detection, Marker, Registry};

const PYTHON: &str = "python";

/// The configured suites (with a backend filled in where nobody said), or those that the directory's files speak of.
/// What backends look for is in `registry` ([`Registry::detections`]). Empty: nothing here looks like tests.
pub fn suites(root: &Path, settings: &Settings, registry: &Registry) -> Vec<Suite> {
    if settings.suites.is_empty() {
        return detect(root, registry);
    }
    let mut suites = settings.suites.clone();
    for suite in suites.iter_mut().filter(|suite| suite.backend.is_empty()) {
        let found = detect(&root.join(&suite.dir), registry);
        let found = found.into_iter().find(|found| found.dir == Path::new("."));
        suite.backend = found.map_or_else(|| python_backends(registry), |found| found.backend);
    }
    suites
}

fn detect(folder: &Path, registry: &Registry) -> Vec<Suite> {
    let mut found = Vec::new();
    if let Some(python) = python_suite(registry) {
        found.extend(python_suites(folder, &python));
    }
    for detection in registry.detections() {
        found.extend(detected(folder, detection));
    }
    if found.is_empty() {
        found = deeper(folder, registry.detections());
    }
    // A Python project whose tests are named in no way that is known, or that has none yet: better asked than refused.
    if found.is_empty() && has_python(folder) {
        found.extend(python_suite(registry));
    }
    found
}

/// One suite for the folder, or one for each Python project inside it: their environments and configurations differ.
fn python_suites(folder: &Path, python: &Suite) -> Vec<Suite> {
    let nested = nested::nested(folder);
    if nested.is_empty() {
        return has_python_tests(folder)
            .then(|| python.clone())
            .into_iter()
            .collect();
    }
    let mut names = BTreeSet::new();
    let suite = |dir: PathBuf| Suite {
        name: suite_name(&dir.to_string_lossy(), &mut names),
        dir,
        ..python.clone()
    };
    nested.into_iter().map(suite).collect()
}

/// A suite's name made of a folder's or a framework's: of letters that names may have, and not in `taken` yet.
pub fn suite_name(from: &str, taken: &mut BTreeSet<String>) -> String {
    const MOST: usize = 48;
    let plain = |c: char| match c {
        '-' | '_' => c,
        c if c.is_ascii_alphanumeric() => c,
        _ => '-',
    };
    let name: String = from.chars().map(plain).take(MOST).collect();
    let name = match name.trim_matches(['-', '_']) {
        "" => "suite",
        name => name,
    };
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut to_try = std::iter::once(name.to_owned()).chain(numbered);
    let free = to_try.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// The suite of a detection in `folder`, else those in the folders directly below it and in the packages of its workspace.
fn detected(folder: &Path, detection: &Detection) -> Vec<Suite> {
    let marker = &detection.marker;
    let members = workspace::members(folder);
    let here = marked(folder, marker);
    let mut below: Vec<PathBuf> = if here {
        Vec::new()
    } else {
        skip::own_folders(folder)
    };
    below.extend(members);
    below.retain(|below| marked(below, marker));
    // The root of a workspace may keep a package for its members, and run nothing itself.
    if here && (below.is_empty() || runs_itself(folder, marker)) {
        return vec![suite_in(folder, folder, detection.suite.clone(), detection)];
    }
    below.sort();
    below.dedup();
    suites_in(folder, below, detection)
}

/// One suite for each folder, named after it where there are several.
fn suites_in(root: &Path, folders: Vec<PathBuf>, detection: &Detection) -> Vec<Suite> {
    let alone = folders.len() == 1;
    let name = |folder: &Path| {
        let inside = folder.strip_prefix(root).unwrap_or(folder);
        if alone {
            return detection.suite.clone();
        }
        format!("{}-{}", detection.suite, inside.display()).replace('/', "-")
    };
    let folders = folders.into_iter();
    folders
        .map(|folder| suite_in(root, &folder, name(&folder), detection))
        .collect()
}

fn suite_in(root: &Path, folder: &Path, name: String, detection: &Detection) -> Suite {
    let mut suite = Suite::new(name, detection.backends.clone());
    let inside = folder.strip_prefix(root).unwrap_or(folder);
    suite.dir = if inside.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        inside.to_owned()
    };
    suite.detected = true;
    suite
}

fn runs_itself(folder: &Path, marker: &Marker) -> bool {
    match marker {
        Marker::NodePackage(package) => {
            let facts = workspace::package_json(folder).unwrap_or_default();
            workspace::runs(folder, &facts, package)
        }
        Marker::File(_) | Marker::NodeScript(_) => true,
    }
}

/// Looks deeper, nearest folders first, where nothing was found at the top: a package of a repository that is no workspace.
fn deeper(root: &Path, detections: &[Detection]) -> Vec<Suite> {
    const MOST_FOLDERS: usize = 2_000;
    let mut found: Vec<Vec<PathBuf>> = vec![Vec::new(); detections.len()];
    let mut folders = std::collections::VecDeque::from([root.to_owned()]);
    let mut seen = 0;
    while let Some(folder) = folders.pop_front() {
        seen += 1;
        if seen > MOST_FOLDERS {
            break;
        }
        let here = found.iter_mut().zip(detections);
        let here = here.filter(|(_, detection)| marked(&folder, &detection.marker));
        let mut own = false;
        for (found, _) in here {
            found.push(folder.clone());
            own = true;
        }
        if !own {
            folders.extend(skip::own_folders(&folder));
        }
    }
    let pairs = found.into_iter().zip(detections);
    pairs
        .flat_map(|(folders, detection)| suites_in(root, folders, detection))
        .collect()
}

fn marked(folder: &Path, marker: &Marker) -> bool {
    let facts = || workspace::package_json(folder).unwrap_or_default();
    match marker {
        Marker::File(name) => folder.join(name).is_file(),
        // A member of a workspace may use what its root has installed.
        Marker::NodePackage(package) => {
            let facts = facts();
            workspace::depends_on(&facts, package) || workspace::has_script(&facts, package)
        }
        Marker::NodeScript(words) => workspace::has_script(&facts(), words),
    }
}

/// The suite that serves Python tests with every registered backend that can, in the registry's order.
fn python_suite(registry: &Registry) -> Option<Suite> {
    let infos = python_runners(registry);
    let mut suite = Suite::new(infos.first()?.framework.clone(), Vec::new());
    suite.backend = infos.into_iter().map(|info| info.name).collect();
    suite.detected = true;
    Some(suite)
}

fn python_backends(registry: &Registry) -> Vec<String> {
    python_runners(registry)
        .into_iter()
        .map(|info| info.name)
        .collect()
}

fn python_runners(registry: &Registry) -> Vec<BackendInfo> {
    let serves = |info: &BackendInfo| info.language == PYTHON && info.can(Capability::Run);
    let mut runners: Vec<BackendInfo> = registry.infos().into_iter().filter(serves).collect();
    // One framework: another one would find other tests, and so is no substitute for the first.
    if let Some(framework) = runners.first().map(|info| info.framework.clone()) {
        runners.retain(|info| info.framework == framework);
    }
    runners
}

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

fn has_python(folder: &Path) -> bool {
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
fn any_file_below(top: &Path, wanted: fn(&str) -> bool) -> bool {
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

/// A regular file of a project's own settings, if it is of a size that such a file can have.
pub(super) fn read_small(file: &Path) -> Option<String> {
    const MOST_BYTES: u64 = 4 * 1024 * 1024;
    let mut options = fs::OpenOptions::new();
    // A pipe must not hold us; what was looked at is what is read, however it grows meanwhile.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), libc::O_NONBLOCK);
    let file = options.read(true).open(file).ok()?;
    let facts = file.metadata().ok()?;
    if !facts.is_file() || facts.len() > MOST_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests;
