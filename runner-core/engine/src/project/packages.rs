//! Which distributions an environment holds, by reading what installers leave beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::settings_file::read_small;

/// Name (as [`normal`] makes it) to version.
pub(super) type Packages = BTreeMap<String, String>;

/// The `site-packages` folders of an environment, `lib` and `lib64` being the same one where one is a link. With the
/// version known, only that Python's.
pub(super) fn site_folders(prefix: &Path, version: Option<&str>) -> Vec<PathBuf> {
    let mut real = BTreeSet::new();
    let mut folders = Vec::new();
    for lib in ["lib", "lib64"] {
        for entry in fs::read_dir(prefix.join(lib)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(python) = name.to_str().filter(|name| is_python_folder(name, version)) else {
                continue;
            };
            let site = prefix.join(lib).join(python).join("site-packages");
            if let Ok(path) = site.canonicalize()
                && real.insert(path)
            {
                folders.push(site);
            }
        }
    }
    folders.sort();
    folders
}

fn is_python_folder(name: &str, version: Option<&str>) -> bool {
    let Some(number) = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy")) else {
        return false;
    };
    let mut parts = version.unwrap_or_default().splitn(3, '.');
    match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) => number.trim_end_matches('t') == format!("{major}.{minor}"),
        _ => number.starts_with(|c: char| c.is_ascii_digit()),
    }
}

/// Adds what lies in `folder`; what an earlier folder had stays, as it does on Python's path.
pub(super) fn read_folder(folder: &Path, packages: &mut Packages) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some((name, version)) = name.to_str().and_then(|name| distribution(&entry.path(), name)) {
            packages.entry(normal(&name)).or_insert(version);
        }
    }
}

/// The same for a folder of site packages: what its `.pth` files put on Python's path is there too.
pub(super) fn read_site(site: &Path, packages: &mut Packages) {
    read_folder(site, packages);
    for entry in fs::read_dir(site).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "pth") {
            let text = read_small(&path).unwrap_or_default();
            // Other lines are comments, or code that is not run here.
            let folders = text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && !line.starts_with(['#']));
            for folder in folders.filter(|line| !line.starts_with("import ")) {
                read_folder(&site.join(folder), packages);
            }
        }
    }
}

/// Name and version of the distribution that a file or folder of this name tells of.
fn distribution(path: &Path, file_name: &str) -> Option<(String, String)> {
    if let Some(stem) = file_name.strip_suffix(".dist-info") {
        // A folder that an uninstaller left behind has no METADATA, and Python does not count it either.
        let metadata = path.join("METADATA");
        return metadata
            .is_file()
            .then(|| named(stem).or_else(|| headers(&metadata)))?;
    }
    if let Some(stem) = file_name.strip_suffix(".egg-info") {
        let facts = if path.is_dir() {
            path.join("PKG-INFO")
        } else {
            path.to_owned()
        };
        return headers(&facts).or_else(|| named(stem));
    }
    if let Some(stem) = file_name.strip_suffix(".egg-link") {
        let target = read_small(path)?;
        let folder = path.parent()?.join(target.lines().next()?.trim());
        return headers(&folder.join(format!("{}.egg-info/PKG-INFO", stem.replace('-', "_"))));
    }
    let stem = file_name.strip_suffix(".egg")?;
    headers(&path.join("EGG-INFO/PKG-INFO")).or_else(|| named(stem))
}

/// `pytest_json_report-1.5.0`, or `x-1.0-py3.11`.
fn named(stem: &str) -> Option<(String, String)> {
    let mut parts = stem.splitn(3, '-');
    let name = parts.next().filter(|name| !name.is_empty())?;
    let version = parts.next()?;
    Some((name.to_owned(), version.to_owned()))
}

/// `Name` and `Version` of a METADATA or PKG-INFO file.
fn headers(file: &Path) -> Option<(String, String)> {
    let text = read_small(file)?;
    let head: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let value = |key: &str| {
        let line = head
            .iter()
            .find(|line| line.to_ascii_lowercase().starts_with(key))?;
        Some(line[key.len()..].trim().to_owned())
    };
    Some((value("name:")?, value("version:")?))
}

/// A distribution's name as it is compared: lower case, runs of `-`, `_` and `.` being one `-`.
pub(super) fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        if !matches!(c, '-' | '_' | '.') {
            normal.extend(c.to_lowercase());
        } else if !normal.ends_with('-') {
            normal.push('-');
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay(folder: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn every_way_of_installing_is_read() {
        let temp = tempfile::tempdir().unwrap();
        let site = temp.path().join("site");
        lay(
            temp.path(),
            &[
                (
                    "site/pytest-9.2.0.dist-info/METADATA",
                    "Metadata-Version: 2.1\nName: pytest\nVersion: 9.2.0\n",
                ),
                ("site/Pytest_JSON.report-1.5.0.dist-info/METADATA", ""),
                (
                    "site/odd.dist-info/METADATA",
                    "Name: Odd_One\nVersion: 3\n\nVersion: 4\n",
                ),
                ("site/gone-1.0.dist-info/RECORD", ""),
                ("site/old-1.0-py3.11.egg-info", "Name: old\nVersion: 1.0\n"),
                (
                    "site/older-2.0-py3.11.egg-info/PKG-INFO",
                    "Name: older\nVersion: 2.0\n",
                ),
                ("site/dev-tool.egg-link", "../checkout\n../"),
                (
                    "checkout/dev_tool.egg-info/PKG-INFO",
                    "Name: dev-tool\nVersion: 0.1\n",
                ),
                ("site/zipped-1.1-py3.11.egg", "not a folder"),
                ("site/pytest/__init__.py", ""),
            ],
        );
        let mut packages = Packages::new();
        read_folder(&site, &mut packages);
        let found: Vec<(&str, &str)> = packages.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            found,
            [
                ("dev-tool", "0.1"),
                ("odd-one", "3"),
                ("old", "1.0"),
                ("older", "2.0"),
                ("pytest", "9.2.0"),
                ("pytest-json-report", "1.5.0"),
                ("zipped", "1.1"),
            ]
        );
    }

    #[test]
    fn what_a_path_file_names_is_there_too() {
        let temp = tempfile::tempdir().unwrap();
        let site = temp.path().join("site");
        let other = temp.path().join("other");
        fs::create_dir_all(other.join("pytest-9.2.0.dist-info")).unwrap();
        fs::write(other.join("pytest-9.2.0.dist-info/METADATA"), "").unwrap();
        fs::create_dir(&site).unwrap();
        let lines = format!(
            "# where the tools are\nimport nothing\n{}\nmissing\n",
            other.display()
        );
        fs::write(site.join("tools.pth"), lines).unwrap();
        let mut found = Packages::new();
        read_site(&site, &mut found);
        assert_eq!(found.get("pytest").map(String::as_str), Some("9.2.0"));
    }

    #[test]
    fn only_the_folders_of_the_environments_own_python_count_and_links_count_once() {
        let temp = tempfile::tempdir().unwrap();
        let prefix = temp.path();
        for python in ["python3.9", "python3.11", "python3.13t", "pythonista"] {
            fs::create_dir_all(prefix.join("lib").join(python).join("site-packages")).unwrap();
        }
        std::os::unix::fs::symlink("lib", prefix.join("lib64")).unwrap();
        let at = |python: &str| prefix.join("lib").join(python).join("site-packages");
        assert_eq!(site_folders(prefix, Some("3.11.7")), [at("python3.11")]);
        assert_eq!(site_folders(prefix, Some("3.13.0")), [at("python3.13t")]);
        assert_eq!(
            site_folders(prefix, None),
            [at("python3.11"), at("python3.13t"), at("python3.9")]
        );
    }
}
