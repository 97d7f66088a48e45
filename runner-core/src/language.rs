//! The languages that tests are written in, by how their files end.

use std::ffi::OsStr;
use std::path::Path;

/// A language as far as qaas has to know it.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// As in [`BackendInfo::language`](crate::backend::BackendInfo::language).
    pub name: &'static str,
    /// How its files end, without the dot.
    pub endings: &'static [&'static str],
    /// Whether its tests are named by identifiers, so that no name begins or ends with a blank. Elsewhere a name may be a
    /// sentence.
    pub identifiers: bool,
}

/// All that are known.
pub const LANGUAGES: [Language; 9] = [
    language("python", &["py", "pyi"], true),
    language(
        "javascript",
        &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"],
        false,
    ),
    language("rust", &["rs"], true),
    language("go", &["go"], true),
    language("ruby", &["rb"], false),
    language("java", &["java", "kt"], true),
    language("php", &["php"], true),
    language("csharp", &["cs"], true),
    language("swift", &["swift"], true),
];

const fn language(name: &'static str, endings: &'static [&'static str], identifiers: bool) -> Language {
    Language {
        name,
        endings,
        identifiers,
    }
}

impl Language {
    /// The language of a file, by its ending. `None` if that is of none of [`LANGUAGES`].
    pub fn of(file: &Path) -> Option<&'static Self> {
        let end = file.extension().and_then(OsStr::to_str)?;
        LANGUAGES.iter().find(|language| language.endings.contains(&end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_ending_belongs_to_two_languages() {
        let endings = LANGUAGES.iter().flat_map(|language| language.endings);
        let mut endings: Vec<_> = endings.collect();
        let all = endings.len();
        endings.sort();
        endings.dedup();
        assert_eq!(endings.len(), all);
    }

    #[test]
    fn a_file_is_of_the_language_that_it_ends_like() {
        let name = |file: &str| Language::of(Path::new(file)).map(|language| language.name);
        assert_eq!(name("a/b.test.tsx"), Some("javascript"));
        assert_eq!(name("a.py"), Some("python"));
        assert_eq!(name("py"), None);
        assert_eq!(name("a.yaml"), None);
    }
}
