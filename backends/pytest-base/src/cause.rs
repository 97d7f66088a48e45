//! A file that could not be loaded: what went wrong and where comes first, and the frames of the machinery go.
//!
//! pytest shows the whole way from its own start to the import. Of twenty frames two are the project's.

use std::path::Path;

use runner_core::event::TestEvent;
use runner_core::model::{CollectionError, Location};

use crate::text;

/// Parts of the paths of pytest's and Python's own frames.
const MACHINERY: [&str; 6] = [
    "/_pytest/",
    "/pluggy/",
    "<frozen ",
    "/importlib/__init__.py",
    "/ast.py",
    "<string>",
];

/// Lines that pytest puts in front of an import error: they say nothing that the rest does not.
const PREAMBLE: [&str; 3] = [
    "ImportError while importing test module ",
    "Hint: make sure your test modules/packages have valid Python names.",
    "Traceback:",
];

/// Tidies every collector that failed among these events.
pub fn tidy(events: &mut [TestEvent], cwd: &Path) {
    for event in events {
        if let TestEvent::CollectFailed(error) = event {
            begin_with_the_cause(error, cwd);
        }
    }
}

fn begin_with_the_cause(error: &mut CollectionError, cwd: &Path) {
    let Some(summary) = error.summary.clone().or_else(|| text::summary(&error.message)) else {
        return;
    };
    let (lines, folded) = without_machinery(&error.message);
    let place = source(&lines, cwd).or_else(|| last_frame(&lines));
    let Some(place) = place else { return };
    let mut message = format!("{place}: {summary}");
    match folded {
        0 => {}
        1 => message.push_str("\n(1 frame of pytest and Python is left out)"),
        more => message.push_str(&format!("\n({more} frames of pytest and Python are left out)")),
    }
    for line in lines {
        message.push('\n');
        message.push_str(line);
    }
    error.message = message;
    error.summary = Some(summary);
    error.location = Some(place);
}

/// The lines without those frames, and how many there were.
fn without_machinery(message: &str) -> (Vec<&str>, usize) {
    let mut kept = Vec::new();
    let mut folded = 0;
    let mut inside = false;
    for line in message.lines() {
        if let Some((file, _)) = frame(line) {
            inside = MACHINERY.iter().any(|part| file.contains(part));
            folded += usize::from(inside);
        } else if !line.starts_with(' ') {
            inside = false;
        }
        let preamble = PREAMBLE.iter().any(|beginning| line.starts_with(beginning));
        if !inside && !preamble {
            kept.push(line);
        }
    }
    (kept, folded)
}

/// `tests/helper.py:3: in <module>`, the head of a frame.
fn frame(line: &str) -> Option<(&str, u32)> {
    if line.starts_with([' ', 'E', '>']) && !line.contains(": in ") {
        return None;
    }
    let (place, _) = line.split_once(": in ")?;
    let (file, number) = place.rsplit_once(':')?;
    Some((file, number.parse().ok()?))
}

fn last_frame(lines: &[&str]) -> Option<Location> {
    let (file, line) = lines.iter().rev().find_map(|line| frame(line))?;
    Some(Location {
        file: file.to_owned(),
        line: Some(line),
    })
}

/// Where a syntax error is: it has no frame of its own.
fn source(lines: &[&str], cwd: &Path) -> Option<Location> {
    let errors = lines.iter().filter_map(|line| line.strip_prefix("E "));
    let (file, line) = errors.map(str::trim).find_map(|text| {
        let (file, rest) = text.strip_prefix("File \"")?.split_once("\", line ")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some((file, digits.parse().ok()?))
    })?;
    let file = Path::new(file).strip_prefix(cwd).unwrap_or(Path::new(file));
    Some(Location {
        file: file.to_string_lossy().into_owned(),
        line: Some(line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: &str = "\
/v/site-packages/_pytest/python.py:528: in importtestmodule
    mod = import_path(
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
           ^^^^^^^^^^^^^^^^^^^^^^^^
<frozen importlib._bootstrap>:1204: in _gcd_import
    ???
/v/site-packages/_pytest/assertion/rewrite.py:185: in exec_module
    exec(co, module.__dict__)
test_b.py:1: in <module>
    import helper
E     File \"/r/helper.py\", line 7
E       x = (1,
E           ^
E   SyntaxError: '(' was never closed";

    const IMPORT: &str = "\
ImportError while importing test module '/r/test_a.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
test_a.py:1: in <module>
    import helper
helper.py:2: in <module>
    import nope
E   ModuleNotFoundError: No module named 'nope'";

    fn tidied(message: &str) -> CollectionError {
        let mut events = [TestEvent::CollectFailed(CollectionError {
            nodeid: "test_a.py".to_owned(),
            message: message.to_owned(),
            summary: text::summary(message),
            location: None,
        })];
        tidy(&mut events, Path::new("/r"));
        match events {
            [TestEvent::CollectFailed(error)] => error,
            [other] => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_of_syntax_begins_with_its_place_and_not_with_twenty_frames_of_importlib() {
        let error = tidied(SYNTAX);
        let expected = "\
helper.py:7: SyntaxError: '(' was never closed
(4 frames of pytest and Python are left out)
test_b.py:1: in <module>
    import helper
E     File \"/r/helper.py\", line 7
E       x = (1,
E           ^
E   SyntaxError: '(' was never closed";
        assert_eq!(error.message, expected);
        assert_eq!(error.location.unwrap().to_string(), "helper.py:7");
    }

    #[test]
    fn an_import_that_fails_names_the_file_that_imports() {
        let error = tidied(IMPORT);
        let expected = "\
helper.py:2: ModuleNotFoundError: No module named 'nope'
(1 frame of pytest and Python is left out)
test_a.py:1: in <module>
    import helper
helper.py:2: in <module>
    import nope
E   ModuleNotFoundError: No module named 'nope'";
        assert_eq!(error.message, expected);
        assert_eq!(
            error.summary.as_deref(),
            Some("ModuleNotFoundError: No module named 'nope'")
        );
    }

    #[test]
    fn what_has_no_frames_stays_as_it_is() {
        for message in ["in test_a.py: function uses no argument 'x'", ""] {
            assert_eq!(tidied(message).message, message);
        }
    }
}
