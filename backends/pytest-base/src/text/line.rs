//! The shapes of single lines: separators, counters, what was collected, xdist's lines.

/// A separator with a title: `==== FAILURES ====`. pytest centres the title, so the two runs differ by one at most.
pub(crate) fn separator(line: &str) -> Option<(char, &str)> {
    let mark = line.chars().next().filter(|c| "=_-!".contains(*c))?;
    let left = line.len() - line.trim_start_matches(mark).len();
    let right = line.len() - line.trim_end_matches(mark).len();
    if left + right + 2 >= line.len() || right.wrapping_sub(left) > 1 {
        return None;
    }
    let inner = &line[left..line.len() - right];
    let title = inner.strip_prefix(' ')?.strip_suffix(' ')?;
    (!title.is_empty()).then_some((mark, title))
}

/// The counter behind a verdict (`console_output_style = count`): `ID PASSED     [ 3/120]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    /// How many tests have spoken so far.
    pub(crate) at: u64,
    pub(crate) of: u64,
}

/// The last counter of a line: what stands before it (without the filling blanks), and what follows it, mostly
/// nothing.
pub(crate) fn counter(line: &str) -> Option<(&str, Counter, &str)> {
    for (start, _) in line.rmatch_indices(" [") {
        let inside = &line[start + 2..];
        let Some(end) = inside.find(']') else { continue };
        if let Some(counter) = numbers(&inside[..end]) {
            return Some((line[..start].trim_end_matches(' '), counter, &inside[end + 1..]));
        }
    }
    None
}

/// A line without the second of two equal counters: pytest-pretty makes pytest print it again behind a failure.
pub(crate) fn counted_once(line: &str) -> &str {
    let Some((before, _)) = line.rsplit_once(" [") else {
        return line;
    };
    let again = &line[before.len()..];
    if before.ends_with(again) && counter(again).is_some() {
        before
    } else {
        line
    }
}

fn numbers(text: &str) -> Option<Counter> {
    let (at, of) = text.split_once('/')?;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse().ok())?
    };
    Some(Counter {
        at: number(at.trim_start_matches(' '))?,
        of: number(of)?,
    })
}

/// `collected 16 items / 1 error / 2 deselected / 1 skipped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Collected {
    pub(crate) items: u64,
    pub(crate) errors: u64,
    pub(crate) deselected: u64,
    pub(crate) skipped: u64,
}

pub(crate) fn collected(line: &str) -> Option<Collected> {
    let text = line.strip_prefix("collecting ... ").unwrap_or(line);
    let mut parts = text.strip_prefix("collected ")?.split(" / ");
    let mut found = Collected {
        items: counted(parts.next()?, &["item", "items"])?,
        ..Collected::default()
    };
    for part in parts {
        if let Some(count) = counted(part, &["error", "errors"]) {
            found.errors = count;
        } else if let Some(count) = counted(part, &["deselected"]) {
            found.deselected = count;
        } else if let Some(count) = counted(part, &["skipped"]) {
            found.skipped = count;
        } else {
            counted(part, &["selected"])?;
        }
    }
    Some(found)
}

fn counted(text: &str, names: &[&str]) -> Option<u64> {
    let (count, name) = text.split_once(' ')?;
    names.contains(&name).then(|| count.parse().ok())?
}

/// What xdist says instead of `collected …`: `2 workers [5 items]`, in older releases `gw0 [5] / gw1 [5]`.
pub(crate) fn distributed(line: &str) -> Option<u64> {
    if let Some((workers, rest)) = line.split_once(' ') {
        let items = rest
            .strip_prefix("workers [")
            .or_else(|| rest.strip_prefix("worker ["))
            .and_then(|rest| {
                rest.strip_suffix(" items]")
                    .or_else(|| rest.strip_suffix(" item]"))
            });
        if let (Ok(_), Some(items)) = (workers.parse::<u32>(), items) {
            return items.parse().ok();
        }
    }
    let mut items = None;
    for part in line.split(" / ") {
        let (name, count) = part.split_once(" [")?;
        if !is_worker(name) {
            return None;
        }
        items = Some(count.strip_suffix(']')?.parse().ok()?);
    }
    items
}

/// `[gw0] …` in front of an xdist line: the worker and the rest, which begins with a blank.
pub(crate) fn worker(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix('[')?.split_once(']')?;
    (is_worker(name) && rest.starts_with(' ')).then_some((name, rest))
}

fn is_worker(name: &str) -> bool {
    name.strip_prefix("gw")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_separator_is_centred() {
        assert_eq!(separator("=== FAILURES ===="), Some(('=', "FAILURES")));
        assert_eq!(separator("_ t[a b] _"), Some(('_', "t[a b]")));
        assert_eq!(separator("___ __init__ ___"), Some(('_', "__init__")));
        assert_eq!(separator("=== FAILURES ="), None);
        assert_eq!(separator("= FAILURES ==="), None);
        assert_eq!(separator("=========="), None);
        assert_eq!(separator("=="), None);
        assert_eq!(separator("= ="), None);
        assert_eq!(separator(""), None);
    }

    #[test]
    fn a_counter_is_the_last_one_of_its_line() {
        let at = |at, of| Counter { at, of };
        assert_eq!(
            counter("a.py::t PASSED    [ 3/12]"),
            Some(("a.py::t PASSED", at(3, 12), ""))
        );
        assert_eq!(
            counter("a.py::t[ [1/2]] PASSED [10/12]bye"),
            Some(("a.py::t[ [1/2]] PASSED", at(10, 12), "bye"))
        );
        assert_eq!(counter("a.py::t[1/2] PASSED"), None);
        assert_eq!(counter("a.py::t PASSED [ 33%]"), None);
    }

    #[test]
    fn a_counter_that_is_printed_twice_counts_once() {
        assert_eq!(
            counted_once("a.py::t FAILED  [ 2/5] [ 2/5]"),
            "a.py::t FAILED  [ 2/5]"
        );
        for other in [
            "a.py::t FAILED [2/5]",
            "a.py::t FAILED [1/5] [2/5]",
            "a.py::t[ [x] [x]",
            "",
        ] {
            assert_eq!(counted_once(other), other);
        }
    }

    #[test]
    fn what_was_collected_is_read_with_and_without_xdist() {
        let all =
            collected("collecting ... collected 16 items / 1 error / 2 deselected / 1 skipped / 14 selected");
        let expected = Collected {
            items: 16,
            errors: 1,
            deselected: 2,
            skipped: 1,
        };
        assert_eq!(all, Some(expected));
        assert_eq!(collected("collected 1 item").map(|c| c.items), Some(1));
        assert_eq!(collected("collected 3 stamps"), None);
        assert_eq!(distributed("2 workers [5 items]"), Some(5));
        assert_eq!(distributed("gw0 [5] / gw1 [5]"), Some(5));
        assert_eq!(distributed("gw0 I / gw1 I"), None);
        assert_eq!(
            worker("[gw1] [1/5] PASSED a.py::t "),
            Some(("gw1", " [1/5] PASSED a.py::t "))
        );
        assert_eq!(worker("[x] y"), None);
    }
}
