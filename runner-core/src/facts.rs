//! What is known about a directory and a run before anything starts: values found by reading.
//!
//! Discovery (the engine's `project`) fills them in; backends only look.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One suite's directory, as discovery found it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Project {
    /// The repository's root, real path.
    pub root: PathBuf,
    /// The suite's directory, real path, inside the root.
    pub dir: PathBuf,
    /// The Python that will run the tests. `None` if the suite's backend needs none or none was found.
    pub interpreter: Option<Interpreter>,
    /// Why there is no usable interpreter. An error only for a suite that needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter_problem: Option<Problem>,
    /// The tool that keeps the Python environment, by its lock file: `uv`, `poetry`, `pdm`, `pipenv`, `hatch`, `conda`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// Distributions that the project says it needs, in lock files and `pyproject.toml`: lower-case names with `-`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub declared: BTreeSet<String>,
    /// What the project calls itself in `pyproject.toml`, `setup.cfg` or `package.json`.
    pub name: Option<String>,
    /// Programs of other frameworks that were looked for and found, by name (`node`, `cargo`).
    pub programs: BTreeMap<String, PathBuf>,
    /// Packages of the JavaScript project (`package.json` and `node_modules`), name to version.
    pub node_packages: BTreeMap<String, String>,
    /// Rust packages; `None` where no `Cargo.toml` was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cargo: Option<Cargo>,
}

/// The Rust packages of a repository, as their `Cargo.toml` describe them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cargo {
    /// In the order of their folders.
    pub packages: Vec<CargoPackage>,
    /// Whether a configuration of cargo's names a runner for some `cfg(…)`: a second one would be an error.
    #[serde(default)]
    pub has_runner: bool,
}

/// One Rust package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CargoPackage {
    /// As `Cargo.toml` has it.
    pub name: String,
    /// Real path.
    pub dir: PathBuf,
    /// What cargo builds of it.
    pub targets: Vec<CargoTarget>,
}

/// What cargo builds of one source file: a library, a program, a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CargoTarget {
    /// `lib`, `bin`, `test`, `example` or `bench`.
    pub kind: String,
    /// As cargo's options (`--test NAME`) have it.
    pub name: String,
    /// The source file that it is built from.
    pub path: PathBuf,
}

/// Something that was looked for and not found, or found broken: what an error says once somebody needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A stable word for programs.
    pub code: String,
    /// What is wrong, in words.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A Python interpreter and what can be read about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interpreter {
    /// As it must be started: a virtual environment's link is never resolved.
    pub path: PathBuf,
    /// `3.11.7`, where known.
    pub version: Option<String>,
    /// The virtual environment it belongs to.
    pub venv: Option<PathBuf>,
    /// Why this one: "the project's own .venv", "--python".
    pub why: String,
    /// Installed distributions, lower-case names with `-`, to versions. `None` until somebody asked an
    /// interpreter that cannot be read (a system Python).
    pub packages: Option<BTreeMap<String, String>>,
    /// Candidates that were looked at before this one, each with the reason it was not taken.
    pub passed_over: Vec<String>,
    /// Other interpreters of this machine, of interest only if this one will not do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_seen: Vec<String>,
}

impl Interpreter {
    /// The version of an installed distribution, `None` if it is not there or not known.
    pub fn package(&self, name: &str) -> Option<&str> {
        self.packages.as_ref()?.get(name).map(String::as_str)
    }
}

/// The two kinds of callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caller {
    /// Someone at a terminal: `qaas run`, `repeat`, `coverage`.
    Person,
    /// A program that reads answers: `qaas mcp`, `qaas call`.
    Agent,
}

impl Caller {
    /// The word of records and lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Agent => "agent",
        }
    }
}

/// What is known of a run when it starts. The head of its record, and the `environment` of every answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// The run's own name: what `get_run` is asked for.
    pub run_id: String,
    /// The suite's name.
    pub suite: String,
    /// The backend's name.
    pub backend: String,
    /// The coverage backend, if one wraps this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage_backend: Option<String>,
    /// The tool that asked: `run_suite`, `run_n_times`, …
    pub tool: String,
    /// Whose run it is: their environments differ, and each remembers its own failures. `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller>,
    /// Nothing is run: the tests are only listed.
    #[serde(default)]
    pub listing: bool,
    /// The selection in words: what was asked for, verbatim. Older records call it `selection`.
    #[serde(alias = "selection")]
    pub asked: Vec<String>,
    /// How often the plan was to be carried out.
    pub iterations: u32,
    /// Real path of the repository's root.
    pub root: PathBuf,
    /// Where the steps run.
    pub cwd: PathBuf,
    /// Command line of the first step.
    pub argv: Vec<String>,
    /// The Python that was used, if any.
    pub interpreter: Option<Interpreter>,
    /// Wall-clock start, RFC 3339, a label only.
    pub started_at: String,
    /// Time limit of one iteration, in seconds.
    pub timeout_s: Option<f64>,
    /// Variables that the caller's environment had and the tests did not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped_variables: Vec<String>,
    /// Backends that were preferred but could not be used, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<String>,
    /// What confines the processes: the supervision tier and the limits in force.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub confinement: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::RunFacts;

    #[test]
    fn a_record_from_before_the_selection_was_called_what_was_asked_is_still_read() {
        let mut old = serde_json::to_value(RunFacts::default()).unwrap();
        let fields = old.as_object_mut().unwrap();
        fields.remove("asked");
        fields.insert("selection".to_owned(), serde_json::json!(["tests/test_a.py"]));
        let facts: RunFacts = serde_json::from_value(old).unwrap();
        assert_eq!(facts.asked, ["tests/test_a.py"]);
    }
}
