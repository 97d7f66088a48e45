//! The `environment` of an answer: what ran the tests, how it was found, and the command line.

use std::collections::BTreeMap;

use serde::Serialize;

use runner_core::backend::Need;
use runner_core::plan::Start;
use runner_core::registry::Registry;
use runner_core::report::Report;

/// Where and with what a run ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EnvironmentFacts {
    pub suite: String,
    pub backend: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage_backend: Option<String>,
    /// Versions of the packages that the backends need, where they can be read, and what the framework said of itself.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<PythonFacts>,
    /// Whether the tests were run by a process that was waiting in its start-up (`warm`) or by a new one (`cold`), and why.
    /// Left out before that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartFacts>,
    /// Command line of the first step.
    pub argv: Vec<String>,
    /// Backends that were preferred but could not be used, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<String>,
    /// Variables that the tests did not get and that the failing text speaks of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped_variables: Vec<String>,
    /// What confined the processes. Left out when all went well.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub confinement: BTreeMap<String, String>,
}

/// How the processes of a run were started.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StartFacts {
    /// Of the last iteration that began.
    pub how: Start,
    pub why: String,
    /// How many of the iterations were run by a process that was waiting. Left out of a run with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm: Option<usize>,
}

impl StartFacts {
    fn of(report: &Report) -> Option<Self> {
        let starts: Vec<&(Start, String)> = report
            .iterations
            .iter()
            .filter_map(|iteration| iteration.start.as_ref())
            .collect();
        let (how, why) = starts.last()?;
        let warm = starts.iter().filter(|(how, _)| *how == Start::Warm).count();
        Some(Self {
            how: *how,
            why: why.clone(),
            warm: (report.facts.iterations > 1).then_some(warm),
        })
    }
}

/// The interpreter, and why this one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PythonFacts {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub why: String,
    /// Candidates not taken, each with the reason. Left out when all went well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<String>,
}

impl EnvironmentFacts {
    /// How tests get the variables that they speak of and did not get.
    pub(super) fn hint(&self) -> Option<String> {
        let names: Vec<String> = self
            .dropped_variables
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect();
        let (is, it) = if names.len() == 1 {
            ("is", "it")
        } else {
            ("are", "them")
        };
        (!names.is_empty()).then(|| {
            format!(
                "{} {is} set where qaas was started and not given to an agent's tests; `[env] pass = [{}]` in `qaas.toml` \
                 hands {it} on.",
                self.dropped_variables.join(", "),
                names.join(", ")
            )
        })
    }

    /// What `report`'s run ran in. Details that help to understand trouble are kept only where there is some.
    pub(super) fn of(report: &Report, registry: &Registry) -> Self {
        let facts = &report.facts;
        let trouble = report.status().is_final() && !report.status().is_green();
        let python = facts.interpreter.as_ref().map(|interpreter| PythonFacts {
            path: interpreter.path.to_string_lossy().into_owned(),
            version: interpreter.version.clone(),
            why: interpreter.why.clone(),
            passed_over: if trouble {
                interpreter.passed_over.clone()
            } else {
                Vec::new()
            },
        });
        Self {
            suite: facts.suite.clone(),
            backend: facts.backend.clone(),
            coverage_backend: facts.coverage_backend.clone(),
            versions: versions(report, registry),
            python,
            start: StartFacts::of(report),
            argv: facts.argv.clone(),
            passed_over: facts.passed_over.clone(),
            dropped_variables: if trouble {
                mentioned_variables(report)
            } else {
                Vec::new()
            },
            confinement: if trouble {
                facts.confinement.clone()
            } else {
                BTreeMap::new()
            },
        }
    }
}

fn versions(report: &Report, registry: &Registry) -> BTreeMap<String, String> {
    let facts = &report.facts;
    let names = [Some(&facts.backend), facts.coverage_backend.as_ref()];
    let backends = names.into_iter().flatten().filter_map(|name| registry.get(name));
    let needs = backends.flat_map(|backend| backend.info().needs);
    let packages = needs.filter_map(|need| match need {
        Need::PythonPackage(name) => {
            let version = facts.interpreter.as_ref()?.package(&name)?.to_owned();
            Some((name, version))
        }
        _ => None,
    });
    packages.chain(report.first().environment.clone()).collect()
}

/// The dropped variables whose name stands, as a word, in what failed or in the last output.
pub(super) fn mentioned_variables(report: &Report) -> Vec<String> {
    let dropped = &report.facts.dropped_variables;
    let mentioned = |name: &&String| {
        report.iterations.iter().any(|iteration| {
            let rows = iteration.rows.iter().filter(|row| row.outcome.is_bad());
            let texts = rows.flat_map(|row| [row.message.as_deref(), row.output.as_deref()]);
            let collectors = iteration
                .collection_errors
                .iter()
                .map(|error| Some(error.message.as_str()));
            texts
                .chain(collectors)
                .chain([Some(iteration.output_tail.as_str())])
                .flatten()
                .any(|text| has_word(text, name))
        })
    };
    dropped.iter().filter(mentioned).cloned().collect()
}

fn has_word(text: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn a_variable_is_mentioned_only_as_a_whole_word() {
        assert!(has_word("KeyError: 'DATABASE_URL'", "DATABASE_URL"));
        assert!(!has_word("MY_DATABASE_URL_2", "DATABASE_URL"));
    }
}
