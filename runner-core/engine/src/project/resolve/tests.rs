use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;

/// A repository beside a folder that is nobody's business, with links of every kind.
struct Repository {
    _temp: tempfile::TempDir,
    root: PathBuf,
}

fn repository() -> Repository {
    let temp = tempfile::tempdir().unwrap();
    let top = temp.path().canonicalize().unwrap();
    let root = top.join("repo");
    let files = [
        "repo/tests/test_a.py",
        "repo/tests/-x/test_dash.py",
        "repo/my tests/test login - form.py",
        "repo/tests/żółć.py",
        "repo/sub/tests/test_a.py",
        "repo/sub/tests/test_sub.py",
        "repo/sub/deep/keep.txt",
        "repo/service/tests/test_page.py",
        "repo/-dash.py",
        "repo/@at.py",
        "repo/README.rst",
        "repo/slow/notes",
        "outside/test_out.py",
    ];
    for file in files {
        let path = top.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    symlink("../outside", root.join("out")).unwrap();
    symlink(
        top.join("outside/test_out.py"),
        root.join("tests/test_out_link.py"),
    )
    .unwrap();
    symlink("tests/test_a.py", root.join("test_link.py")).unwrap();
    symlink(root.join("tests"), root.join("linked")).unwrap();
    symlink("loop.py", root.join("loop.py")).unwrap();
    symlink("/dev/null", root.join("null.py")).unwrap();
    symlink(&root, top.join("also")).unwrap();
    Repository { _temp: temp, root }
}

/// What a row of a table expects: a selector, or an error's code.
type Expected = Result<Selector, String>;

#[expect(clippy::unnecessary_wraps, reason = "a row of a table")]
fn path(path: &str) -> Expected {
    Ok(Selector::Path {
        path: path.to_owned(),
    })
}

#[expect(clippy::unnecessary_wraps, reason = "a row of a table")]
fn node(path: &str, rest: &str) -> Expected {
    Ok(Selector::Node {
        path: path.to_owned(),
        rest: rest.to_owned(),
    })
}

#[expect(clippy::unnecessary_wraps, reason = "a row of a table")]
fn keyword(expression: &str) -> Expected {
    Ok(Selector::Keyword {
        expression: expression.to_owned(),
    })
}

fn code(code: &str) -> Expected {
    Err(code.to_owned())
}

fn check(root: &Path, cwd: &Path, rows: &[(&str, Expected)]) {
    for (text, expected) in rows {
        let got = resolve(root, cwd, text).map_err(|error| error.kind.as_str().to_owned());
        assert_eq!(&got, expected, "selector {text:?} from {}", cwd.display());
    }
}

#[test]
fn what_names_something_in_the_repository_is_a_path() {
    let repo = repository();
    check(
        &repo.root,
        &repo.root,
        &[
            ("tests", path("tests")),
            (" tests/ ", path("tests")),
            (".", path(".")),
            ("slow", path("slow")),
            ("tests/test_a.py", path("tests/test_a.py")),
            ("./tests/./test_a.py", path("tests/test_a.py")),
            ("tests/../tests/test_a.py", path("tests/test_a.py")),
            (
                "my tests/test login - form.py",
                path("my tests/test login - form.py"),
            ),
            ("tests/żółć.py", path("tests/żółć.py")),
            ("./-dash.py", path("./-dash.py")),
            ("./@at.py", path("./@at.py")),
            ("tests/-x", path("tests/-x")),
            (
                &repo.root.join("tests/test_a.py").to_string_lossy(),
                path("tests/test_a.py"),
            ),
            (&repo.root.to_string_lossy(), path(".")),
            (
                &repo
                    .root
                    .with_file_name("also")
                    .join("tests/test_a.py")
                    .to_string_lossy(),
                path("tests/test_a.py"),
            ),
        ],
    );
}

#[test]
fn links_that_stay_inside_are_followed_before_anything_is_passed_on() {
    let repo = repository();
    check(
        &repo.root,
        &repo.root,
        &[
            ("test_link.py::test_x", node("tests/test_a.py", "::test_x")),
            ("linked/test_a.py::test_x", node("tests/test_a.py", "::test_x")),
            ("linked", path("tests")),
        ],
    );
}

#[test]
fn ids_keep_whatever_their_parameters_hold() {
    let repo = repository();
    let ids = [
        "::test_x",
        "::TestA::test_b",
        "::test_u[a::b::c]",
        "::test_u[x[1][2]]",
        "::test_u[](]",
        "::test_u[/up/../../down]",
        "::test_u[//share//data]",
        "::test_u[C:\\\\tmp\\\\new]",
        "::test_p[two words]",
        "::test_p[left - right]",
        "::test_p[tail ]",
        "::test_p[ - lead]",
        "::test_p[-p evil]",
        "::test_p[@args.txt]",
        "::test_w[日本 語]",
        "::test_w[a\u{a0}b]",
        "::test_w[para\u{2028}graph]",
        "::test_w[\\x1b escaped]",
        "::test_w[raw \u{1b} and \t]",
        "::test_w[two\nlines]",
        "::test_w[two\r\nlines]",
        "::test_w[x\n-p evil]",
        "::test_w[x\n@args.txt]",
        "::test_w[🎉]",
    ];
    for id in ids {
        for file in ["tests/test_a.py", "my tests/test login - form.py"] {
            let text = format!("{file}{id}");
            check(&repo.root, &repo.root, &[(&text, node(file, id))]);
        }
    }
    let long = format!("::test_long[{}]", "segment-".repeat(400));
    let text = format!("tests/test_a.py{long}");
    check(&repo.root, &repo.root, &[(&text, node("tests/test_a.py", &long))]);
}

#[test]
fn options_and_argument_files_are_refused() {
    let repo = repository();
    let words = [
        "-x",
        "--collect-only",
        " -pevil",
        "\t--co",
        "--",
        "-dash.py",
        "@args.txt",
        " @at.py",
        "(@args.txt)",
        "slow or @args.txt",
        "",
        "  ",
        "::test_x",
        "tests/test_a.py::",
        "tests::test_x",
        "a\0b",
        "tests/test_a.py\0",
        "tests/test_a.py\n-p evil",
        "tests/test_a.py::test_x[\0]",
        "slow\rfast",
        "slow\u{1b}[31m",
        "null.py",
    ];
    for word in words {
        // `/dev/null` is outside as well as no file.
        let expected = if word == "null.py" {
            code("outside_root")
        } else {
            code("bad_selector")
        };
        check(&repo.root, &repo.root, &[(word, expected)]);
    }
    let long = "k".repeat(MAX_SELECTOR_BYTES + 1);
    check(&repo.root, &repo.root, &[(&long, code("bad_selector"))]);
    let error = resolve(&repo.root, &repo.root, &long).unwrap_err();
    assert!(error.message.len() < 400, "the argument is echoed in full");
}

#[test]
fn whatever_leaves_the_repository_is_refused() {
    let repo = repository();
    let beside = repo.root.with_file_name("outside").join("test_out.py");
    let words = [
        "..",
        "../outside",
        "../outside/test_out.py",
        "../outside/test_out.py::test_out",
        "../outside/none.py",
        "tests/../../outside",
        "tests/./../../outside::test_out",
        "out",
        "out/test_out.py",
        "out/../tests/../../repo/out/test_out.py",
        "tests/test_out_link.py",
        "tests/test_out_link.py::test_x",
        "/",
        "/etc/hostname",
        "/no/such/place.py",
        &beside.to_string_lossy(),
    ];
    for word in words {
        check(&repo.root, &repo.root, &[(word, code("outside_root"))]);
    }
    check(
        &repo.root,
        &repo.root.join("sub/deep"),
        &[("../../../outside/test_out.py", code("outside_root"))],
    );
}

#[test]
fn what_looks_like_a_path_must_exist_and_the_rest_is_a_keyword_expression() {
    let repo = repository();
    check(
        &repo.root,
        &repo.root,
        &[
            ("tests/test_gone.py", code("no_such_path")),
            ("tests/test_gone.py::test_x", code("no_such_path")),
            ("test_gone.py", code("no_such_path")),
            ("gone.spec.ts", code("no_such_path")),
            ("tests\\test_a.py", code("no_such_path")),
            ("TestA::test_x", code("no_such_path")),
            ("a/b or c", code("no_such_path")),
            ("loop.py", code("no_such_path")),
            ("tests/test_a.py/deeper", code("no_such_path")),
            (&format!("{}::b", "a".repeat(5_000)), code("no_such_path")),
            ("order", keyword("order")),
            ("order and not slow", keyword("order and not slow")),
            ("not slow and (a or b)", keyword("not slow and (a or b)")),
            ("  test_x ", keyword("test_x")),
            ("test_x[a-1]", keyword("test_x[a-1]")),
            ("test_a.py or test_b.py", keyword("test_a.py or test_b.py")),
            ("me@example", keyword("me@example")),
            ("żółć", keyword("żółć")),
            (&"k".repeat(5_000), keyword(&"k".repeat(5_000))),
        ],
    );
}

#[test]
fn a_path_is_looked_for_in_the_working_folder_first_then_upward_then_in_the_suites_folder() {
    let repo = repository();
    let sub = repo.root.join("sub");
    check(
        &repo.root,
        &sub,
        &[
            ("tests/test_a.py::t", node("tests/test_a.py", "::t")),
            ("sub/tests/test_sub.py::t", node("tests/test_sub.py", "::t")),
            ("../tests/test_a.py", path("../tests/test_a.py")),
            ("README.rst", path("../README.rst")),
            (
                "service/tests/test_page.py",
                path("../service/tests/test_page.py"),
            ),
            ("-dash.py", code("bad_selector")),
        ],
    );
    let service = repo.root.join("service");
    let found = resolve_from(&repo.root, &repo.root, None, &[&service], "tests/test_page.py::t");
    assert_eq!(
        found.map_err(|e| e.kind.as_str().to_owned()),
        node("service/tests/test_page.py", "::t")
    );
}

#[test]
fn an_error_says_where_it_looked_and_what_was_probably_meant() {
    let repo = repository();
    let error = resolve(&repo.root, &repo.root.join("sub"), "test/test_sub.py::t").unwrap_err();
    assert_eq!(
        error.message,
        "`test/test_sub.py` does not exist (looked in sub, the root)"
    );
    assert_eq!(error.hint.unwrap(), "did you mean `tests/test_sub.py`?");
    let error = resolve(&repo.root, &repo.root, "tests\\test_page.py").unwrap_err();
    assert_eq!(error.hint.unwrap(), "did you mean `service/tests/test_page.py`?");
    let error = resolve(&repo.root, &repo.root, "out/test_out.py").unwrap_err();
    assert!(
        error.message.contains("lies outside the repository"),
        "{}",
        error.message
    );
}

#[test]
fn a_working_folder_is_a_real_folder_inside_the_root() {
    let repo = repository();
    let root = &repo.root;
    let dir = |text: &str| resolve_dir(root, text).map_err(|error| error.kind.as_str().to_owned());
    assert_eq!(dir(""), Ok(root.clone()));
    assert_eq!(dir("sub"), Ok(root.join("sub")));
    assert_eq!(dir("sub/../tests"), Ok(root.join("tests")));
    assert_eq!(dir("linked"), Ok(root.join("tests")));
    assert_eq!(dir(&root.join("sub").to_string_lossy()), Ok(root.join("sub")));
    let outside = root.with_file_name("outside");
    for text in [
        "..",
        "../outside",
        "out",
        "tests/../../outside",
        "/",
        "/proc/self/cwd/..",
        &outside.to_string_lossy(),
    ] {
        assert_eq!(dir(text), Err("outside_root".to_owned()), "{text}");
    }
    for text in ["no/such", "tests/test_a.py", "~"] {
        assert_eq!(dir(text), Err("no_such_path".to_owned()), "{text}");
    }
    assert_eq!(dir("tests\0"), Err("bad_selector".to_owned()));
    assert_eq!(dir("../nothing"), Err("outside_root".to_owned()));
}

proptest! {
    /// Whatever is written: what comes out begins neither an option nor an argument file, and its path, followed on the
    /// disk, ends inside the root.
    #[test]
    fn nothing_that_is_written_becomes_an_option_or_leaves_the_root(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "..", ".", "/", "-", "@", "tests", "sub", "out", "linked", "test_a.py", "-x", "::", "test_x", "[", "]",
                " ", "or", "\0", "\n", "-dash.py", "@at.py", "test_out_link.py", "outside", "~", "\\", "é",
            ]),
            0..9,
        ),
        deep in any::<bool>(),
    ) {
        let repo = repository();
        let cwd = if deep { repo.root.join("sub") } else { repo.root.clone() };
        let text = parts.concat();
        if let Ok(selector) = resolve(&repo.root, &cwd, &text) {
            let word = selector.as_word();
            prop_assert!(!word.starts_with(['-', '@']), "{text:?} became {word:?}");
            prop_assert!(!word.contains(['\0', '\n']), "{text:?} became {word:?}");
            if let Selector::Path { path } | Selector::Node { path, .. } = &selector {
                let real = cwd.join(path).canonicalize().unwrap();
                prop_assert!(real.starts_with(&repo.root), "{text:?} became {word:?}");
            }
        }
    }
}
