//! `qaas-conformance.toml`: what is true of a sample project's tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use engine::config::duration;
use runner_core::model::Outcome;

/// The file's name, in the sample project's folder.
pub const FILE: &str = "qaas-conformance.toml";

/// How long a hanging sample is let run if it does not say.
const HANG: Duration = Duration::from_secs(5);

/// A sample project.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Real path.
    pub(super) root: PathBuf,
    pub(super) file: File,
}

/// What may be written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Where the tests of `outcomes` are, as a suite's `paths`. Default: everywhere.
    #[serde(default)]
    pub(super) paths: Vec<String>,
    /// As a suite's `options`.
    #[serde(default)]
    pub(super) options: Map<String, Value>,
    /// Every test there, by its id, with its true outcome.
    pub(super) outcomes: BTreeMap<String, Outcome>,
    /// The id of a test that does not exist, in a file that does. Default: an id of `outcomes` with `_nowhere` behind.
    pub(super) missing: Option<String>,
    pub(super) keyword: Option<Keyword>,
    /// A file that cannot be collected (or compiled).
    pub(super) broken: Option<HostileCase>,
    /// A test that never ends.
    pub(super) hang: Option<HostileCase>,
    /// A test that ends its process.
    pub(super) crash: Option<HostileCase>,
    /// Something without any test.
    pub(super) empty: Option<HostileCase>,
    /// Outcomes (`xpassed`) and traps (`crash`) that the framework does not have, each with the reason.
    #[serde(default)]
    pub(super) absent: BTreeMap<String, String>,
}

/// A keyword expression and what it finds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Keyword {
    pub(super) expression: String,
    pub(super) finds: Vec<String>,
}

/// Tests that do harm, apart from those of `outcomes`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostileCase {
    /// The folder to run in, for frameworks that have one project a folder. Default: the sample's.
    pub(super) dir: Option<String>,
    /// What to select there: files, folders or ids. Default: nothing, so everything.
    #[serde(default)]
    pub(super) select: Vec<String>,
    /// Ids that have finished before the harm is done. Asked for only of backends whose rows arrive live.
    #[serde(default)]
    pub(super) finished: Vec<String>,
    /// How long to wait (`3s`); for `hang`.
    pub(super) timeout: Option<String>,
}

/// A sample project that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SampleError {
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl Sample {
    /// Reads the file of a sample project's folder.
    pub fn read(folder: &Path) -> Result<Self, SampleError> {
        let path = folder.join(FILE);
        let error = |message: String| SampleError {
            message,
            hint: format!(
                "a sample project is a folder with {FILE}; docs/backends.md shows one (Checking a backend)"
            ),
        };
        let root = folder
            .canonicalize()
            .map_err(|why| error(format!("the sample project {}: {why}", folder.display())))?;
        let text = std::fs::read_to_string(&path)
            .map_err(|why| error(format!("{} cannot be read: {why}", path.display())))?;
        let file: File = toml::from_str(&text)
            .map_err(|why| error(format!("{}: {}", path.display(), why.to_string().trim_end())))?;
        if file.outcomes.is_empty() {
            return Err(error(format!("{}: `outcomes` names no test", path.display())));
        }
        if let Some(wrong) = file
            .traps()
            .find_map(|hostile| hostile.timeout.as_deref().filter(|t| duration(t).is_none()))
        {
            return Err(error(format!(
                "{}: `timeout = \"{wrong}\"` is no time",
                path.display()
            )));
        }
        Ok(Self { root, file })
    }

    /// Whether a folder is a sample project.
    pub fn is_there(folder: &Path) -> bool {
        folder.join(FILE).is_file()
    }

    /// Why something is not tried: in the sample's own words, where it has some.
    pub(super) fn why_absent(&self, what: &str) -> String {
        match self.file.absent.get(what) {
            Some(why) => why.clone(),
            None => format!("the sample project has no `{what}`"),
        }
    }

    /// The ids of all tests with an outcome.
    pub(super) fn with(&self, outcome: Outcome) -> Vec<String> {
        let of = self.file.outcomes.iter().filter(|(_, known)| **known == outcome);
        of.map(|(id, _)| id.clone()).collect()
    }

    /// The id of no test.
    pub(super) fn missing(&self) -> String {
        let first = self.file.outcomes.keys().next().cloned().unwrap_or_default();
        self.file.missing.clone().unwrap_or_else(|| first + "_nowhere")
    }
}

impl File {
    fn traps(&self) -> impl Iterator<Item = &HostileCase> {
        [&self.broken, &self.hang, &self.crash, &self.empty]
            .into_iter()
            .flatten()
    }
}

impl HostileCase {
    pub(super) fn limit(&self) -> Duration {
        self.timeout.as_deref().and_then(duration).unwrap_or(HANG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Sample, SampleError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), text).unwrap();
        Sample::read(folder.path())
    }

    #[test]
    fn a_few_lines_are_a_sample() {
        let sample =
            read("[outcomes]\n\"a::b\" = \"passed\"\n[hang]\nselect = [\"h\"]\ntimeout = \"2s\"\n").unwrap();
        assert_eq!(sample.with(Outcome::Passed), ["a::b"]);
        assert_eq!(sample.missing(), "a::b_nowhere");
        assert_eq!(sample.file.hang.unwrap().limit(), Duration::from_secs(2));
        assert_eq!(
            read("[outcomes]\na = \"passed\"\n[absent]\nhang = \"no\"\n")
                .unwrap()
                .why_absent("hang"),
            "no"
        );
    }

    #[test]
    fn what_the_documentation_shows_is_right() {
        let text = include_str!("../../../docs/backends.md");
        let block = text
            .split("### A sample project")
            .nth(1)
            .and_then(|text| text.split("```toml\n").nth(1));
        let sample = read(block.unwrap().split("```").next().unwrap()).unwrap();
        assert!(sample.file.traps().count() == 4 && sample.file.outcomes.len() > 1);
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let error = read("[outcomes]\na = \"green\"\n").unwrap_err();
        assert!(
            error.message.contains(FILE) && error.message.contains("line 2"),
            "{error}"
        );
        let error = read("[outcome]\na = \"passed\"\n").unwrap_err();
        assert!(error.message.contains("outcomes"), "{error}");
        assert!(read("[outcomes]\n").is_err());
        assert!(read("[outcomes]\na = \"passed\"\n[hang]\ntimeout = \"soon\"\n").is_err());
    }
}
