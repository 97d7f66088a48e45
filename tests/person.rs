//! What a person types: output to read, exit codes to rely on.

use crate::support::Project;

fn shop() -> Project {
    let shop = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop");
    let mut project = Project::new();
    for name in [
        "pyproject.toml",
        "shop/__init__.py",
        "shop/money.py",
        "shop/cart.py",
        "tests/test_money.py",
        "tests/test_cart.py",
        "tests/test_invoice.py",
    ] {
        project = project.file(name, &std::fs::read_to_string(shop.join(name)).unwrap());
    }
    project
}

#[test]
fn run_shows_failures_with_their_text_and_a_summary() {
    let answer = shop().qaas(&["run"]);
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    let text = &answer.stdout;
    assert!(
        text.contains("FAILED tests/test_money.py::test_share_adds_up"),
        "{text}"
    );
    assert!(text.contains("assert 99 == 100"), "{text}");
    assert!(text.contains("ERROR tests/test_invoice.py (collect)"), "{text}");
    assert!(
        text.contains("failed: 1 failed, 1 error, 3 passed, 1 skipped"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "no colours into a pipe: {text:?}");
}

#[test]
fn the_error_of_a_file_that_does_not_load_is_whole_on_screen_and_for_an_agent() {
    let project = Project::new().file("test_a.py", "raise EOFError('no more')\n");
    for backend in ["pytest-events", "pytest-json", "pytest-terminal"] {
        let screen = project.qaas(&["run", "--backend", backend]).stdout;
        assert!(
            screen.contains("test_a.py  test_a.py:1  EOFError: no more"),
            "{backend}: {screen}"
        );
        let answer = project.qaas(&["call", "run_suite", "--backend", backend]).json();
        let error = &answer["collection_errors"][0]["message"];
        assert_eq!(error, "EOFError: no more", "{backend}: {answer:#}");
    }
}

#[test]
fn run_of_one_nodeid_is_green_and_says_so() {
    let answer = shop().qaas(&["run", "tests/test_money.py::test_parse[two decimals]"]);
    assert_eq!(answer.code, Some(0), "{}{}", answer.stdout, answer.stderr);
    assert!(answer.stdout.contains("passed: 1 passed"), "{}", answer.stdout);
}

#[test]
fn failed_reruns_exactly_what_failed() {
    let project = shop();
    assert_eq!(project.qaas(&["run", "tests/test_money.py"]).code, Some(1));
    let again = project.qaas(&["run", "--failed"]);
    assert_eq!(again.code, Some(1), "{}{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("failed: 1 failed in"), "{}", again.stdout);
}

#[test]
fn what_a_pytest_user_types_first_works() {
    let project = shop();
    assert_eq!(
        project.qaas(&["run", "tests/test_money.py", "-k", "parse"]).code,
        Some(0)
    );
    assert_eq!(project.qaas(&["run", "-x", "tests/test_money.py"]).code, Some(1));
    assert_eq!(
        project
            .qaas(&["run", "--maxfail", "1", "tests/test_cart.py"])
            .code,
        Some(0)
    );
    assert_eq!(
        project
            .qaas(&["run", "-m", "not slow", "tests/test_cart.py"])
            .code,
        Some(0)
    );
    assert_eq!(
        project.qaas(&["run", "-n", "2", "tests/test_cart.py"]).code,
        Some(0)
    );
    assert_eq!(
        project
            .qaas(&["run", "tests/test_cart.py", "--", "--durations=1"])
            .code,
        Some(0)
    );
    std::fs::remove_file(project.root().join("tests/test_invoice.py")).unwrap();
    assert_eq!(
        project.qaas(&["run", "parse"]).code,
        Some(0),
        "a word is a keyword expression"
    );
}

#[test]
fn an_older_report_is_gone_when_a_run_is_refused_and_no_other_file_is() {
    let project = Project::new()
        .file("tests/test_a.py", "def test_a(): pass\n")
        .file("report.xml", "<?xml version=\"1.0\"?>\n<testsuites/>\n")
        .file("notes.txt", "by hand");
    for file in ["report.xml", "notes.txt"] {
        let refused = project.qaas(&["run", "tests/test_gone.py", "--junit", file]);
        assert_eq!(refused.code, Some(4), "{}", refused.stderr);
    }
    assert!(!project.root().join("report.xml").exists());
    let notes = std::fs::read_to_string(project.root().join("notes.txt"));
    assert_eq!(notes.expect("it stays"), "by hand");
}

#[test]
fn junit_is_written_and_names_every_test() {
    let project = shop();
    project.qaas(&["run", "--junit", "report.xml"]);
    let xml = std::fs::read_to_string(project.root().join("report.xml")).unwrap();
    for name in [
        "test_share_adds_up",
        "test_parse[two decimals]",
        "test_windows_till",
        "test_invoice",
    ] {
        assert!(xml.contains(name), "{name}: {xml}");
    }
}

#[test]
fn json_is_one_value_and_jsonl_one_event_a_line() {
    let project = shop();
    let json = project.qaas(&["run", "--format", "json"]).json();
    assert_eq!(json["status"], "failed");
    assert_eq!(json["tests"].as_array().unwrap().len(), 6, "{json:#}");
    let lines = project.qaas(&["run", "--format", "jsonl"]).stdout;
    let events: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.first().unwrap()["type"], "started");
    let [.., finished, verdict] = events.as_slice() else {
        panic!("{events:#?}")
    };
    assert_eq!(finished["type"], "finished");
    assert_eq!(
        (&verdict["type"], &verdict["status"]),
        (&"verdict".into(), &"failed".into())
    );
    assert_eq!(
        (&verdict["exit"], &verdict["totals"]["passed"]),
        (&1.into(), &3.into())
    );
}

#[test]
fn repeat_says_how_flaky_a_test_is() {
    let flaky = "import pathlib\n\ndef test_second_time():\n    seen = pathlib.Path('seen')\n    count = int(seen.read_text()) if seen.exists() else 0\n    seen.write_text(str(count + 1))\n    assert count % 2 == 0\n";
    let project = Project::new().file("test_f.py", flaky);
    let answer = project.qaas(&["repeat", "test_f.py::test_second_time", "-n", "4"]);
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    assert!(answer.stdout.contains("50"), "{}", answer.stdout);
}

#[test]
fn affected_lists_the_tests_behind_a_change_and_runs_nothing() {
    let answer = shop().qaas(&["affected", "shop/money.py"]);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    assert!(answer.stdout.contains("tests/test_money.py"), "{}", answer.stdout);
    assert!(
        answer.stdout.contains("tests/test_cart.py"),
        "through shop/cart.py: {}",
        answer.stdout
    );
}

#[test]
fn coverage_names_files_and_shows_that_tests_failed() {
    let answer = shop().qaas(&["coverage", "--path", "shop"]);
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    assert!(answer.stdout.contains("shop/money.py"), "{}", answer.stdout);
}

#[test]
fn list_runs_nothing() {
    let project = Project::new().file("test_a.py", "def test_a(): open('ran', 'w')\n");
    let answer = project.qaas(&["list"]);
    assert!(
        answer.stdout.contains("test_a.py::test_a"),
        "{}{}",
        answer.stdout,
        answer.stderr
    );
    assert!(!project.root().join("ran").exists());
}

#[test]
fn show_reads_the_last_run_back() {
    let project = shop();
    project.qaas(&["run"]);
    let answer = project.qaas(&["show"]);
    assert!(
        answer.stdout.contains("tests/test_money.py::test_share_adds_up"),
        "{}{}",
        answer.stdout,
        answer.stderr
    );
    let output = project.qaas(&["show", "--output"]);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
}

#[test]
fn check_plans_every_suite_without_running_anything() {
    let project = Project::new()
        .file("conftest.py", "open('ran', 'w')\n")
        .file("test_a.py", "def test_a(): pass\n")
        .file(
            "qaas.toml",
            "[suite.one]\n[suite.two]\nbackend = \"pytest-terminal\"\n",
        );
    let answer = project.qaas(&["check"]);
    assert_eq!(answer.code, Some(0), "{}{}", answer.stdout, answer.stderr);
    assert!(
        answer.stdout.contains("one") && answer.stdout.contains("pytest-terminal"),
        "{}",
        answer.stdout
    );
    assert!(!project.root().join("ran").exists());
}

#[test]
fn several_suites_run_one_after_another_and_the_worst_exit_wins() {
    let project = Project::new()
        .file("api/test_a.py", "def test_a(): pass\n")
        .file("web/test_b.py", "def test_b(): assert False\n")
        .file(
            "qaas.toml",
            "[suite.api]\ndir = \"api\"\n[suite.web]\ndir = \"web\"\n",
        );
    let answer = project.qaas(&["run"]);
    assert_eq!(answer.code, Some(1), "{}{}", answer.stdout, answer.stderr);
    assert!(answer.stdout.contains("api") && answer.stdout.contains("web"));
    assert_eq!(
        project.qaas(&["run", "api/test_a.py"]).code,
        Some(0),
        "the selector's path decides"
    );
    assert_eq!(project.qaas(&["run", "--suite", "api"]).code, Some(0));
}

#[cfg(unix)]
#[test]
fn an_unknown_command_runs_its_program_from_path_but_never_from_the_repository() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    let place = |folder: std::path::PathBuf, says: &str| {
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("qaas-hello");
        std::fs::write(
            &program,
            format!("#!/bin/sh\necho {says} \"$1\" \"${{QAAS##*/}}\"\n"),
        )
        .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        folder.to_str().unwrap().to_owned()
    };
    let planted = place(project.root().join("bin"), "planted");
    let real = place(project.outside().join("bin"), "real");
    let project = project.env("PATH", &format!("{planted}:{real}:/usr/bin:/bin"));
    let answer = project.qaas(&["hello", "world"]);
    assert_eq!(answer.stdout, "real world qaas\n", "{}", answer.stderr);
}

#[cfg(unix)]
#[test]
fn ctrl_c_tears_fixtures_down_and_says_where_the_tests_were() {
    let project = Project::new().file(
        "tests/test_td.py",
        "import pathlib, time, pytest\n\n\
         @pytest.fixture(scope='session')\n\
         def database():\n    yield\n    time.sleep(1)\n    pathlib.Path('torn_down').touch()\n\n\
         def test_before(database):\n    pass\n\n\
         def test_waits(database):\n    pathlib.Path('begun').touch()\n    time.sleep(60)\n",
    );
    let child = project.command(&["run"]);
    let answer = interrupted(child, &project.root().join("begun"));
    assert_eq!(answer.code, Some(130), "{}{}", answer.stdout, answer.stderr);
    assert!(
        project.root().join("torn_down").is_file(),
        "the fixture was not torn down"
    );
    assert!(answer.stdout.contains("test_waits"), "{}", answer.stdout);
    assert!(answer.stdout.contains("test_td.py:14"), "{}", answer.stdout);
}

/// What a command says that gets SIGINT as soon as a file is there.
#[cfg(unix)]
fn interrupted(mut command: std::process::Command, file: &std::path::Path) -> crate::support::Answer {
    use rustix::process::{Pid, Signal, kill_process};
    let piped = std::process::Stdio::piped;
    let mut child = command.stdout(piped()).stderr(piped()).spawn().unwrap();
    while !file.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    crate::support::Answer {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
