//! The smallest `qaas.toml`: what detection cannot find out by itself, and the rest as comments.

use std::collections::BTreeSet;
use std::path::PathBuf;

use engine::project::suite_name;

/// What the words are made from.
pub(super) struct Found {
    /// Suites that detection finds without a file: name, folder, backends.
    pub(super) detected: Vec<(String, String, Vec<String>)>,
    /// Projects inside the repository, which it does not tell apart.
    pub(super) nested: Vec<PathBuf>,
    /// Whether the suite that is shown is one of Python tests.
    pub(super) python: bool,
    /// A schema that lies beside the file.
    pub(super) schema: Option<&'static str>,
}

/// What can be said about a suite, with what it is for. The backends are filled in.
const SUITE_KEYS: [(&str, &str); 4] = [
    (
        "backend = BACKENDS",
        "in order of preference; the first that can be used is",
    ),
    (
        "paths = [\"tests\"]",
        "where the tests are when nothing is selected, relative to `dir`",
    ),
    (
        "timeout = \"5m\"",
        "how long one run may take; default: 5 minutes for agents, no limit for people",
    ),
    ("coverage = false", "do not offer coverage for this suite"),
];

/// The same, for Python tests only.
const PYTHON_KEY: (&str, &str) = (
    "options = { args = [\"-p\", \"no:randomly\"] }",
    "words for the framework, before everything else",
);

const ENV_KEYS: [(&str, &str); 2] = [
    (
        "pass = [\"DATABASE_URL\"]",
        "variables that agents' runs get too; people's runs get everything",
    ),
    ("set = { APP_ENV = \"test\" }", "variables for every run"),
];

pub(super) fn text(found: &Found) -> String {
    let mut lines = Vec::new();
    lines.extend(found.schema.map(|schema| format!("#:schema ./{schema}")));
    lines
        .push("# How qaas runs this repository's tests. `qaas check` says whether this is right.".to_owned());
    if found.nested.is_empty() {
        detected(found, &mut lines);
    } else {
        nested(found, &mut lines);
    }
    lines.push(String::new());
    lines.push("# -- What the tests may see of the environment.".to_owned());
    lines.push("#[env]".to_owned());
    lines.extend(ENV_KEYS.map(|(key, why)| commented(key, why)));
    lines.join("\n") + "\n"
}

/// Nothing has to be said: a suite that could be, as comments.
fn detected(found: &Found, lines: &mut Vec<String>) {
    if found.detected.is_empty() {
        lines.push("# No tests of a framework that qaas knows were found: name a suite.".to_owned());
    } else {
        lines.push("# Everything in it is optional. Found without it:".to_owned());
        for (name, dir, backends) in &found.detected {
            lines.push(format!("#   {name}, in {dir}, by {}", backends.join(", else ")));
        }
        lines.push("# As soon as one suite is named here, only those that are named here count.".to_owned());
    }
    let unnamed = ("unit".to_owned(), ".".to_owned(), Vec::new());
    let (name, dir, backends) = found.detected.first().unwrap_or(&unnamed);
    lines.push(String::new());
    lines.push(format!("#[suite.{}]", key(name)));
    lines.push(commented(
        &format!("dir = {}", string(dir)),
        "the folder the tests run in, relative to this file",
    ));
    suite_keys(backends, found.python, lines);
}

/// Suites that must be named; those that detection would have found with them, since it looks no more once one is named.
fn nested(found: &Found, lines: &mut Vec<String>) {
    lines.push(
        "# Several projects with an environment or a configuration of their own: each is a suite.".to_owned(),
    );
    let mut names = BTreeSet::new();
    let dirs = found.nested.iter().map(|dir| dir.to_string_lossy().into_owned());
    let suites = dirs
        .map(|dir| (dir.clone(), dir, Vec::new()))
        .chain(found.detected.iter().cloned());
    for (number, (name, dir, backends)) in suites.enumerate() {
        lines.push(String::new());
        lines.push(format!("[suite.{}]", key(&suite_name(&name, &mut names))));
        lines.push(format!("dir = {}", string(&dir)));
        if number == 0 {
            suite_keys(&backends, true, lines);
        } else if !backends.is_empty() {
            lines.push(format!("backend = {}", list(&backends)));
        }
    }
}

fn suite_keys(backends: &[String], python: bool, lines: &mut Vec<String>) {
    let filled = (!backends.is_empty()).then(|| list(backends));
    for (key, why) in SUITE_KEYS.into_iter().chain(python.then_some(PYTHON_KEY)) {
        match (key.contains("BACKENDS"), &filled) {
            (true, None) => {}
            (true, Some(names)) => lines.push(commented(&key.replace("BACKENDS", names), why)),
            (false, _) => lines.push(commented(key, why)),
        }
    }
}

fn commented(key: &str, why: &str) -> String {
    format!("#{key}  # {why}")
}

/// A key, in quotes where it needs them.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.chars().all(bare) {
        name.to_owned()
    } else {
        string(name)
    }
}

/// A TOML string. JSON's escapes are TOML's too.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| string(name)).collect();
    format!("[{}]", names.join(", "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use engine::config;

    use super::*;

    fn pytest() -> (String, String, Vec<String>) {
        (
            "pytest".into(),
            ".".into(),
            vec!["pytest-events".into(), "pytest-json".into()],
        )
    }

    fn found(detected: &[(String, String, Vec<String>)], nested: &[&str]) -> String {
        text(&Found {
            detected: detected.to_vec(),
            nested: nested.iter().map(PathBuf::from).collect(),
            python: true,
            schema: None,
        })
    }

    fn parse(text: &str) -> config::Settings {
        config::parse(Path::new("qaas.toml"), text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn what_detection_finds_is_only_told_in_comments() {
        let text = found(&[pytest()], &[]);
        assert!(
            text.lines().all(|line| line.is_empty() || line.starts_with('#')),
            "{text}"
        );
        assert!(
            text.contains("#   pytest, in ., by pytest-events, else pytest-json"),
            "{text}"
        );
        assert!(parse(&text).suites.is_empty());
    }

    #[test]
    fn every_comment_that_is_a_key_can_be_used() {
        for text in [
            found(&[pytest()], &[]),
            found(&[], &[]),
            found(&[], &["api", "web"]),
        ] {
            let used: String = text
                .lines()
                .map(|line| match line.strip_prefix('#') {
                    Some(key) if !key.starts_with(' ') => format!("{key}\n"),
                    _ => format!("{line}\n"),
                })
                .collect();
            let settings = parse(&used);
            assert!(!settings.suites.is_empty());
            assert_eq!(settings.suites[0].paths, ["tests"]);
            assert_eq!(settings.env.pass, ["DATABASE_URL"]);
        }
    }

    #[test]
    fn inner_projects_become_suites_and_no_other_suite_is_lost() {
        let vitest = (
            "vitest".to_owned(),
            "web ui".to_owned(),
            vec!["vitest".to_owned()],
        );
        let text = found(&[vitest], &["services/api", "services-api", "über"]);
        let settings = parse(&text);
        let suites: Vec<(&str, &Path)> = settings
            .suites
            .iter()
            .map(|suite| (suite.name.as_str(), suite.dir.as_path()))
            .collect();
        let expected = [
            ("services-api", Path::new("services/api")),
            ("services-api-2", Path::new("services-api")),
            ("ber", Path::new("über")),
            ("vitest", Path::new("web ui")),
        ];
        assert_eq!(suites, expected, "{text}");
        assert_eq!(settings.suites[3].backend, ["vitest"]);
    }

    #[test]
    fn the_schema_comes_first() {
        let text = text(&Found {
            detected: Vec::new(),
            nested: Vec::new(),
            python: false,
            schema: Some("qaas.schema.json"),
        });
        assert_eq!(text.lines().next(), Some("#:schema ./qaas.schema.json"));
        assert!(parse(&text).suites.is_empty());
    }
}
