//! Which suite a call means: the only one, the one it names, or the one that its paths lie in.

use std::path::{Path, PathBuf};

use super::{ErrorKind, OpError, Workspace, cut};
use engine::config::Suite;
use engine::project;
use runner_core::language::Language;
use runner_core::nodeid::NodeId;
use runner_core::registry::{Registry, nearest};

/// The names of the repository's suites, configured or detected. `qaas run` alone runs each of them.
pub fn suite_names(workspace: &Workspace) -> Result<Vec<String>, OpError> {
    Ok(all(workspace)?.into_iter().map(|suite| suite.name).collect())
}

/// At least one suite, or the error answer.
pub(super) fn all(workspace: &Workspace) -> Result<Vec<Suite>, OpError> {
    let suites = project::suites(&workspace.root, workspace.settings()?, &workspace.registry);
    if suites.is_empty() {
        let message = format!(
            "no tests of a framework that qaas knows were found in {}",
            workspace.root.display()
        );
        return Err(OpError::new(ErrorKind::NoTests, "no_suite", message)
            .with_hint("Name a suite in `qaas.toml`, or give the repository with `--root`."));
    }
    Ok(suites)
}

/// What a call says about where it wants to be.
pub(super) struct SuiteQuery<'a> {
    pub(super) suite: Option<&'a str>,
    /// Real path inside the root.
    pub(super) cwd: Option<&'a Path>,
    /// Where a person stands.
    pub(super) here: Option<&'a Path>,
    pub(super) selectors: &'a [String],
}

/// The suite that the wish comes to.
pub(super) fn choose(
    root: &Path,
    registry: &Registry,
    suites: Vec<Suite>,
    wish: &SuiteQuery<'_>,
) -> Result<Suite, OpError> {
    if let Some(name) = wish.suite {
        return by_name(suites, name);
    }
    let mut candidates = suites.clone();
    if let (Some(cwd), true) = (wish.cwd, candidates.len() > 1) {
        candidates = around(root, candidates, cwd);
    }
    for selector in wish.selectors {
        if candidates.len() > 1 {
            let base = wish.cwd.or(wish.here).unwrap_or(root);
            candidates = owners(root, registry, candidates, base, selector);
        }
    }
    match candidates.len() {
        1 => Ok(candidates.remove(0)),
        _ => Err(ambiguous(&suites, wish)),
    }
}

fn by_name(suites: Vec<Suite>, name: &str) -> Result<Suite, OpError> {
    let names: Vec<String> = suites.iter().map(|suite| suite.name.clone()).collect();
    if let Some(suite) = suites.into_iter().find(|suite| suite.name == name) {
        return Ok(suite);
    }
    let message = format!("there is no suite `{}`", cut::quote_truncated(name));
    let error = OpError::new(ErrorKind::BadRequest, "no_such_suite", message);
    Err(match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => error.with_hint(format!("Did you mean `{near}`?")),
        None => error.with_hint(format!("There are: {}.", names.join(", "))),
    })
}

fn ambiguous(suites: &[Suite], wish: &SuiteQuery<'_>) -> OpError {
    let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    let message = if wish.selectors.is_empty() {
        "this repository has several suites, and the call does not say which".to_owned()
    } else {
        "the selector does not decide which of the repository's suites is meant".to_owned()
    };
    OpError::new(ErrorKind::BadRequest, "suite_needed", message)
        .with_hint(format!("Give `suite`, one of: {}.", names.join(", ")))
}

fn folder(root: &Path, suite: &Suite) -> PathBuf {
    let folder = root.join(&suite.dir);
    folder.canonicalize().unwrap_or(folder)
}

/// The suites that `cwd` lies in, the deepest; else those that lie in `cwd`; else all.
fn around(root: &Path, suites: Vec<Suite>, cwd: &Path) -> Vec<Suite> {
    let above = deepest(
        root,
        suites.iter().filter(|suite| cwd.starts_with(folder(root, suite))),
    );
    if !above.is_empty() {
        return above;
    }
    let below: Vec<Suite> = suites
        .iter()
        .filter(|suite| folder(root, suite).starts_with(cwd))
        .cloned()
        .collect();
    if below.is_empty() { suites } else { below }
}

/// The suites that a selector's path lies in. A keyword expression narrows nothing.
fn owners(root: &Path, registry: &Registry, suites: Vec<Suite>, base: &Path, selector: &str) -> Vec<Suite> {
    let head = NodeId::of(selector).file();
    if head.is_empty() {
        return suites;
    }
    let places: Vec<PathBuf> = [base.join(head), root.join(head)]
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    let Some(place) = places.first() else {
        // Not there as seen from here: perhaps as seen from one of the suites.
        let inside: Vec<Suite> = suites
            .iter()
            .filter(|suite| folder(root, suite).join(head).exists())
            .cloned()
            .collect();
        return if inside.is_empty() { suites } else { inside };
    };
    let above = deepest(
        root,
        suites
            .iter()
            .filter(|suite| place.starts_with(folder(root, suite))),
    );
    if above.is_empty() {
        // A folder around suites.
        let inside = |suite: &Suite| folder(root, suite).starts_with(place);
        return narrowed(suites, inside);
    }
    let found = narrowed(above, |suite| in_paths(root, suite, place));
    narrowed(found, |suite| speaks(registry, suite, place))
}

fn in_paths(root: &Path, suite: &Suite, place: &Path) -> bool {
    let folder = folder(root, suite);
    suite.paths.iter().any(|path| {
        let path = folder.join(path);
        place.starts_with(path.canonicalize().unwrap_or(path))
    })
}

/// Whether the suite's first backend drives the language of the file.
fn speaks(registry: &Registry, suite: &Suite, file: &Path) -> bool {
    let Some(language) = Language::of(file) else {
        return false;
    };
    suite
        .backend
        .iter()
        .filter_map(|name| registry.get(name))
        .any(|backend| backend.info().language == language.name)
}

/// Those that the test holds for; all, if it holds for none.
fn narrowed(suites: Vec<Suite>, test: impl Fn(&Suite) -> bool) -> Vec<Suite> {
    let held: Vec<Suite> = suites.iter().filter(|suite| test(suite)).cloned().collect();
    if held.is_empty() { suites } else { held }
}

fn deepest<'a>(root: &Path, suites: impl Iterator<Item = &'a Suite>) -> Vec<Suite> {
    let depth = |suite: &Suite| folder(root, suite).components().count();
    let suites: Vec<&Suite> = suites.collect();
    let most = suites.iter().map(|suite| depth(suite)).max();
    suites
        .into_iter()
        .filter(|suite| Some(depth(suite)) == most)
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "api/tests/test_a.py",
            "web/tests/test_a.py",
            "web/tests/test_w.py",
            "lib/x.py",
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        root
    }

    fn suites() -> Vec<Suite> {
        ["api", "web"]
            .map(|name| Suite {
                dir: name.into(),
                ..Suite::new(name, vec![])
            })
            .to_vec()
    }

    fn chosen(suite: Option<&str>, cwd: Option<&str>, selectors: &[&str]) -> Result<String, String> {
        let root = repository();
        let real = root.path().canonicalize().unwrap();
        let cwd = cwd.map(|cwd| real.join(cwd));
        let selectors: Vec<String> = selectors.iter().map(|&text| text.to_owned()).collect();
        let wish = SuiteQuery {
            suite,
            cwd: cwd.as_deref(),
            here: None,
            selectors: &selectors,
        };
        choose(&real, &Registry::new(), suites(), &wish)
            .map(|suite| suite.name)
            .map_err(|error| error.error.code)
    }

    #[test]
    fn a_name_decides_and_a_wrong_one_is_refused() {
        assert_eq!(chosen(Some("web"), None, &[]), Ok("web".into()));
        assert_eq!(chosen(Some("wep"), None, &[]), Err("no_such_suite".into()));
    }

    #[test]
    fn the_selectors_path_decides_from_the_root_and_from_inside_a_suite() {
        assert_eq!(
            chosen(None, None, &["web/tests/test_a.py::test_x[a::b]"]),
            Ok("web".into())
        );
        assert_eq!(chosen(None, None, &["tests/test_w.py"]), Ok("web".into()));
        assert_eq!(chosen(None, Some("api"), &["tests/test_a.py"]), Ok("api".into()));
        assert_eq!(chosen(None, Some("api/tests"), &[]), Ok("api".into()));
    }

    #[test]
    fn what_does_not_decide_is_an_error_that_lists_the_suites() {
        for (cwd, selectors) in [
            (None, &[][..]),
            (None, &["some and keyword"]),
            (None, &["tests/test_a.py"]),
            (None, &["lib/x.py"]),
        ] {
            assert_eq!(
                chosen(None, cwd, selectors),
                Err("suite_needed".into()),
                "{selectors:?}"
            );
        }
    }
}
