//! Which tests a change reaches, where git says what has changed.

use serde_json::{Value, json};

use crate::support::Project;

/// Two modules with a test each, committed.
fn repository() -> Project {
    let project = Project::bare()
        .file("shop/__init__.py", "")
        .file(
            "shop/money.py",
            "def cents(x):\n    return x * 100\n\ndef round_up(x):\n    return x + 1\n",
        )
        .file("shop/colors.py", "def red():\n    return 'red'\n")
        .file(
            "tests/test_cents.py",
            "from shop.money import cents\n\ndef test():\n    assert cents(1)\n",
        )
        .file(
            "tests/test_round.py",
            "from shop.money import round_up\n\ndef test():\n    assert round_up(1)\n",
        )
        .file(
            "tests/test_colors.py",
            "from shop.colors import red\n\ndef test():\n    assert red()\n",
        );
    project.git(&["init", "-q", "-b", "main"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "first"]);
    project
}

fn files(answer: &Value) -> Vec<&str> {
    let affected = answer["affected"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer:#}"));
    affected
        .iter()
        .map(|test| test["test_file"].as_str().unwrap())
        .collect()
}

#[test]
fn without_paths_the_change_is_what_git_says() {
    let project = repository();
    let nothing = project.call("affected_tests", &json!({}));
    assert_eq!(
        (&nothing["affected"], &nothing["changed"]),
        (&json!([]), &json!([]))
    );

    // Unstaged, staged and untracked; and a file that is gone.
    project.write(
        "shop/money.py",
        "def cents(x):\n    return x * 1000\n\ndef round_up(x):\n    return x + 1\n",
    );
    project.write("shop/new.py", "def new():\n    return 1\n");
    project.write(
        "tests/test_new.py",
        "from shop.new import new\n\ndef test():\n    assert new()\n",
    );
    project.git(&["add", "tests/test_new.py"]);
    project.git(&["rm", "-q", "shop/colors.py"]);
    let answer = project.call("affected_tests", &json!({}));
    assert_eq!(
        answer["changed"],
        json!([
            "shop/colors.py",
            "shop/money.py",
            "shop/new.py",
            "tests/test_new.py"
        ])
    );
    let found = files(&answer);
    assert_eq!(
        found[0], "tests/test_new.py",
        "the changed test itself comes first"
    );
    assert!(
        found.contains(&"tests/test_colors.py"),
        "it imports what is gone: {answer:#}"
    );
    let place = |file: &str| found.iter().position(|found| *found == file).unwrap();
    assert!(
        place("tests/test_cents.py") < place("tests/test_round.py"),
        "{answer:#}"
    );
}

#[test]
fn a_base_is_where_head_left_it() {
    let project = repository();
    project.git(&["checkout", "-q", "-b", "work"]);
    project.write("shop/colors.py", "def red():\n    return 'dark red'\n");
    project.git(&["commit", "-q", "-a", "-m", "second"]);
    // What came to the default branch since is no part of the change.
    project.git(&["checkout", "-q", "main"]);
    project.write("shop/money.py", "def cents(x):\n    return 7\n");
    project.git(&["commit", "-q", "-a", "-m", "third"]);
    project.git(&["checkout", "-q", "work"]);
    let answer = project.call("affected_tests", &json!({ "base": "main" }));
    assert_eq!(answer["changed"], json!(["shop/colors.py"]), "{answer:#}");
    assert_eq!(files(&answer), ["tests/test_colors.py"]);
    let why = answer["base"]["why"].as_str().unwrap();
    assert!(why.contains("merge base"), "{why}");
    let unknown = project.call("affected_tests", &json!({ "base": "nobody" }));
    assert_eq!(unknown["error"]["code"], "no_base", "{unknown:#}");
}

#[test]
fn lines_say_which_functions_changed() {
    let project = repository();
    let answer = project.call("affected_tests", &json!({ "paths": ["shop/money.py:4-5"] }));
    assert_eq!(files(&answer)[0], "tests/test_round.py", "{answer:#}");
    let answer = project.call("affected_tests", &json!({ "paths": ["shop/money.py:2"] }));
    assert_eq!(files(&answer)[0], "tests/test_cents.py", "{answer:#}");
}

#[test]
fn another_program_is_given_the_names_alone() {
    let project = repository();
    project.write("shop/colors.py", "def red():\n    return 'dark red'\n");
    let answer = project.qaas(&["affected"]);
    assert_eq!(answer.code, Some(0), "{}", answer.stderr);
    assert_eq!(answer.stdout, "tests/test_colors.py\n");
    assert!(answer.stderr.contains("1 likely"), "{}", answer.stderr);
    let why = project.qaas(&["affected", "--why"]).stdout;
    assert!(
        why.starts_with("likely") && why.contains("uses shop.colors.red"),
        "{why}"
    );
}

#[test]
fn asking_git_executes_nothing_of_the_repository() {
    let project = repository();
    let ran = project.outside().join("ran");
    let script = format!("#!/bin/sh\ntouch {}\n", ran.display());
    project.write("evil", &script);
    project.write(".gitattributes", "* diff=evil filter=evil\n");
    let evil = project.root().join("evil");
    let mut permissions = std::fs::metadata(&evil).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(&evil, permissions).unwrap();
    let evil = evil.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "diff.evil.textconv",
        "diff.external",
        "filter.evil.clean",
        "filter.evil.smudge",
    ] {
        project.git(&["config", key, evil]);
    }
    std::fs::remove_file(&ran).ok();
    project.write("shop/colors.py", "def red():\n    return 'dark red'\n");
    let answer = project.call("affected_tests", &json!({}));
    assert!(files(&answer).contains(&"tests/test_colors.py"), "{answer:#}");
    assert!(!ran.exists(), "a program of the repository was started");
}

#[test]
fn without_a_repository_the_paths_have_to_be_named() {
    let project = Project::bare().file("test_a.py", "def test(): ...\n");
    let answer = project.call("affected_tests", &json!({}));
    assert_eq!(answer["error"]["code"], "no_base", "{answer:#}");
    assert!(
        answer["error"]["hint"].as_str().unwrap().contains("paths"),
        "{answer:#}"
    );
}

#[test]
fn a_language_that_is_not_read_is_said_to_be_and_never_called_untested() {
    let script_only = Project::bare()
        .file("package.json", "{}")
        .file("src/price.js", "export const price = 1;\n")
        .file("src/uses.test.js", "import { price } from './price.js';\n");
    let beside_python = repository().file("web/sum.ts", "export const sum = 1;\n");
    for (project, path) in [(script_only, "src/price.js"), (beside_python, "web/sum.ts")] {
        let answer = project.call("affected_tests", &json!({"paths": [path]}));
        assert_eq!(answer["unread"], json!([path]), "{answer:#}");
        assert_eq!(answer["next"][0]["tool"], "run_suite", "{answer:#}");
        let shown = project.qaas(&["affected", path]);
        let text = format!("{}{}", shown.stdout, shown.stderr);
        assert!(text.contains("Not known") && !text.contains("untested"), "{text}");
    }
}
