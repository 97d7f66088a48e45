//! Which suites a call is about.

use super::*;
use crate::asked::RunArguments;
use crate::spread::{only, spread};
use crate::{Scope, Tool};

/// Two projects that are built alike, one of them with a file more, beside a suite around both.
fn repository() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    for path in [
        "api/tests/test_a.py",
        "web/tests/test_a.py",
        "web/tests/test_w.py",
        "packages/deep/tests/test_d.py",
        "lib/x.py",
    ] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let suite = |name: &str, dir: &str| Suite {
        dir: dir.into(),
        ..Suite::new(name, vec!["paper".into()])
    };
    let suites = vec![
        suite("api", "api"),
        suite("web", "web"),
        suite("deep", "packages/deep"),
    ];
    let workspace = workspace_of(folder.path(), suites);
    (folder, workspace)
}

/// `suite: selectors (cwd)` of each share, or the code of the error.
fn shares(suite: Option<&str>, cwd: Option<&str>, selectors: &[&str]) -> Vec<String> {
    let (_folder, workspace) = repository();
    let scope = Scope {
        suite: suite.map(str::to_owned),
        cwd: cwd.map(str::to_owned),
        timeout: None,
    };
    let selectors: Vec<String> = selectors.iter().map(|&text| text.to_owned()).collect();
    let shares = spread(&workspace, &RunArguments::of(&scope, &selectors));
    let said = |share: RunArguments| {
        let cwd = share.scope.cwd.map(|cwd| format!(" ({cwd})")).unwrap_or_default();
        let suite = share.scope.suite.unwrap();
        format!("{suite}: {}{cwd}", share.selectors.join(" "))
    };
    match shares {
        Ok(shares) => shares.into_iter().map(said).collect(),
        Err(error) => vec![error.error.code],
    }
}

#[test]
fn a_name_decides_and_a_wrong_one_is_refused() {
    assert_eq!(shares(Some("web"), None, &["x"]), ["web: x"]);
    assert_eq!(shares(Some("wep"), None, &[]), ["no_such_suite"]);
}

#[test]
fn without_a_name_every_suite_is_meant() {
    assert_eq!(shares(None, None, &[]), ["api: ", "web: ", "deep: "]);
    assert_eq!(
        shares(None, Some("."), &[]),
        ["api:  (.)", "web:  (.)", "deep:  (.)"].map(|s| s.replace(" (.)", ""))
    );
    assert_eq!(shares(None, None, &["some and keyword"]).len(), 3);
}

#[test]
fn mixed_selectors_are_cut_by_suite_and_a_keyword_narrows_those_that_have_one() {
    assert_eq!(
        shares(None, None, &["web/tests/test_a.py::test_x[a::b]"]),
        ["web: web/tests/test_a.py::test_x[a::b]"]
    );
    assert_eq!(
        shares(None, None, &["api/tests/test_a.py", "web/tests", "word"]),
        ["api: api/tests/test_a.py word", "web: web/tests word"]
    );
}

#[test]
fn an_id_that_a_suite_printed_finds_it_and_one_that_two_have_is_of_both() {
    assert_eq!(
        shares(None, None, &["tests/test_w.py::t"]),
        ["web: tests/test_w.py::t"]
    );
    assert_eq!(
        shares(None, None, &["tests/test_a.py::t"]),
        ["api: tests/test_a.py::t", "web: tests/test_a.py::t"]
    );
    assert_eq!(shares(None, None, &["tests/test_gone.py"]), ["no_such_path"]);
}

#[test]
fn a_folder_around_suites_means_all_of_them() {
    assert_eq!(shares(None, None, &["packages"]), ["deep: "]);
    assert_eq!(shares(None, Some("packages"), &[]), ["deep:  (packages)"]);
    assert_eq!(shares(None, Some("api/tests"), &[]), ["api:  (api/tests)"]);
    assert_eq!(
        shares(None, Some("api"), &["tests/test_a.py"]),
        ["api: tests/test_a.py (api)"]
    );
}

#[test]
fn one_test_that_two_suites_have_is_asked_back_with_both_calls_ready() {
    let (_folder, workspace) = repository();
    let common = RunArguments::of_test(&Scope::default(), "tests/test_a.py::t");
    let error = only(&workspace, &common, Tool::RunSingle).unwrap_err();
    assert_eq!(error.error.code, "suite_needed");
    assert!(
        error.error.hint.unwrap().contains("`suite`, one of: api, web"),
        "the agent's word"
    );
    let suites: Vec<_> = error
        .known
        .next
        .iter()
        .map(|call| call.arguments["suite"].clone())
        .collect();
    assert_eq!(suites, ["api", "web"]);
    let person = Workspace {
        policy: Policy::person(),
        ..workspace
    };
    let error = only(&person, &common, Tool::RunSingle).unwrap_err();
    assert!(error.error.hint.unwrap().contains("`--suite`"), "a person's");
}
