//! What a person types is relative to where they stand; what qaas printed is found from anywhere.

use crate::support::Project;

const GREEN: &str = "def test_here(): pass\n";

/// The same file name at two depths, a folder between, and sources beside.
fn repository() -> Project {
    Project::new()
        .file("qaas.toml", "[suite.all]\n")
        .file("tests/test_a.py", "import shop.cart\ndef test_top(): pass\n")
        .file("tests/deep/tests/test_a.py", GREEN)
        .file("tests/test_red.py", "def test_red(): assert 0\n")
        .file(
            "pytest.ini",
            "[pytest]\npythonpath = src\naddopts = --import-mode=importlib\n",
        )
        .file("src/shop/__init__.py", "")
        .file("src/shop/cart.py", "TOTAL = 1\n")
}

fn verbose(project: &Project, folder: &str, selector: &str) -> String {
    let answer = project.qaas_from(folder, &["run", "-v", selector]);
    assert!(
        matches!(answer.code, Some(0 | 1)),
        "{folder} {selector}: {}{}",
        answer.stdout,
        answer.stderr
    );
    answer.stdout
}

#[test]
fn a_selector_is_relative_to_where_one_stands_and_a_printed_id_is_found_from_anywhere() {
    let project = repository();
    for (folder, selector, expected) in [
        ("tests", "test_a.py", "tests/test_a.py::test_top"),
        ("tests", "./test_a.py::test_top", "tests/test_a.py::test_top"),
        ("tests/deep", "../test_a.py", "tests/test_a.py::test_top"),
        ("src/shop", "../../tests/test_a.py", "tests/test_a.py::test_top"),
        (
            "src/shop",
            "tests/test_a.py::test_top",
            "tests/test_a.py::test_top",
        ),
        // The nearer of two.
        (
            "tests/deep",
            "tests/test_a.py",
            "tests/deep/tests/test_a.py::test_here",
        ),
    ] {
        let said = verbose(&project, folder, selector);
        assert!(said.contains(expected), "{folder} {selector}: {said}");
        assert!(said.contains("passed: 1 passed"), "{folder} {selector}: {said}");
    }
    let here = verbose(&project, "tests/deep", ".");
    assert!(here.contains("passed: 1 passed"), "{here}");
}

#[test]
fn the_folder_above_is_the_repository_and_not_outside_it() {
    let project = repository();
    let said = verbose(&project, "tests", "..");
    assert!(said.contains("1 failed, 2 passed"), "{said}");
    let outside = project.qaas_from("tests", &["run", "../.."]);
    assert_eq!(outside.code, Some(4), "{}", outside.stdout);
    assert!(
        outside.stderr.contains("outside the repository"),
        "{}",
        outside.stderr
    );
    let typo = project.qaas_from("src", &["run", "../tests/tst_a.py"]);
    assert!(
        typo.stderr.contains("does not exist (looked in src"),
        "{}",
        typo.stderr
    );
}

#[test]
fn the_other_commands_take_paths_from_where_one_stands_too() {
    let project = repository();
    let list = project.qaas_from("tests", &["list", "test_a.py"]);
    assert_eq!(list.stdout, "tests/test_a.py::test_top\n", "{}", list.stderr);
    let repeat = project.qaas_from("tests", &["repeat", "test_a.py::test_top", "-n", "2"]);
    assert_eq!(repeat.code, Some(0), "{}{}", repeat.stdout, repeat.stderr);
    assert!(repeat.stdout.contains("2 passed"), "{}", repeat.stdout);
    let affected = project.qaas_from("src", &["affected", "shop/cart.py", "--why"]);
    assert!(
        affected.stdout.contains("import"),
        "{}{}",
        affected.stdout,
        affected.stderr
    );
    let coverage = project.qaas_from("src", &["coverage", "--path", "shop", "tests/test_a.py"]);
    assert!(
        coverage.stdout.contains("src/shop/cart.py"),
        "{}{}",
        coverage.stdout,
        coverage.stderr
    );
    assert_eq!(project.qaas_from("tests", &["run", "test_red.py"]).code, Some(1));
    let shown = project.qaas_from("tests", &["show", "--test", "test_red.py::test_red"]);
    assert!(
        shown.stdout.contains("assert 0"),
        "{}{}",
        shown.stdout,
        shown.stderr
    );
    let failed = project.qaas_from("tests", &["run", "--failed", "test_red.py"]);
    assert!(
        failed.stdout.contains("failed: 1 failed"),
        "{}{}",
        failed.stdout,
        failed.stderr
    );
    let folder = project.qaas_from("tests", &["list", "--cwd", "deep"]);
    assert!(
        folder.stdout.contains("test_here") && !folder.stdout.contains("test_top"),
        "{}",
        folder.stdout
    );
}

#[test]
fn a_suite_with_a_folder_of_the_same_name_inside_is_not_taken_for_it() {
    let project = Project::new()
        .file("qaas.toml", "[suite.site]\ndir = \"site\"\n")
        .file("site/tests/test_a.py", "def test_outer(): pass\n")
        .file("site/site/tests/test_a.py", GREEN)
        .file("site/pytest.ini", "[pytest]\naddopts = --import-mode=importlib\n");
    let said = verbose(&project, ".", "site/tests/test_a.py");
    assert!(said.contains("test_outer"), "{said}");
    let all = verbose(&project, "site/site", "../..");
    assert!(all.contains("passed: 2 passed"), "{all}");
}

#[test]
fn a_path_decides_between_suites_from_where_one_stands() {
    let project = Project::new()
        .file(
            "qaas.toml",
            "[suite.api]\ndir = \"packages/api\"\n[suite.web]\ndir = \"packages/web\"\n",
        )
        .file("packages/api/tests/test_a.py", "def test_api(): pass\n")
        .file("packages/web/tests/test_a.py", "def test_web(): pass\n");
    for (folder, selector, expected) in [
        ("packages/web", "tests/test_a.py::test_web", "test_web"),
        ("packages/api/tests", "test_a.py", "test_api"),
        ("packages", "web", "test_web"),
        ("packages/api", "../web/tests", "test_web"),
    ] {
        let said = verbose(&project, folder, selector);
        assert!(
            said.contains(expected) && said.contains("1 passed"),
            "{folder} {selector}: {said}"
        );
    }
}
