//! Interpreters that somebody names, and what is told of the one that is taken.

use super::world::World;
use super::{PYTEST, check};
use crate::config::Suite;
use crate::project::is_detected;

#[test]
fn what_somebody_names_comes_before_everything_and_must_be_there() {
    let named = |typed: Option<&'static str>, written: Option<&'static str>| {
        let mut world = World::new()
            .venv("repo/.venv", PYTEST)
            .venv("repo/sub/other", PYTEST)
            .venv("repo/tools", PYTEST)
            .program("system/bin/python3.12")
            .start("repo/sub");
        (world.typed, world.written) = (typed, written);
        world
    };
    check(vec![
        (
            "typed",
            named(Some("tools/bin/python"), None),
            "repo/tools/bin/python, named by --python",
        ),
        (
            "an environment's folder",
            named(Some("tools"), None),
            "repo/tools/bin/python, named by --python",
        ),
        (
            "a name on PATH",
            named(Some("python3.12"), None),
            "system/bin/python3.12, named by --python",
        ),
        (
            "a version",
            named(Some("3.12"), None),
            "system/bin/python3.12, named by --python",
        ),
        (
            "by variable",
            named(None, Some("../tools")).var("QAAS_PYTHON", "repo/tools/bin/python3"),
            "repo/tools/bin/python3, named by QAAS_PYTHON",
        ),
        (
            "written, relative to the suite's folder",
            named(None, Some("other/bin/python")),
            "repo/sub/other/bin/python, named by the suite's options.python",
        ),
        (
            "written, relative to the root",
            named(None, Some("tools/bin/python")),
            "repo/tools/bin/python, named by the suite's options.python",
        ),
        (
            "typed and gone",
            named(Some("gone/bin/python"), None),
            "QA0303 no Python environment found",
        ),
        (
            "written and gone",
            named(None, Some("gone/bin/python")),
            "QA0303 no Python environment found",
        ),
        (
            "no environment's folder",
            named(Some("./sub"), None),
            "QA0303 no Python environment found",
        ),
        (
            "typed and broken",
            named(Some(".venv/bin/python"), None).link("repo/x", "/gone"),
            "repo/.venv/bin/python, named by --python",
        ),
    ]);
    let error = named(Some("gone/bin/python"), None).find().unwrap_err();
    assert_eq!(error.kind.as_str(), "no_interpreter");
    assert_eq!(
        error.message,
        "QA0303 no Python environment found\nnamed by --python: gone/bin/python does not exist\n\
         without --python: sub/other/bin/python (the project's own)"
    );
}

#[test]
fn what_can_be_read_of_an_environment_is_read_and_nothing_is_resolved() {
    let world = World::new()
        .venv("home/store/x", &["pytest-9.2.0", "pytest_json_report-1.5.0"])
        .link("repo/.venv", "../home/store/x");
    let found = world.find().unwrap();
    assert_eq!(found.path, world.at("repo/.venv/bin/python"));
    assert_eq!(found.venv, Some(world.at("repo/.venv")));
    assert_eq!(found.version.as_deref(), Some("3.11.7"));
    assert_eq!(found.package("pytest"), Some("9.2.0"));
    assert_eq!(found.package("pytest-json-report"), Some("1.5.0"));

    let uv = World::new().venv("repo/.venv", PYTEST).file(
        "repo/.venv/pyvenv.cfg",
        "implementation = CPython\nversion_info = 3.11.9.final.0\n",
    );
    assert_eq!(uv.find().unwrap().version.as_deref(), Some("3.11.9"));

    let system = World::new()
        .venv("repo/.venv", PYTEST)
        .file("repo/.venv/pyvenv.cfg", "include-system-site-packages = true\n");
    assert_eq!(
        system.find().unwrap().packages,
        None,
        "the base's packages count too"
    );
    assert_eq!(
        World::new().find().unwrap().packages,
        None,
        "a system Python is not read"
    );

    let given = World::new()
        .venv("repo/.venv", &[])
        .file("home/extra/pytest-8.0.0.dist-info/METADATA", "")
        .var("PYTHONPATH", "home/extra");
    assert_eq!(given.find().unwrap().package("pytest"), Some("8.0.0"));
}

#[test]
fn where_the_framework_is_missing_the_other_places_are_told() {
    let world = World::new()
        .venv("repo/.venv", &[])
        .venv("home/envs/work", PYTEST)
        .var("VIRTUAL_ENV", "home/envs/work");
    let found = world.find().unwrap();
    assert_eq!(found.path, world.at("repo/.venv/bin/python"));
    let place = world.at("home/envs/work");
    assert_eq!(
        found.also_seen,
        [
            format!("{} has pytest 9.2.0", place.display()),
            "the system python3 has no pytest".to_owned()
        ]
    );
    assert!(
        World::new()
            .venv("repo/.venv", PYTEST)
            .find()
            .unwrap()
            .also_seen
            .is_empty()
    );
}

#[test]
fn an_interpreter_written_down_needs_no_consent_if_it_is_what_would_be_found_anyway() {
    let detected = |world: &World, written: &str| {
        let mut suite = Suite::new("unit", Vec::new());
        suite.options.insert("python".to_owned(), written.into());
        is_detected(&world.at("repo"), &suite, &world.at("repo"), &world.environment)
    };
    let world = World::new()
        .venv("repo/.venv", PYTEST)
        .venv("repo/venv", PYTEST)
        .venv("home/envs/work", PYTEST)
        .var("VIRTUAL_ENV", "home/envs/work")
        .program("repo/evil.sh")
        .program("system/bin/sh")
        .link("repo/bin/python", "../.venv/bin/python");
    assert!(detected(&world, ".venv/bin/python"));
    assert!(detected(&world, ".venv/bin/python3"));
    assert!(detected(&world, ".venv"));
    assert!(detected(
        &world,
        &world.at("home/envs/work/bin/python").to_string_lossy()
    ));
    assert!(
        detected(&world, "gone/bin/python"),
        "missing is missing, not untrusted"
    );
    assert!(!detected(&world, "venv/bin/python"));
    assert!(!detected(&world, "bin/python"), "a link is another interpreter");
    assert!(!detected(&world, "./evil.sh"));
    assert!(!detected(&world, "sh"));
    let foreign = world.file("home/envs/pyproject.toml", "");
    assert!(!detected(
        &foreign,
        &foreign.at("home/envs/work/bin/python").to_string_lossy()
    ));
}
