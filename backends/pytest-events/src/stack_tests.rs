use super::*;

const PLAIN: &str = include_str!("../fixtures/dumps/plain.txt");
const WORKER: &str = include_str!("../fixtures/dumps/worker.txt");

fn cwd() -> &'static Path {
    Path::new("/project")
}

#[test]
fn the_projects_frames_are_kept_innermost_first() {
    let hang = read(PLAIN, cwd()).unwrap();
    assert_eq!(hang.worker, None);
    assert_eq!(hang.phase, Some(Phase::Call));
    let stack = hang.stack.unwrap();
    let project: Vec<&str> = stack
        .lines()
        .filter(|line| line.starts_with("test_hang.py"))
        .collect();
    assert_eq!(
        project,
        ["test_hang.py:6 in wait_for_it", "test_hang.py:16 in test_hangs"]
    );
    assert!(
        !stack.contains("_pytest") && !stack.contains("pluggy") && !stack.contains("frozen"),
        "{stack}"
    );
}

#[test]
fn other_threads_are_not_taken_for_the_test() {
    let stack = read(PLAIN, cwd()).unwrap().stack.unwrap();
    assert!(!stack.contains("_bootstrap"), "{stack}");
}

#[test]
fn a_workers_file_names_worker_and_test() {
    let hang = read(WORKER, cwd()).unwrap();
    assert_eq!(
        hang.worker,
        Some(("gw0".to_owned(), "test_hang.py::test_hangs".to_owned()))
    );
    assert_eq!(hang.phase, Some(Phase::Call));
    assert!(hang.stack.unwrap().contains("test_hang.py:16 in test_hangs"));
}

#[test]
fn a_worker_that_answered_nothing_still_names_its_test() {
    let hang = read("gw3 tests/test_a.py::test[a b]\n", cwd()).unwrap();
    assert_eq!(hang.worker.unwrap().1, "tests/test_a.py::test[a b]");
    assert_eq!((hang.phase, hang.stack), (None, None));
    assert_eq!(read("", cwd()), None);
}

#[test]
fn setup_and_teardown_are_told_by_pytests_hooks() {
    for (function, phase) in [
        ("pytest_runtest_setup", Phase::Setup),
        ("pytest_runtest_call", Phase::Call),
        ("pytest_runtest_teardown", Phase::Teardown),
    ] {
        let dump = PLAIN.replace("pytest_runtest_call", function);
        assert_eq!(read(&dump, cwd()).unwrap().phase, Some(phase));
    }
}

#[test]
fn a_crash_is_told_by_the_frames_of_the_project_and_not_by_pytests() {
    let died = "\
Fatal Python error: Segmentation fault

Current thread 0x00007ffaa860ab80 (most recent call first):
  File \"/usr/lib/python3.11/ctypes/__init__.py\", line 519 in string_at
  File \"/project/lib.py\", line 3 in crash
  File \"/project/test_s.py\", line 4 in test_segv
  File \"/v/site-packages/_pytest/python.py\", line 187 in pytest_pyfunc_call
  File \"<frozen runpy>\", line 88 in _run_code

Thread 0x00007ffaa860aaaa (most recent call first):
  File \"/project/other.py\", line 9 in waits
";
    let lines: Vec<&str> = died.lines().collect();
    let stack = super::crash(&lines, std::path::Path::new("/project")).unwrap();
    assert_eq!(
        stack,
        "Segmentation fault\n/usr/lib/python3.11/ctypes/__init__.py:519 in string_at\nlib.py:3 in crash\ntest_s.py:4 in test_segv"
    );
    assert_eq!(super::crash(&[], std::path::Path::new("/project")), None);
}
