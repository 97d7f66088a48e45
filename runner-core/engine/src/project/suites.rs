//! The suites of a repository: as configured, or as its files speak of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::python_files::{has_python, has_python_tests};
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

#[cfg(test)]
mod tests;
