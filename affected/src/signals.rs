//! What a test file's own name and place say about a changed file.

use crate::modules::{folder, is_below};

/// What it weighs that a test file is named after the changed one.
pub(crate) const NAMED_AFTER: u32 = 50;

/// Words that stand around what a test file is about.
const TEST_WORDS: [&str; 2] = ["test", "tests"];

/// A changed file, as tests may speak of it.
#[derive(Debug)]
pub(crate) struct Subject {
    /// `cart.py`
    pub(crate) file_name: String,
    /// `cart`; for a package's `__init__.py` the package's name.
    pub(crate) stem: String,
    words: Vec<String>,
    folder: String,
}

/// A signal: its weight and its reason.
pub(crate) type Signal = (u32, String);

impl Subject {
    pub(crate) fn new(path: &str) -> Self {
        let file_name = path.rsplit('/').next().unwrap_or(path);
        let bare = file_name.split_once('.').map_or(file_name, |(bare, _)| bare);
        let stem = match bare {
            "__init__" | "__main__" => folder(path).rsplit('/').next().unwrap_or_default(),
            bare => bare,
        };
        Self {
            file_name: file_name.to_owned(),
            stem: stem.to_owned(),
            words: words(stem),
            folder: folder(path).to_owned(),
        }
    }

    /// Whether a test file is named after this one.
    pub(crate) fn is_named_after_by(&self, test: &str) -> bool {
        self.signals(test)
            .iter()
            .any(|(weight, _)| *weight >= NAMED_AFTER)
    }

    /// Whether a text speaks of the file by its whole name.
    pub(crate) fn is_named_in(&self, text: &str) -> bool {
        self.file_name.contains('.') && text.contains(&self.file_name)
    }

    /// Whether a test lies below the file's folder.
    pub(crate) fn is_above(&self, test: &str) -> bool {
        is_below(test, &self.folder)
    }

    /// The signals of a test's path, strongest first.
    pub(crate) fn signals(&self, test: &str) -> Vec<Signal> {
        let mut signals = Vec::new();
        let name = test.rsplit('/').next().unwrap_or(test);
        let about = about(name);
        if !self.words.is_empty() {
            if about == self.words {
                signals.push((NAMED_AFTER, format!("name matches {}", self.file_name)));
            } else if contains(&about, &self.words) {
                signals.push((12, format!("filename mentions '{}'", self.stem)));
            } else if folder(test).split('/').any(|part| self.is_about(part)) {
                signals.push((12, format!("its folder mentions '{}'", self.stem)));
            }
        }
        if !self.folder.is_empty() && is_below(folder(test), &self.folder) {
            signals.push((5, format!("shares directory {}", self.folder)));
        }
        signals
    }

    /// Whether a folder of tests is named after the file; not merely the folder that both lie in.
    fn is_about(&self, part: &str) -> bool {
        !self.folder.split('/').any(|own| own == part) && words(part) == self.words
    }
}

/// What a test file is about: the words of its name but for `test`.
fn about(name: &str) -> Vec<String> {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let mut words = words(stem);
    words.retain(|word| !TEST_WORDS.contains(&word.as_str()));
    words
}

/// `user_auth`, `user-auth` and `UserAuth` are the same two words: names are compared by words, so that `auth` is not
/// found in `author`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            before_lower = false;
            continue;
        }
        if c.is_uppercase() && before_lower {
            words.push(String::new());
        }
        before_lower = c.is_lowercase() || c.is_numeric();
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn contains(words: &[String], part: &[String]) -> bool {
    words.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(changed: &str, test: &str, expected: &[(u32, &str)]) {
        let found = Subject::new(changed).signals(test);
        let found: Vec<(u32, &str)> = found
            .iter()
            .map(|(weight, why)| (*weight, why.as_str()))
            .collect();
        assert_eq!(found, expected, "{changed} {test}");
    }

    #[test]
    fn names_are_compared_by_words() {
        check(
            "src/auth.py",
            "tests/test_auth.py",
            &[(50, "name matches auth.py")],
        );
        check(
            "src/auth.py",
            "tests/auth_test.py",
            &[(50, "name matches auth.py")],
        );
        check(
            "src/_auth.py",
            "tests/test_auth.py",
            &[(50, "name matches _auth.py")],
        );
        check(
            "src/auth/__init__.py",
            "tests/test_auth.py",
            &[(50, "name matches __init__.py")],
        );
        check(
            "src/auth.py",
            "tests/test_user_auth.py",
            &[(12, "filename mentions 'auth'")],
        );
        check("src/auth.py", "tests/test_author.py", &[]);
        check("src/auth.py", "tests/test_oauth.py", &[]);
        check(
            "src/user_auth.py",
            "tests/test_the_user_auth_flow.py",
            &[(12, "filename mentions 'user_auth'")],
        );
        check("src/user_auth.py", "tests/test_auth_user.py", &[]);
        check(
            "src/userAuth.js",
            "tests/test_user_auth.py",
            &[(50, "name matches userAuth.js")],
        );
        check(
            "src/auth.py",
            "tests/auth/test_flow.py",
            &[(12, "its folder mentions 'auth'")],
        );
        check("src/test.py", "tests/test_a.py", &[]);
        check("__init__.py", "tests/test_a.py", &[]);
    }

    #[test]
    fn a_directory_is_shared_by_parts_and_only_below_the_changed_files() {
        check(
            "shop/cart.py",
            "shop/tests/test_flow.py",
            &[(5, "shares directory shop")],
        );
        check("shop/cart.py", "shopping/test_flow.py", &[]);
        check("shop/api/cart.py", "shop/tests/test_flow.py", &[]);
        check("cart.py", "tests/test_flow.py", &[]);
        check(
            "auth/auth.py",
            "auth/test_flow.py",
            &[(5, "shares directory auth")],
        );
    }
}
