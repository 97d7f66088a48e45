//! JavaScript packages inside a repository: the members of its workspace, and what a package says of a framework.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::settings_file::read_small;
use super::skip;

/// How many folders a pattern of members may lead through.
const MOST_FOLDERS: usize = 2_000;

/// The folders (absolute, in order) of the packages that `package.json` or `pnpm-workspace.yaml` in `root` names as members of a
/// workspace. Empty where there is none.
pub(super) fn members(root: &Path) -> Vec<PathBuf> {
    let patterns = patterns(root);
    let mut found: Vec<PathBuf> = Vec::new();
    for pattern in patterns.iter().filter(|pattern| !pattern.starts_with('!')) {
        let parts: Vec<&str> = parts(pattern);
        let mut left = MOST_FOLDERS;
        follow(root, &parts, &mut left, &mut found);
    }
    for pattern in &patterns {
        if let Some(excluded) = pattern.strip_prefix('!') {
            let (mut out, mut left) = (Vec::new(), MOST_FOLDERS);
            follow(root, &parts(excluded), &mut left, &mut out);
            found.retain(|folder| !out.contains(folder));
        }
    }
    found.retain(|folder| folder.as_path() != root);
    found.sort();
    found.dedup();
    found
}

fn parts(pattern: &str) -> Vec<&str> {
    let parts = pattern.split('/');
    parts.filter(|part| !part.is_empty() && *part != ".").collect()
}

fn patterns(root: &Path) -> Vec<String> {
    let package = package_json(root).unwrap_or_default();
    let listed = &package["workspaces"];
    // yarn's older spelling has a table around the list.
    let listed = listed.as_array().or_else(|| listed["packages"].as_array());
    let mut patterns: Vec<String> = listed
        .into_iter()
        .flatten()
        .filter_map(|pattern| pattern.as_str().map(str::to_owned))
        .collect();
    if let Some(text) = read_small(&root.join("pnpm-workspace.yaml")) {
        patterns.extend(pnpm_packages(&text));
    }
    patterns
}

/// The list `packages` of a `pnpm-workspace.yaml`, in either of the two spellings that such files have.
fn pnpm_packages(text: &str) -> Vec<String> {
    let plain = |item: &str| item.trim().trim_matches(['"', '\'']).to_owned();
    let mut lines = text.lines().skip_while(|line| !line.starts_with("packages:"));
    let first = lines.next().unwrap_or_default();
    if let Some((_, list)) = first.split_once('[') {
        let list = list.split(']').next().unwrap_or_default();
        return list
            .split(',')
            .map(plain)
            .filter(|item| !item.is_empty())
            .collect();
    }
    let items = lines
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map_while(|line| line.strip_prefix("- "));
    items
        .map(|item| plain(item.split(" #").next().unwrap_or_default()))
        .collect()
}

/// The packages that a pattern's parts lead to: `*` is any part of a name, `**` any number of folders.
fn follow(folder: &Path, parts: &[&str], left: &mut usize, found: &mut Vec<PathBuf>) {
    let Some((part, rest)) = parts.split_first() else {
        if folder.join("package.json").is_file() {
            found.push(folder.to_owned());
        }
        return;
    };
    if *part == "**" {
        follow(folder, rest, left, found);
    } else if !part.contains('*') {
        let below = folder.join(part);
        if below.is_dir() && *part != ".." {
            follow(&below, rest, left, found);
        }
        return;
    }
    for below in skip::own_folders(folder) {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let name = below.file_name().unwrap_or_default().to_string_lossy();
        if *part == "**" {
            follow(&below, parts, left, found);
        } else if is_like(&name, part) {
            follow(&below, rest, left, found);
        }
    }
}

fn is_like(name: &str, pattern: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else {
        return name == pattern;
    };
    let rest = name.strip_prefix(before);
    rest.is_some_and(|rest| {
        (0..=rest.len()).any(|at| rest.is_char_boundary(at) && is_like(&rest[at..], after))
    })
}

/// What `package.json` in a folder says.
pub(super) fn package_json(folder: &Path) -> Option<Value> {
    serde_json::from_str(&read_small(&folder.join("package.json"))?).ok()
}

/// Whether one of a package's lists of dependencies has this package.
pub(super) fn depends_on(package_json: &Value, package: &str) -> bool {
    let lists = [
        "dependencies",
        "devDependencies",
        "optionalDependencies",
        "peerDependencies",
    ];
    lists.iter().any(|list| package_json[list].get(package).is_some())
}

/// Whether one of a package's scripts has a command with these words, in this order and perhaps with others between them.
pub(super) fn has_script(package_json: &Value, words: &str) -> bool {
    let scripts = package_json["scripts"].as_object().into_iter().flatten();
    let mut scripts = scripts.filter_map(|(_, script)| script.as_str());
    scripts.any(|script| {
        script.contains(words)
            || script
                .split(['&', '|', ';'])
                .any(|command| has_words(command, words))
    })
}

fn has_words(command: &str, words: &str) -> bool {
    let mut said = command.split_whitespace();
    words.split_whitespace().all(|word| said.any(|one| one == word))
}

/// Whether a package itself runs the framework of that package, and does not only keep it for its members: it has a
/// script with it, or a configuration.
pub(super) fn runs(folder: &Path, package_json: &Value, package: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let configured = |name: String| {
        name.strip_prefix(package)
            .is_some_and(|rest| rest.starts_with(".config.") || rest.starts_with(".workspace."))
    };
    package_json.get(package).is_some()
        || has_script(package_json, package)
        || entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .any(configured)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let members = members(root.path()).into_iter();
        let inside = members.map(|path| path.strip_prefix(root.path()).unwrap().display().to_string());
        inside.collect()
    }

    const PACKAGES: [(&str, &str); 5] = [
        ("packages/a/package.json", "{}"),
        ("packages/b/package.json", "{}"),
        ("packages/b/node_modules/x/package.json", "{}"),
        ("packages/none/readme.md", ""),
        ("apps/deep/web/package.json", "{}"),
    ];

    #[test]
    fn members_are_found_by_what_npm_yarn_and_pnpm_write() {
        for (file, text, expected) in [
            (
                "package.json",
                r#"{"workspaces": ["packages/*"]}"#,
                &["packages/a", "packages/b"][..],
            ),
            (
                "package.json",
                r#"{"workspaces": {"packages": ["./apps/**", "packages/a"]}}"#,
                &["apps/deep/web", "packages/a"],
            ),
            (
                "pnpm-workspace.yaml",
                "# x\npackages:\n  - 'packages/*' # all\n\n  - \"!packages/b\"\ncatalog:\n  - apps/**\n",
                &["packages/a"],
            ),
            (
                "pnpm-workspace.yaml",
                "packages: [\"apps/*/w*\"]\n",
                &["apps/deep/web"],
            ),
            ("package.json", "{}", &[]),
            ("package.json", r#"{"workspaces": ["../*"]}"#, &[]),
        ] {
            let files = [&PACKAGES[..], &[(file, text)]].concat();
            assert_eq!(found(&files), expected, "{text}");
        }
    }

    #[test]
    fn a_script_has_words_with_others_between_them_but_not_over_two_commands() {
        let package = |script: &str| serde_json::json!({"scripts": {"test": script}});
        for (script, has) in [
            ("node --test", true),
            ("NODE_ENV=test node --import tsx --test src", true),
            ("node build.js && c8 --test", false),
            ("node --test-reporter=spec x.js", true),
            ("node x.js --testing", false),
        ] {
            assert_eq!(has_script(&package(script), "node --test"), has, "{script}");
        }
    }
}
