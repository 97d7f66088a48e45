//! A test that cannot look at what it is about says so, instead of passing in silence.
//!
//! Rust's tests know no outcome *skipped*. So such a test prints a line and passes; `script/test` collects the lines of all
//! tests and shows them at its end. Under `CI` it fails, unless the workflow names what its machine lacks.

use std::io::Write;

/// Where [`skipped`] adds a line for each test, if set.
const FILE: &str = "QAAS_TESTS_SKIPPED";
/// What a workflow's machine may lack: names of [`Need`]s with blanks between them.
const MAY_LACK: &str = "QAAS_TESTS_MAY_LACK";

/// What a machine may lack that a test needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A cgroup (version 2) subtree that is delegated to the user who runs the tests.
    Cgroup,
    /// Leave to make user namespaces, and `unshare`.
    Namespaces,
    /// cargo-nextest, on PATH.
    Nextest,
    /// To run as root.
    Root,
    /// To run as somebody else than root.
    OrdinaryUser,
}

impl Need {
    /// As a workflow spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cgroup => "cgroup",
            Self::Namespaces => "namespaces",
            Self::Nextest => "nextest",
            Self::Root => "root",
            Self::OrdinaryUser => "ordinary-user",
        }
    }
}

/// Ends the test that calls it: what it needs is not there. See [`skipped`].
#[macro_export]
macro_rules! skip {
    ($need:expr, $why:expr) => {{
        $crate::skipped($need, $why);
        return;
    }};
}

/// Says that a test, or a part of it, does not look at what it is about, and why.
///
/// # Panics
///
/// Where `CI` is set, unless `QAAS_TESTS_MAY_LACK` names the need.
#[expect(clippy::disallowed_methods, reason = "the tests' own environment")]
pub fn skipped(need: Need, why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("{test}: skipped for want of {}: {why}", need.name());
    let variable = |name| std::env::var(name).ok();
    if let Some(refused) = refused(need, variable("CI").as_deref(), variable(MAY_LACK).as_deref()) {
        panic!("{line}\n{refused}");
    }
    tell(&line, std::env::var_os(FILE).as_deref());
}

/// Why a test may not be skipped.
fn refused(need: Need, ci: Option<&str>, may_lack: Option<&str>) -> Option<String> {
    let in_ci = ci.is_some_and(|ci| !matches!(ci, "" | "0" | "false"));
    let mut named = may_lack.unwrap_or_default().split_whitespace();
    let refused = in_ci && !named.any(|name| name == need.name());
    refused.then(|| format!("under CI nothing is skipped but what {MAY_LACK} names"))
}

#[expect(clippy::print_stderr, reason = "whoever runs the test is told")]
fn tell(line: &str, file: Option<&std::ffi::OsStr>) {
    eprintln!("{line}");
    let Some(file) = file else { return };
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
    // One write: lines of tests that run at the same time stay whole.
    let written = opened.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    written.unwrap_or_else(|error| panic!("{FILE}: {error}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn under_ci_only_what_the_workflow_names_is_skipped() {
        assert_eq!(refused(Need::Cgroup, None, None), None);
        assert_eq!(refused(Need::Cgroup, Some("false"), None), None);
        assert_eq!(refused(Need::Cgroup, Some("true"), Some("root cgroup")), None);
        for named in [None, Some(""), Some("namespaces cgroups")] {
            let refused = refused(Need::Cgroup, Some("true"), named);
            assert!(refused.unwrap().contains(MAY_LACK));
        }
    }

    #[test]
    fn each_skipped_test_leaves_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("skipped");
        tell("one", Some(file.as_os_str()));
        tell("two", Some(file.as_os_str()));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
    }
}
