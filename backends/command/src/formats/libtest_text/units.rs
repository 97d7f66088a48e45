//! The test binaries that cargo runs: which they are, and how they ended.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::cargo::binary_name;

/// One test binary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unit {
    /// As nextest names it: `shop`, `shop::it`, `shop::bin/tool`.
    pub(super) id: String,
    file: String,
    pub(super) has_tests: bool,
    /// Told of the beginning and end of no tests at all: it, or the doctests behind it.
    pub(super) has_none: bool,
    /// Began to tell of its tests, and did not come to their end.
    pub(super) was_cut: bool,
}

/// How a binary failed of which cargo says no more.
const FAILED: &str = "it failed";

#[derive(Default)]
pub(super) struct Units {
    /// Kind and name of the targets, by the files that were built of them.
    targets: BTreeMap<String, (String, String)>,
    ended: Vec<Unit>,
    /// The file that runs, as standard error has it.
    running: Option<String>,
    /// How the files that failed ended.
    failed: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    target: Option<Target>,
    executable: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    #[serde(default)]
    kind: Vec<String>,
    name: String,
}

impl Units {
    /// Takes one of cargo's own JSON lines; gives whether it was one.
    pub(super) fn artifact(&mut self, line: &str) -> bool {
        if !line.starts_with("{\"reason\":\"") {
            return false;
        }
        let Ok(message) = serde_json::from_str::<Message>(line) else {
            return false;
        };
        if let (Some(target), Some(file)) = (message.target, message.executable) {
            let kind = target.kind.into_iter().next().unwrap_or_default();
            self.targets
                .insert(file_name(&file).to_owned(), (kind, target.name));
        }
        matches!(
            message.reason.as_str(),
            "compiler-artifact" | "compiler-message" | "build-finished" | "build-script-executed"
        )
    }

    /// The binary that says ` shop /path/to/it-0123456789abcdef` of itself.
    pub(super) fn named(&self, said: &str) -> Option<Unit> {
        let (package, path) = said.strip_prefix(' ')?.split_once(' ')?;
        let file = file_name(path);
        let (kind, name) = self.targets.get(file)?;
        Some(Unit {
            id: binary_name(package, kind, name),
            file: file.to_owned(),
            ..Unit::default()
        })
    }

    pub(super) fn ended(&mut self, unit: Unit) {
        self.ended.push(unit);
    }

    pub(super) fn any_ran(&self) -> bool {
        !self.ended.is_empty()
    }

    /// A line of cargo's on standard error.
    pub(super) fn aside(&mut self, line: &str) {
        let trimmed = line.trim_start();
        if trimmed.starts_with("Running ") && trimmed.ends_with(')') {
            let path = trimmed
                .rsplit_once('(')
                .map(|(_, path)| path.trim_end_matches(')'));
            self.running = path.map(|path| file_name(path).to_owned());
        } else if trimmed.starts_with("Doc-tests ") {
            self.running = None;
        } else if let Some(file) = &self.running {
            if line.starts_with("error: test failed, to rerun pass ") {
                self.failed.insert(file.clone(), FAILED.to_owned());
            } else if let Some(how) = died(trimmed) {
                self.failed.insert(file.clone(), how.to_owned());
            }
        }
    }

    /// Binaries that told of no tests, or that did not come to the end of theirs; each with how it failed, if it did, and
    /// whether it was the last one.
    pub(super) fn silent_or_dead(&self) -> Vec<(&Unit, Option<&str>, bool)> {
        let last = self.ended.last();
        let units = self.ended.iter().filter(|unit| {
            let how = self.failed.get(&unit.file);
            let died = how.is_some_and(|how| how != FAILED);
            died || !unit.has_tests && (!unit.has_none || how.is_some())
        });
        units
            .map(|unit| {
                let how = self.failed.get(&unit.file).map(String::as_str);
                (unit, how, last == Some(unit))
            })
            .collect()
    }
}

/// `signal: 6, SIGABRT: process abort signal` of ``process didn't exit successfully: `…` (signal: …)``. With 101 libtest
/// says that tests failed: that is no death.
fn died(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("process didn't exit successfully: ")?;
    let (_, how) = rest.rsplit_once("` (")?;
    Some(how.trim_end_matches(')'))
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
