//! What the engine is asked to do.

use std::time::Duration;

use super::*;
use crate::{Scope, Tool, affected_tests, call, run_n_times, run_single, run_suite};
use process::Cancel;
use runner_core::backend::Filters;
use runner_core::selector::Selector;

/// What the engine is asked in the one suite that there is.
async fn of_one_suite(
    workspace: &Workspace,
    arguments: &run_suite::Arguments,
) -> Result<engine::run::RunSpec, OpError> {
    let mut specs = crate::several::specs(workspace, arguments).await?;
    assert_eq!(specs.len(), 1);
    Ok(specs.remove(0))
}

fn code<T>(result: Result<T, OpError>) -> String {
    match result {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.error.code,
    }
}

#[tokio::test]
async fn selectors_become_paths_ids_and_keywords() {
    let (_folder, workspace) = workspace();
    let arguments = run_suite::Arguments {
        selectors: vec![
            "tests".into(),
            "tests/test_a.py::t[a b]".into(),
            "order and not slow".into(),
        ],
        filters: Filters {
            max_failures: Some(1),
            ..Filters::default()
        },
        ..run_suite::Arguments::default()
    };
    let spec = of_one_suite(&workspace, &arguments).await.unwrap();
    let expected = [
        Selector::Path { path: "tests".into() },
        Selector::Node {
            path: "tests/test_a.py".into(),
            rest: "::t[a b]".into(),
        },
        Selector::Keyword {
            expression: "order and not slow".into(),
        },
    ];
    assert_eq!(spec.selection.selectors, expected);
    assert_eq!(
        spec.asked,
        ["tests", "tests/test_a.py::t[a b]", "order and not slow"]
    );
    assert_eq!(
        (spec.filters.max_failures, spec.timeout),
        (Some(1), Some(Duration::from_secs(300)))
    );
}

#[tokio::test]
async fn nothing_of_a_call_becomes_an_option_or_leaves_the_repository() {
    let (folder, workspace) = workspace();
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("elsewhere")).unwrap();
    for bad in [
        "-p evil",
        "--co",
        " -x",
        "@args.txt",
        "../x.py",
        "/etc/passwd",
        "elsewhere",
        "tests/gone.py",
        "a\0b",
    ] {
        let arguments = run_suite::Arguments {
            selectors: vec![bad.trim().into()],
            ..run_suite::Arguments::default()
        };
        let error = of_one_suite(&workspace, &arguments).await.err().expect(bad);
        assert_eq!(
            (error.kind, error.exit().code()),
            (ErrorKind::BadRequest, 4),
            "{bad}"
        );
        assert!(error.known.selector.is_some() && error.known.cwd.is_some());
        let single = run_single::Arguments {
            test_id: bad.into(),
            ..run_single::Arguments::default()
        };
        assert_ne!(
            code(run_single::spec(&workspace, &single).await),
            "accepted",
            "{bad}"
        );
    }
    for bad in ["elsewhere", "..", "tests/test_a.py", "gone"] {
        let arguments = run_suite::Arguments {
            scope: Scope {
                cwd: Some(bad.into()),
                ..Scope::default()
            },
            ..run_suite::Arguments::default()
        };
        assert_ne!(
            code(of_one_suite(&workspace, &arguments).await),
            "accepted",
            "{bad}"
        );
    }
}

#[tokio::test]
async fn a_single_test_is_named_by_an_id_and_nothing_else() {
    let (folder, workspace) = workspace();
    std::fs::create_dir_all(folder.path().join("web/unit")).unwrap();
    std::fs::write(folder.path().join("web/unit/test_w.py"), "").unwrap();
    let spec = async |id: &str| {
        let arguments = run_single::Arguments {
            test_id: id.into(),
            ..run_single::Arguments::default()
        };
        run_single::spec(&workspace, &arguments).await
    };
    for bad in ["some keyword", "tests", "tests/test_gone.py::t", "unit"] {
        assert_ne!(code(spec(bad).await), "accepted", "{bad}");
    }
    // Relative to a framework's own root: exactly one folder has such a file.
    let spec = spec("unit/test_w.py::t").await.unwrap();
    let expected = Selector::Node {
        path: "web/unit/test_w.py".into(),
        rest: "::t".into(),
    };
    assert_eq!(spec.selection.selectors, [expected]);
}

#[tokio::test]
async fn time_limits_come_from_the_call_the_suite_or_the_policy_and_have_a_cap() {
    let (folder, _) = workspace();
    let limit = async |suite: Suite, asked: Option<u64>, policy: Policy| {
        let workspace = Workspace {
            policy,
            ..workspace_of(folder.path(), vec![suite])
        };
        let arguments = run_suite::Arguments {
            scope: Scope {
                timeout: asked.map(Duration::from_secs),
                ..Scope::default()
            },
            ..run_suite::Arguments::default()
        };
        of_one_suite(&workspace, &arguments)
            .await
            .map(|spec| spec.timeout.map(|limit| limit.as_secs()))
    };
    let plain = || Suite::new("unit", vec!["paper".into()]);
    let minutes = |minutes: u64| Some(Duration::from_secs(60 * minutes));
    assert_eq!(limit(plain(), None, Policy::agent()).await.unwrap(), Some(300));
    assert_eq!(
        limit(plain(), Some(900), Policy::agent()).await.unwrap(),
        Some(900)
    );
    assert_eq!(
        code(limit(plain(), Some(901), Policy::agent()).await),
        "bad_argument"
    );
    assert_eq!(limit(plain(), None, Policy::person()).await.unwrap(), None);
    assert_eq!(
        limit(plain(), Some(5000), Policy::person()).await.unwrap(),
        Some(5000)
    );
    let written = Suite {
        timeout: minutes(20),
        ..plain()
    };
    assert_eq!(
        limit(written.clone(), None, Policy::agent()).await.unwrap(),
        Some(1200)
    );
    assert_eq!(limit(written, None, Policy::person()).await.unwrap(), Some(1200));
    let capped = Suite {
        max_timeout: minutes(1),
        ..plain()
    };
    assert_eq!(
        limit(capped.clone(), None, Policy::agent()).await.unwrap(),
        Some(60)
    );
    assert_eq!(
        code(limit(capped, Some(61), Policy::agent()).await),
        "bad_argument"
    );
}

#[tokio::test]
async fn a_narrower_folder_narrows_the_suites_paths() {
    let (folder, _) = workspace();
    std::fs::create_dir_all(folder.path().join("tests/unit/deep")).unwrap();
    std::fs::create_dir_all(folder.path().join("src")).unwrap();
    let paths = async |cwd: &str| {
        let suite = Suite {
            paths: vec!["tests/unit".into(), "tests/test_a.py".into()],
            ..Suite::new("unit", vec!["paper".into()])
        };
        let workspace = workspace_of(folder.path(), vec![suite]);
        let arguments = run_suite::Arguments {
            scope: Scope {
                cwd: Some(cwd.into()),
                ..Scope::default()
            },
            ..run_suite::Arguments::default()
        };
        of_one_suite(&workspace, &arguments).await.unwrap().suite.paths
    };
    assert_eq!(paths(".").await, ["tests/unit", "tests/test_a.py"]);
    assert_eq!(paths("tests").await, ["unit", "test_a.py"]);
    assert!(paths("tests/unit/deep").await.is_empty());
    assert!(paths("src").await.is_empty());
}

#[tokio::test]
async fn repeats_are_one_order_with_many_iterations_and_one_limit_for_all() {
    let (_folder, workspace) = workspace();
    let arguments = run_n_times::Arguments {
        test_id: "tests/test_a.py::t".into(),
        n: 7,
        ..run_n_times::Arguments::default()
    };
    let spec = run_n_times::spec(&workspace, &arguments).await.unwrap();
    assert_eq!(
        (spec.iterations, spec.total_timeout),
        (7, Some(Duration::from_secs(1800)))
    );
}

#[tokio::test]
async fn a_broken_configuration_is_what_every_tool_answers() {
    let (_folder, mut workspace) = workspace();
    workspace.settings = Err(misspelt_key());
    for (tool, arguments) in [
        (Tool::RunSuite, serde_json::json!({})),
        (
            Tool::RunSingle,
            serde_json::json!({ "test_id": "tests/test_a.py::t" }),
        ),
        (
            Tool::RunNTimes,
            serde_json::json!({ "test_id": "tests/test_a.py::t", "n": 2, "background": true }),
        ),
        (Tool::AffectedTests, serde_json::json!({ "paths": ["src/a.py"] })),
        (Tool::GetCoverage, serde_json::json!({})),
        (Tool::ListTests, serde_json::json!({})),
    ] {
        let arguments = arguments.as_object().unwrap();
        let error = call(&workspace, tool, arguments, Cancel::new(), &mut |_, _| {})
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind, error.exit().code()),
            (ErrorKind::Config, 4),
            "{tool:?}"
        );
        assert!(error.headline().contains("qaas.toml:3:1"), "{}", error.headline());
    }
}

#[tokio::test]
async fn no_related_test_file_is_an_answer_and_no_test_file_at_all_an_error() {
    struct Nothing;
    impl AffectedFinder for Nothing {
        fn find(&self, _: &Path, _: &Question) -> Result<AffectedTests, runner_core::change::NoBase> {
            Ok(AffectedTests::default())
        }
    }
    let (_folder, mut workspace) = workspace();
    let arguments = || affected_tests::Arguments {
        paths: vec!["src/a.py".into()],
        ..affected_tests::Arguments::default()
    };
    let answer = affected_tests::run(&workspace, arguments()).await.unwrap();
    assert_eq!(
        json(&answer),
        serde_json::json!({ "status": "done", "affected": [], "heuristic": true, "searched": 2 })
    );
    assert!(answer.headline().contains("may be untested"));
    workspace.affected = Arc::new(Nothing);
    assert_eq!(
        affected_tests::run(&workspace, arguments())
            .await
            .unwrap_err()
            .exit()
            .code(),
        5
    );
}
