//! What pytest prints beside its results: its warnings, lists of durations, tables of plug-ins. Read from its text, for people
//! to look at; nothing is ever judged by it.

use runner_core::backend::RunRequest;
use runner_core::event::TestEvent;
use runner_core::model::Printed;

/// Lines of one part that are kept.
const MOST_LINES: usize = 400;
/// Parts that are kept of one session.
const MOST_PARTS: usize = 20;

/// Parts whose content is in the rows.
const OURS: [&str; 6] = [
    "test session starts",
    "FAILURES",
    "ERRORS",
    "short test summary info",
    "no tests ran",
    "rerun test summary info",
];

/// Beginnings of titles that end a part full of what tests printed: only these, since a test may print any line.
const AFTER_FAILURES: [&str; 9] = [
    "warnings summary",
    "PASSES",
    "XPASSES",
    "XFAILURES",
    "slowest ",
    "tests coverage",
    "coverage: ",
    "short test summary info",
    "ERRORS",
];

/// Gathers them from the lines of one step.
#[derive(Clone, Debug, Default)]
pub struct PrintedParts {
    /// Whether the summary is wanted too: more than the failures was asked for.
    summary: bool,
    /// Titles that the backend itself asks for.
    own: &'static [&'static str],
    inside: Option<Inside>,
    parts: Vec<Printed>,
    warnings: Option<u64>,
}

#[derive(Clone, Debug)]
struct Inside {
    title: String,
    lines: Vec<String>,
    more: usize,
    kept: bool,
}

impl PrintedParts {
    /// `own`: beginnings of titles that the backend's own arguments bring, shown only if somebody asks for them too.
    pub fn new(request: &RunRequest, own: &'static [&'static str]) -> Self {
        let words = &request.filters.extra_args;
        let asked = |beginning: &str| words.iter().any(|word| word.starts_with(beginning));
        Self {
            summary: asked("-r"),
            own: if asked("--durations") { &[] } else { own },
            ..Self::default()
        }
    }

    /// Whether a line as it came can matter: most do not, and are not looked at closer.
    pub fn listens(&self, line: &str) -> bool {
        self.inside.as_ref().is_some_and(|inside| inside.kept) || line.contains("==")
    }

    /// Takes in a line of standard output, without colours.
    pub fn hear(&mut self, line: &str) {
        if let Some(title) = ruler(line) {
            if let Some(count) = warnings_in(title) {
                self.warnings = Some(count);
            }
            if self.may_begin(title) {
                self.close();
                self.inside = Some(Inside {
                    kept: self.is_wanted(title),
                    title: title.to_owned(),
                    lines: Vec::new(),
                    more: 0,
                });
                return;
            }
        }
        if let Some(inside) = self.inside.as_mut().filter(|inside| inside.kept) {
            if inside.lines.len() < MOST_LINES {
                inside.lines.push(line.to_owned());
            } else {
                inside.more += 1;
            }
        }
    }

    /// Nothing more comes.
    pub fn finish(mut self, events: &mut Vec<TestEvent>) {
        self.close();
        for mut part in self.parts {
            if part.title == "warnings summary" {
                part.count = self.warnings;
                part.warnings = true;
            }
            events.push(TestEvent::Printed(part));
        }
    }

    fn may_begin(&self, title: &str) -> bool {
        let full_of_prints = |inside: &Inside| {
            ["FAILURES", "ERRORS", "PASSES", "XPASSES", "XFAILURES"].contains(&&*inside.title)
        };
        !self.inside.as_ref().is_some_and(full_of_prints)
            || AFTER_FAILURES.iter().any(|after| title.starts_with(after))
            || title == "FAILURES"
            || is_last(title)
    }

    fn is_wanted(&self, title: &str) -> bool {
        let ours = OURS.contains(&title) || is_last(title);
        let summary = self.summary && title == "short test summary info";
        (summary || !ours) && !self.own.iter().any(|own| title.starts_with(own))
    }

    fn close(&mut self) {
        let Some(mut inside) = self.inside.take().filter(|inside| inside.kept) else {
            return;
        };
        while inside.lines.last().is_some_and(|line| line.trim().is_empty()) {
            inside.lines.pop();
        }
        if inside.more > 0 {
            inside.lines.push(format!("[… {} lines left out …]", inside.more));
        }
        if !inside.lines.is_empty() && self.parts.len() < MOST_PARTS {
            self.parts.push(Printed {
                title: inside.title,
                text: inside.lines.join("\n"),
                count: None,
                warnings: false,
            });
        }
    }
}

/// The title in a line that pytest rules with `=`.
fn ruler(line: &str) -> Option<&str> {
    let title = line
        .strip_prefix('=')?
        .trim_start_matches('=')
        .strip_prefix(' ')?;
    let title = title.strip_suffix('=')?.trim_end_matches('=').strip_suffix(' ')?;
    Some(title.trim()).filter(|title| !title.is_empty())
}

/// The last line of a session: `2 failed, 1 passed in 0.04s`.
fn is_last(title: &str) -> bool {
    let seconds = title.rsplit(" in ").next().unwrap_or_default();
    title.contains(" in ")
        && title.starts_with(|c: char| c.is_ascii_digit() || c == 'n')
        && seconds.starts_with(|c: char| c.is_ascii_digit())
}

/// `3 warnings` in a session's last line.
fn warnings_in(title: &str) -> Option<u64> {
    let count = |part: &str| {
        let (number, word) = part.trim().split_once(' ')?;
        word.starts_with("warning").then(|| number.parse().ok())?
    };
    if !is_last(title) {
        return None;
    }
    title.rsplit_once(" in ")?.0.split(',').find_map(count)
}

#[cfg(test)]
mod tests {
    use runner_core::backend::Mode;

    use super::*;

    const SESSION: &str = "\
============================= test session starts ==============================
collected 3 items

test_a.py ..F                                                            [100%]

=================================== FAILURES ===================================
___________________________________ test_x ____________________________________
----------------------------- Captured stdout call -----------------------------
=========================== something a test printed ===========================
=============================== warnings summary ===============================
test_a.py::test_w
  test_a.py:3: UserWarning: careful

-- Docs: https://docs.pytest.org/
================================ tests coverage ================================
Name    Stmts   Miss  Cover
============================= slowest 3 durations ==============================
0.10s call     test_a.py::test_x
=========================== short test summary info ============================
FAILED test_a.py::test_x - assert 0
==================== 1 failed, 2 passed, 1 warning in 0.04s ====================
";

    fn parts(words: &[&str], own: &'static [&'static str]) -> Vec<Printed> {
        let mut request = RunRequest::new(Mode::Run, "/r", "/s");
        request.filters.extra_args = words.iter().map(|&word| word.to_owned()).collect();
        let mut parts = PrintedParts::new(&request, own);
        SESSION.lines().for_each(|line| parts.hear(line));
        let mut events = Vec::new();
        parts.finish(&mut events);
        let part = |event| match event {
            TestEvent::Printed(part) => part,
            other => panic!("{other:?}"),
        };
        events.into_iter().map(part).collect()
    }

    fn titles(parts: &[Printed]) -> Vec<&str> {
        parts.iter().map(|part| part.title.as_str()).collect()
    }

    #[test]
    fn what_pytest_prints_beside_its_results_is_told_and_what_a_test_prints_is_not() {
        let parts = parts(&[], &[]);
        assert_eq!(
            titles(&parts),
            ["warnings summary", "tests coverage", "slowest 3 durations"]
        );
        assert_eq!((parts[0].count, parts[0].warnings), (Some(1), true));
        assert!(
            parts[0].text.starts_with("test_a.py::test_w\n"),
            "{}",
            parts[0].text
        );
        assert_eq!(parts[2].text, "0.10s call     test_a.py::test_x");
    }

    #[test]
    fn a_list_that_the_backend_itself_wants_is_shown_only_to_those_who_asked() {
        assert_eq!(
            titles(&parts(&[], &["slowest"])),
            ["warnings summary", "tests coverage"]
        );
        assert_eq!(parts(&["--durations=3"], &["slowest"]).len(), 3);
        assert!(titles(&parts(&["-rA"], &[])).contains(&"short test summary info"));
    }
}
