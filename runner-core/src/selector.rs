//! Which tests: a type made once at the door, never a bare string after it.
//!
//! Here is what can be told from the text alone. What needs the disk (does it exist, does it stay inside the
//! root) is done by the engine's `project::resolve`, the only maker of path selectors in the running product.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::language::Language;
use crate::nodeid::NodeId;

/// The longest selector that is taken, in bytes. Longer ones are an accident or an attack.
pub const MAX_SELECTOR_BYTES: usize = 8 * 1024;

/// What somebody wrote, without the blanks around it. Those at the end of a test id are part of it, unless its file's
/// language names tests by identifiers: a table's case, an example or a sentence may well end with a blank.
pub fn without_margins(text: &str) -> &str {
    let text = text.trim_start();
    let id = NodeId::of(text);
    let file = Path::new(id.file());
    let is_test = id.names().is_some() && file.extension().is_some();
    let identifiers = Language::of(file).is_some_and(|language| language.identifiers);
    if is_test && !identifiers {
        text
    } else {
        text.trim_end()
    }
}

/// One resolved selector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Selector {
    /// A file or folder inside the root.
    Path {
        /// Relative to the request's working folder, `/` between parts, without `.` and `..` within. Links that
        /// stay inside the root are kept, since frameworks name tests by the path as given.
        path: String,
    },
    /// One test, or a class or a function that stands for several, in a file inside the root.
    Node {
        /// As for `Path`. Empty where the backend's ids are names without a file.
        path: String,
        /// What follows the file, with its leading `::`.
        rest: String,
    },
    /// A keyword expression in the framework's own language (pytest's `-k`).
    Keyword {
        /// As it was written.
        expression: String,
    },
}

impl Selector {
    /// The selector as one word for a framework that takes `path`, `path::name` (not for keywords).
    pub fn as_word(&self) -> String {
        match self {
            Self::Path { path } => path.clone(),
            Self::Node { path, rest } => format!("{path}{rest}"),
            Self::Keyword { expression } => expression.clone(),
        }
    }

    /// Whether a test is what is selected or in it, as far as its id (`file::name`) tells. Of a keyword expression only the
    /// framework can tell, so it admits all.
    pub fn admits(&self, nodeid: &str) -> bool {
        match self {
            Self::Path { path } => {
                let file = NodeId::of(nodeid).file();
                let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
                let rest = file.strip_prefix(path);
                path == "." || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            Self::Node { .. } => {
                let word = self.as_word();
                NodeId::of(word.strip_prefix("./").unwrap_or(&word)).stands_for(nodeid)
            }
            Self::Keyword { .. } => true,
        }
    }
}

/// What a run is narrowed to. Empty means everything.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Selection {
    /// Each adds to what is selected.
    pub selectors: Vec<Selector>,
}

impl Selection {
    /// Whether nothing narrows the run.
    pub fn is_everything(&self) -> bool {
        self.selectors.is_empty()
    }

    /// Words that name files or tests.
    pub fn words(&self) -> Vec<String> {
        self.selectors
            .iter()
            .filter(|s| !matches!(s, Selector::Keyword { .. }))
            .map(Selector::as_word)
            .collect()
    }

    /// Whether a test is among what is selected, as far as its id (`file::name`) tells: for frameworks that run more than
    /// they are asked for. With a keyword expression among the selectors only the framework can tell.
    pub fn admits(&self, nodeid: &str) -> bool {
        self.is_everything() || self.selectors.iter().any(|selector| selector.admits(nodeid))
    }

    /// All keyword expressions joined with `or`.
    pub fn keyword(&self) -> Option<String> {
        let expressions: Vec<&str> = self
            .selectors
            .iter()
            .filter_map(|selector| match selector {
                Selector::Keyword { expression } => Some(expression.as_str()),
                _ => None,
            })
            .collect();
        match expressions.as_slice() {
            [] => None,
            [one] => Some((*one).to_owned()),
            many => Some(
                many.iter()
                    .map(|e| format!("({e})"))
                    .collect::<Vec<_>>()
                    .join(" or "),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Selection, Selector, without_margins};

    fn path(path: &str) -> Selector {
        Selector::Path {
            path: path.to_owned(),
        }
    }

    fn node(path: &str, rest: &str) -> Selector {
        Selector::Node {
            path: path.to_owned(),
            rest: rest.to_owned(),
        }
    }

    fn admits(selectors: Vec<Selector>, nodeid: &str) -> bool {
        Selection { selectors }.admits(nodeid)
    }

    #[test]
    fn everything_admits_all_and_a_keyword_cannot_tell() {
        assert!(admits(vec![], "a"));
        let expression = "slow".to_owned();
        assert!(admits(vec![path("b.rs"), Selector::Keyword { expression }], "a"));
    }

    #[test]
    fn the_end_of_an_id_is_kept_where_names_may_end_with_a_blank() {
        for (written, meant) in [
            (" tests ", "tests"),
            (" slow or fast\n", "slow or fast"),
            ("\ttest_a.py::test_x[a ]\n", "test_a.py::test_x[a ]"),
            (
                " cases.yaml::ends with a blank ",
                "cases.yaml::ends with a blank ",
            ),
            ("a.test.ts::adds ", "a.test.ts::adds "),
            ("parser::tests::adds ", "parser::tests::adds"),
        ] {
            assert_eq!(without_margins(written), meant);
        }
    }

    #[test]
    fn a_path_admits_what_is_in_it_and_not_what_begins_alike() {
        for (selected, nodeid, admitted) in [
            (".", "src/a.rs::x", true),
            ("src/", "src/a.rs::x", true),
            ("./src/a.rs", "src/a.rs::x", true),
            ("src/a.rs", "src/a.rs", true),
            ("src/a", "src/a.rs::x", false),
            ("a.rs", "src/a.rs::x", false),
        ] {
            assert_eq!(
                admits(vec![path("other"), path(selected)], nodeid),
                admitted,
                "{selected} {nodeid}"
            );
        }
    }

    #[test]
    fn an_id_admits_itself_and_what_it_stands_for() {
        for (nodeid, admitted) in [
            ("a.rs::x", true),
            ("a.rs::x::y", true),
            ("a.rs::x[1]", true),
            ("a.rs::xy", false),
            ("a.rs", false),
        ] {
            assert_eq!(admits(vec![node("a.rs", "::x")], nodeid), admitted, "{nodeid}");
        }
    }
}
