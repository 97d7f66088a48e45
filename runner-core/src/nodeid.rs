//! How ids of tests are built: a file, and names in it (`tests/test_a.py::TestGroup::test_x[1]`).
//!
//! Ids belong to the frameworks and are never rewritten; here is the one place that takes them apart.

/// What stands between a file and the names in it, and between names.
const SEPARATOR: &str = "::";

/// An id, or a selector that is written like one, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId<'a> {
    whole: &'a str,
    /// Where the file ends, in bytes.
    end: usize,
}

impl<'a> NodeId<'a> {
    /// The file ends at the first `::`: parameters may hold one too. A text without any is a file.
    pub fn of(whole: &'a str) -> Self {
        let end = whole.find(SEPARATOR).unwrap_or(whole.len());
        Self { whole, end }
    }

    /// What stands in front of the names: mostly a path; the first part of a name where a framework names no files.
    pub fn file(self) -> &'a str {
        &self.whole[..self.end]
    }

    /// What follows the file, with its leading `::`. Empty for a file.
    pub fn rest(self) -> &'a str {
        &self.whole[self.end..]
    }

    /// What follows the file, without the `::` in front. `None` for a file.
    pub fn names(self) -> Option<&'a str> {
        self.rest().strip_prefix(SEPARATOR)
    }

    /// [`names`](Self::names) and behind them the parameters, which may hold anything and begin with `[`.
    pub fn names_and_parameters(self) -> Option<(&'a str, &'a str)> {
        let names = self.names()?;
        Some(names.split_at(names.find('[').unwrap_or(names.len())))
    }

    /// Whether `other` is this id, or one of those that it stands for: what is in the file, the class or the function
    /// (`::`), its parameters (`[`), and it in a group of pytest-xdist (`@`).
    pub fn stands_for(self, other: &str) -> bool {
        other.strip_prefix(self.whole).is_some_and(|more| {
            more.is_empty()
                || more.starts_with(SEPARATOR)
                || (!self.rest().is_empty() && more.starts_with(['[', '@']))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_split_at_its_first_separator() {
        let id = NodeId::of("tests/test_a.py::Group::test_x[a::b]");
        assert_eq!(id.file(), "tests/test_a.py");
        assert_eq!(id.rest(), "::Group::test_x[a::b]");
        assert_eq!(id.names(), Some("Group::test_x[a::b]"));
        assert_eq!(id.names_and_parameters(), Some(("Group::test_x", "[a::b]")));
        let file = NodeId::of("tests/test_a.py");
        assert_eq!(
            (file.file(), file.rest(), file.names()),
            ("tests/test_a.py", "", None)
        );
        assert_eq!(
            (NodeId::of("::x").file(), NodeId::of("::x").names()),
            ("", Some("x"))
        );
    }

    #[test]
    fn an_id_stands_for_what_is_in_it_and_not_for_what_begins_alike() {
        for (id, other, stands) in [
            ("a.py", "a.py::x", true),
            ("a.py", "a.pyx::x", false),
            ("a.py", "a.py[1]", false),
            ("a.py::x", "a.py::x", true),
            ("a.py::x", "a.py::x::y", true),
            ("a.py::x", "a.py::x[a::b]", true),
            ("a.py::x", "a.py::x@group", true),
            ("a.py::x", "a.py::xy", false),
            ("a.py::x", "a.py", false),
        ] {
            assert_eq!(NodeId::of(id).stands_for(other), stands, "{id} {other}");
        }
    }
}
