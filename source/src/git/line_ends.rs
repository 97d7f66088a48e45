//! The line ends that a checkout gives to text files, by `.gitattributes`.

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice, ByteVec};
use gix::glob::pattern::Case;
use gix::glob::{Pattern, wildmatch};

use super::Repository;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Lf,
    CrLf,
    /// `-text`, `binary`: bytes as they are.
    None,
}

struct Rule {
    /// The folder of its file, with a `/` at the end; empty at the top.
    folder: BString,
    pattern: Pattern,
    end: End,
}

/// Which files a checkout lays with which line ends.
pub(super) struct LineEnds {
    rules: Vec<Rule>,
}

impl LineEnds {
    /// Reads the `.gitattributes` among the files of a commit.
    pub(super) fn read(repository: &Repository, files: &Vec<(&BStr, ObjectId)>) -> Self {
        let mut found: Vec<(&BStr, ObjectId)> = files
            .iter()
            .filter(|(path, _)| path.rsplit_str("/").next() == Some(b".gitattributes"))
            .copied()
            .collect();
        // The nearer file holds, so it comes later; in a file, the later line.
        found.sort_by_key(|(path, _)| path.len());
        let mut rules = Vec::new();
        for (path, id) in found {
            let folder = path[..path.len() - ".gitattributes".len()].as_bstr();
            for line in repository.blob(id).unwrap_or_default().lines() {
                rules.extend(rule(folder, line));
            }
        }
        Self { rules }
    }

    /// A stored text as a checkout lays it.
    pub(super) fn as_laid(&self, path: &BStr, bytes: Vec<u8>) -> Vec<u8> {
        let rule = self.rules.iter().rev().find(|rule| rule.fits(path));
        if rule.is_none_or(|rule| rule.end != End::CrLf) || bytes.contains(&0) {
            return bytes;
        }
        let mut laid = Vec::with_capacity(bytes.len() + bytes.len() / 16);
        for line in bytes.lines_with_terminator() {
            match line.strip_suffix(b"\n") {
                Some(text) if !text.ends_with(b"\r") => {
                    laid.push_str(text);
                    laid.push_str(b"\r\n");
                }
                _ => laid.push_str(line),
            }
        }
        laid
    }
}

impl Rule {
    fn fits(&self, path: &BStr) -> bool {
        let Some(below) = path.strip_prefix(self.folder.as_slice()) else {
            return false;
        };
        let start = below.rfind_byte(b'/').map(|slash| slash + 1);
        let mode = wildmatch::Mode::NO_MATCH_SLASH_LITERAL;
        self.pattern
            .matches_repo_relative_path(below.as_bstr(), start, Some(false), Case::Sensitive, mode)
    }
}

/// One line of a `.gitattributes`, if it says anything of line ends.
fn rule(folder: &BStr, line: &[u8]) -> Option<Rule> {
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let pattern = words.next().filter(|word| !word.starts_with(b"#"))?;
    // The last word holds.
    let mut ends = words.filter_map(|word| match word {
        b"eol=crlf" => Some(End::CrLf),
        b"eol=lf" => Some(End::Lf),
        b"-text" | b"binary" => Some(End::None),
        _ => None,
    });
    Some(Rule {
        folder: folder.to_owned(),
        pattern: gix::glob::parse(pattern)?,
        end: ends.next_back()?,
    })
}
