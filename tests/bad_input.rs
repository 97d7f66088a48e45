//! Bad input gets a clear error and the documented exit code; nothing is run, nothing is left.

use serde_json::json;

use crate::support::Project;

fn project() -> Project {
    Project::new()
        .file(
            "tests/test_a.py",
            "def test_alpha(): pass\ndef test_beta(): pass\n",
        )
        .file("src/a.py", "")
}

/// Calls a tool with bad arguments; the error's code and text.
fn refused(project: &Project, tool: &str, arguments: &serde_json::Value) -> (String, String) {
    let answer = project.call(tool, arguments);
    let error = &answer["error"];
    assert!(
        error.is_object(),
        "{tool} {arguments} was not refused: {answer:#}"
    );
    let text = format!(
        "{} {}",
        error["message"].as_str().unwrap(),
        error["hint"].as_str().unwrap_or_default()
    );
    (error["code"].as_str().unwrap().to_owned(), text)
}

#[test]
fn a_path_that_does_not_exist_is_never_a_keyword() {
    let project = project();
    for selector in [
        "tests/test_b.py",
        "no/such/folder",
        "test_zzz.py",
        "tests/test_zzz.py::test_x",
    ] {
        let (_, text) = refused(&project, "run_suite", &json!({"selector": selector}));
        assert!(text.contains(selector.split("::").next().unwrap()), "{text}");
        assert_eq!(project.qaas(&["run", selector]).code, Some(4), "{selector}");
    }
}

#[test]
fn a_nodeid_that_does_not_exist_says_which_are_near() {
    let (_, text) = refused(
        &project(),
        "run_single",
        &json!({"test_id": "tests/test_a.py::test_alhpa"}),
    );
    assert!(text.contains("tests/test_a.py::test_alpha"), "{text}");
}

#[test]
fn selectors_never_become_options_or_argument_files() {
    let project = project().file("args.txt", "--version\n");
    for selector in [
        "-p no:terminal",
        " --collect-only",
        "@args.txt",
        "--rootdir=/",
        "a\u{0}b",
        "a\nb",
    ] {
        let (code, text) = refused(&project, "run_suite", &json!({"selector": selector}));
        assert!(!code.is_empty() && !text.is_empty());
    }
}

#[test]
fn nothing_outside_the_root_is_run() {
    let project = project();
    let outside = project.outside().join("test_out.py");
    let marker = project.outside().join("ran");
    std::fs::write(&outside, format!("open({marker:?}, 'w')\ndef test_x(): pass\n")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(project.outside(), project.root().join("link")).unwrap();
    for selector in [
        "../test_out.py",
        outside.to_str().unwrap(),
        "link/test_out.py",
        "tests/../../test_out.py",
    ] {
        refused(&project, "run_suite", &json!({"selector": selector}));
        refused(
            &project,
            "run_single",
            &json!({"test_id": format!("{selector}::test_x")}),
        );
    }
    refused(&project, "run_suite", &json!({"cwd": ".."}));
    refused(&project, "run_suite", &json!({"cwd": "link"}));
    assert!(!marker.exists(), "a file outside the root was run");
}

#[test]
fn time_limits_and_counts_out_of_range_are_refused() {
    let project = project();
    for timeout in [
        json!(0),
        json!(-1),
        json!("soon"),
        json!(901),
        json!(1e308),
        json!([1]),
    ] {
        let (_, text) = refused(&project, "run_suite", &json!({"timeout_s": timeout}));
        assert!(text.contains("timeout_s"), "{text}");
    }
    for n in [json!(0), json!(21), json!(2.5), json!("many"), json!(null)] {
        let (_, text) = refused(
            &project,
            "run_n_times",
            &json!({"test_id": "tests/test_a.py::test_alpha", "n": n}),
        );
        assert!(text.contains('n'), "{text}");
    }
    let (_, text) = refused(&project, "run_suite", &json!({"selektor": "x"}));
    assert!(text.contains("selector"), "the nearest right name: {text}");
}

#[test]
fn no_interpreter_and_no_pytest_are_told_with_the_way_out() {
    let named = project().file(
        "qaas.toml",
        "[suite.default]\noptions = { python = \"gone/bin/python\" }\n",
    );
    let (_, text) = refused(&named, "run_suite", &json!({}));
    assert!(text.contains("gone/bin/python"), "{text}");
    assert_eq!(
        named.qaas(&["run"]).code,
        Some(4),
        "what is named wrongly is an argument"
    );
    assert_eq!(project().qaas(&["run", "--python", "gone"]).code, Some(4));

    let bare = crate::support::venv("bare");
    let bare = bare.ancestors().nth(2).unwrap().to_str().unwrap();
    let without = Project::bare()
        .env("VIRTUAL_ENV", bare)
        .file("test_a.py", "def test_a(): pass\n");
    let (_, text) = refused(&without, "run_single", &json!({"test_id": "test_a.py::test_a"}));
    assert!(text.contains("pytest is not installed"), "{text}");
    assert!(text.contains("pip install pytest"), "{text}");
}

#[test]
fn no_tests_is_an_error_with_exit_code_5() {
    let project = Project::new().file("test_a.py", "X = 1\n");
    assert_eq!(project.qaas(&["run"]).code, Some(5));
    let answer = project.call("run_suite", &json!({}));
    assert_eq!(answer["status"], "no_tests", "{answer:#}");
    assert!(answer["error"].is_object());
}

#[test]
fn a_broken_config_is_told_with_file_line_and_the_right_name() {
    let project = project().file(
        "qaas.toml",
        "[suite.unit]\nbackend = \"pytest-events\"\ntimout = \"5m\"\n",
    );
    let answer = project.qaas(&["check"]);
    assert_eq!(answer.code, Some(4), "{}", answer.stderr);
    assert!(answer.stderr.contains("qaas.toml:3"), "{}", answer.stderr);
    assert!(answer.stderr.contains("timeout"), "{}", answer.stderr);
    let (_, text) = refused(&project, "run_suite", &json!({}));
    assert!(text.contains("timout"), "{text}");
}

#[test]
fn an_unknown_command_suggests_the_near_one() {
    let answer = project().qaas(&["rnu"]);
    assert_eq!(answer.code, Some(4));
    assert!(answer.stderr.contains("`run`"), "{}", answer.stderr);
}

#[test]
fn paths_that_do_not_exist_are_told_by_check_and_by_the_run() {
    let project = Project::new()
        .file("tests/test_a.py", "def test_a(): pass\n")
        .file("qaas.toml", "[suite.unit]\npaths = [\"test\"]\n");
    for words in [&["check"][..], &["run"]] {
        let answer = project.qaas(words);
        assert_eq!(answer.code, Some(4), "{}{}", answer.stdout, answer.stderr);
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(
            said.contains("`paths` names `test`") && said.contains("Did you mean `tests`"),
            "{said}"
        );
    }
    assert_eq!(
        project.qaas(&["run", "tests/test_a.py"]).code,
        Some(0),
        "a selector says where"
    );
}

#[test]
fn a_list_of_suites_is_told_how_a_suite_is_written() {
    let project = Project::new().file("qaas.toml", "[[suite]]\nname = \"unit\"\n");
    let answer = project.qaas(&["check"]);
    assert!(answer.stderr.contains("[suite.NAME]"), "{}", answer.stderr);
}
