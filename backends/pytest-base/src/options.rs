//! What every pytest backend says of itself: what it can, takes from a suite and wants from an interpreter.

use std::collections::BTreeSet;

use runner_core::backend::{BackendInfo, Capability, Need, OptionKind, OptionSpec};
use runner_core::facts::Project;

/// What the backend `name` says of itself, if it needs nothing beside pytest.
pub fn info(name: &str) -> BackendInfo {
    BackendInfo {
        name: name.to_owned(),
        framework: "pytest".to_owned(),
        language: "python".to_owned(),
        capabilities: BTreeSet::from([
            Capability::Run,
            Capability::List,
            Capability::Single,
            Capability::Keyword,
            Capability::Stream,
            Capability::MaxFailures,
        ]),
        needs: vec![Need::Python, Need::PythonPackage("pytest".to_owned())],
        options: option_specs(),
    }
}

/// The keys that may stand under `options` of a suite with a pytest backend.
fn option_specs() -> Vec<OptionSpec> {
    let spec = |name: &str, kind, about: &str| OptionSpec {
        name: name.to_owned(),
        kind,
        about: about.to_owned(),
    };
    vec![
        spec(
            "python",
            OptionKind::String,
            "the interpreter that runs the tests; without it the project's own environment is looked for",
        ),
        spec(
            "args",
            OptionKind::Strings,
            "more arguments for pytest, on every run of the suite",
        ),
    ]
}

/// A pytest release, as far as its version decides how it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PytestVersion {
    pub major: u32,
    pub minor: u32,
}

impl PytestVersion {
    /// The first release that reads arguments from an `@file`.
    pub const ARGUMENT_FILES: Self = Self { major: 8, minor: 2 };
    /// The first release that has a verbosity of its own for assertions.
    pub const ASSERTION_VERBOSITY: Self = Self { major: 8, minor: 0 };

    /// `8.4.2`, `9.0.0rc1`, `7.0`: the first two numbers. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let major = parts.next()?.parse().ok()?;
        let minor: String = parts
            .next()
            .unwrap_or("0")
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        Some(Self {
            major,
            minor: minor.parse().ok()?,
        })
    }
}

/// The pytest that is installed for a project's interpreter. `None` where that could not be read.
pub fn pytest_version(project: &Project) -> Option<PytestVersion> {
    PytestVersion::parse(project.interpreter.as_ref()?.package("pytest")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_its_first_two_numbers() {
        let version = |text| PytestVersion::parse(text).map(|v| (v.major, v.minor));
        assert_eq!(version("8.4.2"), Some((8, 4)));
        assert_eq!(version("9.0rc1"), Some((9, 0)));
        assert_eq!(version("7"), Some((7, 0)));
        assert_eq!(version("8.5.0.dev12+gabc"), Some((8, 5)));
        assert_eq!(version("unknown"), None);
        assert!(PytestVersion::parse("8.10").unwrap() > PytestVersion::ARGUMENT_FILES);
        assert!(PytestVersion::parse("8.1.9").unwrap() < PytestVersion::ARGUMENT_FILES);
    }
}
