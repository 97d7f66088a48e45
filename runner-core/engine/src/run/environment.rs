//! The environment that the tests get: for a person nearly all of their own, for an agent an allowlist.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use crate::config::Env;
use crate::environment::Environment;
use crate::policy::Policy;
use crate::secrets::is_secret_name;
use runner_core::plan::Step;

/// Names that nobody's tests get: they would make the run report to, or be measured by, an outer one.
/// A `*` at the end stands for any ending.
const NEVER: &[&str] = &[
    "PYTEST_CURRENT_TEST",
    "PYTEST_XDIST_*",
    "COV_CORE_*",
    "COVERAGE_PROCESS_START",
];

/// Names that an agent's tests get from the caller's environment.
const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CI",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    "PYTEST_PLUGINS",
    "PYTHONPATH",
    "PYTHONUTF8",
    "PYTHONHASHSEED",
    "PYTHONWARNINGS",
    "PYTHONDONTWRITEBYTECODE",
    "NO_COLOR",
    "SSL_CERT_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "FTP_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "ftp_proxy",
    "LD_LIBRARY_PATH",
];

/// Steers every pytest, so it is no switch of the project that happens to be named pytest.
const STEERING: &str = "PYTEST_ADDOPTS";

/// Names a shell or terminal sets for itself. No test misses them, so nobody is told that they were dropped.
const NOT_WORTH_TELLING: &[&str] = &[
    "_",
    "SHLVL",
    "PWD",
    "OLDPWD",
    "TMPDIR",
    "COLUMNS",
    "LINES",
    "LS_COLORS",
    "LESSOPEN",
    "LESSCLOSE",
    "MAIL",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "TERM_*",
    "COLORTERM",
    "PS1",
    "HISTFILE",
    "QAAS*",
];

/// What the tests of a run get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildEnvironment {
    pub vars: BTreeMap<String, String>,
    /// Names the caller has and the tests do not get, sorted.
    pub dropped: Vec<String>,
}

/// The environment under `policy`. `project` is the project's own name: variables named after it (`YARL_NO_EXTENSIONS`
/// of yarl) are its switches, and without them its tests would not be what they are elsewhere; ones whose name is that
/// of a secret are not among them. `private_tmp` becomes the TMPDIR where the policy has private folders.
pub fn child_environment(
    policy: &Policy,
    caller: &Environment,
    env: &Env,
    project: Option<&str>,
    private_tmp: Option<&Path>,
) -> ChildEnvironment {
    let own = project.and_then(own_prefix);
    let passes = |name: &str| {
        !matches(NEVER, name)
            && (policy.inherit_environment
                || matches(ALLOWED, name)
                || own
                    .as_ref()
                    .is_some_and(|own| name.starts_with(own) && !is_secret_name(name) && name != STEERING)
                || env.pass.iter().any(|pattern| matches_one(pattern, name)))
    };
    let mut vars: BTreeMap<String, String> = BTreeMap::new();
    let mut dropped: Vec<String> = caller.undecodable.clone();
    for (name, value) in &caller.vars {
        if passes(name) {
            vars.insert(name.clone(), value.clone());
        } else {
            dropped.push(name.clone());
        }
    }
    vars.extend(env.set.clone());
    if let Some(tmp) = private_tmp {
        vars.insert("TMPDIR".to_owned(), tmp.to_string_lossy().into_owned());
    }
    dropped.retain(|name| {
        !matches(NEVER, name) && !matches(NOT_WORTH_TELLING, name) && !vars.contains_key(name)
    });
    dropped.sort();
    dropped.dedup();
    ChildEnvironment { vars, dropped }
}

impl ChildEnvironment {
    /// With what a step sets, removes and puts in front.
    pub fn for_step(&self, step: &Step) -> BTreeMap<OsString, OsString> {
        let mut vars = self.vars.clone();
        for (name, value) in &step.env {
            match value {
                Some(value) => vars.insert(name.clone(), value.clone()),
                None => vars.remove(name),
            };
        }
        let separator = if cfg!(windows) { ';' } else { ':' };
        for (name, entry) in &step.env_prepend {
            let value = match vars.get(name).filter(|rest| !rest.is_empty()) {
                Some(rest) => format!("{entry}{separator}{rest}"),
                None => entry.clone(),
            };
            vars.insert(name.clone(), value);
        }
        vars.into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }
}

/// `more-itertools` -> `MORE_ITERTOOLS_`. `None` for a name too short to mean anything.
fn own_prefix(project: &str) -> Option<String> {
    let word = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    (project.len() >= 3).then(|| project.chars().map(word).chain(['_']).collect())
}

fn matches(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| matches_one(pattern, name))
}

fn matches_one(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(names: &[&str]) -> Environment {
        Environment {
            vars: names
                .iter()
                .map(|name| ((*name).to_owned(), format!("value of {name}")))
                .collect(),
            ..Environment::default()
        }
    }

    const ALL: &[&str] = &[
        "PATH",
        "HOME",
        "USER",
        "SHELL",
        "LANG",
        "LC_ALL",
        "TZ",
        "TERM",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "CI",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
        "PYTEST_PLUGINS",
        "PYTHONPATH",
        "PYTHONUTF8",
        "PYTHONHASHSEED",
        "PYTHONWARNINGS",
        "PYTHONDONTWRITEBYTECODE",
        "NO_COLOR",
        "SSL_CERT_FILE",
        "https_proxy",
        "HTTP_PROXY",
        "LD_LIBRARY_PATH",
    ];
    const OTHERS: &[&str] = &[
        "AWS_SECRET_ACCESS_KEY",
        "DATABASE_URL",
        "LD_PRELOAD",
        "PYTEST_ADDOPTS",
        "SSH_AUTH_SOCK",
    ];
    const NOBODYS: &[&str] = &[
        "COVERAGE_PROCESS_START",
        "COV_CORE_SOURCE",
        "PYTEST_CURRENT_TEST",
        "PYTEST_XDIST_WORKER",
    ];

    #[test]
    fn an_agents_tests_get_the_allowlist_and_the_rest_is_named() {
        let everything = caller(&[ALL, OTHERS, NOBODYS, &["SHLVL", "TMPDIR"]].concat());
        let env = Env {
            pass: vec!["DATABASE_URL".into()],
            set: BTreeMap::from([("APP".into(), "test".into())]),
        };
        let child = child_environment(&Policy::agent(), &everything, &env, None, Some(Path::new("/s/t")));
        let mut expected = [ALL, &["DATABASE_URL", "APP", "TMPDIR"]].concat();
        expected.sort_unstable();
        assert_eq!(child.vars.keys().collect::<Vec<_>>(), expected);
        assert_eq!(child.vars["TMPDIR"], "/s/t");
        assert_eq!(
            child.dropped,
            [
                "AWS_SECRET_ACCESS_KEY",
                "LD_PRELOAD",
                "PYTEST_ADDOPTS",
                "SSH_AUTH_SOCK"
            ]
        );
    }

    #[test]
    fn a_persons_tests_get_all_but_what_belongs_to_an_outer_run() {
        let mut everything = caller(&[ALL, OTHERS, NOBODYS, &["TMPDIR"]].concat());
        everything.undecodable = vec!["LATIN".into()];
        let child = child_environment(&Policy::person(), &everything, &Env::default(), None, None);
        let mut expected = [ALL, OTHERS, &["TMPDIR"]].concat();
        expected.sort_unstable();
        assert_eq!(child.vars.keys().collect::<Vec<_>>(), expected);
        assert_eq!(child.vars["TMPDIR"], "value of TMPDIR");
        assert_eq!(child.dropped, ["LATIN"]);
    }

    #[test]
    fn a_step_sets_removes_and_puts_in_front() {
        let child = child_environment(
            &Policy::person(),
            &caller(&["A", "B", "PYTHONPATH"]),
            &Env::default(),
            None,
            None,
        );
        let step = Step {
            env: BTreeMap::from([("A".into(), None), ("C".into(), Some("c".into()))]),
            env_prepend: BTreeMap::from([("PYTHONPATH".into(), "/s".into()), ("NEW".into(), "/n".into())]),
            ..Step::default()
        };
        let vars = child.for_step(&step);
        let expected = [
            ("B", "value of B"),
            ("C", "c"),
            ("NEW", "/n"),
            ("PYTHONPATH", "/s:value of PYTHONPATH"),
        ];
        assert_eq!(
            vars,
            expected.map(|(name, value)| (name.into(), value.into())).into()
        );
    }

    #[test]
    fn variables_named_after_the_project_reach_its_tests_but_no_secrets() {
        let caller = caller(&["MORE_ITERTOOLS_SLOW", "MORE_ITERTOOLS_TOKEN", "MORE_LUCK", "PATH"]);
        let child = child_environment(
            &Policy::agent(),
            &caller,
            &Env::default(),
            Some("more-itertools"),
            None,
        );
        assert_eq!(
            child.vars.keys().collect::<Vec<_>>(),
            ["MORE_ITERTOOLS_SLOW", "PATH"]
        );
        assert_eq!(child.dropped, ["MORE_ITERTOOLS_TOKEN", "MORE_LUCK"]);
    }

    #[test]
    fn the_options_of_another_pytest_do_not_reach_pytests_own_tests() {
        let caller = caller(&["PYTEST_ADDOPTS", "PYTEST_FLAG"]);
        let child = child_environment(&Policy::agent(), &caller, &Env::default(), Some("pytest"), None);
        assert_eq!(child.vars.keys().collect::<Vec<_>>(), ["PYTEST_FLAG"]);
        assert_eq!(child.dropped, ["PYTEST_ADDOPTS"]);
    }
}
