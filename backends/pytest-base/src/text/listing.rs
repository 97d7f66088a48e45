//! The list that `--collect-only` prints at verbosity -1: one nodeid a line, an empty line, then errors and a count.

use runner_core::event::TestEvent;
use runner_core::model::CollectionError;

use super::failures::{self, Wanted};
use super::line;
use super::tail::Tail;

#[derive(Debug, Default)]
pub(crate) struct Listing {
    lines: Vec<String>,
}

/// What the last line says: `2/4 tests collected (2 deselected) in 0.01s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    selected: usize,
    deselected: u64,
}

impl Listing {
    pub(crate) fn line(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    /// Sends what was listed. A sentence if the list and its count disagree, or there is no count.
    pub(crate) fn settle(&self, events: &mut Vec<TestEvent>) -> Result<(), String> {
        let count = self.lines.iter().rev().find_map(|line| count(line));
        self.collect_errors(events);
        let Some(count) = count else {
            return Err("pytest ended without saying how many tests it collected".to_owned());
        };
        events.push(TestEvent::Counted {
            selected: count.selected as u64,
            deselected: count.deselected,
        });
        let Some(ids) = self.ids(count.selected) else {
            return Err(format!(
                "pytest says that it collected {} tests, but its list does not have as many lines",
                count.selected
            ));
        };
        events.extend(ids.iter().map(|nodeid| TestEvent::Found {
            nodeid: nodeid.clone(),
            location: None,
        }));
        Ok(())
    }

    /// The first stretch of as many lines as were counted that ends with an empty line. What files print while they are
    /// collected stands in front of it (only without capture).
    fn ids(&self, count: usize) -> Option<&[String]> {
        if count == 0 {
            return Some(&[]);
        }
        let mut filled = 0;
        for (at, line) in self.lines.iter().enumerate() {
            if line.is_empty() && filled >= count {
                return Some(&self.lines[at - count..at]);
            }
            filled = if line.is_empty() { 0 } else { filled + 1 };
        }
        None
    }

    fn collect_errors(&self, events: &mut Vec<TestEvent>) {
        let start = self
            .lines
            .iter()
            .position(|line| line::separator(line) == Some(('=', "ERRORS")));
        let Some(start) = start else { return };
        let mut tail = Tail::default();
        self.lines[start..].iter().for_each(|line| tail.line(line));
        tail.text.flush();
        let names: Vec<&str> = tail
            .text
            .lines
            .iter()
            .filter_map(|line| collector(line))
            .collect();
        let wanted = names.iter().map(|name| Wanted {
            titles: vec![format!("ERROR collecting {name}")],
        });
        let blocks = failures::find(&tail.text, "ERRORS", &wanted.collect::<Vec<_>>());
        for (name, block) in names.iter().zip(blocks) {
            let message = block.unwrap_or_default().text;
            events.push(TestEvent::CollectFailed(CollectionError {
                nodeid: (*name).to_owned(),
                location: failures::location(&message),
                summary: failures::summary(&message),
                message,
            }));
        }
    }
}

fn collector(line: &str) -> Option<&str> {
    match line::separator(line) {
        Some(('_', title)) => title.strip_prefix("ERROR collecting "),
        _ => None,
    }
}

fn count(line: &str) -> Option<Count> {
    let line = line::separator(line).map_or(line, |(_, title)| title);
    let (text, time) = line.rsplit_once(" in ")?;
    time.split(' ').next()?.strip_suffix('s')?.parse::<f64>().ok()?;
    let deselected = text
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(" deselected)")?.0.parse().ok());
    let (head, _) = text.split_once(" collected")?;
    let selected = match head {
        "no tests" => 0,
        head => {
            let number = head
                .strip_suffix(" tests")
                .or_else(|| head.strip_suffix(" test"))?;
            number.split('/').next()?.parse().ok()?
        }
    };
    Some(Count {
        selected,
        deselected: deselected.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str) -> (Vec<String>, Result<(), String>) {
        let mut listing = Listing::default();
        text.split('\n').for_each(|line| listing.line(line));
        let mut events = Vec::new();
        let result = listing.settle(&mut events);
        let ids = events.into_iter().filter_map(|event| match event {
            TestEvent::Found { nodeid, .. } => Some(nodeid),
            _ => None,
        });
        (ids.collect(), result)
    }

    #[test]
    fn prints_before_the_list_are_not_tests() {
        let (ids, result) =
            settled("printed\na.py::t[x y]\na.py::u\n\n2/3 tests collected (1 deselected) in 0.01s");
        assert_eq!(ids, ["a.py::t[x y]", "a.py::u"]);
        assert_eq!(result, Ok(()));
    }

    #[test]
    fn a_list_shorter_than_its_count_is_not_believed() {
        let (ids, result) = settled("a.py::t\n\n2 tests collected in 0.01s");
        assert!(ids.is_empty());
        assert!(result.is_err());
        assert!(settled("a.py::t").1.is_err());
        assert_eq!(settled("\nno tests collected (4 deselected) in 0.02s").1, Ok(()));
    }
}
