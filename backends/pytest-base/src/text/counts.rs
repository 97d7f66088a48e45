//! pytest's last line: `= 1 failed, 2 passed, 1 warning in 0.12s =`.

use std::collections::BTreeMap;

use runner_core::model::Outcome;

/// Reports by pytest's own category, as its last line counts them. A test with a failed call and a failed teardown
/// counts twice, a failed sub-test counts as `failed`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts(BTreeMap<String, u64>);

/// The category of an outcome in pytest's count.
pub(crate) fn category(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::Error => "error",
        Outcome::Skipped => "skipped",
        Outcome::Xfailed => "xfailed",
        Outcome::Xpassed => "xpassed",
    }
}

impl Counts {
    /// Reads the title of pytest's last separator. `None` for any other title.
    pub(crate) fn parse(title: &str) -> Option<Self> {
        let (parts, time) = title.rsplit_once(" in ")?;
        let seconds = time.split(' ').next()?.strip_suffix('s')?;
        seconds.parse::<f64>().ok()?;
        let mut counts = BTreeMap::new();
        if parts == "no tests ran" {
            return Some(Self(counts));
        }
        for part in parts.split(", ") {
            let (count, name) = part.split_once(' ')?;
            let name = match name {
                "errors" => "error",
                "warnings" => "warning",
                other => other,
            };
            *counts.entry(name.to_owned()).or_default() += count.parse::<u64>().ok()?;
        }
        Some(Self(counts))
    }

    /// Reads a line of a plug-in's list (pytest-pretty, pytest-sugar) below `Results (0.28s):`, and adds it.
    pub(crate) fn add_line(&mut self, line: &str) -> bool {
        let entry = line.trim().trim_start_matches("- ").split_once(' ');
        let counted = entry.and_then(|(count, name)| Some((count.parse::<u64>().ok()?, name)));
        if let Some((count, name)) = counted {
            self.add_many(if name == "errors" { "error" } else { name }, count);
        }
        counted.is_some()
    }

    pub(crate) fn get(&self, category: &str) -> u64 {
        self.0.get(category).copied().unwrap_or(0)
    }

    pub(crate) fn add(&mut self, category: &str) {
        self.add_many(category, 1);
    }

    pub(crate) fn add_many(&mut self, category: &str, count: u64) {
        *self.0.entry(category.to_owned()).or_default() += count;
    }

    /// How many tests or collectors have this outcome.
    pub(crate) fn of(&self, outcome: Outcome) -> u64 {
        self.get(category(outcome))
    }

    /// Categories that no outcome and no note of pytest's own stands for: a plug-in's names for outcomes.
    pub(crate) fn foreign(&self) -> Option<String> {
        const NOTES: [&str; 6] = [
            "warning",
            "deselected",
            "rerun",
            "retried",
            "subtests passed",
            "subtests skipped",
        ];
        let own = |name: &&str| {
            Outcome::ALL.iter().any(|&outcome| category(outcome) == *name) || NOTES.contains(name)
        };
        let names: Vec<&str> = self
            .0
            .keys()
            .map(String::as_str)
            .filter(|name| !own(name))
            .collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// The outcomes in which two counts differ, as a sentence: `2 passed (3 read)`. `None` if they agree.
    pub(crate) fn differs_from(&self, read: &Self) -> Option<String> {
        let parts: Vec<String> = Outcome::ALL
            .iter()
            .map(|&outcome| (category(outcome), self.of(outcome), read.of(outcome)))
            .filter(|(_, said, read)| said != read)
            .map(|(name, said, read)| format!("{said} {name} ({read} read)"))
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_of_the_last_line_is_read() {
        let counts = Counts::parse(
            "5 failed, 7 passed, 3 skipped, 1 warning, 4 errors, 2 subtests passed in 63.10s (0:01:03)",
        );
        let counts = counts.unwrap();
        assert_eq!(counts.get("failed"), 5);
        assert_eq!(counts.of(Outcome::Error), 4);
        assert_eq!(counts.get("subtests passed"), 2);
        assert_eq!(Counts::parse("no tests ran in 0.01s"), Some(Counts::default()));
        assert_eq!(Counts::parse("slowest durations"), None);
        assert_eq!(Counts::parse("Interrupted in 3 places"), None);
    }

    #[test]
    fn a_difference_is_told_in_words() {
        let said = Counts::parse("1 failed, 2 passed in 0.1s").unwrap();
        let mut read = Counts::default();
        read.add("failed");
        assert_eq!(said.differs_from(&read).as_deref(), Some("2 passed (0 read)"));
        read.add_many("passed", 2);
        assert_eq!(said.differs_from(&read), None);
    }
}
