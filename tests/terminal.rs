//! A person at a terminal: keys, window, debugger, Ctrl-C. The terminal is a real one, and so is everything behind it.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Project, venv};

/// What somebody saw at a terminal.
struct Seen {
    printed: String,
    code: i64,
}

/// Runs `qaas WORDS…` at a terminal and does these things there.
fn at_terminal(project: &Project, words: &[&str], steps: &Value) -> Seen {
    let plain = project.command(words);
    #[expect(clippy::disallowed_methods, reason = "tests start processes")]
    let mut command = Command::new(venv("pytest-9.2"));
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/at_terminal.py");
    command.arg("-I").arg(script).arg(steps.to_string());
    command.arg(plain.get_program()).args(plain.get_args());
    command.current_dir(plain.get_current_dir().unwrap()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("TERM", "xterm");
    let output = command.output().expect("Python starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let seen: Value = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr)));
    let printed = seen["printed"].as_str().unwrap().to_owned();
    assert_eq!(seen["failed"], Value::Null, "{printed}");
    assert_eq!(
        seen["restored"], true,
        "the terminal was left in another state: {printed}"
    );
    Seen {
        printed,
        code: seen["code"].as_i64().unwrap(),
    }
}

const TALKS: &str = "def helper(x):\n    return x + 1\n\n\
    def test_stops():\n    value = 41\n    breakpoint()\n    assert helper(value) == 42\n\n\
    def test_asks():\n    name = input('who? ')\n    print('hello', name)\n    assert name == 'ada'\n\n\
    def test_fails():\n    seen = [1, 2]\n    assert len(seen) == 3\n";

fn talks() -> Project {
    // A limit that has long passed before anybody has typed a word.
    Project::new()
        .file("test_t.py", TALKS)
        .file("qaas.toml", "[suite.unit]\ntimeout = \"20s\"\n")
}

#[test]
fn a_breakpoint_of_a_person_has_the_terminal_and_the_run_goes_on_behind_it() {
    let steps = json!([
        ["expect", "the debugger has the terminal"],
        ["expect", "(Pdb) "],
        ["type", "p value + 1000\n"],
        ["expect", "1041"],
        ["expect", "(Pdb) "],
        ["type", "c\n"],
        ["expect", "1 passed"],
    ]);
    let project = talks();
    let seen = at_terminal(&project, &["run", "test_t.py::test_stops"], &steps);
    assert_eq!(seen.code, 0, "{}", seen.printed);
    // What was said there is kept with the run.
    let output = project.qaas(&["show", "--search", "value + 1000"]);
    assert!(
        output.stdout.contains("p value + 1000"),
        "{}{}",
        output.stdout,
        output.stderr
    );
}

#[test]
fn a_time_limit_does_not_end_who_sits_in_the_debugger() {
    let project = talks().file("qaas.toml", "[suite.unit]\ntimeout = \"3s\"\n");
    let steps = json!([
        ["expect", "(Pdb) "],
        ["type", "import time; time.sleep(4)\n"],
        ["expect", "(Pdb) "],
        ["type", "c\n"],
    ]);
    let seen = at_terminal(&project, &["run", "test_t.py::test_stops"], &steps);
    assert!(seen.printed.contains("1 passed"), "{}", seen.printed);
}

#[test]
fn input_of_a_test_is_answered_at_the_terminal_with_pytests_own_option() {
    let steps = json!([["expect", "who? "], ["type", "ada\n"], ["expect", "hello ada"]]);
    let seen = at_terminal(&talks(), &["run", "-s", "test_t.py::test_asks"], &steps);
    assert_eq!(seen.code, 0, "{}", seen.printed);
}

#[test]
fn the_debugger_after_a_failure_shows_it_and_leaving_it_keeps_the_failure() {
    let steps = json!([
        ["expect", "(Pdb) "],
        ["type", "p seen\n"],
        ["expect", "[1, 2]"],
        ["type", "q\n"]
    ]);
    let project = talks();
    let seen = at_terminal(&project, &["run", "--pdb", "test_t.py::test_fails"], &steps);
    assert!(seen.printed.contains("assert 2 == 3"), "{}", seen.printed);
    assert!(seen.printed.contains("1 failed"), "{}", seen.printed);
    let again = project.qaas(&["run", "--failed"]);
    assert!(
        again.stdout.contains("test_fails"),
        "{}{}",
        again.stdout,
        again.stderr
    );
}

#[test]
fn without_a_terminal_a_breakpoint_is_explained_with_the_command_for_a_person() {
    let project = talks();
    let reason =
        "the tests stopped in a debugger (`breakpoint()`, `--pdb`), and nobody was there to talk to it";
    let piped = project.qaas(&["run", "test_t.py::test_stops"]);
    assert!(piped.stdout.contains(reason), "{}{}", piped.stdout, piped.stderr);
    let answer = project.call("run_single", &json!({"test_id": "test_t.py::test_stops"}));
    assert!(answer.to_string().contains(reason), "{answer:#}");
    let ready = "a person run `qaas run 'test_t.py::test_stops'` at a terminal";
    assert!(answer["warnings"].to_string().contains(ready), "{answer:#}");
}

#[test]
fn ctrl_c_at_a_terminal_tears_fixtures_down_also_where_the_tests_have_the_terminal() {
    let project = Project::new().file(
        "test_w.py",
        "import pathlib, time, pytest\n\n\
         @pytest.fixture\ndef base():\n    yield\n    pathlib.Path('torn_down').touch()\n\n\
         def test_waits(base):\n    print('it', 'waits', flush=True)\n    pathlib.Path('begun').touch()\n    time.sleep(90)\n",
    );
    for words in [&["run", "-s"] as &[_], &["run"]] {
        let mark = if words.len() == 2 {
            "it waits"
        } else {
            "test_waits"
        };
        let begun = project.root().join("begun");
        let _ = std::fs::remove_file(&begun);
        let _ = std::fs::remove_file(project.root().join("torn_down"));
        let seen = at_terminal(&project, words, &json!([["expect", mark], ["type", "\u{3}"]]));
        assert_eq!(seen.code, 130, "{words:?}: {}", seen.printed);
        assert!(seen.printed.contains("cancelled"), "{words:?}: {}", seen.printed);
        let torn_down = project.root().join("torn_down").exists();
        assert!(torn_down || !begun.exists(), "{words:?}: {}", seen.printed);
    }
}

#[test]
fn a_window_that_changes_its_size_changes_for_the_tests_too() {
    let project = Project::new().file(
        "test_size.py",
        "import os, time\n\n\
         def test_size():\n    print('columns', os.get_terminal_size().columns, flush=True)\n\
         \x20   until = time.monotonic() + 60\n\
         \x20   while os.get_terminal_size().columns != 61 and time.monotonic() < until:\n        time.sleep(0.02)\n\
         \x20   print('now', os.get_terminal_size().columns)\n    assert os.get_terminal_size().columns == 61\n",
    );
    let steps = json!([
        ["expect", "columns 100"],
        ["resize", 30, 61],
        ["expect", "now 61"]
    ]);
    let seen = at_terminal(&project, &["run", "-s"], &steps);
    assert_eq!(seen.code, 0, "{}", seen.printed);
}

#[test]
fn a_day_at_the_terminal() {
    let project = Project::new()
        .file("src/shop/__init__.py", "")
        .file(
            "src/shop/cart.py",
            "def total(prices):\n    return sum(prices) + 1\n",
        )
        .file("pytest.ini", "[pytest]\npythonpath = src\n")
        .file(
            "tests/test_cart.py",
            "import warnings\nfrom shop.cart import total\n\n\
             def test_empty():\n    assert total([]) == 0\n\n\
             def test_one():\n    warnings.warn('slow road')\n    assert total([2]) == 2\n\n\
             def test_type():\n    assert isinstance(total([]), int)\n",
        );
    let nothing = json!([]);
    let first = at_terminal(&project, &["run"], &nothing);
    assert_eq!(first.code, 1, "{}", first.printed);
    for expected in [
        "2 failed",
        "1 passed",
        "1 warning",
        "slow road",
        "tests/test_cart.py:5",
        "qaas run --failed",
    ] {
        assert!(first.printed.contains(expected), "{expected}: {}", first.printed);
    }
    assert!(
        first.printed.contains("\u{1b}[31mE "),
        "failure texts have colours: {}",
        first.printed
    );
    let again = at_terminal(&project, &["run", "--lf", "-x"], &nothing);
    assert!(again.printed.contains("1 failed"), "{}", again.printed);
    project.write("src/shop/cart.py", "def total(prices):\n    return sum(prices)\n");
    let mended = at_terminal(&project, &["run", "--failed"], &nothing);
    assert!(mended.printed.contains("2 passed"), "{}", mended.printed);
    let all = at_terminal(&project, &["run", "--durations", "2"], &nothing);
    assert!(
        all.printed.contains("3 passed") && all.printed.contains("slowest 2 durations"),
        "{}",
        all.printed
    );
    let runs = at_terminal(&project, &["runs"], &nothing);
    assert!(runs.printed.matches("person").count() >= 4, "{}", runs.printed);
}
