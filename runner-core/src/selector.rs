//! Which tests: a type made once at the door, never a bare string after it.
//!
//! Here is what can be told from the text alone. What needs the disk (does it exist, does it stay inside the
//! root) is done by [`crate::project::resolve`], the only maker of path selectors in the running product.

use serde::{Deserialize, Serialize};

/// The longest selector that is taken, in bytes. Longer ones are an accident or an attack.
pub const MAX_SELECTOR_BYTES: usize = 8 * 1024;

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
    Keyword { expression: String },
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
}

/// What a run is narrowed to. Empty means everything.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Selection {
    pub selectors: Vec<Selector>,
}

impl Selection {
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
