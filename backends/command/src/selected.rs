//! What a run selects, as the placeholders of a command need it.

/// One selected file or test.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    /// As it was selected.
    pub(crate) word: String,
    pub(crate) file: String,
    /// Without its file; `None` for a whole file.
    pub(crate) name: Option<String>,
    /// What it is to cargo, for a table whose `targets` are cargo's.
    pub(crate) aim: Aim,
}

impl Selected {
    /// A file or folder.
    pub(crate) fn whole(path: &str) -> Self {
        Self {
            word: path.to_owned(),
            file: path.to_owned(),
            name: None,
            aim: Aim::default(),
        }
    }
}

/// How tests are picked in a test binary, or in rustdoc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Filter {
    /// All of them.
    #[default]
    All,
    /// By the whole name.
    Exact(String),
    /// By a part of the name: rustdoc splits the words for its tests at blanks, and every name of a doctest has some.
    /// What else it finds is dropped when read.
    Part(String),
}

/// What is selected, in cargo's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aim {
    /// `-p shop --test it`. Empty for everything.
    pub(crate) target: Vec<String>,
    pub(crate) filter: Filter,
    /// The same for nextest.
    pub(crate) filterset: Option<String>,
}
