//! The project's own name: variables named after it are its switches.

use std::path::Path;

use super::settings_file::read_small;

/// Takes the name out of a file's text.
type Reader = fn(&str) -> Option<String>;

/// The files that may give a project's name, the most deliberate first.
const FILES: [(&str, Reader); 5] = [
    ("pyproject.toml", pyproject),
    ("setup.cfg", setup_cfg),
    ("setup.py", setup_py),
    ("PKG-INFO", pkg_info),
    ("package.json", package_json),
];

/// The name in the nearest file that gives one, upward from the suite's folder.
pub(super) fn name(root: &Path, dir: &Path) -> Option<String> {
    let mut upward = dir.ancestors().take_while(|folder| folder.starts_with(root));
    upward.find_map(|folder| {
        let mut names = FILES
            .iter()
            .filter_map(|(file, read)| read(&read_small(&folder.join(file))?));
        names.find(|name| !name.is_empty())
    })
}

fn pyproject(text: &str) -> Option<String> {
    let table: toml::Table = text.parse().ok()?;
    let project = || table.get("project")?.get("name")?.as_str();
    let poetry = || table.get("tool")?.get("poetry")?.get("name")?.as_str();
    project().or_else(poetry).map(str::to_owned)
}

fn setup_cfg(text: &str) -> Option<String> {
    let metadata = text.split_once("[metadata]")?.1;
    let section = metadata.lines().take_while(|line| !line.starts_with('['));
    let mut pairs = section.filter_map(|line| line.split_once('='));
    pairs
        .find(|(key, _)| key.trim() == "name")
        .map(|(_, value)| value.trim().to_owned())
}

/// `name="…"` as an argument. A name that is computed is not known without running the file.
fn setup_py(text: &str) -> Option<String> {
    text.match_indices("name").find_map(|(at, _)| {
        let alone = text[..at]
            .chars()
            .next_back()
            .is_none_or(|c| " \t\n(,".contains(c));
        let value = text[at + "name".len()..]
            .trim_start()
            .strip_prefix('=')?
            .trim_start();
        let quote = value.chars().next().filter(|c| alone && "\"'".contains(*c))?;
        let name = value[1..].split(quote).next()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        name.chars().all(plain).then(|| name.to_owned())
    })
}

/// What a source distribution says of itself.
fn pkg_info(text: &str) -> Option<String> {
    let mut header = text.lines().take_while(|line| !line.is_empty());
    header
        .find_map(|line| line.strip_prefix("Name:"))
        .map(|name| name.trim().to_owned())
}

fn package_json(text: &str) -> Option<String> {
    let package: serde_json::Value = serde_json::from_str(text).ok()?;
    package["name"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn name_by(files: &[(&str, &str)]) -> Option<String> {
        let temp = tempfile::tempdir().unwrap();
        for (file, text) in files {
            fs::write(temp.path().join(file), text).unwrap();
        }
        fs::create_dir_all(temp.path().join("below")).unwrap();
        name(temp.path(), &temp.path().join("below"))
    }

    #[test]
    fn a_project_is_named_by_any_file_that_says_its_name() {
        let each = [
            ("pyproject.toml", "[project]\nname = 'plum'\n"),
            ("pyproject.toml", "[tool.poetry]\nname = 'plum'\n"),
            ("setup.cfg", "[metadata]\nname = plum\n[options]\n"),
            (
                "setup.py",
                "import re\nsetup(\n    name = \"plum\",\n    version=version)\n",
            ),
            ("setup.py", "setup_args = dict(name='plum', version='1')\n"),
            (
                "PKG-INFO",
                "Metadata-Version: 2.1\nName: plum\nVersion: 1\n\nName: pear\n",
            ),
            ("package.json", "{\"name\": \"plum\"}"),
        ];
        for file in each {
            assert_eq!(name_by(&[file]).as_deref(), Some("plum"), "{file:?}");
        }
    }

    #[test]
    fn a_name_that_only_running_would_tell_comes_from_another_file() {
        let computed = "def read(name='x y'): ...\nfilename='pear'\nsetup(name=about['__title__'])\n";
        assert_eq!(name_by(&[("setup.py", computed)]), None);
        let files = [
            ("pyproject.toml", "[build-system]\nrequires = []\n"),
            ("setup.cfg", "[tool:pytest]\n"),
            ("setup.py", computed),
            ("PKG-INFO", "Name: plum\n"),
        ];
        assert_eq!(name_by(&files).as_deref(), Some("plum"));
    }
}
