//! From ids as pytest prints them to nodeids. Progress lines and the short summary name a test's file as seen from
//! the working folder; a nodeid names it as seen from pytest's root folder (`rootdir`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runner_core::nodeid::NodeId;
use runner_core::paths;

/// The working folder, and pytest's root folder once its header told it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    cwd: PathBuf,
    rootdir: Option<PathBuf>,
}

impl Names {
    pub(crate) fn new(cwd: &Path) -> Self {
        Self {
            cwd: cwd.to_owned(),
            rootdir: None,
        }
    }

    /// Takes in a line of the header. Older releases put several facts on one line.
    pub(crate) fn header(&mut self, line: &str) {
        let Some(text) = line.strip_prefix("rootdir: ") else {
            return;
        };
        let ends = [", configfile: ", ", inifile: ", ", inifile:", ", testpaths: "];
        let end = ends
            .iter()
            .filter_map(|end| text.find(end))
            .min()
            .unwrap_or(text.len());
        self.rootdir.get_or_insert_with(|| PathBuf::from(&text[..end]));
    }

    /// Whether an id that pytest prints can be turned into its nodeid before pytest has listed all nodeids.
    pub(crate) fn certain(&self, printed: &str) -> bool {
        let (file, rest) = (NodeId::of(printed).file(), NodeId::of(printed).rest());
        // Items that are no Python functions may have dots in their names, which pytest prints as `::`.
        let python = Path::new(file)
            .extension()
            .is_some_and(|extension| extension == "py");
        let verbatim = (python || rest.matches("::").count() < 2) && !is_garbled(printed);
        match &self.rootdir {
            None => false,
            Some(rootdir) if *rootdir == self.cwd => verbatim,
            // Older releases treat the whole id as a path here, parameters included.
            Some(_) => verbatim && !rest.contains('/'),
        }
    }

    pub(crate) fn nodeid(&self, printed: &str) -> String {
        let Some(rootdir) = self.rootdir.as_ref().filter(|rootdir| **rootdir != self.cwd) else {
            return printed.to_owned();
        };
        let id = NodeId::of(printed);
        let file = paths::clean(&self.cwd.join(id.file()));
        match file.as_deref().map(|file| file.strip_prefix(rootdir)) {
            Some(Ok(relative)) => format!("{}{}", relative.to_string_lossy(), id.rest()),
            _ => printed.to_owned(),
        }
    }

    /// What pytest prints for a nodeid.
    fn printed(&self, nodeid: &str) -> String {
        let Some(rootdir) = self.rootdir.as_ref().filter(|rootdir| **rootdir != self.cwd) else {
            return nodeid.to_owned();
        };
        let id = NodeId::of(nodeid);
        let file = paths::clean(&rootdir.join(id.file()));
        match file.and_then(|file| paths::relative(&self.cwd, &file)) {
            Some(file) => format!("{file}{}", id.rest()),
            None => nodeid.to_owned(),
        }
    }

    /// A table from printed ids to the nodeids that pytest listed. Where the header was switched off the root folder
    /// is the working folder or one above it: then the table also holds each id as seen from every folder on the way.
    pub(crate) fn table(&self, nodeids: &[Arc<str>]) -> Table {
        let mut table = Table {
            is_empty: nodeids.is_empty(),
            ..Table::default()
        };
        for nodeid in nodeids {
            let printed = self.printed(nodeid);
            // Older releases collapse `//`, `/./` and `/../` of the whole id when they shorten it.
            if self.rootdir.as_ref().is_some_and(|rootdir| *rootdir != self.cwd)
                && let Some(clean) = paths::clean(Path::new(&printed))
            {
                table.add_guess(clean.to_string_lossy().into_owned(), nodeid);
            }
            if self.rootdir.is_none() {
                let id = NodeId::of(nodeid);
                for (at, slash) in id.file().match_indices('/') {
                    table.add_guess(nodeid[at + slash.len()..].to_owned(), nodeid);
                }
            }
            if let Some(dotted) = dotted(&printed) {
                table.add_guess(dotted, nodeid);
            }
            if let Some((first, rest)) = printed.split_once('\n') {
                let more = table.line_ends.entry(first.to_owned()).or_default();
                *more = (*more).max(1 + rest.matches('\n').count());
            }
            if self.rootdir.is_none() {
                // Seen from a folder below, it may be the name of another.
                table.add_guess(printed, nodeid);
                continue;
            }
            let printed = if *printed == **nodeid {
                Arc::clone(nodeid)
            } else {
                printed.into()
            };
            table.sure.insert(printed, Arc::clone(nodeid));
        }
        table
    }
}

/// Whether an id was printed in another encoding than UTF-8: then it is not what pytest calls the test.
pub(crate) fn is_garbled(id: &str) -> bool {
    id.contains(char::REPLACEMENT_CHARACTER)
}

/// Nodeids by the ids that pytest prints for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    sure: HashMap<Arc<str>, Arc<str>>,
    is_empty: bool,
    /// How many line ends the ids have at the most whose first line is this.
    line_ends: HashMap<String, usize>,
    /// `None`: two nodeids would be printed alike.
    guessed: HashMap<String, Option<Arc<str>>>,
}

impl Table {
    fn add_guess(&mut self, printed: String, nodeid: &Arc<str>) {
        let guess = self
            .guessed
            .entry(printed)
            .or_insert_with(|| Some(Arc::clone(nodeid)));
        if guess.as_ref() != Some(nodeid) {
            *guess = None;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    pub(crate) fn nodeid(&self, printed: &str) -> Option<&str> {
        let found = self
            .sure
            .get(printed)
            .or_else(|| self.guessed.get(printed)?.as_ref());
        found.map(|nodeid| &**nodeid)
    }

    /// Whether a text begins with what could be the name of two tests.
    pub(crate) fn is_ambiguous(&self, text: &str) -> bool {
        let id = text.split(" - ").next().unwrap_or(text);
        self.guessed.get(id).is_some_and(Option::is_none)
    }

    /// How many of the lines behind one line belong to a known id that begins somewhere in that line.
    pub(crate) fn goes_on(&self, line: &str, behind: &[String]) -> usize {
        const STARTS: usize = 64;
        if self.line_ends.is_empty() {
            return 0;
        }
        let mut starts = line.match_indices(' ').map(|(at, _)| at + 1).take(STARTS);
        let whole = |start: usize| {
            let most = *self.line_ends.get(&line[start..])?;
            (1..=most.min(behind.len())).rev().find(|&count| {
                let text = format!("{}\n{}", &line[start..], behind[..count].join("\n"));
                self.leading(&text).is_some_and(|(_, rest)| !rest.contains('\n'))
            })
        };
        starts.find_map(whole).unwrap_or(0)
    }

    /// The longest known id that a text begins with, followed by its end or a blank: its nodeid and what follows.
    pub(crate) fn leading<'a>(&self, text: &'a str) -> Option<(&str, &'a str)> {
        let ends = text.match_indices(' ').map(|(at, _)| at);
        let ends: Vec<usize> = ends.chain([text.len()]).collect();
        ends.into_iter()
            .rev()
            .find_map(|end| Some((self.nodeid(&text[..end])?, &text[end..])))
    }
}

/// How pytest prints an item's name with dots in it.
fn dotted(printed: &str) -> Option<String> {
    let id = NodeId::of(printed);
    let (names, parameters) = id.names_and_parameters()?;
    names
        .contains('.')
        .then(|| format!("{}::{}{parameters}", id.file(), names.replace('.', "::")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(cwd: &str, header: &str) -> Names {
        let mut names = Names::new(Path::new(cwd));
        names.header(header);
        names
    }

    #[test]
    fn ids_are_seen_from_the_root_folder() {
        let same = names("/r", "rootdir: /r, configfile: setup.cfg, testpaths: tests");
        assert_eq!(same.nodeid("a.py::t[x/../y]"), "a.py::t[x/../y]");
        assert!(same.certain("a.py::t[//x]"));
        let below = names("/r/sub", "rootdir: /r");
        assert_eq!(below.nodeid("a.py::t[x]"), "sub/a.py::t[x]");
        assert_eq!(below.nodeid("../other/a.py::t"), "other/a.py::t");
        assert!(!below.certain("a.py::t[//x]"));
        assert!(!names("/r", "").certain("a.py::t"));
    }

    #[test]
    fn the_list_of_nodeids_decides() {
        let below = names("/r/sub", "rootdir: /r");
        let table = below.table(&["sub/a.py::t[//x]", "other/b.py::t"].map(Into::into));
        assert_eq!(table.nodeid("a.py::t[//x]"), Some("sub/a.py::t[//x]"));
        assert_eq!(table.nodeid("a.py::t[/x]"), Some("sub/a.py::t[//x]"));
        assert_eq!(table.nodeid("../other/b.py::t"), Some("other/b.py::t"));
        let unknown = names("/r/sub", "").table(&["sub/a.py::t", "x/b.py::t", "y/b.py::t"].map(Into::into));
        assert_eq!(unknown.nodeid("a.py::t"), Some("sub/a.py::t"));
        assert_eq!(unknown.nodeid("b.py::t"), None);
        // As seen from the root folder, or from `a`.
        let twice = names("/r/a", "").table(&["a/t.py::t", "a/a/t.py::t"].map(Into::into));
        assert_eq!(twice.nodeid("a/t.py::t"), None);
        assert!(twice.is_ambiguous("a/t.py::t - boom"));
        assert_eq!(twice.nodeid("a/a/t.py::t"), Some("a/a/t.py::t"));
    }

    #[test]
    fn an_id_may_go_on_in_the_next_lines() {
        let table = names("/r", "rootdir: /r").table(&["a.py::t\nx y", "a.py::u\nx\nz"].map(Into::into));
        let behind = ["x y - boom".to_owned(), "z".to_owned()];
        assert_eq!(table.goes_on("ERROR a.py::t", &behind), 1);
        assert_eq!(
            table.goes_on("ERROR a.py::u", &["x".to_owned(), "z".to_owned()]),
            2
        );
        assert_eq!(table.goes_on("ERROR a.py::u", &behind), 0);
        assert_eq!(table.goes_on("ERROR a.py::v", &behind), 0);
    }

    #[test]
    fn an_id_in_another_encoding_is_never_certain() {
        assert!(!names("/r", "rootdir: /r").certain("a.py::t\u{fffd}"));
    }

    #[test]
    fn the_longest_known_id_is_taken() {
        let table = names("/r", "rootdir: /r").table(&["a.py::t[x", "a.py::t[x - y]"].map(Into::into));
        assert_eq!(
            table.leading("a.py::t[x - y] - boom"),
            Some(("a.py::t[x - y]", " - boom"))
        );
        assert_eq!(table.leading("a.py::t[x - z"), Some(("a.py::t[x", " - z")));
        assert_eq!(table.leading("b.py"), None);
    }
}
