//! Which Python files hold tests: pytest's `python_files`, as the nearest settings file says.

use std::collections::BTreeMap;
use std::path::Path;

/// pytest's own default.
const DEFAULT: [&str; 2] = ["test_*.py", "*_test.py"];

/// pytest does not look for tests in folders of these names.
const NEVER: [&str; 2] = ["build", "dist"];

/// `python_files` by the folder whose settings name them.
#[derive(Debug, Default)]
pub(crate) struct TestFiles {
    patterns: BTreeMap<String, Vec<String>>,
}

impl TestFiles {
    /// Takes up a settings file. `folder` is relative to the root, empty for the root itself.
    pub(crate) fn read(&mut self, folder: &str, name: &str, file: &Path) {
        let read = |section: fn(&str) -> Option<Vec<String>>| section(&settings(file)?);
        let found = match name {
            "pytest.ini" | ".pytest.ini" | "tox.ini" => read(|text| ini(text, "pytest")),
            "setup.cfg" => read(|text| ini(text, "tool:pytest")),
            "pyproject.toml" => read(pyproject),
            "pytest.toml" | ".pytest.toml" => read(pytest_toml),
            _ => None,
        };
        if let Some(patterns) = found.filter(|patterns| !patterns.is_empty()) {
            self.patterns.entry(folder.to_owned()).or_insert(patterns);
        }
    }

    /// Whether pytest would collect the file.
    pub(crate) fn is_test(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if folder.split('/').any(|part| NEVER.contains(&part)) {
            return false;
        }
        let matches = |pattern: &str| {
            if pattern.contains('/') {
                glob(pattern.as_bytes(), path.as_bytes())
            } else {
                glob(pattern.as_bytes(), name.as_bytes())
            }
        };
        match self.nearest(folder) {
            Some(patterns) => patterns.iter().any(|pattern| matches(pattern)),
            None => DEFAULT.iter().any(|pattern| matches(pattern)),
        }
    }

    fn nearest(&self, folder: &str) -> Option<&Vec<String>> {
        let mut folder = folder;
        loop {
            if let Some(patterns) = self.patterns.get(folder) {
                return Some(patterns);
            }
            if folder.is_empty() {
                return None;
            }
            folder = folder.rsplit_once('/').map_or("", |(outer, _)| outer);
        }
    }
}

fn settings(file: &Path) -> Option<String> {
    const MOST_BYTES: u64 = 1024 * 1024;
    let facts = std::fs::metadata(file).ok()?;
    if facts.len() > MOST_BYTES {
        return None;
    }
    std::fs::read_to_string(file).ok()
}

/// `python_files` of an ini file's section: words, also on indented lines below.
fn ini(text: &str, section: &str) -> Option<Vec<String>> {
    let mut inside = false;
    let mut words: Option<Vec<String>> = None;
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        if let (true, Some(words)) = (line.starts_with([' ', '\t']), &mut words) {
            words.extend(bare.split_whitespace().map(str::to_owned));
            continue;
        }
        if words.is_some() {
            break;
        }
        if let Some(name) = bare.strip_prefix('[') {
            inside = name.strip_suffix(']') == Some(section);
        } else if inside
            && let Some((key, value)) = bare.split_once(['=', ':'])
            && key.trim() == "python_files"
        {
            words = Some(value.split_whitespace().map(str::to_owned).collect());
        }
    }
    words
}

fn pyproject(text: &str) -> Option<Vec<String>> {
    let table: toml::Table = text.parse().ok()?;
    let pytest = table.get("tool")?.get("pytest")?;
    let value = pytest.get("ini_options").and_then(|old| old.get("python_files"));
    words(value.or_else(|| pytest.get("python_files"))?)
}

fn pytest_toml(text: &str) -> Option<Vec<String>> {
    let table: toml::Table = text.parse().ok()?;
    words(table.get("pytest")?.get("python_files")?)
}

fn words(value: &toml::Value) -> Option<Vec<String>> {
    if let Some(text) = value.as_str() {
        return Some(text.split_whitespace().map(str::to_owned).collect());
    }
    let words = value.as_array()?.iter().filter_map(toml::Value::as_str);
    Some(words.map(str::to_owned).collect())
}

/// Shell patterns: `*`, `?`, `[a-z]`, `[!a-z]`. Only the last `*` is ever gone back to, so no pattern takes long.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p + 1, t));
            p += 1;
        } else if t < text.len()
            && let Some(width) = one(&pattern[p..], text[t])
        {
            p += width;
            t += 1;
        } else if t == text.len() && p == pattern.len() {
            return true;
        } else if let Some((after, from)) = star.filter(|(_, from)| *from < text.len()) {
            star = Some((after, from + 1));
            (p, t) = (after, from + 1);
        } else {
            return false;
        }
    }
}

/// Bytes of the pattern's first element if it matches the byte.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => match rest.iter().skip(1).position(|b| *b == b']') {
            Some(end) => class(&rest[..=end], byte).then_some(end + 3),
            None => (byte == b'[').then_some(1),
        },
        [first, ..] => (*first == byte).then_some(1),
    }
}

fn class(class: &[u8], byte: u8) -> bool {
    let (negated, class) = match class {
        [b'!', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut at = 0;
    let mut found = false;
    while at < class.len() {
        if at + 2 < class.len() && class[at + 1] == b'-' {
            found |= (class[at]..=class[at + 2]).contains(&byte);
            at += 3;
        } else {
            found |= class[at] == byte;
            at += 1;
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_the_shells() {
        let rows = [
            ("test_*.py", "test_a.py", true),
            ("test_*.py", "latest_a.py", false),
            ("*_test.py", "a_test.py", true),
            ("check?.py", "check1.py", true),
            ("check?.py", "check.py", false),
            ("[ct]est*.py", "cest.py", true),
            ("[!t]est.py", "test.py", false),
            ("t[a-f]st.py", "test.py", true),
            ("*.py", "x.pyc", false),
            ("[", "[", true),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(
                glob(pattern.as_bytes(), text.as_bytes()),
                expected,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn python_files_are_read_from_every_settings_file() {
        let some = |words: &[&str]| Some(words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            ini(
                "[pytest]\npython_files = check_*.py\n  *_spec.py\naddopts = -q\n",
                "pytest"
            ),
            some(&["check_*.py", "*_spec.py"])
        );
        assert_eq!(
            ini("[tox]\npython_files = a.py\n[pytest]\naddopts=-q\n", "pytest"),
            None
        );
        assert_eq!(
            pyproject("[tool.pytest.ini_options]\npython_files = 'a_*.py b_*.py'\n"),
            some(&["a_*.py", "b_*.py"])
        );
        assert_eq!(
            pyproject("[tool.pytest]\npython_files = ['a_*.py']\n"),
            some(&["a_*.py"])
        );
        assert_eq!(
            pytest_toml("[pytest]\npython_files = ['a_*.py']\n"),
            some(&["a_*.py"])
        );
    }

    #[test]
    fn the_nearest_settings_decide_and_build_folders_hold_no_tests() {
        let mut rules = TestFiles::default();
        rules
            .patterns
            .insert("web".to_owned(), vec!["check_*.py".to_owned()]);
        let rows = [
            ("tests/test_a.py", true),
            ("a_test.py", true),
            ("tests/check_a.py", false),
            ("web/tests/check_a.py", true),
            ("web/tests/test_a.py", false),
            ("build/tests/test_a.py", false),
            ("conftest.py", false),
        ];
        for (path, expected) in rows {
            assert_eq!(rules.is_test(path), expected, "{path}");
        }
    }
}
