//! The tools by name.

use serde::{Serialize, Serializer};

/// Names each tool once: the word that Rust code uses, and the one that agents know it by.
macro_rules! tools {
    ($($(#[$doc:meta])* $tool:ident = $name:literal,)*) => {
        /// A tool. What it does and takes is in its [`Definition`](crate::Definition).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Tool {
            $($(#[$doc])* $tool,)*
        }

        impl Tool {
            /// All of them, in the order in which they are offered.
            pub const ALL: &[Self] = &[$(Self::$tool),*];

            /// The name that agents call it by, and that the record of a run keeps.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$tool => $name,)*
                }
            }
        }
    };
}

tools! {
    RunSuite = "run_suite",
    RunSingle = "run_single",
    RunNTimes = "run_n_times",
    AffectedTests = "affected_tests",
    CompareWithBase = "compare_with_base",
    GetCoverage = "get_coverage",
    ListTests = "list_tests",
    GetRun = "get_run",
    CancelRun = "cancel_run",
}

impl Tool {
    /// The tool of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tool| tool.name() == name)
    }
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
