//! Texts recorded from pytest 6.2.5 and 9.2.0.

use runner_core::backend::{Filters, Mode, RunRequest};
use runner_core::plan::{Lines, Stream};
use serde_json::json;

use super::*;

fn ending(code: i32, stdout: &str, stderr: &str) -> Option<Ending> {
    explain_for(&RunRequest::new(Mode::Run, "/x", "/s"), code, stdout, stderr)
}

fn explain_for(request: &RunRequest, code: i32, stdout: &str, stderr: &str) -> Option<Ending> {
    let mut said = CapturedOutput::new(request);
    for (stream, text) in [(Stream::Stdout, stdout), (Stream::Stderr, stderr)] {
        said.hear(&Lines {
            step: 0,
            stream,
            lines: text.lines().map(str::to_owned).collect(),
        });
    }
    let exit = StepExit {
        code: Some(code),
        ..StepExit::default()
    };
    explain(&exit, &said)
}

const UNRECOGNIZED: &str = "ERROR: usage: python -m pytest [options] [file_or_dir] [file_or_dir] [...]
python -m pytest: error: unrecognized arguments: --cov-branch
  inifile: /x/pytest.ini
  rootdir: /x
";

const CONFTEST: &str =
    "/v/_pytest/config/__init__.py:318: PluggyTeardownRaisedWarning: A plugin raised an exception.
Plugin: helpconfig, Hook: pytest_cmdline_parse
ConftestImportFailure: ModuleNotFoundError: No module named 'nothing_there' (from /x/conftest.py)
ImportError while loading conftest '/x/conftest.py'.
conftest.py:1: in <module>
    import nothing_there
E   ModuleNotFoundError: No module named 'nothing_there'
";

#[test]
fn a_name_that_does_not_exist_is_no_tests_and_is_named() {
    let not_found = "ERROR: not found: /x/test_a.py::nope\n(no match in any of [<Module test_a.py>])\n";
    for stderr in [not_found, "ERROR: file or directory not found: nope.py\n"] {
        let ending = ending(4, "", stderr).unwrap();
        assert_eq!(ending.kind, EndingKind::NoTests);
        let reason = ending.reason.unwrap();
        assert!(
            reason.contains("not found: ") && reason.contains("nope"),
            "{reason}"
        );
    }
    let coloured = "\u{1b}[31mERROR: not found: /x/test_a.py::nope\u{1b}[0m\n";
    assert_eq!(ending(4, "", coloured).unwrap().kind, EndingKind::NoTests);
}

#[test]
fn an_unknown_argument_is_traced_to_who_gave_it() {
    let hint = |request: &RunRequest| explain_for(request, 4, "", UNRECOGNIZED).unwrap().hint.unwrap();
    let plain = RunRequest::new(Mode::Run, "/x", "/s");
    assert!(hint(&plain).contains("`addopts` of /x/pytest.ini"));
    assert!(hint(&plain).contains("pytest-cov"));
    let suite = RunRequest {
        options: json!({"args": ["--cov-branch"]}).as_object().unwrap().clone(),
        ..plain.clone()
    };
    assert!(hint(&suite).contains("the suite's `args`"));
    let caller = RunRequest {
        filters: Filters {
            extra_args: vec!["--cov-branch".into()],
            ..Filters::default()
        },
        ..plain
    };
    assert!(hint(&caller).contains("command line"));
}

#[test]
fn parallel_workers_without_xdist_say_what_is_missing() {
    let request = RunRequest {
        filters: Filters {
            workers: Some("2".into()),
            ..Filters::default()
        },
        ..RunRequest::new(Mode::Run, "/x", "/s")
    };
    let stderr = UNRECOGNIZED.replace("--cov-branch", "-n");
    let hint = explain_for(&request, 4, "", &stderr).unwrap().hint.unwrap();
    assert!(
        hint.contains("command line") && hint.contains("pytest-xdist"),
        "{hint}"
    );
}

#[test]
fn a_broken_conftest_is_quoted() {
    let ending = ending(4, "", CONFTEST).unwrap();
    assert_eq!(ending.kind, EndingKind::Broken);
    let reason = ending.reason.unwrap();
    assert!(
        reason.contains("conftest '/x/conftest.py'") && reason.contains("No module named 'nothing_there'")
    );
}

#[test]
fn other_usage_errors_keep_pytests_words() {
    for (stderr, part) in [
        ("ERROR: Missing required plugins: pytest-foo\n", "pytest-foo"),
        (
            "ERROR: Wrong expression passed to '-k': and: at column 1\n",
            "Wrong expression",
        ),
        (
            "ERROR: None: 'minversion' requires pytest-99, actual pytest-9.2.0'\n",
            "pytest-99",
        ),
        (
            "python -m pytest: error: argument --maxfail: invalid int value: 'x'\n",
            "--maxfail",
        ),
        ("", "exit code 4"),
    ] {
        let ending = ending(4, "", stderr).unwrap();
        assert_eq!(ending.kind, EndingKind::Broken);
        assert!(ending.reason.unwrap().contains(part), "{part}");
    }
}

#[test]
fn a_folder_with_a_bracket_in_its_name_is_to_be_the_working_folder() {
    let ending = ending(
        4,
        "",
        "ERROR: path cannot contain [] parametrization: dir[1]/test_x.py::test_a\n",
    )
    .unwrap();
    assert!(ending.hint.unwrap().contains("`cwd`"));
}

#[test]
fn a_missing_pytest_or_plugin_is_told_although_the_code_reads_tests_failed() {
    let no_pytest = ending(1, "", "/x/.venv/bin/python: No module named pytest\n").unwrap();
    assert_eq!(no_pytest.kind, EndingKind::Broken);
    assert!(
        no_pytest
            .hint
            .unwrap()
            .contains("/x/.venv/bin/python -m pip install pytest")
    );
    let importing = "Traceback (most recent call last):\nImportError: Error importing plugin \"nosuch\": No module named 'nosuch'\n";
    let reason = ending(1, "", importing).unwrap().reason.unwrap();
    assert!(
        reason.starts_with("Error importing plugin \"nosuch\""),
        "{reason}"
    );
    assert_eq!(
        ending(1, "", "a test printed: No module named pytest, I fear\n"),
        None
    );
}

#[test]
fn nothing_collected_and_everything_deselected_are_told_apart() {
    let empty = ending(5, "==== no tests ran in 0.01s ====\n", "").unwrap();
    assert_eq!(empty.reason.as_deref(), Some("pytest collected no tests"));
    let deselected = ending(
        5,
        "collected 12 items / 12 deselected / 0 selected\n\n=== 12 deselected in 0.01s ===\n",
        "",
    )
    .unwrap();
    assert_eq!(deselected.kind, EndingKind::NoTests);
    assert!(deselected.reason.unwrap().contains("deselected all 12 tests"));
}

#[test]
fn internal_errors_and_interrupts_keep_their_reason() {
    let stdout = "INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR> KeyError: 'hook'\n\n== no tests ran ==\n";
    let internal = ending(3, stdout, "").unwrap();
    assert_eq!(
        internal.reason.as_deref(),
        Some("pytest had an internal error: KeyError: 'hook'")
    );
    let interrupt = ending(2, "!!!!!!!! _pytest.outcomes.Exit: enough !!!!!!!!\n", "").unwrap();
    assert_eq!(interrupt.kind, EndingKind::Interrupted);
    assert!(interrupt.reason.unwrap().ends_with("Exit: enough"));
}

#[test]
fn a_cut_session_names_code_or_signal() {
    let exited = StepExit {
        code: Some(0),
        ..StepExit::default()
    };
    let ending = cut(&exited);
    assert_eq!(ending.kind, EndingKind::Cut);
    assert_eq!(
        ending.reason.as_deref(),
        Some("pytest's process ended (exit code 0) without finishing its session")
    );
    let killed = StepExit {
        signal: Some(9),
        ..StepExit::default()
    };
    assert!(cut(&killed).reason.unwrap().contains("SIGKILL"));
}
