//! Which definitions of a file differ from how it was.

use crate::change::is_within;
use foldhash::HashMap;

use source::names::python::symbols::{Kind, Symbol, symbols};

/// Class and name of a definition, and its lines without blanks and comments; of a class or the module without the
/// definitions in it.
type Texts<'a> = HashMap<(&'a str, &'a str), Vec<&'a str>>;

/// The indexes of definitions in `new` that `old` has otherwise or not at all. `None` if the module's own statements
/// changed (an import, say), or something is gone: then any part of the file may behave otherwise.
pub(super) fn changed(old: &str, new: &str, now: &[Symbol<'_>]) -> Option<Vec<usize>> {
    let before = symbols(old);
    let (was, is) = (texts(old, &before), texts(new, now));
    if was.keys().any(|key| !is.contains_key(key)) || was.get(&("", "")) != is.get(&("", "")) {
        return None;
    }
    let differs = |symbol: &Symbol<'_>| {
        let key = key(now, symbol);
        was.get(&key) != is.get(&key)
    };
    let indexes = now.iter().enumerate();
    Some(
        indexes
            .filter(|(_, symbol)| differs(symbol))
            .map(|(index, _)| index)
            .collect(),
    )
}

fn key<'a>(all: &[Symbol<'a>], symbol: &Symbol<'a>) -> (&'a str, &'a str) {
    (symbol.class.map_or("", |class| all[class].name), symbol.name)
}

/// The definitions that the code in some lines belongs to, without the module itself.
pub(super) fn at_lines(text: &str, all: &[Symbol<'_>], ranges: &[(u32, u32)]) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let owners = owners(lines.len(), all);
    let numbered = (1..).zip(lines.iter().zip(owners));
    let within =
        numbered.filter(|(number, (line, owner))| is_within(*number, ranges) && *owner > 0 && is_code(line));
    let mut found: Vec<usize> = within.map(|(_, (_, owner))| owner).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn is_code(line: &str) -> bool {
    let bare = line.trim();
    !bare.is_empty() && !bare.starts_with('#')
}

/// By line, the innermost definition that it belongs to.
fn owners(lines: usize, all: &[Symbol<'_>]) -> Vec<usize> {
    let mut owners = vec![0; lines];
    // A definition comes before those in it.
    for (index, symbol) in all
        .iter()
        .enumerate()
        .filter(|(_, symbol)| symbol.kind != Kind::Module)
    {
        let (first, last) = symbol.lines;
        let last = (last as usize).min(owners.len());
        owners[(first as usize - 1).min(last)..last].fill(index);
    }
    owners
}

fn texts<'a>(text: &'a str, all: &[Symbol<'a>]) -> Texts<'a> {
    let lines: Vec<&str> = text.lines().collect();
    let mut texts: Texts<'a> = all.iter().map(|symbol| (key(all, symbol), Vec::new())).collect();
    for (line, owner) in lines.iter().zip(owners(lines.len(), all)) {
        if is_code(line) {
            texts
                .entry(key(all, &all[owner]))
                .or_default()
                .push(line.trim_end());
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(old: &str, new: &str) -> Option<Vec<String>> {
        let now = symbols(new);
        let found = changed(old, new, &now)?;
        Some(
            found
                .into_iter()
                .map(|index| now[index].name.to_owned())
                .collect(),
        )
    }

    #[test]
    fn only_what_differs_has_changed() {
        let old = "import os\nA = 1\n\nclass C:\n    x = 1\n\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n";
        let some = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(names(old, old), some(&[]));
        assert_eq!(names(old, &old.replace("return 2", "return 3")), some(&["g"]));
        assert_eq!(names(old, &old.replace("x = 1", "x = 2")), some(&["C"]));
        assert_eq!(names(old, &old.replace("A = 1", "A = 2")), some(&["A"]));
        assert_eq!(
            names(old, &old.replace("\n\nclass", "\n# why\n\n\nclass")),
            some(&[])
        );
        assert_eq!(names(old, &format!("{old}\ndef h():\n    pass\n")), some(&["h"]));
    }

    #[test]
    fn lines_belong_to_the_innermost_definition() {
        let text =
            "import os\n\nclass C:\n    x = 1\n\n    def f(self):\n        return 1\n\ndef g():\n    pass\n";
        let all = symbols(text);
        let at = |ranges: &[(u32, u32)]| -> Vec<&str> {
            let found = at_lines(text, &all, ranges);
            found.into_iter().map(|index| all[index].name).collect()
        };
        assert_eq!(at(&[(7, 7)]), ["f"]);
        assert_eq!(at(&[(4, 4)]), ["C"]);
        assert_eq!(at(&[(6, 10)]), ["f", "g"]);
        assert_eq!(at(&[(1, 2)]), [] as [&str; 0], "the module's own");
        assert_eq!(at(&[(90, 99)]), [] as [&str; 0]);
    }

    #[test]
    fn what_changes_the_module_itself_changes_all_of_it() {
        assert_eq!(
            names("import a\ndef f(): ...\n", "import b\ndef f(): ...\n"),
            None
        );
        assert_eq!(names("def f(): ...\ndef g(): ...\n", "def f(): ...\n"), None);
    }
}
