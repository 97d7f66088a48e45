//! The text of failures: which stretch of the ERRORS and FAILURES sections belongs to which test.
//!
//! Headings name a test by its function, not by its nodeid, so stretches are given out in order: pytest prints both
//! sections in the order in which it lists the tests.

use runner_core::model::Location;
use runner_core::nodeid::NodeId;

use super::line;
use super::tail::Text;

/// One heading that must be there, in pytest's order.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Any of these titles.
    pub(crate) titles: Vec<String>,
}

/// What stands below one heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) title: String,
    pub(crate) text: String,
    /// `Captured …` parts, with their headings.
    pub(crate) captured: Option<String>,
}

/// Titles that pytest may give a test's failure: its place in the module, a doctest's name, or (a worker that
/// died) the file.
pub(crate) fn titles(nodeid: &str, part: Option<&str>) -> Vec<String> {
    let id = NodeId::of(nodeid);
    let (name, parameters) = id.names_and_parameters().unwrap_or((nodeid, ""));
    let domain = format!("{}{parameters}", name.replace("::", "."));
    if let Some(part) = part {
        return vec![format!("{domain} {part}")];
    }
    vec![
        format!("[doctest] {name}{parameters}"),
        format!("{name}{parameters}"),
        id.file().to_owned(),
        domain,
    ]
}

/// Finds the blocks of a section. The result is as long as `wanted`.
pub(crate) fn find(text: &Text, section: &str, wanted: &[Wanted]) -> Vec<Option<Block>> {
    /// Headings of the section that are tried, should captured text hold more of them.
    const STARTS: usize = 8;
    let lines = &text.lines;
    let is_start = |line: &String| line::separator(line) == Some(('=', section));
    let starts = (0..lines.len()).filter(|&at| is_start(&lines[at])).take(STARTS);
    let mut best: Vec<Option<(usize, usize)>> = vec![None; wanted.len()];
    for start in starts {
        let found = places(lines, start + 1, wanted);
        if found.iter().flatten().count() > best.iter().flatten().count() {
            best = found;
        }
        if best.iter().all(Option::is_some) {
            break;
        }
    }
    best.into_iter()
        .map(|place| place.map(|(from, to)| block(&lines[from..to])))
        .collect()
}

/// First and last line of each wanted block, searched for in order from `start`.
fn places(lines: &[String], start: usize, wanted: &[Wanted]) -> Vec<Option<(usize, usize)>> {
    /// How far a heading is searched for before it is given up.
    const AHEAD: usize = 4096;
    let end = section_end(lines, start);
    let headings: Vec<(usize, &str)> = (start..lines.len())
        .filter_map(|at| match line::separator(&lines[at]) {
            Some(('_', title)) => Some((at, title)),
            _ => None,
        })
        .collect();
    let mut next = 0;
    let mut found: Vec<Option<usize>> = Vec::with_capacity(wanted.len());
    for one in wanted {
        let ahead = headings.iter().enumerate().skip(next).take(AHEAD);
        let hit = ahead
            .filter(|(_, (_, title))| one.titles.iter().any(|wanted| wanted == title))
            .map(|(number, (at, _))| (number, *at))
            .next();
        if let Some((number, _)) = hit {
            next = number + 1;
        }
        found.push(hit.map(|(_, at)| at));
    }
    if found.iter().any(Option::is_none) {
        let own: Vec<usize> = headings
            .iter()
            .map(|(at, _)| *at)
            .filter(|at| *at < end)
            .collect();
        if own.len() == wanted.len() {
            found = own.into_iter().map(Some).collect();
        }
    }
    let mut places = vec![None; wanted.len()];
    let mut until = None;
    for (number, at) in found.iter().enumerate().rev() {
        if let Some(at) = *at {
            places[number] = Some((at, until.unwrap_or_else(|| section_end(lines, at))));
            until = Some(at);
        }
    }
    places
}

fn section_end(lines: &[String], from: usize) -> usize {
    let ends = |line: &String| super::tail::begins(line);
    lines[from..]
        .iter()
        .position(ends)
        .map_or(lines.len(), |offset| from + offset)
}

fn block(lines: &[String]) -> Block {
    let title = lines
        .first()
        .and_then(|line| line::separator(line))
        .map_or("", |(_, title)| title);
    let body = lines.get(1..).unwrap_or_default();
    let body = match body.first() {
        // Which worker ran it, and with which Python.
        Some(first) if line::worker(first).is_some_and(|(_, rest)| rest.contains(" -- Python ")) => {
            &body[1..]
        }
        _ => body,
    };
    let is_captured =
        |line: &String| matches!(line::separator(line), Some(('-', title)) if title.starts_with("Captured "));
    let split = body.iter().position(is_captured).unwrap_or(body.len());
    let joined = |lines: &[String]| lines.join("\n").trim_matches('\n').to_owned();
    let captured = joined(&body[split..]);
    Block {
        title: title.to_owned(),
        text: joined(&body[..split]),
        captured: (!captured.is_empty()).then_some(captured),
    }
}

/// What went wrong, without the frames: the last `E` lines, or the whole text where there are none.
pub(crate) fn message(text: &str) -> String {
    let lines = error_lines(text);
    if lines.is_empty() {
        return text.trim().to_owned();
    }
    lines.join("\n").trim().to_owned()
}

/// The one line of a failure's text that says what went wrong, where pytest marks one: the first of the last `E` lines that
/// is not indented (a `SyntaxError` shows the source first, `assert a == b` explains itself in indented lines behind).
pub fn summary(text: &str) -> Option<String> {
    let mut lines = error_lines(text).into_iter();
    let summary = lines.find(|line| !line.is_empty() && !line.starts_with(char::is_whitespace));
    summary.map(str::to_owned)
}

/// The last group of lines marked with `E`, without the mark and its margin.
fn error_lines(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_error = |line: &&str| **line == *"E" || line.starts_with("E ");
    let Some(last) = lines.iter().rposition(is_error) else {
        return Vec::new();
    };
    let first = lines[..=last]
        .iter()
        .rposition(|line| !is_error(line))
        .map_or(0, |at| at + 1);
    let errors: Vec<&str> = lines[first..=last].iter().map(|line| &line[1..]).collect();
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let margin = errors
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(indent)
        .min()
        .unwrap_or(0);
    let cut = errors
        .into_iter()
        .map(|line| line.get(margin..).unwrap_or("").trim_end());
    cut.collect()
}

/// Where it was raised: the last line `path:12: What`.
pub fn location(text: &str) -> Option<Location> {
    text.lines().rev().find_map(|line| {
        let at = line.match_indices(": ").find_map(|(at, _)| {
            let (file, number) = line[..at].rsplit_once(':')?;
            let number: u32 = number.parse().ok()?;
            let is_file = !file.is_empty() && !file.starts_with([' ', '>', 'E', '<']) && file.contains('.');
            is_file.then(|| (file.to_owned(), number))
        });
        at.map(|(file, number)| Location {
            file,
            line: Some(number),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tail::Tail;
    use super::*;

    #[test]
    fn a_message_is_the_last_group_of_error_lines() {
        let text = "def f():\n>   g()\nE   ValueError: inner\n\nDuring handling:\n\n    x\nE   assert 1 == 2\nE    +  where 1 = f()\n\na.py:3: AssertionError";
        assert_eq!(message(text), "assert 1 == 2\n +  where 1 = f()");
        assert_eq!(message("[XPASS(strict)] why"), "[XPASS(strict)] why");
        let expected = Location {
            file: "a.py".to_owned(),
            line: Some(3),
        };
        assert_eq!(location(text), Some(expected));
        let text = "test_e.py:2: \nE   KeyError: 'X'\n\n<frozen os>:679: KeyError";
        assert_eq!(location(text).unwrap().to_string(), "test_e.py:2");
    }

    #[test]
    fn a_summary_keeps_its_first_letter_and_is_the_error_not_what_explains_it() {
        for (text, expected) in [
            ("ImportError while …\nE   EOFError: no more", "EOFError: no more"),
            (
                "a.py:1: in f\nE   ExceptionOfOurs: E x\nE   and more",
                "ExceptionOfOurs: E x",
            ),
            (
                "E     File \"a.py\", line 1\nE       def\nE          ^\nE   SyntaxError: invalid syntax",
                "SyntaxError: invalid syntax",
            ),
            ("E   assert 1 == 2\nE    +  where 1 = f()", "assert 1 == 2"),
        ] {
            assert_eq!(summary(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(summary("EnvironmentError"), None);
    }

    #[test]
    fn blocks_are_given_out_in_order_and_captured_text_is_kept_apart() {
        let text = "\
=== FAILURES ===
___ test_a ___
E  one
--- Captured stdout call ---
___ test_b ___
=== FAILURES ===
___ T.test_b[x::y] ___
E  two
=== slowest durations ===";
        let mut tail = Tail::default();
        text.lines().for_each(|line| tail.line(line));
        let wanted = ["a.py::test_a", "a.py::T::test_b[x::y]"].map(|id| Wanted {
            titles: titles(id, None),
        });
        let found = find(&tail.text, "FAILURES", &wanted);
        let texts: Vec<&str> = found.iter().flatten().map(|block| block.text.as_str()).collect();
        assert_eq!(texts, ["E  one", "E  two"]);
    }
}
