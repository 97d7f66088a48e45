//! By which names pytest finds tests.

/// `python_files`, `python_classes` and `python_functions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    files: Vec<String>,
    classes: Vec<String>,
    functions: Vec<String>,
}

impl Default for Rules {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            files: words(&["test_*.py", "*_test.py"]),
            classes: words(&["Test"]),
            functions: words(&["test"]),
        }
    }
}

impl Rules {
    /// Takes what a configuration file at the root says; others are passed over.
    pub(crate) fn read(&mut self, path: &str, text: &str) {
        match path {
            "pyproject.toml" => self.read_toml(text),
            "pytest.ini" | ".pytest.ini" | "tox.ini" => self.read_ini(text, "pytest"),
            "setup.cfg" => self.read_ini(text, "tool:pytest"),
            _ => {}
        }
    }

    fn read_toml(&mut self, text: &str) {
        let Ok(table) = text.parse::<toml::Table>() else {
            return;
        };
        let options = table.get("tool").and_then(|tool| tool.get("pytest"));
        let Some(options) = options.and_then(|pytest| pytest.get("ini_options").or(Some(pytest))) else {
            return;
        };
        for name in ["python_files", "python_classes", "python_functions"] {
            match options.get(name) {
                Some(toml::Value::String(words)) => self.set(name, words.split_whitespace()),
                Some(toml::Value::Array(words)) => {
                    self.set(name, words.iter().filter_map(toml::Value::as_str));
                }
                _ => {}
            }
        }
    }

    fn read_ini(&mut self, text: &str, wanted: &str) {
        let mut section = "";
        let mut key = "";
        for line in text.lines() {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
                continue;
            }
            if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = name;
                key = "";
            } else if section == wanted {
                // A value goes on in the lines below it that are indented.
                if line.starts_with([' ', '\t']) {
                    self.more(key, trimmed.split_whitespace());
                } else if let Some((name, value)) = trimmed.split_once('=') {
                    key = name.trim();
                    self.set(key, value.split_whitespace());
                }
            }
        }
    }

    fn list(&mut self, name: &str) -> Option<&mut Vec<String>> {
        match name {
            "python_files" => Some(&mut self.files),
            "python_classes" => Some(&mut self.classes),
            "python_functions" => Some(&mut self.functions),
            _ => None,
        }
    }

    fn set<'a>(&mut self, name: &str, words: impl Iterator<Item = &'a str>) {
        if let Some(list) = self.list(name) {
            *list = words.map(str::to_owned).collect();
        }
    }

    fn more<'a>(&mut self, name: &str, words: impl Iterator<Item = &'a str>) {
        if let Some(list) = self.list(name) {
            list.extend(words.map(str::to_owned));
        }
    }

    pub(crate) fn is_test_file(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.files
            .iter()
            .any(|pattern| glob(pattern, if pattern.contains('/') { path } else { name }))
    }

    pub(crate) fn is_test_class(&self, name: &str) -> bool {
        self.classes.iter().any(|pattern| starts_or_fits(pattern, name))
    }

    pub(crate) fn is_test_function(&self, name: &str) -> bool {
        self.functions.iter().any(|pattern| starts_or_fits(pattern, name))
    }
}

/// pytest takes a word for the start of a name, unless it has wildcards.
fn starts_or_fits(pattern: &str, name: &str) -> bool {
    if pattern.contains(['*', '?']) {
        glob(pattern, name)
    } else {
        name.starts_with(pattern)
    }
}

/// `*` and `?`, as far as such patterns go in practice.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.chars().next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = &pattern[1..];
            (0..=text.len())
                .filter(|at| text.is_char_boundary(*at))
                .any(|at| glob(rest, &text[at..]))
        }
        Some('?') => text
            .chars()
            .next()
            .is_some_and(|first| glob(&pattern[1..], &text[first.len_utf8()..])),
        Some(wanted) => text
            .strip_prefix(wanted)
            .is_some_and(|rest| glob(&pattern[wanted.len_utf8()..], rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_each_kind_of_configuration() {
        for (path, text) in [
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\npython_files = [\"check_*.py\"]\n",
            ),
            ("pytest.ini", "[pytest]\npython_files =\n    check_*.py\n"),
            (
                "setup.cfg",
                "[other]\npython_files = x\n[tool:pytest]\npython_files = check_*.py\n",
            ),
        ] {
            let mut rules = Rules::default();
            rules.read(path, text);
            assert!(rules.is_test_file("a/check_it.py"), "{path}");
            assert!(!rules.is_test_file("a/test_it.py"), "{path}");
        }
    }

    #[test]
    fn a_word_is_the_start_of_a_name_and_a_pattern_the_whole() {
        let rules = Rules::default();
        assert!(rules.is_test_function("test_a") && !rules.is_test_function("_test_a"));
        assert!(starts_or_fits("*Suite", "CartSuite") && !starts_or_fits("*Suite", "CartSuites"));
    }
}
