//! The Node that a project asks for, where a version manager has it installed. Nothing is started to find it.

use std::path::{Path, PathBuf};

use super::settings_file::read_small;
use super::workspace::package_json;
use crate::environment::Environment;

/// The `node` of the version that the project's own files name, from `dir` up to `root`. `None`: they name none, or none
/// that is installed; then PATH decides.
pub(super) fn node(root: &Path, dir: &Path, environment: &Environment) -> Option<PathBuf> {
    let upward = dir.ancestors().take_while(|folder| folder.starts_with(root));
    let wanted = upward.into_iter().find_map(wanted_in)?;
    let homes = homes(environment);
    let installed = homes.iter().flat_map(|(folder, below)| installed(folder, below));
    installed
        .filter(|(version, _)| version.starts_with(&wanted))
        .max()
        .map(|(_, program)| program)
}

type Version = Vec<u32>;

/// The version that a folder's files name.
fn wanted_in(folder: &Path) -> Option<Version> {
    let plain = |name: &str| version(read_small(&folder.join(name))?.lines().next()?);
    let volta = || version(package_json(folder)?["volta"]["node"].as_str()?);
    plain(".nvmrc")
        .or_else(|| plain(".node-version"))
        .or_else(volta)
        .or_else(|| tool_version(&read_small(&folder.join(".tool-versions"))?))
        .or_else(|| mise(&read_small(&folder.join("mise.toml"))?))
        .or_else(|| mise(&read_small(&folder.join(".mise.toml"))?))
}

/// `22`, `v22.3`, `22.3.1`. A name (`lts/iron`) is no version that could be read.
fn version(text: &str) -> Option<Version> {
    let text = text.trim().trim_start_matches('v');
    text.split('.').map(|part| part.parse().ok()).collect()
}

fn tool_version(text: &str) -> Option<Version> {
    let named = |line: &str| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("nodejs" | "node")).then(|| words.next().and_then(version))?
    };
    text.lines().find_map(named)
}

fn mise(text: &str) -> Option<Version> {
    let table: toml::Table = text.parse().ok()?;
    let named = table.get("tools")?.get("node")?;
    let named = named.as_array().and_then(|list| list.first()).unwrap_or(named);
    let named = named.get("version").unwrap_or(named);
    version(named.as_str()?)
}

/// Where version managers keep what they installed: folders of versions, and what leads to the installation in each.
fn homes(environment: &Environment) -> Vec<(PathBuf, &'static str)> {
    let home = environment.get("HOME").map(PathBuf::from);
    let own = |name: &str, usual: &str| {
        let named = environment.get(name).map(PathBuf::from);
        named.or_else(|| Some(home.as_ref()?.join(usual)))
    };
    let places = [
        (own("NVM_DIR", ".nvm"), "versions/node", ""),
        (own("VOLTA_HOME", ".volta"), "tools/image/node", ""),
        (own("MISE_DATA_DIR", ".local/share/mise"), "installs/node", ""),
        (
            own("FNM_DIR", ".local/share/fnm"),
            "node-versions",
            "installation",
        ),
        (own("ASDF_DATA_DIR", ".asdf"), "installs/nodejs", ""),
        (own("NODENV_ROOT", ".nodenv"), "versions", ""),
    ];
    let place = |(folder, inside, below): (Option<PathBuf>, &str, &'static str)| {
        let folder = folder.filter(|folder| folder.is_absolute())?;
        Some((folder.join(inside), below))
    };
    places.into_iter().filter_map(place).collect()
}

fn installed(folder: &Path, below: &str) -> Vec<(Version, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let version = version(&entry.file_name().to_string_lossy())?;
        let program = entry.path().join(below).join("bin/node");
        program.is_file().then_some((version, program))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn the_projects_version_is_taken_where_it_is_installed_the_newest_of_those_that_fit() {
        let home = tempfile::tempdir().unwrap();
        for path in [
            ".nvm/versions/node/v20.9.0/bin/node",
            ".nvm/versions/node/v20.11.1/bin/node",
            ".volta/tools/image/node/22.3.0/bin/node",
            ".local/share/fnm/node-versions/v18.1.0/installation/bin/node",
        ] {
            lay(home.path(), path, "");
        }
        let mut environment = Environment::default();
        let place = home.path().to_string_lossy().into_owned();
        environment.vars.insert("HOME".to_owned(), place);
        for (file, text, expected) in [
            (".nvmrc", "v20\n", Some("v20.11.1")),
            (".node-version", "20.9.0", Some("v20.9.0")),
            ("package.json", r#"{"volta": {"node": "22.3.0"}}"#, Some("22.3.0")),
            (".tool-versions", "python 3.12\nnodejs 18.1.0\n", Some("v18.1.0")),
            ("mise.toml", "[tools]\nnode = \"22\"\n", Some("22.3.0")),
            (".nvmrc", "lts/iron\n", None),
            (".nvmrc", "24\n", None),
        ] {
            let project = tempfile::tempdir().unwrap();
            lay(project.path(), file, text);
            lay(project.path(), "packages/a/x.js", "");
            let found = node(project.path(), &project.path().join("packages/a"), &environment);
            let found = found.map(|path| path.strip_prefix(home.path()).unwrap().display().to_string());
            match expected {
                Some(version) => assert!(found.unwrap().contains(&format!("/{version}/")), "{file} {text}"),
                None => assert_eq!(found, None, "{file} {text}"),
            }
        }
    }
}
