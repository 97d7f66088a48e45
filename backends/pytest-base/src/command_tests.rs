use std::collections::BTreeMap;

use runner_core::backend::Filters;
use runner_core::facts::Interpreter;
use runner_core::selector::{Selection, Selector};
use serde_json::json;

use super::*;

fn project(pytest: &str) -> Project {
    Project {
        root: "/repo".into(),
        dir: "/repo".into(),
        interpreter: Some(Interpreter {
            path: "/repo/.venv/bin/python".into(),
            packages: Some(BTreeMap::from([("pytest".to_owned(), pytest.to_owned())])),
            ..Interpreter::default()
        }),
        ..Project::default()
    }
}

fn request() -> RunRequest {
    RunRequest::new(Mode::Run, "/repo", "/s")
}

fn only_args(request: &RunRequest) -> Vec<String> {
    let plan = base_plan(request, &project("9.2.0"), &[]).unwrap();
    assert_eq!(plan.steps.len(), 1);
    plan.steps[0].args.clone()
}

fn nodes(count: usize) -> Selection {
    let node = |number| Selector::Node {
        path: "tests/test_a.py".to_owned(),
        rest: format!("::test_with_quite_a_long_name[{number:05}]"),
    };
    Selection {
        selectors: (0..count).map(node).collect(),
    }
}

#[test]
fn a_plain_run_is_the_interpreter_and_pytest_and_nothing_else() {
    let plan = base_plan(&request(), &project("9.2.0"), &[]).unwrap();
    assert_eq!(plan.steps[0].argv(), ["/repo/.venv/bin/python", "-m", "pytest"]);
    assert!(plan.steps[0].env.is_empty());
}

#[test]
fn every_part_of_a_request_reaches_the_command_line_in_order() {
    let request = RunRequest {
        mode: Mode::List,
        selection: Selection {
            selectors: vec![
                Selector::Path { path: "tests".into() },
                Selector::Keyword {
                    expression: "fast".into(),
                },
            ],
        },
        options: json!({"args": ["-p", "no:randomly"]})
            .as_object()
            .unwrap()
            .clone(),
        filters: Filters {
            keyword: Some("not db".into()),
            markers: Some("unit".into()),
            max_failures: Some(3),
            workers: Some("auto".into()),
            extra_args: vec!["--tb=short".into()],
            ..Filters::default()
        },
        cache_dir: Some("/state/cache".into()),
        ..request()
    };
    let plan = base_plan(&request, &project("9.2.0"), &["--verbosity=1".to_owned()]).unwrap();
    assert_eq!(
        plan.steps[0].args,
        [
            "-o",
            "cache_dir=/state/cache",
            "-p",
            "no:randomly",
            "-k=(fast) and (not db)",
            "-m=unit",
            "--maxfail=3",
            "-n",
            "auto",
            "--tb=short",
            "--collect-only",
            "--verbosity=1",
            "tests",
        ]
    );
}

#[test]
fn a_selected_file_is_never_an_option_nor_an_argument_file() {
    let selectors = ["-x", "@ids"].map(|path| Selector::Path { path: path.into() });
    let request = RunRequest {
        selection: Selection {
            selectors: selectors.to_vec(),
        },
        filters: Filters {
            keyword: Some("@file or -x".into()),
            ..Filters::default()
        },
        ..request()
    };
    assert_eq!(only_args(&request), ["-k=@file or -x", "./-x", "./@ids"]);
}

#[test]
fn the_suites_paths_are_used_when_nothing_is_selected() {
    let all = RunRequest {
        paths: vec!["tests".into(), "more/tests".into()],
        ..request()
    };
    assert_eq!(only_args(&all), ["tests", "more/tests"]);
    let keyword_only = RunRequest {
        selection: Selection {
            selectors: vec![Selector::Keyword {
                expression: "a".into(),
            }],
        },
        ..all.clone()
    };
    assert_eq!(only_args(&keyword_only), ["-k=a", "tests", "more/tests"]);
    // They are seen from the working folder already, wherever the suite's own is.
    let elsewhere = RunRequest {
        cwd: "/repo/more".into(),
        ..all
    };
    assert_eq!(only_args(&elsewhere), ["tests", "more/tests"]);
}

#[test]
fn a_selection_too_long_for_a_command_line_is_read_from_a_file() {
    let request = RunRequest {
        selection: nodes(20_000),
        ..request()
    };
    let plan = base_plan(&request, &project("8.2.0"), &[]).unwrap();
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(plan.steps[0].args, ["@/s/selected.txt"]);
    assert_eq!(plan.files[0].contents.lines().count(), 20_000);
}

#[test]
fn an_older_pytest_takes_a_long_selection_in_several_sessions() {
    let request = RunRequest {
        selection: nodes(20_000),
        ..request()
    };
    let plan = base_plan(&request, &project("8.1.2"), &[]).unwrap();
    assert!(plan.files.is_empty());
    let given: Vec<&String> = plan.steps.iter().flat_map(|step| &step.args).collect();
    assert_eq!(given.len(), 20_000);
    assert!(plan.steps.len() > 1);
    assert!(plan.steps.iter().all(|step| bytes(&step.args) <= STEP_BYTES));
    assert!(plan.steps.iter().skip(1).all(|step| step.always));
}

#[test]
fn without_an_interpreter_there_is_no_plan() {
    let error = base_plan(&request(), &Project::default(), &[]).unwrap_err();
    assert_eq!(error.code, "no_interpreter");
    assert!(error.hint.is_some());
}

#[test]
fn a_group_of_xdist_is_no_part_of_the_test_that_pytest_is_asked_for() {
    for (rest, asked) in [
        ("::test_x@group", "::test_x"),
        ("::TestA::test_x[a@b]@g 1", "::TestA::test_x[a@b]"),
        ("::test_x[a@b]", "::test_x[a@b]"),
        ("::test_x[a]@b]", "::test_x[a]@b]"),
        ("::@no_test", "::@no_test"),
    ] {
        for (path, asked) in [("test_a.py", asked), ("mails.yaml", rest)] {
            let node = Selector::Node {
                path: path.to_owned(),
                rest: rest.to_owned(),
            };
            let request = RunRequest {
                selection: Selection {
                    selectors: vec![node],
                },
                ..request()
            };
            assert_eq!(only_args(&request), [format!("{path}{asked}")]);
        }
    }
}
