//! Which tests were asked for, and which of them a report has spoken of.

use runner_core::selector::Selector;

/// The selected files and tests. Empty: all were asked for.
pub(crate) struct Wanted {
    selectors: Vec<Selector>,
    /// For each selector, whether anything it selects has a result.
    reached: Vec<bool>,
    /// Whether ids begin with a file.
    by_file: bool,
    /// Whether ids are those of cargo's tests: a binary, `$`, a name.
    by_binary: bool,
}

impl Wanted {
    pub(crate) fn new(selectors: &[Selector], by_file: bool, by_binary: bool) -> Self {
        let is_keyword = |selector: &Selector| matches!(selector, Selector::Keyword { .. });
        // With a keyword expression among them, what is selected only the framework can tell.
        let selectors = if selectors.iter().any(is_keyword) {
            Vec::new()
        } else {
            selectors.to_vec()
        };
        Self {
            reached: vec![false; selectors.len()],
            selectors,
            by_file,
            by_binary,
        }
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.selectors.is_empty()
    }

    /// Whether a test of this id was asked for.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.is_everything() || self.selectors.iter().any(|selector| self.selects(selector, id))
    }

    /// A test of this id has a result: whoever asked for it got an answer.
    pub(crate) fn reach(&mut self, id: &str) {
        for at in 0..self.selectors.len() {
            self.reached[at] = self.reached[at] || self.selects(&self.selectors[at], id);
        }
    }

    /// A file (or what stands around tests) failed as a whole: that answers for every test in it.
    pub(crate) fn reach_below(&mut self, collector: &str) {
        for (selector, reached) in self.selectors.iter().zip(&mut self.reached) {
            let word = selector.as_word();
            let around = begins_with_parts(&word, collector) || begins_with_parts(collector, &word);
            let folder = matches!(selector, Selector::Path { path } if in_folder(collector, path));
            *reached = *reached || around || folder;
        }
    }

    /// What was selected and has no result, as it was selected.
    pub(crate) fn unreached(&self) -> Vec<String> {
        let pairs = self.selectors.iter().zip(&self.reached);
        pairs
            .filter(|(_, reached)| !**reached)
            .map(|(selector, _)| selector.as_word())
            .collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.selectors.len()
    }

    fn selects(&self, selector: &Selector, id: &str) -> bool {
        match selector {
            Selector::Path { path } => self.is_in(id, path),
            Selector::Node { .. } => {
                let word = selector.as_word();
                // A test of cargo's may be named without its binary, as cargo names it.
                let named = id.split_once('$').filter(|_| self.by_binary);
                if named.is_some_and(|(_, name)| name == word) {
                    return true;
                }
                // What stands around a selected test (its class, its file) reports only its own failures.
                begins_with_parts(id, &word) || (begins_with_parts(&word, id) && !is_namesake(&word, id))
            }
            Selector::Keyword { .. } => true,
        }
    }

    /// Whether a test is in the selected file or folder, as far as its id tells.
    fn is_in(&self, id: &str, path: &str) -> bool {
        if path == "." || !self.by_file {
            return true;
        }
        let file = id.split("::").next().unwrap_or(id);
        // A report that names no files: the command itself was given the path.
        in_folder(file, path) || !file.contains('/') && !file.contains('.')
    }
}

/// Whether a file is this path, or lies below it.
fn in_folder(file: &str, path: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    let below = file.strip_prefix(path);
    path == "." || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether `id` is `around` itself, or one of those that `around` stands for: tests in it, or its parameters.
fn begins_with_parts(id: &str, around: &str) -> bool {
    let around = around.strip_prefix("./").unwrap_or(around);
    let id = id.strip_prefix("./").unwrap_or(id);
    match id.strip_prefix(around) {
        Some(more) => more.is_empty() || more.starts_with("::") || more.starts_with('['),
        None => false,
    }
}

/// Whether `word` is `id` with the number that tells namesakes apart: another test, not one inside of it.
fn is_namesake(word: &str, id: &str) -> bool {
    let number = word.strip_prefix(id).and_then(|more| more.strip_prefix('['));
    let number = number.and_then(|more| more.strip_suffix(']'));
    number.is_some_and(|number| number.parse::<u32>().is_ok_and(|number| number > 1))
}
