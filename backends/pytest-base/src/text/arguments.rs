//! What a text backend adds to pytest's command line. All of it changes what is printed, none of it what is run.

use runner_core::backend::{BackendError, Mode, RunRequest};
use runner_core::facts::Project;
use runner_core::plan::Plan;

use crate::options::{self, PytestVersion};

impl PytestVersion {
    /// The first release with a verbosity of its own for test cases.
    const CASE_VERBOSITY: Self = Self { major: 8, minor: 1 };
    /// The first release with a verbosity of its own for sub-tests.
    const SUBTEST_VERBOSITY: Self = Self { major: 9, minor: 0 };
    /// The first release that can list skipped tests one by one.
    const UNFOLDED_SKIPS: Self = Self { major: 8, minor: 3 };
}

/// The command lines whose output [`super::TextReader`] reads. `more`: further options for a run.
pub fn plan(request: &RunRequest, project: &Project, more: &[&str]) -> Result<Plan, BackendError> {
    let version = options::pytest_version(project);
    let last = match request.mode {
        Mode::Run => {
            let mut words = run_arguments(version);
            words.extend(more.iter().map(|&word| word.to_owned()));
            words
        }
        Mode::List => list_arguments(version),
    };
    let mut plan = crate::base_plan(request, project, &last)?;
    for step in &mut plan.steps {
        // What tests print arrives at once, so that a run that is killed leaves it. pytest flushes its own lines itself.
        step.env
            .insert("PYTHONUNBUFFERED".to_owned(), Some("1".to_owned()));
    }
    Ok(plan)
}

/// For a run. `version`: `None` where the installed pytest is not known.
///
/// - An absolute verbosity, because counted ones (`-v`) are cancelled by a `-q` of the project's own.
/// - The summary lists every test by outcome, the failures last, so that they stand in the output's tail.
/// - Skipped tests one by one and not folded by place, so that they (and files that skipped themselves) are named.
/// - Every duration, because that list alone names tests by their nodeid, whatever the working folder.
/// - A counter behind each verdict; no test prints the next one by accident.
/// - Tracebacks, also where the project switches them off: they hold the messages.
fn run_arguments(version: Option<PytestVersion>) -> Vec<String> {
    let mut words: Vec<String> = [
        "--verbosity=1",
        "-rpsxXEf",
        "--durations=0",
        "--durations-min=0",
        "--color=no",
        "--tb=auto",
        "-o",
        "console_output_style=count",
    ]
    .map(str::to_owned)
    .to_vec();
    words.extend(verbosities(version));
    if version.is_some_and(|version| version >= PytestVersion::UNFOLDED_SKIPS) {
        words.push("--no-fold-skipped".to_owned());
    }
    words
}

/// For a listing: one nodeid a line.
fn list_arguments(version: Option<PytestVersion>) -> Vec<String> {
    let mut words: Vec<String> = ["--verbosity=-1", "--color=no", "--tb=auto"]
        .map(str::to_owned)
        .to_vec();
    words.extend(verbosities(version));
    words
}

/// Takes back the project's own finer verbosities. Only for releases that know them: others would warn of an
/// unknown option, or stop (`--strict-config`).
fn verbosities(version: Option<PytestVersion>) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |since, name: &str| {
        if version.is_some_and(|version| version >= since) {
            words.extend(["-o".to_owned(), format!("{name}=auto")]);
        }
    };
    add(PytestVersion::CASE_VERBOSITY, "verbosity_test_cases");
    add(PytestVersion::SUBTEST_VERBOSITY, "verbosity_subtests");
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pytest_that_knows_finer_verbosities_is_told_of_them() {
        let words = |text| run_arguments(PytestVersion::parse(text)).join(" ");
        assert!(!words("7.4.4").contains("verbosity_"));
        assert!(words("8.1.2").ends_with("-o verbosity_test_cases=auto"));
        assert!(words("9.2.0").ends_with("-o verbosity_subtests=auto --no-fold-skipped"));
        assert!(!run_arguments(None).join(" ").contains("verbosity_"));
    }
}
